//! Looks a name up with an older hickory-resolver, as the system configures it, and prints how that ended as one line of JSON.
//!
//!   hickory-0.25 WORD NAME FAMILY   the lab's own word stands first
//!
//! A program of its own with `hickory-resolver = "=0.25.2"`, `serde_json = "1"` and `tokio` (`net`, `rt`, `time`); 0.24.4 with `--cfg v0_24`.

use hickory_resolver::config::LookupIpStrategy;
#[cfg(v0_24)]
use hickory_resolver::error::{ResolveError, ResolveErrorKind};
use hickory_resolver::lookup_ip::LookupIp;
use hickory_resolver::proto::op::ResponseCode;
use hickory_resolver::proto::rr::Name;
#[cfg(v0_24)]
use hickory_resolver::proto::error::ProtoErrorKind;
#[cfg(not(v0_24))]
use hickory_resolver::{proto::ProtoErrorKind, ResolveError, ResolveErrorKind, TokioResolver};
use serde_json::{json, Value};

fn main() {
    let words: Vec<String> = std::env::args().skip(2).collect();
    let (name, family) = (words[0].as_str(), words[1].as_str());
    let strategy = match family {
        "inet" => Some(LookupIpStrategy::Ipv4Only),
        "inet6" => Some(LookupIpStrategy::Ipv6Only),
        _ => None,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let outcome = match runtime.block_on(lookup(name, strategy)) {
        Ok(Ok(found)) => json!({"status": "ok", "addrs": found.iter().map(|it| it.to_string()).collect::<Vec<_>>()}),
        Ok(Err(error)) => failed(&code(&error, name), &error),
        Err(error) => failed("CONFIG_ERROR", &error),
    };
    println!("{outcome}");
}

fn failed(code: &str, error: &ResolveError) -> Value {
    json!({"status": "error", "code": code, "text": error.to_string()})
}

#[cfg(v0_24)]
async fn lookup(name: &str, strategy: Option<LookupIpStrategy>) -> Result<Result<LookupIp, ResolveError>, ResolveError> {
    let (config, mut options) = hickory_resolver::system_conf::read_system_conf()?;
    options.ip_strategy = strategy.unwrap_or(options.ip_strategy);
    Ok(hickory_resolver::TokioAsyncResolver::tokio(config, options).lookup_ip(name).await)
}

#[cfg(not(v0_24))]
async fn lookup(name: &str, strategy: Option<LookupIpStrategy>) -> Result<Result<LookupIp, ResolveError>, ResolveError> {
    let mut builder = TokioResolver::builder_tokio()?;
    builder.options_mut().ip_strategy = strategy.unwrap_or_default();
    Ok(builder.build().lookup_ip(name).await)
}

#[cfg(v0_24)]
fn code(error: &ResolveError, name: &str) -> String {
    match error.kind() {
        ResolveErrorKind::NoRecordsFound { response_code, .. } => negative(*response_code),
        ResolveErrorKind::Timeout => "TIMEOUT".to_owned(),
        ResolveErrorKind::NoConnections => "NO_CONNECTIONS".to_owned(),
        ResolveErrorKind::Proto(error) => proto(error.kind(), name),
        _ => "IO".to_owned(),
    }
}

#[cfg(not(v0_24))]
fn code(error: &ResolveError, name: &str) -> String {
    match error.kind() {
        ResolveErrorKind::Proto(error) => match error.kind() {
            ProtoErrorKind::NoRecordsFound { response_code, .. } => negative(*response_code),
            ProtoErrorKind::NoConnections => "NO_CONNECTIONS".to_owned(),
            kind => proto(kind, name),
        },
        _ => "IO".to_owned(),
    }
}

fn negative(code: ResponseCode) -> String {
    match code {
        ResponseCode::NoError => "NODATA".to_owned(),
        code => format!("{code:?}").to_uppercase(),
    }
}

/// A connection that is closed is a message, too: `stream closed`.
fn proto(kind: &ProtoErrorKind, name: &str) -> String {
    let code = match kind {
        ProtoErrorKind::Timeout => "TIMEOUT",
        _ if Name::from_utf8(name).is_err() => "BAD_NAME",
        ProtoErrorKind::Io(_) | ProtoErrorKind::Message(_) | ProtoErrorKind::Msg(_) => "IO",
        _ => "BAD_NAME",
    };
    code.to_owned()
}
