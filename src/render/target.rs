//! What is said of a target.

use crate::target::Warning;

/// What to know before believing an answer, without a full stop.
pub fn warning(warning: &Warning) -> String {
    let text = match warning {
        Warning::HostNetwork => {
            "the target is on the node's network: 127.0.0.53 and the like are the node's own servers"
        }
        Warning::Drift(kept) => {
            return format!(
                "the target sees another resolv.conf than its sandbox's, {kept}, which its next container gets"
            );
        }
        Warning::MountedOver(kept) => {
            return format!(
                "the pod's spec mounts a resolv.conf of its own over its sandbox's, {kept}: this container gets it again"
            );
        }
        Warning::Dead(container) => {
            return format!(
                "container {container} does not run; what it gets at its next start stands in for it: \
                 its sandbox's network and resolv.conf"
            );
        }
        Warning::NoProcess => {
            "no process of the pod runs; the network namespace is the one that is kept for it"
        }
        Warning::Hidden => {
            "its processes cannot be seen here: its sandbox's network and resolv.conf stand in for them"
        }
        Warning::OneOf { chosen, others } => {
            let others = others.join(", ");
            return format!(
                "of the pod's containers this is about {chosen}; the others are {others}: name one by its id"
            );
        }
        Warning::NodeFiles => {
            "the namespace has no files of its own in /etc/netns: its programs read the node's"
        }
    };
    text.to_owned()
}
