//! The hickory probe: this very program, started with a hidden argument, asks hickory-resolver as the system configures it.

use hickory_proto::op::ResponseCode;
use hickory_resolver::TokioResolver;
use hickory_resolver::config::LookupIpStrategy;
use hickory_resolver::net::{DnsError, NetError};

use super::observation::Outcome;

/// The hidden argument; after it the name and the family.
pub(crate) const ARGUMENT: &str = "kdns-lab-hickory";

/// Looks the name up with `Resolver::builder_tokio()` and `lookup_ip`.
pub(crate) fn lookup(name: &str, family: &str) -> Outcome {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
    else {
        return Outcome::lab("no tokio runtime");
    };
    runtime.block_on(async {
        let mut builder = match TokioResolver::builder_tokio() {
            Ok(builder) => builder,
            Err(e) => return Outcome::error("CONFIG_ERROR").with("text", e.to_string()),
        };
        match family {
            "inet" => builder.options_mut().ip_strategy = LookupIpStrategy::Ipv4Only,
            "inet6" => builder.options_mut().ip_strategy = LookupIpStrategy::Ipv6Only,
            _ => {}
        }
        let resolver = match builder.build() {
            Ok(resolver) => resolver,
            Err(e) => return Outcome::error("CONFIG_ERROR").with("text", e.to_string()),
        };
        match resolver.lookup_ip(name).await {
            Ok(found) => Outcome::ok(found.iter().map(|a| a.to_string()).collect()),
            Err(e) => Outcome::error(&kind(&e)).with("text", e.to_string()),
        }
    })
}

/// An rcode's word, `NODATA`, or the kind of the error.
fn kind(error: &NetError) -> String {
    match error {
        NetError::Dns(DnsError::NoRecordsFound(none))
            if none.response_code == ResponseCode::NoError =>
        {
            "NODATA".to_owned()
        }
        NetError::Dns(DnsError::NoRecordsFound(none)) => {
            format!("{:?}", none.response_code).to_uppercase()
        }
        NetError::Dns(DnsError::ResponseCode(code)) => format!("{code:?}").to_uppercase(),
        NetError::Timeout => "TIMEOUT".to_owned(),
        NetError::NoConnections => "NO_CONNECTIONS".to_owned(),
        NetError::Io(_) => "IO".to_owned(),
        // The name given to `lookup_ip` does not parse.
        NetError::Proto(_) => "BAD_NAME".to_owned(),
        NetError::Truncated => "TRUNCATED".to_owned(),
        NetError::Busy => "BUSY".to_owned(),
        NetError::Message(_) | NetError::Msg(_) => "MESSAGE".to_owned(),
        _ => "OTHER".to_owned(),
    }
}
