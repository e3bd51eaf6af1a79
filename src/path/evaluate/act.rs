//! What rules do to a packet.

use std::net::IpAddr;

use super::Walk;
use super::branch::{Branch, Tracking};
use super::chain::{Chain, Flow, Flows};
use super::translate::nat;
use super::value::Reading;
use crate::path::Condition;
use crate::rules::Share;
use crate::rules::nft::{Atom, Expression};
use crate::rules::rule::{Action, Masked, Part, Rule, Side};
use crate::text::escaped;

impl Walk<'_> {
    /// Does what an action says, and goes on with the rest of the rule.
    pub(super) fn act(
        &mut self,
        at: &Chain<'_>,
        rule: &Rule,
        action: &Action,
        rest: &[Part],
        mut branch: Branch,
        flows: &mut Flows,
    ) {
        let last_step = branch.steps.clone();
        // A counter alone is none: what follows it may not come to anything.
        if *action != Action::Nothing || rest.is_empty() {
            Self::step(at, rule, &mut branch);
        }
        name_service(at, rule, &mut branch);
        if let Some(flow) = Self::verdict_of(action) {
            flows.push((branch, flow));
            return;
        }
        match action {
            Action::Jump(name) => return self.call(at, rule, name, rest, branch, flows),
            Action::Goto(name) => return self.leave(at, name, branch, flows),
            Action::VerdictMap(key, data) => {
                branch.steps = last_step;
                return self.verdict_map(at, rule, (key, data), rest, branch, flows);
            }
            Action::Dnat(to) => return nat(Side::Destination, to, branch, flows),
            Action::Snat(to) => return nat(Side::Source, to, branch, flows),
            Action::Masquerade => return self.masquerade(branch, flows),
            Action::NftNat {
                side,
                address,
                port,
            } => return self.nft_nat(at, rule, (*side, address, port), (branch, last_step), flows),
            Action::Redirect(ports) => {
                self.redirect(ports.map(|it| it.0), &mut branch);
                return flows.push((branch, Flow::Accept));
            }
            Action::Tproxy { to, port, mark } => {
                take(&mut branch, *to, *port, *mark);
                return flows.push((branch, Flow::Accept));
            }
            Action::Queue => {
                let condition = Condition::Queue(self.place(rule));
                let (accepted, dropped) = branch.both(&condition);
                flows.extend(accepted.map(|it| (it, Flow::Accept)));
                return flows.extend(dropped.map(|it| (it, Flow::Drop)));
            }
            Action::Unknown(words) => {
                let condition = self.target(rule, words);
                let (lost, done) = branch.both(&condition);
                flows.extend(lost.map(|it| (it, Flow::Lost)));
                let Some(done) = done else { return };
                branch = done;
            }
            Action::SetMark(value) | Action::SetConnectionMark(value) => {
                let is_packet = matches!(action, Action::SetMark(_));
                match self.set_mark(at.table, value, is_packet, &mut branch) {
                    Some(true) => {}
                    Some(false) => return self.lose(rule, "mark", &branch, flows),
                    // The packet has nothing of the kind: the rule ends here.
                    None => {
                        branch.steps = last_step;
                        return flows.push((branch, Flow::Next));
                    }
                }
            }
            other => simple(other, &mut branch),
        }
        self.rule(at, rule, rest, branch, flows);
    }

    fn target(&self, rule: &Rule, words: &str) -> Condition {
        Condition::Target {
            words: escaped(words.as_bytes()).into(),
            place: self.place(rule),
        }
    }

    /// Whether it is known; `None`: the packet has no such value.
    fn set_mark(
        &mut self,
        table: usize,
        value: &Expression,
        is_packet: bool,
        branch: &mut Branch,
    ) -> Option<bool> {
        let values = match self.value(table, value, branch) {
            Reading::Values(values) => values,
            Reading::Absent => return None,
            _ => return Some(false),
        };
        let [(_, atoms)] = values.as_slice() else {
            return Some(false);
        };
        let [Atom::Number(mark)] = atoms.as_slice() else {
            return Some(false);
        };
        let mark = u32::try_from(*mark & u128::from(u32::MAX)).unwrap_or_default();
        if is_packet {
            branch.seen.mark = mark;
        } else if super::answer::is_tracked(branch) {
            branch.seen.connection_mark = mark;
        }
        Some(true)
    }

    /// A verdict for each share; a value that the map lacks ends the rule.
    fn verdict_map(
        &mut self,
        at: &Chain<'_>,
        rule: &Rule,
        (key, data): (&Expression, &Expression),
        rest: &[Part],
        branch: Branch,
        flows: &mut Flows,
    ) {
        let keys = match self.value(at.table, key, &branch) {
            Reading::Values(keys) => keys,
            Reading::Absent => return flows.push((branch, Flow::Next)),
            _ => return self.lose(rule, "vmap", &branch, flows),
        };
        let mut missing = Share::NONE;
        for (share, key) in keys {
            let verdict = match self.looked_up(at.table, data, &key) {
                Ok(Some(verdict)) => verdict,
                Ok(None) => {
                    missing = missing.and(share);
                    continue;
                }
                Err(()) => {
                    self.lose(rule, "vmap", &branch.part(share), flows);
                    continue;
                }
            };
            let mut part = branch.part(share);
            if matches!(data, Expression::Named(name) if name.starts_with("no-endpoint-")) {
                part.is_empty = true;
            }
            match verdict_action(&verdict) {
                Some(action) => self.act(at, rule, &action, rest, part, flows),
                None => {
                    Self::step(at, rule, &mut part);
                    self.rule(at, rule, rest, part, flows);
                }
            }
        }
        if !missing.is_none() {
            flows.push((branch.part(missing), Flow::Next));
        }
    }

    /// It is not known what a rule does: both ways.
    pub(super) fn lose(&self, rule: &Rule, words: &str, branch: &Branch, flows: &mut Flows) {
        let condition = self.target(rule, words);
        let (lost, next) = branch.clone().both(&condition);
        flows.extend(next.map(|it| (it, Flow::Next)));
        flows.extend(lost.map(|it| (it, Flow::Lost)));
    }
}

/// The Service that a rule's comment, or a chain of kube-proxy, names.
fn name_service(at: &Chain<'_>, rule: &Rule, branch: &mut Branch) {
    if let Some(comment) = &rule.comment {
        let name = comment.split(' ').next().unwrap_or_default();
        let is_name = name.contains('/') && !name.contains(['"', '{']);
        if is_name && at.name.starts_with("KUBE-") {
            branch.service = Some(name.into());
        }
        if comment.ends_with(" has no endpoints") {
            branch.is_empty = true;
        }
    } else if let Some(name) = service_of_chain(at.name) {
        branch.service = Some(name.into());
    }
}

/// `service-FY5PMXPG-kube-system/kube-dns/udp/dns` is `kube-system/kube-dns:dns`.
fn service_of_chain(chain: &str) -> Option<String> {
    let rest = chain
        .strip_prefix("service-")
        .or_else(|| chain.strip_prefix("endpoint-"))?;
    let name = rest.split_once('-')?.1.split("__").next()?;
    let mut parts = name.split('/');
    let (namespace, name) = (parts.next()?, parts.next()?);
    Some(match parts.nth(1).filter(|it| !it.is_empty()) {
        Some(port) => format!("{namespace}/{name}:{port}"),
        None => format!("{namespace}/{name}"),
    })
}

/// Hands the packet to a socket of the node (`TPROXY`).
fn take(branch: &mut Branch, to: Option<IpAddr>, port: u16, mark: Masked) {
    let seen = &mut branch.seen;
    seen.mark = (seen.mark & !mark.mask) ^ mark.value;
    seen.destination = to
        .filter(|it| !it.is_unspecified())
        .unwrap_or(seen.destination);
    seen.port = Some(port).filter(|it| *it != 0).or(seen.port);
    seen.is_taken = true;
}

/// Actions that change a number.
#[expect(clippy::collapsible_match, reason = "the case is of its own")]
fn simple(action: &Action, branch: &mut Branch) {
    let is_tracked = super::answer::is_tracked(branch);
    let seen = &mut branch.seen;
    match action {
        // There is no connection whose mark it could be.
        Action::ConnectionMark { .. } | Action::SaveMark { .. } | Action::RestoreMark { .. }
            if !is_tracked => {}
        Action::Mark { clear, flip } => seen.mark = (seen.mark & !clear) ^ flip,
        Action::ConnectionMark { clear, flip } => {
            seen.connection_mark = (seen.connection_mark & !clear) ^ flip;
        }
        Action::SaveMark { from, to } => {
            seen.connection_mark = (seen.connection_mark & !to) ^ (seen.mark & from);
        }
        Action::RestoreMark { from, to } => {
            seen.mark = (seen.mark & !to) ^ (seen.connection_mark & from);
        }
        Action::NoTrack => {
            if seen.tracking == Tracking::Ahead {
                seen.tracking = Tracking::Not;
            }
        }
        _ => {}
    }
}

/// `{"goto": {"target": …}}` in a map of verdicts; `None`: on with the rule.
fn verdict_action(value: &serde_json::Value) -> Option<Action> {
    let (key, inner) = value.as_object()?.iter().next()?;
    let target = || inner.get("target")?.as_str().map(Into::into);
    match key.as_str() {
        "accept" => Some(Action::Accept),
        "drop" => Some(Action::Drop),
        "return" => Some(Action::Return),
        "jump" => target().map(Action::Jump),
        "goto" => target().map(Action::Goto),
        _ => None,
    }
}
