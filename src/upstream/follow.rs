//! Follows a server to the end.

use std::net::SocketAddr;

use super::identity::{self, Identity};
use super::{Confirmed, End, Lost, MAX_FOLLOWED, NodeWithDns, Note, Step, Unknown, Who};
use crate::address::DNS_PORT;
use crate::config::corefile::is_within;
use crate::config::openresolv_conf::OpenresolvConf;
use crate::config::resolv_conf::ResolvConf;
use crate::loopback::{self, Evidence};
use crate::node::runtime::run_path;
use crate::node::{HostFile, Node};
use crate::text::{Place, Placed, escaped};
use crate::topology::resolved::Resolved;
use crate::topology::{DnsServer, Forward, Network, Program, Target};

/// The settings of openresolv.
const OPENRESOLV: &str = "/etc/resolvconf.conf";

/// Longest query path that is followed.
const MAX_STEPS: usize = 30;

/// A walk over the servers of a node. Each server is followed once, and once more for each
/// zone of which only the names come to it.
pub(super) struct Walk<'n> {
    node: &'n Node,
    seen: &'n NodeWithDns,
    /// Where it asks from.
    network: Network,
    /// Only names of this zone come this way; `None`: all.
    zone: Option<String>,
    /// The files that can tell whose a server is; the links are those of the
    /// file that lists it.
    evidence: Evidence,
    /// The servers on the query path so far.
    path: Vec<Key>,
    /// Those that were followed, with the zone that they were followed for.
    done: Vec<(Key, Option<String>)>,
}

/// What makes two steps the same.
#[derive(Clone, Debug, Eq, PartialEq)]
enum Key {
    Server(usize),
    Address(Network, SocketAddr),
}

impl<'n> Walk<'n> {
    pub(super) fn new(seen: &'n NodeWithDns) -> Self {
        let node = &seen.node;
        let files = node.files.iter();
        let files = files.filter_map(|it| it.conf().cloned());
        Self {
            node,
            seen,
            network: Network::Node,
            zone: None,
            evidence: Evidence {
                links: Vec::new(),
                files: files.collect(),
            },
            path: Vec::new(),
            done: Vec::new(),
        }
    }

    /// The servers of a file that is reached over `links`, but for those that
    /// are not `asked`.
    pub(super) fn all(
        &mut self,
        conf: &ResolvConf,
        links: &[String],
        asked: impl Fn(SocketAddr) -> bool,
    ) -> Vec<Step> {
        let mut steps = Vec::new();
        for (ip, span) in loopback::name_servers(conf).take(MAX_FOLLOWED) {
            let address = SocketAddr::new(ip, DNS_PORT);
            if asked(address) {
                let place = conf.place_of(span.start);
                steps.push(self.step(address, Some(place), conf, links));
            }
        }
        steps
    }

    /// The server at `address`, which is written at `place` in `conf`, a file
    /// that is reached over `links`.
    pub(super) fn step(
        &mut self,
        address: SocketAddr,
        place: Option<Place>,
        conf: &ResolvConf,
        links: &[String],
    ) -> Step {
        self.evidence.links = links.to_vec();
        let from = (self.seen, &self.network);
        let identity = identity::identify(from, address, conf, &self.evidence);
        let (id, who) = identity.names();
        let server = identity.server.map(|it| it.1);
        let mut step = Step {
            address: Some(address),
            confirmed_by: identity.confirmed_by(),
            notes: notes(&identity, server, place.is_some() && self.path.is_empty()),
            ..last(id, who, place, End::Forwards)
        };
        let key = match identity.server {
            Some((index, _)) => Key::Server(index),
            None => Key::Address(identity.network.clone(), identity.reached),
        };
        step.end = match identity.refused(self.node) {
            Some(reason) => End::Refused(reason),
            None if identity.is_outside() => End::Outside,
            None if server.is_some_and(|it| self.is_answered(it)) => End::Answers,
            None if self.is_circle(&key, &identity) => End::Cycle,
            None if self.was_followed(&key) => End::Above,
            None if self.path.len() >= MAX_STEPS => End::Unknown(Unknown::TooLong),
            None => End::Forwards,
        };
        if step.end == End::Outside && self.seen.cluster.usual.contains(&identity.reached.ip()) {
            step.be_service(Who::UsualService);
        }
        if step.end == End::Forwards {
            self.path.push(key.clone());
            let from = std::mem::replace(&mut self.network, identity.network.clone());
            self.forward(&identity, server, &mut step);
            self.network = from;
            self.path.pop();
            self.done.push((key, self.zone.clone()));
        }
        step
    }

    /// Whether queries come back here. Names of one zone may end in the pods behind a Service
    /// through which others went.
    fn is_circle(&self, key: &Key, identity: &Identity<'_>) -> bool {
        let is_service = identity.cluster_dns.is_some() && identity.server.is_none();
        self.path.contains(key) && (self.zone.is_none() || !is_service)
    }

    fn was_followed(&self, key: &Key) -> bool {
        let mut done = self.done.iter();
        done.any(|(it, zone)| it == key && (zone.is_none() || *zone == self.zone))
    }

    /// Whether the server has the names of the zone itself, or none of them.
    fn is_answered(&self, server: &DnsServer) -> bool {
        let is_its = |zone: &String| forwards(server, zone).is_none_or(|it| it.to.is_empty());
        self.zone.as_ref().is_some_and(is_its) && !server.forwards.is_empty()
    }

    fn forward(&mut self, identity: &Identity<'n>, server: Option<&'n DnsServer>, step: &mut Step) {
        if let Some(server) = server {
            if server.program == Program::SystemdResolved {
                let resolved = self.node.resolved.as_ref();
                let lost = resolved.map_or_else(Vec::new, Resolved::lost);
                step.lost = lost.into_iter().map(Lost::Links).collect();
            }
            let outer = self.zone.clone();
            let only = outer.as_ref().and_then(|it| forwards(server, it));
            let wanted = |it: &&Forward| only.is_none_or(|only| std::ptr::eq(only, *it));
            for forward in server.forwards.iter().filter(wanted) {
                let zone = (forward.zone != ".").then(|| forward.zone.clone());
                self.zone = outer.clone().or_else(|| zone.clone());
                for to in &forward.to {
                    self.target(server, zone.as_deref(), to, &mut step.next);
                }
            }
            self.zone = outer;
            let doubts = server.doubts.iter().cloned();
            step.notes.extend(doubts.map(Note::Doubt));
            if step.next.is_empty() {
                let first = server.doubts.first().cloned();
                step.end = End::Unknown(first.map_or(Unknown::Nobody, Unknown::Doubt));
            }
            return;
        }
        let lead = identity.lead.as_ref();
        if self.openresolv(identity, step) {
            return;
        }
        if let Some(upstream) = lead.and_then(|lead| lead.upstream.as_ref()) {
            let file = self.file(&upstream.file);
            for listed in upstream.servers.iter().take(MAX_FOLLOWED) {
                let address = SocketAddr::new(listed.address, DNS_PORT);
                let found = file.and_then(HostFile::conf);
                let nothing = ResolvConf::default();
                let links = file.map_or(&[][..], |it| &it.links);
                let place = found.and_then(|conf| super::place_in(conf, listed.address));
                let conf = found.unwrap_or(&nothing);
                let next = self.step(address, place, conf, links);
                step.next.push(next);
            }
            return;
        }
        if identity.cluster_dns.is_some() {
            self.cluster_dns(identity.reached.is_ipv4(), step);
            return;
        }
        let place = lead.and_then(|it| it.owner.elsewhere);
        step.end = End::Unknown(place.map_or(Unknown::Forwards, Unknown::Usual));
    }

    /// Goes on to the pods behind the Service of the cluster's DNS; those of other
    /// nodes are not seen.
    fn cluster_dns(&mut self, is_v4: bool, step: &mut Step) {
        let endpoints = self.seen.endpoints(is_v4);
        let next = endpoints.into_iter();
        let next = next.map(|it| self.step(it, None, &ResolvConf::default(), &[]));
        step.next.extend(next);
        step.end = match step.next.as_slice() {
            [] => End::Unknown(Unknown::DnsPods),
            _ => End::Endpoints,
        };
    }

    /// Whether openresolv wrote the server into the file, and its settings
    /// tell where that one's own servers are.
    fn openresolv(&mut self, identity: &Identity<'n>, step: &mut Step) -> bool {
        let Some(conf) = self.file(OPENRESOLV).and_then(HostFile::conf) else {
            return false;
        };
        let settings = OpenresolvConf::parse(&conf.source);
        let mut own = settings.name_servers.iter();
        let Some(named) = own.find(|it| it.value == identity.reached.ip()) else {
            return false;
        };
        step.confirmed_by
            .push(Confirmed::Openresolv(named.place.clone()));
        let shown = |file: &Placed<String>| Note::Openresolv {
            path: escaped(file.value.as_bytes()),
            place: file.place.clone(),
        };
        step.notes.extend(settings.files().map(shown));
        let resolv = settings.dnsmasq_resolv.as_ref();
        let Some(file) = resolv.and_then(|it| self.file(&it.value)) else {
            return false;
        };
        let Some(list) = file.conf() else {
            return false;
        };
        step.next.extend(self.all(list, &file.links, |_| true));
        !step.next.is_empty()
    }

    fn target(
        &mut self,
        server: &DnsServer,
        zone: Option<&str>,
        to: &Placed<Target>,
        next: &mut Vec<Step>,
    ) {
        let nothing = ResolvConf::default();
        let place = Some(to.place.clone());
        let before = next.len();
        match &to.value {
            Target::Address(address) => {
                if !server.leaves_out(*address, &self.node.addresses) {
                    next.push(self.step(*address, place, &nothing, &[]));
                }
            }
            Target::File(path) => self.listed(server, path, place, next),
            Target::Roots => {
                next.push(last("roots", Who::Roots, place, End::Outside));
            }
            Target::ClusterDns => {
                let mut step = last("cluster-dns", Who::ClusterDnsPods, place, End::Endpoints);
                let from = std::mem::replace(&mut self.network, Network::Node);
                self.cluster_dns(true, &mut step);
                self.network = from;
                next.push(step);
            }
            Target::Other(text) => {
                let who = Who::Other(text.clone());
                next.push(last("other", who, place, End::Unknown(Unknown::Target)));
            }
        }
        let new = next.iter_mut().skip(before);
        new.for_each(|it| it.zone = zone.map(str::to_owned));
    }

    /// The servers of a file that a server takes its own from.
    fn listed(
        &mut self,
        server: &DnsServer,
        path: &str,
        place: Option<Place>,
        next: &mut Vec<Step>,
    ) {
        let file = self.file(path);
        let Some((file, conf)) = file.and_then(|it| Some((it, it.conf()?))) else {
            let who = Who::File(path.to_owned());
            next.push(last("file", who, place, End::Unknown(Unknown::File)));
            return;
        };
        let own = &self.node.addresses;
        next.extend(self.all(conf, &file.links, |it| !server.leaves_out(it, own)));
    }

    /// A file that was read, by its path or by where a link on it leads.
    fn file(&self, path: &str) -> Option<&'n HostFile> {
        let path = run_path(path);
        let node = self.node;
        let all = node
            .files
            .iter()
            .chain(&node.node_file)
            .chain(&node.kubelet_file);
        let mut named = all.filter(|it| it.path == path);
        named.next()
    }
}

/// What the server does with the names of a zone.
fn forwards<'s>(server: &'s DnsServer, zone: &str) -> Option<&'s Forward> {
    let mut forwards = server.forwards.iter();
    forwards.find(|it| is_within(zone, &it.zone))
}

/// A step behind which nothing is followed.
fn last(id: &'static str, who: Who, place: Option<Place>, end: End) -> Step {
    Step {
        address: None,
        zone: None,
        place,
        id,
        who,
        confirmed_by: Vec::new(),
        notes: Vec::new(),
        lost: Vec::new(),
        end,
        next: Vec::new(),
    }
}

/// Who reaches it, and how sure its name is.
fn notes(identity: &Identity<'_>, server: Option<&DnsServer>, is_listed: bool) -> Vec<Note> {
    let mut notes = Vec::new();
    if let Some(lead) = &identity.lead {
        let is_seen =
            server.is_some() || !identity.sockets.is_empty() || identity.cluster_dns.is_some();
        if lead.is_guess() && !is_seen && !lead.owner.is_vague {
            notes.push(Note::Guess);
        }
        notes.push(Note::Reach(lead.owner.reach));
    } else if identity.reached.ip().is_loopback() {
        notes.push(Note::PodItself);
    }
    if identity.cluster_dns.is_some() && server.is_none() && is_listed {
        notes.push(Note::DnsPods);
    }
    notes
}
