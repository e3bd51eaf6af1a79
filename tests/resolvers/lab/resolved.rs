//! systemd-resolved inside the sandbox: its configuration, its start, and a lookup over Varlink.

use std::fmt::Write as _;
use std::fs;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::observation::{Outcome, Scenario, bytes};

const SOCKET: &str = "/run/systemd/resolve/io.systemd.Resolve";
const STUB_FILE: &str = "/run/systemd/resolve/stub-resolv.conf";
const START: Duration = Duration::from_secs(15);

/// resolved.conf: nothing but DNS; with `stub` also the case's servers and domains, and the stub listener.
pub(crate) fn configuration(scenario: &Scenario, stub: bool) -> Vec<u8> {
    let mut text =
        "[Resolve]\nLLMNR=no\nMulticastDNS=no\nDNSSEC=no\nDNSOverTLS=no\nFallbackDNS=\n".to_owned();
    if !stub {
        text.push_str("DNSStubListener=no\n");
        return text.into_bytes();
    }
    let file = scenario.resolv_conf.clone().unwrap_or_default();
    let mut domains = Vec::new();
    for line in file.lines() {
        let mut words = line.split_whitespace();
        match words.next() {
            // `DNS=` alone would take the others back.
            Some("nameserver") => {
                for server in words.take(1) {
                    let _ = writeln!(text, "DNS={server}");
                }
            }
            Some("search" | "domain") => {
                let list: Vec<&str> = words.collect();
                if !list.is_empty() {
                    domains = list;
                }
            }
            _ => {}
        }
    }
    let _ = writeln!(text, "Domains={}", domains.join(" "));
    bytes(&text)
}

/// Starts resolved and waits until it answers.
pub(crate) fn start(mut daemon: Command, stub: bool) -> Result<Child, String> {
    let log = fs::File::create("/run/lab/resolved.log").map_err(|e| e.to_string())?;
    let mut child = daemon
        .env_clear()
        .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
        .stdin(Stdio::null())
        .stdout(log.try_clone().map_err(|e| e.to_string())?)
        .stderr(log)
        .spawn()
        .map_err(|e| format!("systemd-resolved: {e}"))?;
    let started = Instant::now();
    let ready = || UnixStream::connect(SOCKET).is_ok() && (!stub || Path::new(STUB_FILE).exists());
    while !ready() {
        let ended = child.try_wait().map_err(|e| e.to_string())?;
        if ended.is_some() || started.elapsed() > START {
            let _ = child.kill();
            let log = fs::read_to_string("/run/lab/resolved.log").unwrap_or_default();
            return Err(format!("systemd-resolved did not start ({ended:?}): {log}"));
        }
        thread::sleep(Duration::from_millis(5));
    }
    Ok(child)
}

/// The file that glibc sees, without its comments.
pub(crate) fn stub_file() -> String {
    let text = fs::read_to_string(STUB_FILE).unwrap_or_default();
    text.lines()
        .filter(|l| !l.starts_with('#') && !l.is_empty())
        .fold(String::new(), |mut all, line| {
            let _ = writeln!(all, "{line}");
            all
        })
}

/// `ResolveHostname`, as nss-resolve calls it; `None` when the limit passes.
pub(crate) fn resolve(scenario: &Scenario, limit: Duration) -> Result<Option<Outcome>, String> {
    let family = match scenario.family.as_deref() {
        Some("inet") => 2,
        Some("inet6") => 10,
        _ => 0,
    };
    let call = json!({
        "method": "io.systemd.Resolve.ResolveHostname",
        "parameters": {"name": scenario.name, "family": family, "flags": 0},
    });
    let mut stream = UnixStream::connect(SOCKET).map_err(|e| e.to_string())?;
    stream
        .write_all(format!("{call}\0").as_bytes())
        .map_err(|e| e.to_string())?;
    let end = Instant::now() + limit;
    let mut bytes = Vec::new();
    let mut part = [0; 4096];
    loop {
        let left = end
            .saturating_duration_since(Instant::now())
            .max(Duration::from_millis(1));
        stream
            .set_read_timeout(Some(left))
            .map_err(|e| e.to_string())?;
        match stream.read(&mut part) {
            Ok(0) => return Err("systemd-resolved closed the connection".to_owned()),
            Ok(n) => bytes.extend(part.get(..n).unwrap_or_default()),
            Err(_) if Instant::now() >= end => return Ok(None),
            Err(e) if e.kind() == std::io::ErrorKind::WouldBlock => return Ok(None),
            Err(e) => return Err(e.to_string()),
        }
        if let Some(message) = bytes.strip_suffix(b"\0") {
            let reply: Value = serde_json::from_slice(message).map_err(|e| e.to_string())?;
            return Ok(Some(outcome(&reply)));
        }
    }
}

fn outcome(reply: &Value) -> Outcome {
    let parameters = reply.get("parameters").cloned().unwrap_or_default();
    if let Some(error) = reply.get("error").and_then(Value::as_str) {
        let outcome = Outcome::error(error.rsplit('.').next().unwrap_or(error));
        let empty = parameters.as_object().is_none_or(serde_json::Map::is_empty);
        return if empty {
            outcome
        } else {
            outcome.with("parameters", parameters)
        };
    }
    let list = parameters
        .get("addresses")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    let addrs = list.filter_map(|a| address(a.get("address")?)).collect();
    Outcome::ok(addrs)
        .with(
            "final_name",
            parameters.get("name").cloned().unwrap_or_default(),
        )
        .with(
            "flags",
            parameters.get("flags").cloned().unwrap_or_default(),
        )
}

/// An address from its list of bytes.
fn address(bytes: &Value) -> Option<String> {
    let bytes: Vec<u8> = bytes
        .as_array()?
        .iter()
        .filter_map(|b| u8::try_from(b.as_u64()?).ok())
        .collect();
    if let Ok(four) = <[u8; 4]>::try_from(bytes.as_slice()) {
        return Some(std::net::Ipv4Addr::from(four).to_string());
    }
    <[u8; 16]>::try_from(bytes.as_slice())
        .ok()
        .map(|b| std::net::Ipv6Addr::from(b).to_string())
}
