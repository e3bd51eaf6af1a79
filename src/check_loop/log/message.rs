//! What a message of a DNS server shows.
//!
//! Only phrases that no name in a query can bring into a log are taken: names
//! are logged with their blanks escaped.

use std::net::{IpAddr, SocketAddr};

use super::SightingKind;

/// The kind of sighting that a line is, and how many of it one line stands for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Shown {
    /// Which kind.
    pub kind: SightingKind,
    /// How many errors the line stands for.
    pub count: usize,
    /// The server that was asked, if the line names it.
    pub server: Option<SocketAddr>,
}

/// The version in the line with which CoreDNS greets: `CoreDNS-1.10.1`.
pub fn version(message: &str) -> Option<(u32, u32, u32)> {
    let (_, version) = message.rsplit_once("CoreDNS-")?;
    let mut numbers = version
        .split(|it: char| !it.is_ascii_digit())
        .map(str::parse);
    let mut next = || numbers.next()?.ok();
    Some((next()?, next()?, next().unwrap_or(0)))
}

/// Whether CoreDNS says that it uses a changed Corefile from now on.
///
/// Source: github.com/coredns/caddy, caddy.go `Restart`.
pub fn is_reloaded(message: &str) -> bool {
    message.trim_end().ends_with("[INFO] Reloading complete")
}

/// What a message shows; `version` is that of `CoreDNS`, if it is known.
pub fn classify(message: &str, version: Option<(u32, u32, u32)>) -> Option<Shown> {
    // Who had it restart says the same.
    if message.contains("[ERROR] Restart failed: ") {
        return None;
    }
    if let Some(count) = consolidated(message) {
        let server = None;
        return errors(message).map(|kind| Shown {
            kind,
            count,
            server,
        });
    }
    let kind = fatal(message, version)
        .or_else(|| api(message))
        .or_else(|| dnsmasq(message))
        .or_else(|| named(message))
        .or_else(|| start(message))
        .or_else(|| errors(message))?;
    let server = asked(message).map(|it| it.1);
    let count = 1;
    Some(Shown {
        kind,
        count,
        server,
    })
}

/// The loop plugin's last words.
///
/// Source: `CoreDNS`, plugin/loop/loop.go at v1.2.1, v1.2.3 and v1.3.1.
fn fatal(message: &str, version: Option<(u32, u32, u32)>) -> Option<SightingKind> {
    let (_, text) = message.split_once("plugin/loop: ")?;
    let is_old = text.starts_with("Seen \"HINFO IN ");
    let is_middle = text.starts_with("Forwarding loop detected in \"");
    let is_new = text.starts_with("Loop (") && text.contains(" detected for zone \"");
    // Up to 1.2.5 a line begins with the time of Go's logger.
    let has_go_time = message.as_bytes().get(4) == Some(&b'/');
    let is_doubtful = match version {
        Some(version) => ((1, 2, 1)..(1, 2, 6)).contains(&version),
        None => is_old || (is_middle && has_go_time),
    };
    if !(is_old || is_middle || is_new) {
        return None;
    }
    Some(if is_doubtful {
        SightingKind::LoopFatalDoubtful
    } else {
        SightingKind::LoopFatal
    })
}

/// What CoreDNS and kube-dns say of the Kubernetes API, from which they learn of Services.
///
/// Source: `CoreDNS`, plugin/kubernetes/kubernetes.go `InitKubeCache`; client-go,
/// tools/cache/reflector.go; apimachinery, pkg/api/errors/errors.go.
fn api(message: &str) -> Option<SightingKind> {
    const ABOUT: &[&str] = &["plugin/kubernetes: ", "reflector.go:", "Failed to list *"];
    if !has(message, ABOUT) || message.contains(" lookup ") {
        return None;
    }
    if has(message, &[" is forbidden: User ", ": Unauthorized"]) {
        return Some(SightingKind::ApiForbidden);
    }
    let is_lost = has(message, LATE)
        || message.contains("connection refused")
        || has(message, UNREACHABLE) && has(message, NETWORK);
    is_lost.then_some(SightingKind::ApiUnreachable)
}

/// Source: dnsmasq, src/network.c `check_servers`, src/forward.c
/// `query_full`.
fn dnsmasq(message: &str) -> Option<SightingKind> {
    if message.contains("Maximum number of concurrent DNS queries reached") {
        return Some(SightingKind::TooManyQueries);
    }
    let says = |start: &str, end: &str| {
        let behind = message.split_once(start).map(|it| it.1);
        behind.is_some_and(|it| it.contains(end))
    };
    if says("NOT using nameserver ", " - query loop detected") {
        return Some(SightingKind::LoopDetected);
    }
    says("ignoring nameserver ", " - local interface").then_some(SightingKind::OwnAddress)
}

/// Source: BIND 9, lib/dns/resolver.c `log_lame`-like messages of the
/// category lame-servers; unbound, iterator/iterator.c.
fn named(message: &str) -> Option<SightingKind> {
    let at = |phrase: &str| {
        let behind = message.split_once(phrase)?.1;
        // NAME/TYPE/CLASS': ADDRESS#PORT
        let address = behind.split_once("': ")?.1;
        let address = address.split('#').next()?.trim();
        Some(address.parse::<IpAddr>().is_ok_and(|it| it.is_loopback()))
    };
    let by_place =
        |is_loopback, loopback, upstream| Some(if is_loopback { loopback } else { upstream });
    if let Some(is_loopback) = at("timed out resolving '") {
        return by_place(
            is_loopback,
            SightingKind::LoopbackTimeout,
            SightingKind::UpstreamTimeout,
        );
    }
    if let Some(is_loopback) = at("connection refused resolving '") {
        return by_place(
            is_loopback,
            SightingKind::LoopbackRefused,
            SightingKind::UpstreamRefused,
        );
    }
    if at("network unreachable resolving '").is_some() {
        return Some(SightingKind::UpstreamUnreachable);
    }
    if message.contains(">: exceeded the maximum number of sends") {
        return Some(SightingKind::UpstreamDown);
    }
    let (_, from) = message.split_once(">: all the configured stub or forward servers failed")?;
    let loopback = from.contains(" from 127.") || from.contains(" from ::1 ");
    let is_loopback = loopback && from.contains("timeout");
    by_place(
        is_loopback,
        SightingKind::LoopbackTimeout,
        SightingKind::UpstreamDown,
    )
}

/// Source: `CoreDNS`, plugin/forward/setup.go, plugin/pkg/parse/host.go,
/// plugin/reload/reload.go; github.com/coredns/caddy, caddyfile/dispenser.go `Err`.
fn start(message: &str) -> Option<SightingKind> {
    let is_server = has(message, &["plugin/forward: ", "plugin/proxy: "]);
    let is_failed = (is_server && has(message, NO_SERVER))
        || message.contains(" - Error during parsing: ")
        || message.contains("plugin/reload: Corefile changed but reload failed: ")
        || message.starts_with("Listen: listen ");
    is_failed.then_some(SightingKind::StartFailed)
}

/// `7 errors like '^PATTERN$' occurred in last 30s`: how many.
///
/// Source: `CoreDNS`, plugin/errors/errors.go `logPattern`; spelt `occured`
/// up to 1.3.1.
fn consolidated(message: &str) -> Option<usize> {
    let (before, behind) = message.split_once(" errors like '")?;
    let is_one = behind.contains("' occurred in last ") || behind.contains("' occured in last ");
    let count = before.rsplit(' ').next()?;
    is_one.then(|| count.parse().ok()).flatten()
}

/// Whether a message has one of these phrases.
fn has(message: &str, phrases: &[&str]) -> bool {
    phrases.iter().any(|it| message.contains(it))
}

/// A connection's own time-out, the kernel's, and that of the whole query.
const LATE: &[&str] = &[
    "i/o timeout",
    "connection timed out",
    "context deadline exceeded",
];
#[rustfmt::skip]
const UNREACHABLE: &[&str] = &[
    "network is unreachable", "no route to host", "host is down",
    "connect: invalid argument", "operation not permitted", "permission denied",
];
#[rustfmt::skip]
const NETWORK: &[&str] = &[
    "read udp ", "read tcp ", "write udp ", "write tcp ", "dial udp ", "dial tcp ",
];
#[rustfmt::skip]
const DOWN: &[&str] = &[
    "no healthy proxies", "no healthy upstreams", "unreachable backend: no healthy",
];
#[rustfmt::skip]
const CLOSED: &[&str] = &[
    "connection reset by peer", "broken pipe", "use of closed network connection", "unexpected EOF",
];
/// What CoreDNS says of a server that it cannot use.
#[rustfmt::skip]
const NO_SERVER: &[&str] = &[
    "no nameservers found", "no valid upstream addresses found", "not an IP address or file",
    " TOs configured",
];

/// What Go's network errors and CoreDNS's own say.
fn errors(message: &str) -> Option<SightingKind> {
    let by_place = |loopback, upstream| {
        Some(if leads_back(message) {
            loopback
        } else {
            upstream
        })
    };
    if has(message, LATE) {
        return by_place(SightingKind::LoopbackTimeout, SightingKind::UpstreamTimeout);
    }
    if message.contains("connection refused") {
        return by_place(SightingKind::LoopbackRefused, SightingKind::UpstreamRefused);
    }
    if has(message, UNREACHABLE) && has(message, NETWORK) {
        return Some(SightingKind::UpstreamUnreachable);
    }
    if message.contains("concurrent queries exceeded maximum ") {
        return Some(SightingKind::TooManyQueries);
    }
    if has(message, DOWN) {
        return Some(SightingKind::UpstreamDown);
    }
    of_plugin(message)
}

/// What the error of a query is, behind its name and type; only there such
/// short words mean it.
///
/// Source: `CoreDNS`, plugin/errors/errors.go; miekg/dns, msg.go `Error`, whose
/// texts begin with `dns: `, of messages that cannot be read; Go, io and
/// crypto/tls.
fn of_plugin(message: &str) -> Option<SightingKind> {
    let (_, query) = message.split_once("[ERROR] ")?;
    let query = query.strip_prefix("plugin/errors: ").unwrap_or(query);
    // RCODE NAME TYPE: ERROR
    let (head, error) = query.split_once(": ")?;
    if head.split(' ').count() != 3 {
        return None;
    }
    let error = error.trim_end();
    if error == "EOF" || error.ends_with(": EOF") || has(error, CLOSED) {
        return Some(SightingKind::UpstreamClosed);
    }
    if error.ends_with("timed out") {
        return Some(SightingKind::UpstreamTimeout);
    }
    if has(error, &["tls: ", "x509: "]) {
        return Some(SightingKind::UpstreamTls);
    }
    error
        .starts_with("dns: ")
        .then_some(SightingKind::UpstreamMalformed)
}

/// Whether the address that was asked is a loopback one or that of the asker.
fn leads_back(message: &str) -> bool {
    asked(message)
        .is_some_and(|(source, server)| server.ip().is_loopback() || source == Some(server.ip()))
}

/// The server that Go's network errors name, and before it who asked:
/// `read udp SOURCE->SERVER: ` or `dial udp SERVER: `.
fn asked(message: &str) -> Option<(Option<IpAddr>, SocketAddr)> {
    let address = |word: &str| -> Option<SocketAddr> {
        let word = word.trim_end_matches([':', '"', ',']);
        // That of a link has the link's name: `[fe80::1%eth0]:53`.
        match word.split_once('%') {
            Some((ip, rest)) => format!("{ip}]{}", rest.split_once(']')?.1).parse().ok(),
            None => word.parse().ok(),
        }
    };
    let pair = message
        .split(' ')
        .find_map(|word| word.split_once("->"))
        .and_then(|(source, server)| Some((address(source).map(|it| it.ip()), address(server)?)));
    pair.or_else(|| {
        let dialled = ["dial udp ", "dial tcp "]
            .iter()
            .find_map(|dial| message.split_once(dial)?.1.split(' ').next());
        Some((None, dialled.and_then(address)?))
    })
}
