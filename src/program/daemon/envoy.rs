//! Envoy's bootstrap: the clusters whose addresses are names, and what each of
//! them asks. From the source, not observed.
//!
//! Source: Envoy `api/envoy/config/bootstrap/v3/bootstrap.proto`,
//! `api/envoy/config/cluster/v3/cluster.proto`,
//! `api/envoy/extensions/network/dns_resolver/cares/v3/cares_dns_resolver.proto` (1.36)

use std::time::Duration;

use super::{MAX_SERVERS, Names, Section};
use crate::config::envoy_bootstrap::{Cluster, Resolver, clusters, flag, get, resolver, word};
use crate::config::yaml::{self, Node};
use crate::scenario::own::{Daemon, Given, Order, Own};
use crate::text::{Lines, Place, Placed, Source, escaped};

/// Takes the names of requests.
const FORWARD_PROXY: &str = "envoy.clusters.dynamic_forward_proxy";
/// What is shown of a cluster's settings.
const SHOWN: [&str; 4] = [
    "dns_lookup_family",
    "dns_refresh_rate",
    "dns_failure_refresh_rate",
    "respect_dns_ttl",
];
/// What is shown of its resolver's.
const SHOWN_OF_RESOLVER: [&str; 4] = [
    "use_resolvers_as_fallback",
    "filter_unroutable_families",
    "rotate_nameservers",
    "udp_max_queries",
];

/// A bootstrap, or what the command line lays over it.
struct Text<'f> {
    lines: Lines<'f>,
    root: Node,
}

/// Reads the files in their order: lists of the later ones come behind those of
/// the first, other values replace them.
///
/// Source: Envoy `source/server/server.cc: InstanceUtil::loadBootstrapConfig` (1.36)
pub(super) fn collect_names(files: &[Source], names: &mut Names) {
    let mut texts = Vec::new();
    for file in files {
        let first = yaml::documents(file).into_iter().next();
        let lines = Lines::new(file);
        match first.map(|it| it.root) {
            Some(Ok(root)) if root.as_mapping().is_some() => texts.push(Text { lines, root }),
            Some(Err(error)) => {
                let place = lines.place_of(error.at);
                names.unread.push(format!("{place}: {error}"));
            }
            _ => names
                .unread
                .push(format!("{} has no mapping in it", file.name)),
        }
    }
    let usual = |it: &Text<'_>| Some(asks(it, resolver(&it.root)?));
    let usual = texts.iter().rev().find_map(usual);
    for text in &texts {
        for key in ["dynamic_resources", "ads_config"] {
            if let Some(found) = get(&text.root, key) {
                let place = text.place(found);
                names.scripts.get_or_insert(place);
            }
        }
        for cluster in clusters(&text.root) {
            cluster_of(text, &cluster, usual.as_ref(), names);
        }
    }
}

fn cluster_of(text: &Text<'_>, cluster: &Cluster<'_>, usual: Option<&Asks>, names: &mut Names) {
    let Cluster {
        node,
        kind,
        settings,
    } = *cluster;
    if kind == FORWARD_PROXY {
        let place = text.place(node);
        names.scripts.get_or_insert(place);
    }
    if !cluster.is_by_name() {
        return;
    }
    let asks = cluster.resolver().map(|it| asks(text, it));
    let asks = asks.or_else(|| usual.cloned()).unwrap_or_default();
    let mut section = Section {
        place: text.place(get(node, "name").unwrap_or(node)),
        label: escaped(word(node, "name").unwrap_or_default().as_bytes()),
        settings: vec![escaped(kind.as_bytes())],
        used: None,
        is_libc: asks.is_libc,
        names: text_of(cluster.names()),
        own: asks.own,
    };
    let shown = SHOWN.iter().filter_map(|key| shown(settings, key));
    section.settings.extend(shown);
    section.settings.extend(asks.settings);
    let family = cluster.family();
    let own = &mut section.own;
    (own.has_ipv4, own.has_ipv6, own.order) = match family {
        "AUTO" => (true, true, Order::Ipv6First),
        "V4_PREFERRED" => (true, true, Order::Ipv4First),
        "ALL" => (true, true, Order::Together),
        "V4_ONLY" => (true, false, Order::Together),
        "V6_ONLY" => (false, true, Order::Together),
        other => {
            let (place, other) = (&section.place, escaped(other.as_bytes()));
            let why = format!("{place}: `dns_lookup_family` {other} is not known here");
            names.unread.push(why);
            (true, true, Order::Ipv6First)
        }
    };
    names.put(section);
}

fn text_of<'n>(names: impl Iterator<Item = &'n Node>) -> Vec<String> {
    let texts = names.filter_map(Node::as_scalar).take(MAX_SERVERS);
    texts.map(|it| escaped(it.text.as_bytes())).collect()
}

/// What a cluster asks.
#[derive(Clone)]
struct Asks {
    own: Own,
    is_libc: bool,
    settings: Vec<String>,
}

impl Default for Asks {
    fn default() -> Self {
        let mut own = Own::new(Daemon::Envoy);
        own.servers.push(Placed {
            value: Given::ResolvConf,
            place: Place::nowhere("the default of Envoy"),
        });
        Self {
            own,
            is_libc: false,
            settings: Vec::new(),
        }
    }
}

/// What a resolver that is named asks.
fn asks(text: &Text<'_>, resolver: Resolver<'_>) -> Asks {
    let Resolver { config, kind } = resolver;
    let mut asks = Asks {
        is_libc: resolver.is_libc(),
        ..Asks::default()
    };
    let own = &mut asks.own;
    let place = text.place(config);
    if asks.is_libc {
        asks.settings.push("getaddrinfo".to_owned());
        return asks;
    }
    if !resolver.is_c_ares() {
        let value = Given::Unknown(escaped(kind.as_bytes()));
        own.servers = vec![Placed { value, place }];
        return asks;
    }
    let servers = resolver.servers().take(MAX_SERVERS);
    let servers: Vec<Placed<Given>> = servers.map(|it| server(text, it)).collect();
    let is_fallback = flag(config, "use_resolvers_as_fallback");
    if !servers.is_empty() && !is_fallback {
        own.servers.clear();
    }
    own.servers.extend(servers);
    if let Some(options) = get(config, "dns_resolver_options") {
        own.is_tcp = flag(options, "use_tcp_for_dns_lookups");
        own.has_search = !resolver.has_no_search();
        let keys = ["use_tcp_for_dns_lookups", "no_default_search_domain"];
        let shown = keys.iter().filter_map(|key| shown(options, key));
        asks.settings.extend(shown);
    }
    let number = |key| word(config, key)?.parse().ok();
    own.retry = number("query_timeout_seconds").map(|it: u32| Duration::from_secs(it.into()));
    own.retries = number("query_tries");
    let size = word(config, "edns0_max_payload_size");
    own.edns_size = size.and_then(|it| it.parse().ok());
    let shown = SHOWN_OF_RESOLVER
        .iter()
        .filter_map(|key| shown(config, key));
    asks.settings.extend(shown);
    asks
}

/// A server has to be an address: Envoy does not start with another one.
fn server(text: &Text<'_>, socket: &Node) -> Placed<Given> {
    let host = word(socket, "address").unwrap_or_default();
    let port = word(socket, "port_value").and_then(|it| it.parse().ok());
    let port = port.filter(|it| *it > 0);
    let value = match host.parse().ok() {
        Some(ip) => Given::host(host, Some(ip), port.unwrap_or(crate::address::DNS_PORT)),
        None => None,
    };
    Placed {
        value: value.unwrap_or_else(|| Given::Unknown(escaped(host.as_bytes()))),
        place: text.place(socket),
    }
}

impl Text<'_> {
    fn place(&self, node: &Node) -> Place {
        self.lines.place_of(node.span.start)
    }
}

/// A setting as it stands there, if it is one word.
fn shown(node: &Node, key: &str) -> Option<String> {
    let value = escaped(word(node, key)?.as_bytes());
    Some(format!("{key}: {value}"))
}
