//! What `kdns dig` prints: text as BIND's dig writes it.

pub mod dns64;
pub mod edns;
mod idn;
pub mod json;
pub mod printed;
mod rdata;
pub mod reply;
pub mod stats;
mod style;
mod words;
pub mod yaml;

pub use self::idn::Refused;
pub use self::style::Style;
