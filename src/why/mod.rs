//! What an error message, a log or metrics of DNS servers say.
//!
//! [`Catalogue::built_in`] has the known messages and their causes, each a page below
//! `src/why`; [`recognise()`] finds them in a text, and `judged` lets the
//! facts of a node decide between the causes.

pub mod asked;
pub mod catalogue;
pub mod cause;
mod command;
pub mod inside;
pub mod judged;
mod listing;
pub mod log;
pub mod looked;
pub mod metrics;
mod named;
mod nearest;
mod page;
mod pattern;
mod plain;
mod platform;
mod recognise;
mod shown;
pub mod speaker;

pub use self::catalogue::{Catalogue, Message};
pub use self::cause::{Cause, Likely};
pub use self::recognise::{Recognised, Unknown, recognise};
