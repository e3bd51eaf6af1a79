//! The keys of Envoy's bootstrap, in YAML or JSON: its clusters whose addresses are names,
//! and the resolver that each has.
//!
//! Source: Envoy `api/envoy/config/bootstrap/v3/bootstrap.proto`,
//! `api/envoy/config/cluster/v3/cluster.proto`,
//! `api/envoy/extensions/network/dns_resolver/cares/v3/cares_dns_resolver.proto` (1.36)

use std::net::IpAddr;

use crate::config::yaml::Node;

/// Clusters of these kinds look their addresses up as names.
const BY_NAME: [&str; 5] = [
    "STRICT_DNS",
    "LOGICAL_DNS",
    "envoy.cluster.strict_dns",
    "envoy.cluster.logical_dns",
    "envoy.cluster.dns",
];

/// What a cluster is and has.
#[derive(Clone, Copy, Debug)]
pub struct Cluster<'n> {
    /// The whole of it.
    pub node: &'n Node,
    /// What kind it is: `STRICT_DNS`; empty if it says none.
    pub kind: &'n str,
    /// Where its settings stand: in itself, or, of one of the newer kind, below it.
    pub settings: &'n Node,
}

/// The resolver that is set somewhere: its keys, and which it is.
#[derive(Clone, Copy, Debug)]
pub struct Resolver<'n> {
    /// Its keys.
    pub config: &'n Node,
    /// The end of its type: `CaresDnsResolverConfig`.
    pub kind: &'n str,
}

/// The clusters that stand in a bootstrap.
pub fn clusters(root: &Node) -> impl Iterator<Item = Cluster<'_>> {
    let resources = get(root, "static_resources");
    let clusters = resources.into_iter().flat_map(|it| list(it, "clusters"));
    clusters.map(|node| {
        let custom = get(node, "cluster_type");
        let kind = match custom {
            Some(custom) => word(custom, "name"),
            None => word(node, "type"),
        };
        let typed = custom.and_then(|it| get(it, "typed_config"));
        Cluster {
            node,
            kind: kind.unwrap_or_default(),
            settings: typed.unwrap_or(node),
        }
    })
}

impl<'n> Cluster<'n> {
    /// Whether it looks its addresses up.
    pub fn is_by_name(self) -> bool {
        BY_NAME.contains(&self.kind)
    }

    /// Its addresses that are names, in order.
    pub fn names(self) -> impl Iterator<Item = &'n Node> {
        let groups = get(self.node, "load_assignment").map(|it| list(it, "endpoints"));
        let endpoints = groups.into_iter().flatten();
        let endpoints = endpoints.flat_map(|it| list(it, "lb_endpoints"));
        let addresses = endpoints.filter_map(|it| {
            let socket = get(get(get(it, "endpoint")?, "address")?, "socket_address")?;
            get(socket, "address")
        });
        let is_name = |it: &&Node| {
            let text = it.as_scalar().map(|it| it.text.as_str());
            text.is_some_and(|it| it.parse::<IpAddr>().is_err())
        };
        addresses.filter(is_name)
    }

    /// Its own resolver; `None`: that of the bootstrap.
    pub fn resolver(self) -> Option<Resolver<'n>> {
        resolver(self.settings).or_else(|| resolver(self.node))
    }

    /// Which addresses it asks for.
    pub fn family(self) -> &'n str {
        word(self.settings, "dns_lookup_family").unwrap_or("AUTO")
    }
}

impl<'n> Resolver<'n> {
    /// Whether the C library is asked.
    pub fn is_libc(self) -> bool {
        self.kind.ends_with("GetAddrInfoDnsResolverConfig")
    }

    /// Whether it is c-ares.
    pub fn is_c_ares(self) -> bool {
        self.kind.ends_with("CaresDnsResolverConfig")
    }

    /// Whether a name is asked for as it is.
    pub fn has_no_search(self) -> bool {
        let options = get(self.config, "dns_resolver_options");
        options.is_some_and(|it| flag(it, "no_default_search_domain"))
    }

    /// Whether its servers are asked only where resolv.conf has none.
    pub fn is_fallback(self) -> bool {
        flag(self.config, "use_resolvers_as_fallback")
    }

    /// The addresses of its servers, where they stand: `{address, port_value}`.
    pub fn servers(self) -> impl Iterator<Item = &'n Node> {
        let servers = list(self.config, "resolvers").iter();
        servers.map(|it| get(it, "socket_address").unwrap_or(it))
    }
}

/// The resolver that a cluster or the bootstrap names; `None`: it names none.
///
/// Source: Envoy `source/common/upstream/cluster_factory_impl.cc: selectDnsResolver`,
/// `source/common/network/dns_resolver/dns_factory_util.h` (1.36)
pub fn resolver(node: &Node) -> Option<Resolver<'_>> {
    let typed = get(node, "typed_dns_resolver_config").and_then(|it| get(it, "typed_config"));
    let old = get(node, "dns_resolution_config");
    let config = match typed.filter(|it| word(it, "@type").is_some()) {
        Some(typed) => typed,
        None => old.filter(|it| !list(it, "resolvers").is_empty())?,
    };
    let kind = word(config, "@type").unwrap_or("CaresDnsResolverConfig");
    Some(Resolver { config, kind })
}

/// The value of a key, which can also be written as JSON writes it: `dnsLookupFamily`.
pub fn get<'n>(node: &'n Node, key: &str) -> Option<&'n Node> {
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

/// The text of a key's value, if it is one word. Numbers and truth values of a
/// wrapper's JSON form stand in it.
pub fn word<'n>(node: &'n Node, key: &str) -> Option<&'n str> {
    let value = get(node, key)?;
    Some(&value.get("value").unwrap_or(value).as_scalar()?.text)
}

/// Whether a key is set.
pub fn flag(node: &Node, key: &str) -> bool {
    word(node, key) == Some("true")
}

fn list<'n>(node: &'n Node, key: &str) -> &'n [Node] {
    let list = get(node, key).and_then(Node::as_sequence);
    list.unwrap_or_default()
}
