//! The words of a report, shared by its formats.

mod fix;
mod headline;
mod missing;
mod remark;
mod trouble;
mod unknown;

use std::fmt;

use crate::check_loop::{SendsTo, Who};
use crate::render::sentence::Sentence;

pub(in crate::render) use fix::Action;
pub(in crate::render) use fix::action;
pub(super) use fix::{caveat, useless};
pub(in crate::render) use headline::headline;
pub use headline::round;
pub(super) use missing::{DEBUG, NO_NODE, missing};
pub(in crate::render) use remark::remark;
pub(in crate::render) use trouble::{sighting, trouble};
pub(super) use unknown::unknown;

/// To whom a hop sends.
impl fmt::Display for SendsTo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Target(target) => target.fmt(f),
            Self::DnsPods => f.write_str("one of the DNS pods"),
            Self::Further => f.write_str("further servers"),
        }
    }
}

/// The same, without the port where it is the usual one.
pub(in crate::render) fn receiver(to: &SendsTo) -> String {
    let written = match to {
        SendsTo::Target(target) => target.written(),
        SendsTo::DnsPods | SendsTo::Further => None,
    };
    written.unwrap_or_else(|| to.to_string())
}

/// Who is at a hop, and in which network.
pub(super) fn who(who: &Who) -> (String, &'static str) {
    match who {
        Who::Server { name, is_on_node } => {
            let network = if *is_on_node {
                "on the node"
            } else {
                "in the pod's network"
            };
            (name.to_string(), network)
        }
        Who::Service(Some(ip)) => (format!("the cluster's DNS service {ip}"), "in the cluster"),
        Who::Service(None) => ("the service kube-dns-upstream".to_owned(), "in the cluster"),
    }
}
