//! IPVS, which takes packets to its services behind the filter of INPUT, and
//! on the way out behind the tables that translate.

use std::net::SocketAddr;
use std::rc::Rc;

use super::Walk;
use super::branch::{Branch, Link, StepAt, StepKind, Tracking};
use crate::path::{Condition, Kind, Stage, What};
use crate::rules::Share;
use crate::rules::View;
use crate::rules::ipvs::{Key, Server, Service};
use crate::rules::table::Hook;

/// Schedulers that give every new client its turn, over time by weight.
const BY_TURNS: [&str; 2] = ["rr", "wrr"];

impl Walk<'_> {
    /// Those that are for no service stay as they are.
    pub(super) fn ipvs(&mut self, hook: Hook, branches: Vec<Branch>) -> Vec<Branch> {
        let mut passed = Vec::new();
        for branch in branches {
            match self.service(&branch) {
                Some(service) => passed.extend(self.scheduled(hook, &service, branch)),
                None => passed.push(branch),
            }
        }
        passed
    }

    fn service(&self, branch: &Branch) -> Option<Service> {
        let seen = &branch.seen;
        if seen.tracking == Tracking::Established || seen.is_dnat {
            return None;
        }
        let address = SocketAddr::new(seen.destination, seen.port?);
        let key = Key::Address(self.packet.protocol.number(), address);
        let services = &self.host.rules.services;
        let by_mark = |it: &&Service| seen.mark != 0 && it.key == Key::Mark(seen.mark);
        services
            .iter()
            .find(|it| it.key == key)
            .or_else(|| services.iter().find(by_mark))
            .cloned()
    }

    /// Whether IPVS has a service of this address: it is one of the node then,
    /// on `kube-ipvs0`.
    pub(super) fn is_virtual(&self, ip: std::net::IpAddr) -> bool {
        let is_its = |it: &Service| matches!(it.key, Key::Address(_, at) if at.ip() == ip);
        self.host.rules.services.iter().any(is_its)
    }

    fn scheduled(&mut self, hook: Hook, service: &Service, branch: Branch) -> Vec<Branch> {
        let weights: u64 = service.servers.iter().map(|it| u64::from(it.weight)).sum();
        if weights == 0 {
            let mut branch = branch;
            branch.is_empty = true;
            branch.steps.push(step(&branch, service, None));
            let error = if branch.seen.destination.is_ipv6() {
                "icmp6-port-unreachable"
            } else {
                "icmp-port-unreachable"
            };
            self.end(branch, Kind::Reject, Some(error.into()));
            return Vec::new();
        }
        let servers = || service.servers.iter().filter(|it| it.weight > 0);
        let is_turn = BY_TURNS.contains(&&*service.scheduler) && !service.is_persistent;
        let is_even = is_turn || servers().count() == 1;
        let mut passed = Vec::new();
        for server in servers() {
            let mut part = if is_even {
                branch.part(Share::new(u64::from(server.weight), weights))
            } else {
                branch.assuming(&picks(service, server), true)
            };
            part.steps.push(step(&part, service, Some(server)));
            part.seen.destination = server.address.ip();
            part.seen.port = Some(server.address.port());
            part.seen.is_dnat = server.is_translated;
            part.is_of_ipvs = true;
            passed.push(part);
        }
        if hook == Hook::Input {
            return self.sent_on(passed);
        }
        self.routed_out(passed)
    }

    /// What came in goes out as if the node had sent it; what stays is given.
    fn sent_on(&mut self, branches: Vec<Branch>) -> Vec<Branch> {
        let (here, away): (Vec<_>, Vec<_>) = branches
            .into_iter()
            .partition(|it| self.is_local(it.seen.destination, it) == Some(true));
        let mut out = Vec::new();
        for mut branch in away {
            branch.seen.in_link = Link::None;
            out.extend(self.routed_out(vec![branch]));
        }
        let out = self.hook(Hook::Output, out);
        let gone = self.hook(Hook::Postrouting, out);
        self.sent.extend(gone);
        here
    }
}

/// Who gets it follows from loads, hashes or earlier connections, which no text
/// shows.
fn picks(service: &Service, server: &Server) -> Condition {
    Condition::Picked {
        scheduler: service.scheduler.clone(),
        server: server.address,
        is_persistent: service.is_persistent,
    }
}

fn step(branch: &Branch, service: &Service, server: Option<&Server>) -> StepAt {
    let key = match service.key {
        Key::Address(6, at) => format!("TCP {at}"),
        Key::Address(17, at) => format!("UDP {at}"),
        Key::Address(_, at) => at.to_string(),
        Key::Mark(mark) => format!("FWM {mark}"),
    };
    let scheduler = &service.scheduler;
    let rule = match server {
        Some(server) => format!("{key} {scheduler} -> {} {}", server.address, server.weight),
        None => format!("{key} {scheduler} without a server"),
    };
    let line = server.map_or(service.line, |it| it.line);
    StepAt {
        direction: branch.seen.direction,
        chain: Rc::from(""),
        packets: None,
        what: StepKind::Other(
            Stage::Ipvs,
            What::Rule(crate::text::escaped(rule.as_bytes()).into()),
            Some(View {
                text: service.text,
                start: 0,
                end: 0,
                line,
            }),
        ),
    }
}
