//! What is said of a target.

use crate::target::Warning;

/// What to know before believing an answer, without a full stop.
pub fn warning(warning: &Warning) -> String {
    const IN_ITS_STEAD: &str = "its sandbox's network and resolv.conf";
    match warning {
        Warning::HostNetwork => "the target is on the node's network: 127.0.0.53 and the like are \
                                 the node's own servers"
            .to_owned(),
        Warning::Drift(kept) => format!(
            "the target sees another resolv.conf than its sandbox's, {kept}, which its next container gets"
        ),
        Warning::MountedOver(kept) => format!(
            "the pod's spec mounts a resolv.conf of its own over its sandbox's, {kept}: this container gets it again"
        ),
        Warning::Dead(container) => format!(
            "container {container} does not run; what it gets at its next start stands in for it: {IN_ITS_STEAD}"
        ),
        Warning::NoProcess => "no process of the pod runs; the network namespace is the one that \
                               is kept for it"
            .to_owned(),
        Warning::Hidden => {
            format!("its processes cannot be seen here: {IN_ITS_STEAD} stand in for them")
        }
        Warning::OneOf { chosen, others } => format!(
            "of the pod's containers this is about {chosen}; the others are {}: name one by its id",
            others.join(", ")
        ),
        Warning::NodeFiles => "the namespace has no files of its own in /etc/netns: its programs \
                               read the node's"
            .to_owned(),
    }
}
