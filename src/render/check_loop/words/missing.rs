//! What would be needed for an answer.

use super::unknown;
use crate::check_loop::facts::Missing;
use crate::render::sentence::{Sentence, sentence};

/// How to run kdns on a node from elsewhere.
pub(in crate::render::check_loop) const DEBUG: &str = "kubectl debug node/NODE -it --profile=sysadmin --image=IMAGE -- \
                     kdns check-loop --root /host";

/// What to do where there is no node; [`DEBUG`] follows.
pub(in crate::render::check_loop) const NO_NODE: &str =
    "this is no node, as neither a kubelet nor a pod was found: run kdns on one, or";

/// The entry as a clause.
pub(in crate::render::check_loop) fn missing(missing: &Missing) -> Sentence {
    match missing {
        Missing::Processes(why) => sentence!(
            "processes-unseen",
            "whether a kubelet runs here is not known: {why}"
        ),
        Missing::Node => sentence!("no-node", "{NO_NODE} {DEBUG}"),
        Missing::Privilege(why) => {
            sentence!("no-privilege", "not all of the node could be read: {why}")
        }
        Missing::Kubelet => Sentence::new(
            "no-kubelet",
            "no kubelet was found, so it is not known which file its pods get",
        ),
        Missing::KubeletFile(path) => sentence!(
            "kubelet-file-missing",
            "the kubelet's file {path} is not there, and without it no pod starts"
        ),
        Missing::KubeletFileContent(why) => sentence!(
            "kubelet-file-unknown",
            "the kubelet's file is not known: {why}"
        ),
        Missing::KubeletFileUnread(path) => sentence!(
            "kubelet-file-unread",
            "the kubelet's file {path} was not read (--node-file stands in for it)"
        ),
        Missing::Corefile => Sentence::new(
            "no-corefile",
            "no Corefile was found: give it with --corefile (kubectl -n kube-system get configmap \
             coredns -o jsonpath='{.data.Corefile}')",
        ),
        Missing::Path(reason) => unknown(reason),
        Missing::Loop(place) => sentence!(
            "loop-unexplained",
            "the log of CoreDNS ends with its own query coming back ({place}), but no file of \
                 this node shows how: the way back leads through another machine, or was fixed \
                 since; ask with --probe when it runs again"
        ),
    }
}
