//! A self-contained question: a name, the files and environment around the
//! resolver, and the servers' rules.
//!
//! The JSON form, [`json`], is the one that observed vectors use.

mod form;
pub mod json;
pub mod own;
pub mod record_type;

use std::collections::BTreeMap;

use hickory_proto::rr::RecordType;
use serde::{Deserialize, Serialize};

use crate::config::resolv_conf::ResolvConf;
use crate::scenario::own::{Daemon, Own};
use crate::text::Source;
use crate::world::{Rule, World};

/// Everything that decides what a resolver sends for one name.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Scenario {
    /// What the question is called in output.
    pub id: String,
    /// `/etc/resolv.conf`; `None`: there is no such file.
    pub resolv_conf: Option<ResolvConf>,
    /// The name to look up, as the program would pass it.
    pub name: String,
    /// What is asked about it.
    pub lookup: Lookup,
    /// Flags of `getaddrinfo` (`AI_CANONNAME` is 2).
    pub flags: u32,
    /// Environment variables of the program.
    pub env: BTreeMap<String, String>,
    /// The machine's host name.
    pub hostname: String,
    /// `/etc/hosts`; `None`: there is no such file.
    pub hosts: Option<ResolvConf>,
    /// `/etc/nsswitch.conf`; `None`: there is no such file.
    pub nsswitch: Option<ResolvConf>,
    /// What is known of the modules of `nsswitch` that are not part of glibc.
    pub nss_modules: BTreeMap<String, NssModule>,
    /// Names of the network interfaces, for scopes of IPv6 addresses.
    pub interfaces: Vec<String>,
    /// Other files by their absolute path.
    pub files: BTreeMap<String, Vec<u8>>,
    /// The resolver of a daemon's own configuration; `None`: the daemon is not
    /// known, and its model has the servers of `resolv_conf`.
    pub own: Option<Own>,
    /// What the servers answer; the first rule that fits is used.
    pub answers: Vec<Rule>,
}

/// What a program asks about a name.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Lookup {
    /// `getaddrinfo` and its like.
    Addresses(Family),
    /// Records of one type, `res_search` and its like.
    Records(RecordType),
}

/// A module of nsswitch.conf that is not part of glibc, as a program finds it.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum NssModule {
    /// Its library is not there.
    Missing,
    /// Its library is there; what it asks is not known: whether a daemon runs, which one, or which
    /// addresses the machine has.
    Found,
    /// Its library is there; a daemon that it asks is not, and the machine's addresses are those
    /// of every scenario.
    Installed,
    /// Its library is there, and so is the daemon's socket.
    Served,
}

/// Which addresses are wanted.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    /// Both (`AF_UNSPEC`).
    #[default]
    #[serde(rename = "unspec")]
    Both,
    /// IPv4 (`AF_INET`).
    Inet,
    /// IPv6 (`AF_INET6`).
    Inet6,
}

/// The file with the names that nss-mdns looks up; that it is there tells Go that the C
/// library knows more about `.local`.
pub const MDNS_ALLOW: &str = "/etc/mdns.allow";

impl Scenario {
    /// The question for `name`, with default files and no `resolv.conf`.
    pub fn new(id: impl Into<String>, name: impl Into<String>) -> Self {
        let hostname = "pod-1".to_owned();
        Self {
            id: id.into(),
            resolv_conf: None,
            name: name.into(),
            lookup: Lookup::Addresses(Family::Both),
            flags: 0,
            env: BTreeMap::new(),
            hosts: Some(default_hosts(&hostname)),
            hostname,
            nsswitch: Some(default_nsswitch()),
            nss_modules: BTreeMap::new(),
            interfaces: default_interfaces(),
            files: BTreeMap::new(),
            own: None,
            answers: Vec::new(),
        }
    }

    /// The same with another `resolv.conf` or another question, for a model
    /// that asks a further resolver. The servers' rules, which no model sees,
    /// are left out.
    #[must_use]
    pub fn without_answers(&self) -> Self {
        Self {
            answers: Vec::new(),
            ..self.clone()
        }
    }

    /// Takes over what was made of files that are the same in a scenario before.
    pub fn share_files(&mut self, before: &Self) {
        for (file, other) in [
            (&mut self.resolv_conf, &before.resolv_conf),
            (&mut self.hosts, &before.hosts),
            (&mut self.nsswitch, &before.nsswitch),
        ] {
            if let (Some(file), Some(other)) = (file, other)
                && file.source == other.source
            {
                file.made = other.made.clone();
            }
        }
    }

    /// The world of these rules around it: its interfaces, and servers at the ports
    /// that a daemon's configuration names.
    pub fn world<'r>(&self, rules: &'r [Rule]) -> World<'r> {
        let ports = self.own.as_ref().map(Own::ports);
        World::new(rules)
            .with_interfaces(self.interfaces.len())
            .with_ports(ports.unwrap_or_default())
    }

    /// What the configuration of this daemon says of its resolver, if it is known.
    pub fn own_of(&self, daemon: Daemon) -> Option<&Own> {
        self.own.as_ref().filter(|it| it.daemon == daemon)
    }

    /// The addresses asked for; both families if records are.
    pub fn family(&self) -> Family {
        match self.lookup {
            Lookup::Addresses(family) => family,
            Lookup::Records(_) => Family::Both,
        }
    }

    /// The value of an environment variable, if it is set.
    pub fn env(&self, variable: &str) -> Option<&str> {
        self.env.get(variable).map(String::as_str)
    }

    /// Whether there is a network interface of this name.
    pub fn has_interface(&self, name: &str) -> bool {
        self.interfaces.iter().any(|interface| interface == name)
    }
}

impl Family {
    /// The record types that are asked for, A first.
    pub fn record_types(self) -> &'static [RecordType] {
        match self {
            Self::Both => &[RecordType::A, RecordType::AAAA],
            Self::Inet => &[RecordType::A],
            Self::Inet6 => &[RecordType::AAAA],
        }
    }
}

/// The hosts file of a machine of that name, where a scenario has none.
pub fn default_hosts(hostname: &str) -> ResolvConf {
    file(
        "/etc/hosts",
        format!(
            "127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n10.244.1.5 {hostname}\n"
        ),
    )
}

/// `hosts: files dns`, what distributions ship.
pub fn default_nsswitch() -> ResolvConf {
    file("/etc/nsswitch.conf", "hosts: files dns\n")
}

/// The interfaces of a pod, where a scenario does not say: `lo` and `eth0`.
pub fn default_interfaces() -> Vec<String> {
    vec!["lo".to_owned(), "eth0".to_owned()]
}

/// A file of the scenario from its text.
pub fn file(name: &str, bytes: impl Into<Vec<u8>>) -> ResolvConf {
    ResolvConf::parse(Source::new(name, bytes))
}
