//! Follows a server to the end.

use std::net::SocketAddr;

use super::identity::{self, Identity};
use super::{End, MAX_FOLLOWED, Step};
use crate::address::DNS_PORT;
use crate::config::openresolv_conf::OpenresolvConf;
use crate::config::resolv_conf::ResolvConf;
use crate::loopback::{self, Evidence};
use crate::node::{HostFile, Node};
use crate::text::{Place, Placed, escaped};
use crate::topology::resolved::Resolved;
use crate::topology::{DnsServer, Program, Target};

/// The settings of openresolv.
const OPENRESOLV: &str = "/etc/resolvconf.conf";

/// Longest way that is followed.
const MAX_STEPS: usize = 30;

/// A walk over the servers of a node. Each server is followed once.
pub(super) struct Walk<'n> {
    node: &'n Node,
    /// The files that can tell whose a server is; the links are those of the
    /// file that lists it.
    evidence: Evidence,
    /// The servers on the way to here.
    way: Vec<Key>,
    /// Those that were followed.
    done: Vec<Key>,
}

/// What makes two steps the same.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Key {
    Server(usize),
    Address(SocketAddr),
}

impl<'n> Walk<'n> {
    pub(super) fn new(node: &'n Node) -> Self {
        let files = node.files.iter();
        let files = files.filter_map(|it| it.content.as_ref().ok().cloned());
        Self {
            node,
            evidence: Evidence {
                links: Vec::new(),
                files: files.collect(),
            },
            way: Vec::new(),
            done: Vec::new(),
        }
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
        let identity = identity::of(self.node, address, conf, &self.evidence);
        let (id, who) = identity.names(self.node);
        let server = identity
            .server
            .and_then(|index| self.node.servers.get(index));
        let mut step = Step {
            address: Some(address),
            zone: None,
            place,
            id,
            who,
            confirmed_by: identity.confirmed_by(self.node),
            notes: notes(&identity, server),
            lost: Vec::new(),
            end: End::Forwards,
            next: Vec::new(),
        };
        let key = match identity.server {
            Some(index) => Key::Server(index),
            None => Key::Address(identity.reached),
        };
        step.end = match identity.refused(self.node) {
            Some(reason) => End::Refused(reason),
            None if identity.is_outside() => End::Outside,
            None if self.way.contains(&key) => End::Cycle,
            None if self.done.contains(&key) => End::Above,
            None if self.way.len() >= MAX_STEPS => End::Unknown("the way is too long".to_owned()),
            None => End::Forwards,
        };
        if step.end == End::Forwards {
            self.way.push(key);
            self.forward(&identity, server, &mut step);
            self.way.pop();
            self.done.push(key);
        }
        step
    }

    fn forward(&mut self, identity: &Identity<'n>, server: Option<&'n DnsServer>, step: &mut Step) {
        if let Some(server) = server {
            if server.program == Program::SystemdResolved {
                let resolved = self.node.resolved.as_ref();
                step.lost = resolved.map_or_else(Vec::new, Resolved::lost);
            }
            for forward in &server.forwards {
                for to in &forward.to {
                    let zone = (forward.zone != ".").then(|| forward.zone.clone());
                    self.target(server, zone.as_deref(), to, &mut step.next);
                }
            }
            step.notes.extend(server.unknown.iter().cloned());
            if step.next.is_empty() {
                let reason = match server.unknown.first() {
                    Some(reason) => reason.clone(),
                    None => "it forwards to nobody".to_owned(),
                };
                step.end = End::Unknown(reason);
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
                let found = file.and_then(|it| it.content.as_ref().ok());
                let nothing = ResolvConf::default();
                let links = file.map_or(&[][..], |it| &it.links);
                let place = found.and_then(|conf| super::place_in(conf, listed.address));
                let conf = found.unwrap_or(&nothing);
                let next = self.step(address, place, conf, links);
                step.next.push(next);
            }
            return;
        }
        step.end = End::Unknown(match lead {
            _ if identity.cluster_dns.is_some() => {
                "it leads to the cluster's DNS pods, which `kdns check-loop` follows".to_owned()
            }
            Some(lead) if !lead.owner.unknown_upstream.is_empty() => lead
                .owner
                .unknown_upstream
                .trim_start_matches(": ")
                .to_owned(),
            _ => "where it forwards to is not known".to_owned(),
        });
    }

    /// Whether openresolv wrote the server into the file, and its settings
    /// tell where that one's own servers are.
    fn openresolv(&mut self, identity: &Identity<'n>, step: &mut Step) -> bool {
        let Some(conf) = self
            .file(OPENRESOLV)
            .and_then(|it| it.content.as_ref().ok())
        else {
            return false;
        };
        let settings = OpenresolvConf::parse(&conf.source);
        let mut own = settings.name_servers.iter();
        let Some(named) = own.find(|it| it.value == identity.reached.ip()) else {
            return false;
        };
        step.confirmed_by
            .push(format!("openresolv's name_servers at {}", named.place));
        let shown = |file: &Placed<String>| {
            let path = escaped(file.value.as_bytes());
            format!("openresolv writes its servers to {path} ({})", file.place)
        };
        step.notes.extend(settings.files().map(shown));
        let resolv = settings.dnsmasq_resolv.as_ref();
        let Some(file) = resolv.and_then(|it| self.file(&it.value)) else {
            return false;
        };
        let Ok(list) = &file.content else {
            return false;
        };
        for (ip, span) in loopback::name_servers(list).take(MAX_FOLLOWED) {
            let place = list.place_of(span.start);
            let address = SocketAddr::new(ip, DNS_PORT);
            let next = self.step(address, Some(place), list, &file.links);
            step.next.push(next);
        }
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
                let who = "the servers of the root zone and those below, one after the other";
                next.push(last("roots", who, place, End::Outside));
            }
            Target::ClusterDns => {
                let who = "the cluster's DNS pods, by way of the service kube-dns-upstream";
                let reason = "`kdns check-loop` follows it".to_owned();
                next.push(last("cluster-dns", who, place, End::Unknown(reason)));
            }
            Target::Other(text) => {
                let reason = "it is not followed".to_owned();
                next.push(last("other", text, place, End::Unknown(reason)));
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
        let Some((file, conf)) = file.and_then(|it| Some((it, it.content.as_ref().ok()?))) else {
            let reason = "it is not there or was not read".to_owned();
            let who = format!("the servers of {path}");
            next.push(last("file", &who, place, End::Unknown(reason)));
            return;
        };
        for (ip, span) in loopback::name_servers(conf).take(MAX_FOLLOWED) {
            let address = SocketAddr::new(ip, DNS_PORT);
            if !server.leaves_out(address, &self.node.addresses) {
                let place = conf.place_of(span.start);
                next.push(self.step(address, Some(place), conf, &file.links));
            }
        }
    }

    /// A file that was read, by its path or by where a link on it leads.
    fn file(&self, path: &str) -> Option<&'n HostFile> {
        let path = match path.strip_prefix("/var/run/") {
            Some(rest) => format!("/run/{rest}"),
            None => path.to_owned(),
        };
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

/// A step behind which nothing is followed.
fn last(id: &'static str, who: &str, place: Option<Place>, end: End) -> Step {
    Step {
        address: None,
        zone: None,
        place,
        id,
        who: who.to_owned(),
        confirmed_by: Vec::new(),
        notes: Vec::new(),
        lost: Vec::new(),
        end,
        next: Vec::new(),
    }
}

/// Who reaches it, and how sure its name is.
fn notes(identity: &Identity<'_>, server: Option<&DnsServer>) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(lead) = &identity.lead {
        let is_seen =
            server.is_some() || !identity.sockets.is_empty() || identity.cluster_dns.is_some();
        if lead.is_guess() && !is_seen && !lead.owner.is_vague {
            notes.push("this is a guess: only the address says so".to_owned());
        }
        notes.push(lead.owner.reach.clause().to_owned());
    } else if identity.reached.ip().is_loopback() {
        notes.push("inside a pod this address is the pod itself".to_owned());
    }
    if identity.cluster_dns.is_some() {
        notes.push(
            "a DNS pod that takes its servers from this file sends to itself by way of the service"
                .to_owned(),
        );
    }
    notes
}
