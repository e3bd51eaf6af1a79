//! The words of a report, shared by its formats.

mod fix;
mod headline;
mod missing;
mod remark;
mod trouble;
mod unknown;

use crate::check_loop::Who;
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

/// Who is at a hop, and in which network.
pub(super) fn who(who: &Who) -> (String, &'static str) {
    match who {
        Who::Server { label, is_on_node } => {
            let network = if *is_on_node {
                "on the node"
            } else {
                "in the pod's network"
            };
            (label.clone(), network)
        }
        Who::Service(Some(ip)) => (format!("the cluster's DNS service {ip}"), "in the cluster"),
        Who::Service(None) => ("the service kube-dns-upstream".to_owned(), "in the cluster"),
    }
}
