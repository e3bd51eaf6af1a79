//! Comparisons of nftables.

use super::Walk;
use super::answer::{Answer, FIRST_DRAWN, link};
use super::branch::{Branch, Link};
use super::value::Reading;
use crate::path::Condition;
use crate::rules::Share;
use crate::rules::nft::{Atom, Comparison, Expression, Relation, Values};
use crate::rules::rule::{LinkName, Rule, kind};

impl Walk<'_> {
    /// A comparison of nftables.
    pub(super) fn compare(
        &mut self,
        table: usize,
        rule: &Rule,
        comparison: &Comparison,
        branch: &Branch,
    ) -> Answer {
        let unknown = |walk: &Self| {
            Answer::If(Condition::Match {
                words: crate::text::escaped(comparison.words.as_bytes()).into(),
                place: walk.place(rule),
            })
        };
        let values = match self.value(table, &comparison.left, branch) {
            Reading::Absent => return Answer::Absent,
            Reading::Local(ip) => {
                let bit = |it: u16| [Atom::Number(u128::from(it))];
                let local = self.holds(table, comparison, &bit(kind::LOCAL), branch);
                let other = self.holds(table, comparison, &bit(kind::UNICAST), branch);
                return match (local, other) {
                    (Some(true), Some(true)) => Answer::Yes,
                    (Some(false), Some(false)) => Answer::No,
                    (Some(true), Some(false)) => Answer::If(Condition::Local(ip)),
                    (Some(false), Some(true)) => Answer::Unless(Condition::Local(ip)),
                    _ => unknown(self),
                };
            }
            Reading::Unknown if self.is_asker_hidden(branch) && is_of_one(comparison) => {
                return Answer::yes_if(comparison.relation == Relation::IsNot);
            }
            Reading::Unknown => return unknown(self),
            Reading::Link(is_in) => {
                return link_compared(comparison, is_in).unwrap_or_else(|| unknown(self));
            }
            Reading::Values(values) => values,
        };
        let mut share = Share::NONE;
        for (part, value) in &values {
            match self.holds(table, comparison, value, branch) {
                Some(true) => share = share.and(*part),
                Some(false) => {}
                None => return unknown(self),
            }
        }
        if share.is_all() {
            Answer::Yes
        } else if share.is_none() {
            Answer::No
        } else {
            Answer::Share(share)
        }
    }

    fn holds(
        &mut self,
        table: usize,
        comparison: &Comparison,
        left: &[Atom],
        branch: &Branch,
    ) -> Option<bool> {
        let is_in = match &comparison.right {
            Expression::Values(values) => match comparison.relation {
                Relation::In => return flags_in(values, left),
                Relation::Is | Relation::IsNot => values.have(left)?,
                _ => return ordered(comparison.relation, left, values),
            },
            Expression::Named(name) => {
                let set = self.nft_set(table, name)?;
                set.find(left).ok()?.is_some()
            }
            other => match self.value(table, other, branch) {
                Reading::Values(values) => match values.as_slice() {
                    [(_, right)] => match comparison.relation {
                        Relation::Is | Relation::IsNot => right == left,
                        _ => {
                            let right = Values::One(right.clone());
                            return ordered(comparison.relation, left, &right);
                        }
                    },
                    _ => return None,
                },
                _ => return None,
            },
        };
        Some(is_in != (comparison.relation == Relation::IsNot))
    }
}

/// `ct state established,related`: any of the bits.
fn flags_in(values: &Values, left: &[Atom]) -> Option<bool> {
    let [Atom::Number(left)] = left else {
        return None;
    };
    match values {
        Values::One(right) => match right.as_slice() {
            [Atom::Number(right)] => Some(left & right != 0),
            _ => None,
        },
        Values::Set(all) => {
            let any = all.iter().map(|it| flags_in(&it.0, &[Atom::Number(*left)]));
            any.collect::<Option<Vec<bool>>>()
                .map(|it| it.contains(&true))
        }
        _ => None,
    }
}

fn ordered(relation: Relation, left: &[Atom], right: &Values) -> Option<bool> {
    let Values::One(right) = right else {
        return None;
    };
    let [Atom::Number(right)] = right.as_slice() else {
        return None;
    };
    let left = match left {
        [Atom::Number(left)] => left,
        [Atom::Drawn] if *right <= u128::from(FIRST_DRAWN) => &u128::from(u16::MAX),
        _ => return None,
    };
    Some(match relation {
        Relation::Less => left < right,
        Relation::AtMost => left <= right,
        Relation::More => left > right,
        Relation::AtLeast => left >= right,
        _ => return None,
    })
}

/// Whether an address is held against single ones, of which the asker that is
/// not known is taken to be none.
fn is_of_one(comparison: &Comparison) -> bool {
    use crate::rules::nft::Field;
    let is_address = matches!(
        comparison.left,
        Expression::Field(Field::Source(_) | Field::Destination(_) | Field::Original(_))
    );
    let is_one = |it: &Values| matches!(it, Values::One(_));
    let is_single = match &comparison.right {
        Expression::Values(Values::Set(all)) => all.iter().all(|it| is_one(&it.0)),
        Expression::Values(one) => is_one(one),
        _ => false,
    };
    is_address && is_single
}

/// Where it is not known which link it is.
fn link_compared(comparison: &Comparison, is_in: bool) -> Option<Answer> {
    let Expression::Values(values) = &comparison.right else {
        return None;
    };
    let asked = match values {
        Values::One(atoms) => match atoms.as_slice() {
            [Atom::Name(name)] => LinkName {
                name: name.clone(),
                is_prefix: false,
            },
            _ => return None,
        },
        Values::Prefix(start) => LinkName {
            name: start.clone(),
            is_prefix: true,
        },
        _ => return None,
    };
    let condition = if is_in {
        Condition::InLink
    } else {
        Condition::OutLink
    };
    match (link(&Link::Unknown, &asked, condition), comparison.relation) {
        (answer, Relation::Is) => Some(answer),
        (Answer::Yes, Relation::IsNot) => Some(Answer::No),
        (Answer::No, Relation::IsNot) => Some(Answer::Yes),
        _ => None,
    }
}
