//! Where a packet to a Service goes: the rules of a node, walked through as
//! the kernel does.
//!
//! [`evaluate()`] sends one packet through what is known of a node and gives
//! every place where it can end, with the exact share of each. What is not
//! known is no reason to guess: both ways are followed, and what differs
//! behind them says what it depends on. [`Site`] is a node with who asks there:
//! [`Site::to_servers`] is what a report about the cluster's DNS wants to know.

mod evaluate;
pub mod findings;
mod host;
mod own;
mod packet;
pub mod probe;
mod site;
mod tree;
mod what;

pub use evaluate::{evaluate, other_proxy};
pub use host::{
    Address, Conntrack, Host, Link, LinkKind, Neighbour, Policy, Route, RouteKind, RulesKnown,
};
pub use own::{evaluate_from, unroutable};
pub use packet::{Packet, Protocol, Start};
pub use site::Site;
pub use tree::{
    Assumption, Condition, Direction, Gap, Kind, Outcome, Proxy, Reply, Stage, Step, Tree, Verdict,
};
pub use what::What;
