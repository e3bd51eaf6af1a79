//! Envoy's bootstrap: the clusters whose addresses are names, and what each of
//! them asks. From the source, not observed.
//!
//! Source: Envoy `api/envoy/config/bootstrap/v3/bootstrap.proto`,
//! `api/envoy/config/cluster/v3/cluster.proto`,
//! `api/envoy/extensions/network/dns_resolver/cares/v3/cares_dns_resolver.proto` (1.36)

use std::net::IpAddr;
use std::time::Duration;

use super::{MAX_SERVERS, Names, Section};
use crate::config::yaml::{self, Node};
use crate::scenario::own::{Daemon, Given, Order, Own};
use crate::text::{Lines, Place, Placed, Source, escaped};

/// Clusters of these kinds look their addresses up as names.
const BY_NAME: [&str; 5] = [
    "STRICT_DNS",
    "LOGICAL_DNS",
    "envoy.cluster.strict_dns",
    "envoy.cluster.logical_dns",
    "envoy.cluster.dns",
];
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
    let usual = texts.iter().rev().find_map(|it| resolver(it, &it.root));
    for text in &texts {
        for key in ["dynamic_resources", "ads_config"] {
            if let Some(found) = get(&text.root, key) {
                let place = text.place(found);
                names.scripts.get_or_insert(place);
            }
        }
        let clusters = get(&text.root, "static_resources").and_then(|it| get(it, "clusters"));
        for cluster in clusters.and_then(Node::as_sequence).unwrap_or_default() {
            cluster_of(text, cluster, usual.as_ref(), names);
        }
    }
}

fn cluster_of(text: &Text<'_>, cluster: &Node, usual: Option<&Asks>, names: &mut Names) {
    let custom = get(cluster, "cluster_type");
    let kind = match custom {
        Some(custom) => word(custom, "name"),
        None => word(cluster, "type"),
    };
    let kind = kind.unwrap_or_default();
    if kind == FORWARD_PROXY {
        let place = text.place(cluster);
        names.scripts.get_or_insert(place);
    }
    if !BY_NAME.contains(&kind) {
        return;
    }
    // A cluster of the newer kind has these settings of its own.
    let settings = custom.and_then(|it| get(it, "typed_config"));
    let settings = settings.unwrap_or(cluster);
    let asks = resolver(text, settings).or_else(|| resolver(text, cluster));
    let asks = asks.or_else(|| usual.cloned()).unwrap_or_default();
    let mut section = Section {
        place: text.place(get(cluster, "name").unwrap_or(cluster)),
        label: escaped(word(cluster, "name").unwrap_or_default().as_bytes()),
        settings: vec![escaped(kind.as_bytes())],
        used: None,
        is_libc: asks.is_libc,
        names: names_of(cluster),
        own: asks.own,
    };
    let shown = SHOWN.iter().filter_map(|key| shown(settings, key));
    section.settings.extend(shown);
    section.settings.extend(asks.settings);
    let family = word(settings, "dns_lookup_family").unwrap_or("AUTO");
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

/// The addresses of a cluster that are names.
fn names_of(cluster: &Node) -> Vec<String> {
    let groups = get(cluster, "load_assignment").map(|it| list(it, "endpoints"));
    let endpoints = groups.into_iter().flatten();
    let endpoints = endpoints.flat_map(|it| list(it, "lb_endpoints"));
    let name = |it: &Node| {
        let socket = get(get(get(it, "endpoint")?, "address")?, "socket_address")?;
        let name = word(socket, "address")?;
        let is_name = name.parse::<IpAddr>().is_err();
        is_name.then(|| escaped(name.as_bytes()))
    };
    endpoints.filter_map(name).take(MAX_SERVERS).collect()
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

/// The resolver that a cluster or the bootstrap names; `None`: it names none.
///
/// Source: Envoy `source/common/upstream/cluster_factory_impl.cc: selectDnsResolver`,
/// `source/common/network/dns_resolver/dns_factory_util.h` (1.36)
fn resolver(text: &Text<'_>, node: &Node) -> Option<Asks> {
    let typed = get(node, "typed_dns_resolver_config").and_then(|it| get(it, "typed_config"));
    let old = get(node, "dns_resolution_config");
    let config = match typed.filter(|it| word(it, "@type").is_some()) {
        Some(typed) => typed,
        None => old.filter(|it| !list(it, "resolvers").is_empty())?,
    };
    let kind = word(config, "@type").unwrap_or("CaresDnsResolverConfig");
    let mut asks = Asks {
        is_libc: kind.ends_with("GetAddrInfoDnsResolverConfig"),
        ..Asks::default()
    };
    let own = &mut asks.own;
    let place = text.place(config);
    if asks.is_libc {
        asks.settings.push("getaddrinfo".to_owned());
        return Some(asks);
    }
    if !kind.ends_with("CaresDnsResolverConfig") {
        let value = Given::Unknown(escaped(kind.as_bytes()));
        own.servers = vec![Placed { value, place }];
        return Some(asks);
    }
    let servers = list(config, "resolvers").iter().take(MAX_SERVERS);
    let servers: Vec<Placed<Given>> = servers.map(|it| server(text, it)).collect();
    let is_fallback = flag(config, "use_resolvers_as_fallback");
    if !servers.is_empty() && !is_fallback {
        own.servers.clear();
    }
    own.servers.extend(servers);
    if let Some(options) = get(config, "dns_resolver_options") {
        own.is_tcp = flag(options, "use_tcp_for_dns_lookups");
        own.has_search = !flag(options, "no_default_search_domain");
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
    Some(asks)
}

/// A server has to be an address: Envoy does not start with another one.
fn server(text: &Text<'_>, node: &Node) -> Placed<Given> {
    let socket = get(node, "socket_address");
    let host = socket.and_then(|it| word(it, "address"));
    let port = socket.and_then(|it| word(it, "port_value")?.parse().ok());
    let port = port.filter(|it| *it > 0);
    let host = host.unwrap_or_default();
    let value = match host.parse().ok() {
        Some(ip) => Given::host(host, Some(ip), port.unwrap_or(crate::address::DNS_PORT)),
        None => None,
    };
    Placed {
        value: value.unwrap_or_else(|| Given::Unknown(escaped(host.as_bytes()))),
        place: text.place(socket.unwrap_or(node)),
    }
}

impl Text<'_> {
    fn place(&self, node: &Node) -> Place {
        self.lines.place_of(node.span.start)
    }
}

/// The value of a key, which can also be written as JSON writes it: `dnsLookupFamily`.
fn get<'n>(node: &'n Node, key: &str) -> Option<&'n Node> {
    node.get(key).or_else(|| node.get(&camel(key)))
}

fn camel(key: &str) -> String {
    let mut parts = key.split('_');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |done, part| {
        let (head, tail) = part.split_at(1.min(part.len()));
        done + &head.to_ascii_uppercase() + tail
    })
}

fn word<'n>(node: &'n Node, key: &str) -> Option<&'n str> {
    let value = get(node, key)?;
    // Numbers and truth values of a wrapper's JSON form stand in it.
    Some(&value.get("value").unwrap_or(value).as_scalar()?.text)
}

fn flag(node: &Node, key: &str) -> bool {
    word(node, key) == Some("true")
}

fn list<'n>(node: &'n Node, key: &str) -> &'n [Node] {
    let list = get(node, key).and_then(Node::as_sequence);
    list.unwrap_or_default()
}

/// A setting as it stands there, if it is one word.
fn shown(node: &Node, key: &str) -> Option<String> {
    let value = escaped(word(node, key)?.as_bytes());
    Some(format!("{key}: {value}"))
}
