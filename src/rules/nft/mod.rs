//! `nft list ruleset`: the JSON of libnftables (`libnftables-json(5)`), or the text
//! without `-j`, which `listing` reads.

mod expression;
mod index;
mod listing;
mod rule;
mod scan;
mod set;
mod shown;
mod statement;
mod value;

pub use expression::{Atom, Comparison, Expression, Field, Kind, Operator, Relation, Values};
pub use set::{Element, Set, Unsure};

pub(super) use index::{Indexer, Tables};
pub(super) use listing::Indexer as ListingIndexer;
pub(super) use rule::rules;
pub(super) use set::set;
pub(super) use shown::shown;
