//! What an engineer should know of a kubelet beside its settings, as facts.
//! `render` has the words. Names, paths and values are safe to print.

use crate::text::Place;

/// Something worth knowing of a kubelet.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Remark {
    /// It does not start with what it has; one that runs would not.
    Refused(Refusal),
    /// Something about a key of a configuration.
    Key {
        /// Where it stands, or its value.
        place: Place,
        /// What is remarkable about the key.
        what: KeyRemark,
    },
    /// It leaves out an entry of `clusterDNS` that is no address.
    NoAddress {
        /// The place or the flag.
        at: String,
        /// The entry.
        text: String,
    },
    /// This `resolvConf` depends on its working directory.
    RelativePath(String),
    /// A flag without a value takes the next argument for it.
    Swallowed {
        /// The flag.
        flag: String,
        /// The argument.
        value: String,
    },
    /// k0s chooses `resolvConf` at its start.
    K0sChooses,
    /// `MicroK8s` chooses it at its next start and writes it into this file.
    MicroK8sChooses(String),
    /// k3s or rke2 chooses it: no setting names a file.
    RancherChooses {
        /// `k3s` or `rke2`.
        name: &'static str,
        /// What it chooses.
        path: String,
    },
    /// k3s or rke2 chose it, and writes its drop-in anew each time.
    RancherWrites {
        /// `k3s` or `rke2`.
        name: &'static str,
        /// The drop-in.
        file: String,
        /// Where `resolv-conf` would name another file.
        configuration: &'static str,
    },
    /// k3s or rke2 has not been started since `resolv-conf` was set.
    RancherNotRestarted {
        /// `k3s` or `rke2`.
        name: &'static str,
        /// Where it is set, if not in its environment.
        at: Option<Place>,
        /// The value that was set.
        value: String,
        /// The drop-in, which has another value.
        file: String,
    },
    /// It has a file system of its own, that of this process.
    OwnRoot(u32),
    /// This file is newer than the process with this id.
    Newer {
        /// The file.
        file: String,
        /// The process.
        pid: u32,
    },
    /// All files are newer than it, as in a copy without their times.
    AllNewer,
    /// This process is none, or not that of the node.
    Process(OtherProcess),
    /// `--config-dir` is this link, which it does not follow.
    DropInsLink(String),
    /// It leaves out this file: its name does not end in `.conf`.
    DropInSkipped(String),
    /// This unit and its files would give it other flags than the process has.
    OtherFlags(String),
    /// No unit of it was found: its files are those in the usual places.
    NoUnit,
}

/// Something about a key of a configuration.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum KeyRemark {
    /// It stands there once more, and the last one counts.
    Repeated(String),
    /// Some versions ignore it in a drop-in, and that of this one is not known.
    InDoubt {
        /// The key.
        key: String,
        /// Whether it is the documented one, which older versions ignore.
        is_documented: bool,
    },
    /// `resolvConf` is ignored in drop-ins of 1.28 to 1.31.
    OldDropIn,
    /// It is ignored: this is the key.
    OtherKey {
        /// The key as it is written.
        key: String,
        /// What is meant.
        meant: &'static str,
    },
    /// An empty `resolvConf` means the default before 1.23.
    Empty,
}

/// A process that is not the node's kubelet.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("process {pid} ({comm}) {why}")]
pub struct OtherProcess {
    /// Its id.
    pub pid: u32,
    /// Its name.
    pub comm: String,
    /// Why.
    pub why: NotOfNode,
}

/// Why a process is not the node's kubelet, behind its name.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum NotOfNode {
    /// It has another network than process 1.
    #[error("has another network than process 1: it is the kubelet of another node")]
    Elsewhere,
    /// It runs in a container of a pod.
    #[error("runs in a container of a pod: it is not the node's kubelet")]
    Pod,
    /// It runs in a container that does not see the node's processes.
    #[error(
        "runs in a container that does not see the node's processes: it is not the node's kubelet"
    )]
    Apart,
    /// It runs in a container that may have the node's files or not.
    #[error(
        "runs in a container that does not have the node's /var/lib/kubelet: whether it is the \
         node's kubelet is not known"
    )]
    Shared,
    /// This process was taken for it.
    #[error("is a kubelet, too; process {0} is taken for that of the node")]
    Second(u32),
}

/// Why a kubelet does not start.
#[derive(Clone, Debug, Eq, Hash, PartialEq, thiserror::Error)]
pub enum Refusal {
    /// Its configuration is none, or of another kind.
    #[error(
        "{0}: the kubelet does not start with this file: it needs apiVersion \
         kubelet.config.k8s.io/v1beta1 and kind KubeletConfiguration"
    )]
    Identity(Place),
    /// Its configuration cannot be decoded.
    #[error("{place}: the kubelet does not start with this file: {error}")]
    Broken {
        /// Where decoding stopped.
        place: Place,
        /// Why.
        error: String,
    },
    /// Its configuration is empty.
    #[error("{0} is empty, and the kubelet does not start with it")]
    Empty(String),
    /// A value is of the wrong type.
    #[error(
        "{place}: the kubelet does not start with this file: {key} is {found} and not {wanted}"
    )]
    Type {
        /// Where the value stands.
        place: Place,
        /// The key.
        key: String,
        /// `a number`, `a list`.
        found: &'static str,
        /// `a text`.
        wanted: &'static str,
    },
    /// A flag needs a value.
    #[error("the kubelet does not start with {0} at the end of its arguments: it needs a value")]
    NoValue(String),
    /// A flag has one dash.
    #[error("the kubelet does not start with {0}: the flag has two dashes")]
    OneDash(String),
    /// A pair of a flag is no gate.
    #[error(
        "{flag}: the kubelet does not start with \"{pair}\", which is no gate with true or false"
    )]
    Gate {
        /// The flag.
        flag: String,
        /// The pair.
        pair: String,
    },
    /// A gate is not there, or locked.
    #[error("{place}: the kubelet does not start with the feature gate {gate}={value}: {why}")]
    UnknownGate {
        /// Where it is set.
        place: Place,
        /// The gate.
        gate: &'static str,
        /// What it is set to.
        value: bool,
        /// Why, by version.
        why: &'static str,
    },
    /// `--config-dir` is not known to it.
    #[error("the kubelet does not start with --config-dir: it is known since 1.28")]
    DropIns,
    /// `--config-dir` needs a variable.
    #[error(
        "the kubelet does not start with --config-dir: 1.28 and 1.29 need the variable \
         KUBELET_CONFIG_DROPIN_DIR_ALPHA in its environment"
    )]
    DropInGate,
    /// The directory of its drop-ins is not there.
    #[error("the kubelet does not start without {0}, which --config-dir names")]
    NoDropIns(String),
    /// Its unit needs a file that is not there.
    #[error("{unit} does not start without {file}")]
    NoEnvironmentFile {
        /// The unit.
        unit: String,
        /// The file.
        file: String,
    },
}
