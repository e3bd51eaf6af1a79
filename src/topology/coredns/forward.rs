//! The directives `forward` and `proxy`, which send queries on.

use std::net::{IpAddr, SocketAddr};

use super::Places;
use super::doubts::Doubts;
use crate::config::corefile::{Directive, Transport, Word, zones};
use crate::text::{Place, Placed, Source, escaped};
use crate::topology::{Doubt, Policy, Role, Target};

/// More servers than this keep CoreDNS from starting.
///
/// Source: `CoreDNS`, plugin/forward/setup.go `max`.
const MAX_SERVERS: usize = 15;

/// A `forward`, `proxy`, `grpc` or `fanout`.
#[derive(Debug)]
pub(super) struct Stanza {
    /// The zone whose names it sends on.
    pub(super) from: String,
    /// The zones in it that it leaves to others.
    pub(super) except: Vec<String>,
    pub(super) to: Vec<Placed<Target>>,
    pub(super) policy: Policy,
    /// Whether some answers make it ask the next stanza.
    pub(super) goes_on: bool,
}

/// Reads a directive. What is unclear or wrong goes to `unknown`. `None`: it
/// sends nothing on.
///
/// Source: `CoreDNS`, plugin/forward/setup.go `parseStanza`; v1.4.0
/// plugin/proxy/upstream.go `NewStaticUpstream`.
pub(super) fn read_forward(
    directive: &Directive,
    replaced: &[Word],
    places: &Places<'_>,
    doubts: &mut Doubts,
) -> Option<Stanza> {
    let place = || places.place(directive.name.at);
    let Some((from, to)) = directive.arguments.split_first() else {
        doubts.stop("a zone and servers are missing", place());
        return None;
    };
    let Some(zone) = zones(&from.text).into_iter().next() else {
        let shown = escaped(from.text.as_bytes());
        doubts.stop(&format!("{shown} is no zone"), places.place(from.at));
        return None;
    };
    if to.is_empty() {
        doubts.stop("the servers are missing", place());
        return None;
    }
    let mut stanza = Stanza {
        from: zone,
        except: Vec::new(),
        to: Vec::new(),
        policy: match directive.name.text.as_str() {
            "fanout" => Policy::Unknown,
            _ => Policy::Random,
        },
        goes_on: false,
    };
    let is_plain = !matches!(directive.name.text.as_str(), "grpc");
    for word in to {
        // NodeLocal DNSCache puts several words there.
        let is_replaced = word.text == UPSTREAM_SERVERS && !replaced.is_empty();
        let words = if is_replaced {
            replaced
        } else {
            std::slice::from_ref(word)
        };
        for word in words.iter().take(MAX_SERVERS + 1) {
            let place = places.place(word.at);
            let shown = escaped(word.text.as_bytes());
            doubts.extend(doubt(word, &shown, &place));
            let value = target(&word.text).filter(|_| is_plain);
            let value = value.unwrap_or(Target::Other(shown));
            stanza.to.push(Placed::new(value, place));
        }
        if stanza.to.len() > MAX_SERVERS {
            let reason = format!("more than {MAX_SERVERS} TOs configured");
            doubts.stop(&reason, place());
            break;
        }
    }
    for line in &directive.lines {
        stanza.option(line, places, doubts);
    }
    Some(stanza)
}

/// What a word can stand for that nothing tells.
fn doubt(word: &Word, shown: &str, place: &Place) -> Option<Doubt> {
    let (word_shown, place) = (shown.to_owned(), place.clone());
    if word.text == UPSTREAM_SERVERS || word.text == CLUSTER_DNS {
        return Some(Doubt::Template {
            word: word_shown,
            is_cluster_dns: word.text == CLUSTER_DNS,
            place,
        });
    }
    let is_variable = word.has_variable() || word.text.contains("__PILLAR__");
    is_variable.then_some(Doubt::Variable {
        word: word_shown,
        role: Role::Target,
        place,
    })
}

/// What NodeLocal DNSCache replaces by the `upstreamNameservers` of the
/// ConfigMap kube-dns, or by `/etc/resolv.conf`.
///
/// Source: github.com/kubernetes/dns, cmd/node-cache/app/configmap.go
/// `updateCorefile`.
pub const UPSTREAM_SERVERS: &str = "__PILLAR__UPSTREAM__SERVERS__";
/// What it replaces by the address of the service that `-upstreamsvc` names:
/// another one than the cluster's own, for the same pods.
pub const CLUSTER_DNS: &str = "__PILLAR__CLUSTER__DNS__";

/// Whether NodeLocal DNSCache puts addresses into the Corefile that stand in
/// no other file.
pub fn has_places(corefile: &Source) -> bool {
    let text = String::from_utf8_lossy(&corefile.bytes);
    text.split_whitespace()
        .any(|word| word.contains("__PILLAR__") && word != UPSTREAM_SERVERS)
}

/// What a TO names; `None`: nothing that can be followed.
///
/// Source: `CoreDNS`, plugin/pkg/parse/host.go `HostPortOrFile`.
fn target(text: &str) -> Option<Target> {
    match text {
        UPSTREAM_SERVERS => return Some(Target::File("/etc/resolv.conf".to_owned())),
        CLUSTER_DNS => return Some(Target::ClusterDns),
        _ => {}
    }
    let (transport, rest) = Transport::split(text);
    if let Some((ip, port)) = ip_and_port(rest) {
        let port = port.unwrap_or(transport.default_port());
        return Some(Target::Address(SocketAddr::new(ip, port)));
    }
    let is_path = transport == Transport::Dns && rest.contains('/');
    is_path.then(|| Target::File(rest.to_owned()))
}

/// An address, with or without a scope or a name for TLS behind `%`, and its
/// port.
fn ip_and_port(text: &str) -> Option<(IpAddr, Option<u16>)> {
    let ip = |text: &str| text.split('%').next().and_then(|it| it.parse().ok());
    if let Some(ip) = ip(text).filter(|_| !is_name_with_port(text)) {
        return Some((ip, None));
    }
    let (host, port) = text.rsplit_once(':')?;
    let inner = host.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
    if inner.is_none() && host.contains(':') {
        return None;
    }
    // Go looks a port's name up in /etc/services.
    let port = match port {
        "domain" => 53,
        "domain-s" => 853,
        _ => port.parse().ok()?,
    };
    Some((ip(inner.unwrap_or(host))?, Some(port)))
}

/// Whether this is `IP%NAME:PORT`, with an IPv4 address.
fn is_name_with_port(text: &str) -> bool {
    let behind = text.split_once('%').map_or("", |it| it.1);
    behind.contains(':')
}

impl Stanza {
    /// Reads a line of the block. Words behind a complete option begin the
    /// next one, as in the source.
    fn option(&mut self, line: &[Word], places: &Places<'_>, doubts: &mut Doubts) {
        let mut rest = line;
        while let Some((name, behind)) = rest.split_first() {
            let taken = match name.text.as_str() {
                "force_tcp"
                | "prefer_udp"
                | "spray"
                | "next_on_nodata"
                | "failfast_all_unhealthy_upstreams" => 0,
                "expire"
                | "max_fails"
                | "max_concurrent"
                | "max_connect_attempts"
                | "max_idle_conns"
                | "max_age"
                | "max_requests"
                | "tls_servername"
                | "doh_method"
                | "policy"
                | "fail_timeout"
                | "source_address" => 1,
                "except" | "tls" | "health_check" | "next" | "failover" | "resolver"
                | "protocol" | "network" | "worker-count" | "timeout" => usize::MAX,
                other => {
                    doubts.add(Doubt::Option {
                        name: escaped(other.as_bytes()),
                        is_policy: false,
                        place: places.place(name.at),
                    });
                    usize::MAX
                }
            };
            let (values, next) = behind.split_at(taken.min(behind.len()));
            self.set(name, values, places, doubts);
            rest = next;
        }
    }

    fn set(&mut self, name: &Word, values: &[Word], places: &Places<'_>, doubts: &mut Doubts) {
        let first = values.first().map_or("", |word| word.text.as_str());
        match name.text.as_str() {
            "except" => {
                let zones = values.iter().flat_map(|word| zones(&word.text));
                self.except.extend(zones);
            }
            "next" | "next_on_nodata" => self.goes_on = true,
            "policy" => match first {
                "random" | "weighted-random" => self.policy = Policy::Random,
                "round_robin" => self.policy = Policy::RoundRobin,
                "sequential" | "first" => self.policy = Policy::Sequential,
                other => {
                    self.policy = Policy::Unknown;
                    doubts.add(Doubt::Option {
                        name: escaped(other.as_bytes()),
                        is_policy: true,
                        place: places.place(name.at),
                    });
                }
            },
            // The old proxy could ask Google over HTTPS.
            "protocol" if first.contains("google") => {
                for target in &mut self.to {
                    target.value = Target::Other(escaped(first.as_bytes()));
                }
            }
            _ => {}
        }
    }
}
