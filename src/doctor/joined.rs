//! Causes that are the same one, or that one fix ends.

use std::net::{IpAddr, SocketAddr};

use super::{Cause, Kind};
use crate::address::is_link_local;
use crate::check_loop::facts::{FileRemark, Remark, Step, Trouble};
use crate::check_loop::{self, Sighting};
use crate::finding::Finding;
use crate::path::findings;
use crate::text::Place;
use crate::upstream::Role;

/// Rules of lint that say of a file what check-loop says of the node.
const OF_LOOPS: &[&str] = &[
    "loopback-nameserver",
    "forward-to-loopback",
    "own-node-cache",
    "forward-to-itself",
    "zero-address",
    "cluster-dns-in-file",
];

/// The same of a file that the kubelet has from its restart on.
const OF_LATER_LOOPS: &[&str] = &[
    "loopback-nameserver",
    "own-node-cache",
    "zero-address",
    "cluster-dns-in-file",
];

/// The same of a kubelet that has not read its files yet.
const OF_RESTARTS: &[&str] = &["stale-process"];

/// The same of pods whose file is no longer the one that the kubelet would write.
const OF_OLD_FILES: &[&str] = &["stale-pod-file"];

/// The same of the address of a node's DNS cache that nobody has.
const OF_DEAF_CACHES: &[&str] = &["orphan-cache-address"];

/// The same of one that is there, and nobody listens.
const OF_SILENT_CACHES: &[&str] = &["orphan-cache-address", "cluster-dns-no-listener"];

/// The same of a bridge whose answers were seen to cross it without rules.
const OF_BRIDGES: &[&str] = &["bridge-passes-iptables-by"];

/// Puts causes together that are the same one, or that one fix ends.
pub(super) fn joined(causes: &mut Vec<Cause<'_>>) {
    for (is_same, names) in [
        (is_loop as fn(&Kind<'_>) -> bool, OF_LOOPS),
        (is_later, OF_LATER_LOOPS),
        (needs_restart, OF_RESTARTS),
        (is_old_file, OF_OLD_FILES),
        (is_silent_cache, OF_SILENT_CACHES),
        (is_bridge, OF_BRIDGES),
        (is_deaf_cache, OF_DEAF_CACHES),
    ] {
        let Some(first) = causes.iter().position(|it| is_same(&it.kind)) else {
            continue;
        };
        let mut first = causes.remove(first);
        let is_later = is_later(&first.kind);
        let edit = fix_of(&first.kind).map(|it| &it.edit.place);
        let is_edited =
            |at: &Place| edit.is_some_and(|it| (&it.file, it.line) == (&at.file, at.line));
        let is_joined = |it: &Cause<'_>| {
            let is_setting =
                |it: &Finding| names.contains(&it.name) || is_edited(&it.primary.place());
            match it.kind {
                Kind::Setting(it) => is_setting(it),
                Kind::Dead(_, role) => is_later && role == Role::Restarted,
                _ => false,
            }
        };
        let joined = || causes.iter().filter(|it| is_joined(it));
        let evidence: Vec<usize> = joined().flat_map(|it| it.evidence.clone()).collect();
        if is_later {
            // No query path shows these.
            let places = joined().flat_map(|it| it.places.clone());
            first.places.extend(places.collect::<Vec<_>>());
            first.places.dedup();
        }
        causes.retain(|it| !is_joined(it));
        first.evidence.extend(evidence);
        first.evidence.dedup();
        causes.push(first);
    }
}

/// What logs show of servers that were asked, and do not answer or are slow, is that; or the
/// other way round where pods that are made anew have other servers.
pub(super) fn seen_by_asking(causes: &mut Vec<Cause<'_>>) {
    for is_asked in [is_silent as fn(&Kind<'_>) -> bool, is_slow] {
        let Some(asked) = causes.iter().position(|it| is_asked(&it.kind)) else {
            continue;
        };
        let asked = causes.remove(asked);
        let servers: Vec<SocketAddr> = match &asked.kind {
            Kind::Silent(all) | Kind::Slow(all) => all.iter().map(|it| it.server).collect(),
            _ => Vec::new(),
        };
        let is_its = |it: &Sighting| {
            let mut named = it.servers.iter();
            !it.servers.is_empty() && named.all(|it| servers.contains(it))
        };
        let is_joined = |it: &mut Cause<'_>| log_of(&it.kind).is_some_and(is_its);
        let mut others: Vec<Cause<'_>> = causes.extract_if(.., is_joined).collect();
        let mut first = match others.iter().position(|it| recreates(&it.kind)) {
            Some(old) => {
                let first = others.swap_remove(old);
                others.push(asked);
                first
            }
            None => asked,
        };
        for other in others {
            first.evidence.extend(other.evidence);
            first.places.extend(other.places);
            first.state = first.state.max(other.state);
        }
        first.evidence.dedup();
        first.places.dedup();
        causes.push(first);
    }
}

/// Whether pods that are made anew are the fix.
fn recreates(kind: &Kind<'_>) -> bool {
    let Kind::Trouble(_, report) = kind else {
        return false;
    };
    let mut then = report.concern.iter().flat_map(|it| &it.then);
    then.any(|it| matches!(it, Step::Recreate { .. } | Step::RecreateStatic { .. }))
}

/// Leaves out what a rule of lint says as well, with the fix.
pub(super) fn known_by_rule(causes: &mut Vec<Cause<'_>>) {
    for (name, is_same) in [
        (
            "pod-asks-itself",
            asks_itself as fn(&Kind<'_>, &Finding) -> bool,
        ),
        ("connection-table-full", throws_out),
        ("scoped-nameserver", is_out_of_reach),
        ("file-missing", is_without_server),
        ("missing-nameserver", is_without_server),
    ] {
        let has_same = |rule: &Finding| causes.iter().any(|it| is_same(&it.kind, rule));
        let mut rules = causes.iter().enumerate();
        let Some((rule, said)) = rules.find_map(|(number, it)| match it.kind {
            Kind::Setting(it) if it.name == name && has_same(it) => Some((number, it)),
            _ => None,
        }) else {
            continue;
        };
        let same = causes.iter().filter(|it| is_same(&it.kind, said));
        let evidence: Vec<usize> = same.flat_map(|it| it.evidence.clone()).collect();
        if let Some(rule) = causes.get_mut(rule) {
            rule.evidence.extend(evidence);
            rule.evidence.dedup();
        }
        causes.retain(|it| !is_same(&it.kind, said));
    }
}

fn asks_itself(kind: &Kind<'_>, _: &Finding) -> bool {
    let Kind::Trouble(Trouble::Files(Remark::File(remark)), _) = kind else {
        return false;
    };
    matches!(
        remark,
        FileRemark::Refused { .. } | FileRemark::RefusedToo(_)
    )
}

/// Whether a DNS pod gets no answer from the server that the rule names, which is on a link of the node
/// alone.
fn is_out_of_reach(kind: &Kind<'_>, rule: &Finding) -> bool {
    let words = rule.primary.excerpt.split_whitespace();
    let named = words.filter_map(|it| it.split('%').next()?.parse::<IpAddr>().ok());
    let named: Vec<IpAddr> = named.collect();
    log_of(kind).is_some_and(|seen| {
        let is_on_link = |it: &SocketAddr| it.is_ipv6() && is_link_local(it.ip());
        let is_named = |it: &SocketAddr| named.contains(&it.ip());
        seen.servers.iter().all(is_on_link) && seen.servers.iter().any(is_named)
    })
}

pub(super) fn log_of<'k>(kind: &'k Kind<'_>) -> Option<&'k Sighting> {
    match kind {
        Kind::Trouble(Trouble::Log(seen), _) => Some(seen),
        _ => None,
    }
}

fn is_without_server(kind: &Kind<'_>, rule: &Finding) -> bool {
    use crate::upstream::Role::{Both, Kubelet, Restarted};
    matches!(kind, Kind::NoServer(file) if match rule.name {
        // It is said where the kubelet's file is named.
        "file-missing" => matches!(file.role, Both | Kubelet | Restarted),
        _ => rule.primary.file == file.path,
    })
}

/// Whether it is only that connections had to make room.
fn throws_out(kind: &Kind<'_>, _: &Finding) -> bool {
    let Kind::Dropping(counted) = kind else {
        return false;
    };
    counted.twice.as_ref().is_some_and(|it| it.dropped() == 0)
}

fn is_silent(kind: &Kind<'_>) -> bool {
    matches!(kind, Kind::Silent(_))
}

fn is_slow(kind: &Kind<'_>) -> bool {
    matches!(kind, Kind::Slow(_))
}

fn is_loop(kind: &Kind<'_>) -> bool {
    matches!(kind, Kind::Loop(_))
}

/// Whether DNS loops from the kubelet's restart on, and a fix of that is known.
pub(super) fn is_later(kind: &Kind<'_>) -> bool {
    use check_loop::State::{Loop, Mixed, Refused};
    matches!(
        kind,
        Kind::Trouble(Trouble::Files(Remark::Restart(Loop | Mixed | Refused, _)), report)
            if report.fix.is_some()
    )
}

fn is_deaf_cache(kind: &Kind<'_>) -> bool {
    matches!(kind, Kind::Setting(it) if it.name == "cluster-dns-no-listener")
}

fn is_silent_cache(kind: &Kind<'_>) -> bool {
    use findings::CacheFinding::{LinkMissing, Silent};
    use findings::Fact::Cache;
    matches!(kind, Kind::Way(it) if matches!(it.fact, Cache(Silent { .. } | LinkMissing { .. })))
}

fn is_bridge(kind: &Kind<'_>) -> bool {
    use findings::{Fact, LinkFinding};
    matches!(kind, Kind::Way(it) if matches!(it.fact, Fact::Link(LinkFinding::Bridge { .. })))
}

fn needs_restart(kind: &Kind<'_>) -> bool {
    then_of(kind).any(|it| matches!(it, Step::RestartKubelet { .. }))
}

fn is_old_file(kind: &Kind<'_>) -> bool {
    let is_file = matches!(
        kind,
        Kind::Trouble(Trouble::Files(_), _) | Kind::Drifting(_)
    );
    is_file
        || then_of(kind).any(|it| matches!(it, Step::Recreate { .. } | Step::RecreateStatic { .. }))
}

/// What the fix of a loop has after its change of a file.
fn then_of<'k>(kind: &'k Kind<'_>) -> impl Iterator<Item = &'k Step> {
    fix_of(kind).into_iter().flat_map(|it| &it.then)
}

fn fix_of<'k>(kind: &'k Kind<'_>) -> Option<&'k check_loop::Fix> {
    match kind {
        Kind::Loop(report) => report.fix.as_ref(),
        Kind::Trouble(_, report) if is_later(kind) => report.fix.as_ref(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check_loop::facts::Concern;
    use crate::check_loop::log::SightingKind;
    use crate::doctor::{Answer, Asked, State, Whom};
    use crate::node::Node;

    fn cause(number: usize, kind: Kind<'_>) -> Cause<'_> {
        Cause {
            kind,
            evidence: vec![number],
            places: Vec::new(),
            state: State::Warning,
        }
    }

    /// A server that does not answer, or late, is why logs say so; that of another one stands.
    #[test]
    fn logs_show_what_asking_shows() {
        let plain = check_loop::judge(&Node::default());
        let old = check_loop::Report {
            concern: Some(Concern {
                troubles: Vec::new(),
                then: vec![Step::Recreate {
                    namespace: String::new(),
                    pods: Vec::new(),
                }],
            }),
            ..plain.clone()
        };
        let server = SocketAddr::from(([172, 31, 0, 53], 53));
        let logged = |servers: Vec<SocketAddr>| {
            Trouble::Log(Sighting {
                kind: SightingKind::UpstreamTimeout,
                place: Place::new("/log", 1, 1),
                text: String::new(),
                count: 1,
                first: None,
                last: None,
                pod: None,
                servers,
            })
        };
        let asked = Asked {
            whom: Whom::Upstream,
            server,
            udp: Answer::NoRoute,
            tcp: Answer::NoRoute,
            fails: true,
            is_left_out: false,
            is_malformed: false,
        };
        let other = SocketAddr::from(([172, 31, 0, 54], 53));
        for (servers, left) in [(vec![server], 1), (vec![server, other], 2), (Vec::new(), 2)] {
            let log = logged(servers);
            for kind in [Kind::Silent(vec![&asked]), Kind::Slow(vec![&asked])] {
                for report in [&plain, &old] {
                    let mut causes = vec![
                        cause(1, Kind::Trouble(&log, report)),
                        cause(8, kind.clone()),
                    ];
                    seen_by_asking(&mut causes);
                    assert_eq!(causes.len(), left);
                    let last = causes.last().unwrap();
                    assert_eq!(last.evidence.len(), 3 - left);
                    // That pods are to be made anew is not lost.
                    let is_old = left == 1 && report.concern.is_some();
                    assert_eq!(log_of(&last.kind).is_some(), is_old);
                }
            }
        }
    }
}
