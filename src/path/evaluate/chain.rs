//! Chains, rule by rule.

use std::collections::HashMap;
use std::net::IpAddr;
use std::rc::Rc;

use super::Walk;
use super::answer::Answer;
use super::branch::{Branch, StepAt, StepKind};
use super::ways::{are_too_many, merge};
use crate::path::Condition;
use crate::rules::rule::{Action, Part, Rule, Side, Test};

/// How a chain, or a rule, lets go of a packet.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Flow {
    /// On to the next rule.
    Next,
    /// Back to the chain that called; of a base chain: its policy.
    Return,
    /// The table is done with it.
    Accept,
    /// It ends here.
    Drop,
    /// It ends here, with this error.
    Reject(Box<str>),
    /// It is not known what becomes of it.
    Lost,
}

/// The kernel allows no deeper calls (`nf_tables.h`, `NFT_JUMP_STACK_SIZE`).
const DEEPEST: usize = 16;

/// The rules of one chain, and where they are.
pub(super) struct Chain<'c> {
    pub(super) table: usize,
    pub(super) name: &'c str,
    pub(super) depth: usize,
}

pub(super) type Flows = Vec<(Branch, Flow)>;

impl Walk<'_> {
    /// Sends ways through a chain.
    pub(super) fn chain(&mut self, at: &Chain<'_>, branches: Vec<Branch>) -> Flows {
        let missing = Condition::Chain {
            table: self.table_name(at.table),
            chain: crate::text::escaped(at.name.as_bytes()).into(),
        };
        if at.depth > DEEPEST {
            return give_up(branches, &Condition::TooMany);
        }
        let Some(to) = branches.first().map(visible) else {
            return Flows::new();
        };
        if branches.iter().any(|it| visible(it) != to) {
            // Of a long chain only what is for one address is parsed.
            let groups = by_destination(branches);
            return groups
                .into_iter()
                .flat_map(|it| self.chain(at, it))
                .collect();
        }
        let Some(rules) = self.rules(at.table, at.name, to) else {
            return either(branches, &missing);
        };
        let mut current = branches;
        let mut done = Flows::new();
        for rule in rules.iter() {
            if current.is_empty() {
                break;
            }
            if !self.spend(current.len()) {
                done.extend(give_up(current, &Condition::TooMany));
                return done;
            }
            let mut next = Vec::with_capacity(current.len());
            let mut is_split = false;
            for branch in current {
                let mut flows = Flows::new();
                self.rule(at, rule, &rule.parts, branch, &mut flows);
                is_split = is_split || flows.len() != 1;
                for (branch, flow) in flows {
                    match flow {
                        Flow::Next => next.push(branch),
                        flow => done.push((branch, flow)),
                    }
                }
            }
            current = if is_split { merge(next) } else { next };
            if are_too_many(&current) {
                // Callers would go on with as many for each of theirs.
                self.left = 0;
                done.extend(give_up(current, &Condition::TooMany));
                return done;
            }
        }
        if self.is_cut_in(at) {
            done.extend(either(current, &missing));
        } else {
            done.extend(current.into_iter().map(|it| (it, Flow::Return)));
        }
        done
    }

    /// Goes on with the parts of a rule.
    pub(super) fn rule(
        &mut self,
        at: &Chain<'_>,
        rule: &Rule,
        parts: &[Part],
        branch: Branch,
        flows: &mut Flows,
    ) {
        let Some((part, rest)) = parts.split_first() else {
            flows.push((branch, Flow::Next));
            return;
        };
        match part {
            Part::If(test) => self.test(at, rule, test, rest, branch, flows),
            Part::Do(action) => self.act(at, rule, action, rest, branch, flows),
        }
    }

    fn test(
        &mut self,
        at: &Chain<'_>,
        rule: &Rule,
        test: &Test,
        rest: &[Part],
        branch: Branch,
        flows: &mut Flows,
    ) {
        let (condition, wanted) = match self.answer(at.table, rule, test, &branch) {
            Answer::Yes if !test.is_negated => return self.rule(at, rule, rest, branch, flows),
            Answer::No if test.is_negated => return self.rule(at, rule, rest, branch, flows),
            Answer::Yes | Answer::No | Answer::Absent => return flows.push((branch, Flow::Next)),
            Answer::Share(share) => {
                let share = if test.is_negated { share.rest() } else { share };
                if !share.is_all() {
                    flows.push((branch.part(share.rest()), Flow::Next));
                }
                if !share.is_none() {
                    self.rule(at, rule, rest, branch.part(share), flows);
                }
                return;
            }
            Answer::If(condition) => (condition, !test.is_negated),
            Answer::Unless(condition) => (condition, test.is_negated),
        };
        let (yes, no) = branch.both(&condition);
        let (these, others) = if wanted { (yes, no) } else { (no, yes) };
        flows.extend(others.map(|it| (it, Flow::Next)));
        if let Some(branch) = these {
            self.rule(at, rule, rest, branch, flows);
        }
    }

    /// Notes that a rule did something, once for all that it does.
    pub(super) fn step(at: &Chain<'_>, rule: &Rule, branch: &mut Branch) {
        let direction = branch.seen.direction;
        let what = StepKind::Rule(at.table, rule.view);
        let mut last = branch.steps.last().into_iter();
        if last.any(|it| it.direction == direction && it.what == what) {
            return;
        }
        branch.steps.push(StepAt {
            direction,
            chain: Rc::from(at.name),
            packets: rule.packets,
            what,
        });
    }

    /// Into another chain: what comes back goes on behind the call.
    pub(super) fn call(
        &mut self,
        at: &Chain<'_>,
        rule: &Rule,
        name: &str,
        rest: &[Part],
        branch: Branch,
        flows: &mut Flows,
    ) {
        let inner = Chain {
            table: at.table,
            name,
            depth: at.depth + 1,
        };
        for (branch, flow) in self.chain(&inner, vec![branch]) {
            match flow {
                Flow::Return | Flow::Next => self.rule(at, rule, rest, branch, flows),
                flow => flows.push((branch, flow)),
            }
        }
    }

    /// Into another chain for good.
    pub(super) fn leave(&mut self, at: &Chain<'_>, name: &str, branch: Branch, flows: &mut Flows) {
        let inner = Chain {
            table: at.table,
            name,
            depth: at.depth + 1,
        };
        flows.extend(self.chain(&inner, vec![branch]));
    }

    /// Whether the action ends the rule's way in a verdict of its own.
    pub(super) fn verdict_of(action: &Action) -> Option<Flow> {
        match action {
            Action::Accept => Some(Flow::Accept),
            Action::Drop => Some(Flow::Drop),
            Action::Return => Some(Flow::Return),
            Action::Reject(error) => Some(Flow::Reject(error.clone())),
            _ => None,
        }
    }
}

/// Its destination, where that is known.
fn visible(branch: &Branch) -> Option<IpAddr> {
    branch.seen.address(Side::Destination)
}

/// Ways to each address, in the order in which they come.
fn by_destination(branches: Vec<Branch>) -> Vec<Vec<Branch>> {
    let mut places = HashMap::new();
    let mut groups: Vec<Vec<Branch>> = Vec::new();
    for branch in branches {
        let new = groups.len();
        let place = *places.entry(visible(&branch)).or_insert(new);
        match groups.get_mut(place) {
            Some(group) => group.push(branch),
            None => groups.push(vec![branch]),
        }
    }
    groups
}

/// What stands in a chain is not known: it does nothing, or something.
fn either(branches: Vec<Branch>, condition: &Condition) -> Flows {
    let mut flows = Flows::new();
    for branch in branches {
        let (something, nothing) = branch.both(condition);
        flows.extend(nothing.map(|it| (it, Flow::Return)));
        flows.extend(something.map(|it| (it, Flow::Lost)));
    }
    flows
}

fn give_up(branches: Vec<Branch>, condition: &Condition) -> Flows {
    let lost = |it: Branch| (it.assuming(condition, true), Flow::Lost);
    branches.into_iter().map(lost).collect()
}
