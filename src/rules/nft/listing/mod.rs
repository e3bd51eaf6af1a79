//! `nft list ruleset` without `-j`, as people paste it: what a rule or set says
//! is made the JSON that `nft -j` has for it, which the rest of [`super`] reads.

mod constant;
mod expression;
mod field;
mod index;
mod nat;
mod rule;
mod set;
mod statement;
#[cfg(test)]
mod tests;
mod words;

pub(in crate::rules) use index::Indexer;
pub(super) use rule::{rules, shown};
pub(super) use set::set;
