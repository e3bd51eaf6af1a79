//! The resolver of a daemon's own configuration: nginx' `resolver` directive, a
//! `resolvers` section of `HAProxy`, what a cluster of Envoy asks.

pub mod form;

use std::net::IpAddr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::address::Server;
use crate::text::Placed;

/// What a daemon's own configuration says of its resolver, which counts for it
/// in place of `resolv.conf`. What is `None` is as the daemon has it by default.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Own {
    /// The resolver that it is for.
    pub daemon: Daemon,
    /// What stands where its servers do, in order.
    pub servers: Vec<Placed<Given>>,
    /// Whether IPv4 addresses are asked for (`ipv4=off`).
    pub has_ipv4: bool,
    /// Whether IPv6 addresses are asked for (`ipv6=off`).
    pub has_ipv6: bool,
    /// In which order the two are asked for (`dns_lookup_family`).
    pub order: Order,
    /// Whether queries go over TCP at once (`use_tcp_for_dns_lookups`).
    pub is_tcp: bool,
    /// Whether the search list counts, for a daemon that has one
    /// (`no_default_search_domain`).
    pub has_search: bool,
    /// How long a whole lookup takes (`resolver_timeout`).
    pub timeout: Option<Duration>,
    /// How long a query waits (`timeout retry`, `query_timeout_seconds`).
    pub retry: Option<Duration>,
    /// How often a name is asked (`resolve_retries`, `query_tries`).
    pub retries: Option<u32>,
    /// The size that EDNS offers (`accepted_payload_size`, `edns0_max_payload_size`).
    pub edns_size: Option<u16>,
}

/// A daemon with a resolver of its own.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Daemon {
    /// nginx.
    Nginx,
    /// `HAProxy`.
    Haproxy,
    /// Envoy.
    Envoy,
}

/// How addresses of both families are asked for.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// As the daemon does by itself; of Envoy both in one lookup (`ALL`).
    #[default]
    Together,
    /// IPv6, and IPv4 where that brings nothing (`AUTO`).
    Ipv6First,
    /// IPv4, and IPv6 where that brings nothing (`V4_PREFERRED`).
    Ipv4First,
}

/// What a model says that leaves one of its servers out.
pub const UNKNOWN: &str =
    "a server of the configuration is not understood: what is sent to it is not shown";

/// What stands where a server should.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Given {
    /// An address and a port.
    Server(Server),
    /// A name: the daemon asks the C library for it when it starts.
    Name(String, u16),
    /// The servers of `/etc/resolv.conf` (`parse-resolv-conf`).
    ResolvConf,
    /// Something that is not known here: a variable, another transport.
    Unknown(String),
}

impl Given {
    /// A host and its address, if it is one; `None`: it can be no host's name either.
    pub fn host(host: &str, ip: Option<IpAddr>, port: u16) -> Option<Self> {
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        if let Some(ip) = ip {
            let address = ip.into();
            return Some(Self::Server(Server { address, port }));
        }
        let is_host = !host.is_empty() && host.bytes().all(is_name);
        is_host.then(|| Self::Name(host.to_owned(), port))
    }
}

impl Own {
    /// One for `daemon` without servers, and else as it is by default.
    pub fn new(daemon: Daemon) -> Self {
        Self {
            daemon,
            servers: Vec::new(),
            has_ipv4: true,
            has_ipv6: true,
            order: Order::default(),
            is_tcp: false,
            has_search: true,
            timeout: None,
            retry: None,
            retries: None,
            edns_size: None,
        }
    }

    /// The ports of its servers.
    pub fn ports(&self) -> Vec<u16> {
        let port = |it: &Placed<Given>| match &it.value {
            Given::Server(server) => Some(server.port),
            Given::Name(_, port) => Some(*port),
            Given::ResolvConf | Given::Unknown(_) => None,
        };
        self.servers.iter().filter_map(port).collect()
    }

    /// Whether it takes the servers of `resolv.conf`.
    pub fn has_resolv_conf(&self) -> bool {
        let mut servers = self.servers.iter();
        servers.any(|it| it.value == Given::ResolvConf)
    }

    /// Whether one of its servers is not understood here.
    pub fn has_unknown(&self) -> bool {
        let mut servers = self.servers.iter();
        servers.any(|it| matches!(it.value, Given::Unknown(_)))
    }
}

impl Daemon {
    /// Its id among the resolvers ([`crate::resolver::ALL`]).
    pub fn id(self) -> &'static str {
        match self {
            Self::Nginx => "nginx",
            Self::Haproxy => "haproxy",
            Self::Envoy => "envoy",
        }
    }

    /// Its name for people.
    pub fn title(self) -> &'static str {
        match self {
            Self::Nginx => "nginx",
            Self::Haproxy => "HAProxy",
            Self::Envoy => "Envoy",
        }
    }

    /// The daemon whose program has this name.
    pub fn of_program(name: &str) -> Option<Self> {
        match name {
            "nginx" => Some(Self::Nginx),
            "haproxy" => Some(Self::Haproxy),
            // Cilium's has another name.
            "envoy" | "cilium-envoy" => Some(Self::Envoy),
            _ => None,
        }
    }
}
