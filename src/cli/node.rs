//! Which node: arguments of the commands that read one.

use std::path::{Path, PathBuf};

use crate::cli::streams::Streams;
use crate::host::node::StandIns;
use crate::host::root::{Resolution, Root};
use crate::host::snapshot;
use crate::host::{self, FileRead, ReadError};
use crate::kubelet::running::shown_at_configz;
use crate::text::Source;

/// Where `kubectl debug node/NODE` mounts the node's files.
///
/// Source: kubernetes `staging/src/k8s.io/kubectl/pkg/cmd/debug/profiles.go`.
pub(super) const DEBUG: &str = "/host";

/// What the kubelet mounts into every pod that does not forbid it.
const ACCOUNT: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

/// The node, and files that stand in for some of its own.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Which node")]
pub(super) struct NodeArgs {
    /// Read the node below this directory, or in this snapshot [default: /]
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
    /// Take this for the file that the kubelet's resolvConf names; - is standard input
    #[arg(long, value_name = "FILE")]
    node_file: Option<PathBuf>,
    /// Take this for the kubelet's configuration file; - is standard input
    #[arg(long, value_name = "FILE")]
    kubelet_config: Option<PathBuf>,
    /// Take this for the Corefile of the cluster's DNS; - is standard input
    #[arg(long, value_name = "FILE")]
    corefile: Option<PathBuf>,
}

impl NodeArgs {
    /// The node below this directory, or in this snapshot.
    pub(super) fn below(directory: &Path) -> Self {
        Self {
            root: Some(directory.to_owned()),
            node_file: None,
            kubelet_config: None,
            corefile: None,
        }
    }

    /// The root of the node.
    pub(super) fn root(&self) -> Result<Root, ReadError> {
        node_below(self.root.as_deref())
    }

    /// Whether it is the machine that kdns runs on, and no file stands in.
    pub(super) fn is_this(&self) -> bool {
        self.root.is_none() && self.node_file.is_none() && self.kubelet_config.is_none()
    }

    /// Whether a file stands in for the kubelet's.
    pub(super) fn has_kubelet_config(&self) -> bool {
        self.kubelet_config.is_some()
    }

    /// The directory that has the node's files.
    pub(super) fn directory(&self) -> &Path {
        self.root.as_deref().unwrap_or(Path::new("/"))
    }

    /// Whether the caller names this directory.
    pub(super) fn is_named_as(&self, directory: &str) -> bool {
        self.root.as_deref() == Some(Path::new(directory))
    }

    /// What `kdns path` is to be told for the rules of this node; `None`: there are
    /// none that can be read.
    pub(super) fn words_of_rules(&self, root: Option<&Root>) -> Option<Vec<String>> {
        let is_live = self.is_this() || self.is_named_as("/");
        if root.is_some_and(snapshot::has_rules) {
            let file = self.directory().display();
            return Some(vec!["--from-host".to_owned(), format!("--root={file}")]);
        }
        (is_live && nix::unistd::geteuid().is_root()).then(Vec::new)
    }

    /// Whether the caller says which node is meant.
    pub(super) fn is_named(&self) -> bool {
        self.root.is_some()
    }

    /// Whether only files are to be judged, and no node is to be read. A Corefile,
    /// and what a running kubelet shows of itself, come beside what there is.
    pub(super) fn is_files_only(&self, given: &StandIns) -> bool {
        let is_file = |it: &Source| shown_at_configz(it).is_none();
        let has_settings = given.kubelet_config.as_ref().is_some_and(is_file);
        self.root.is_none() && (given.node_file.is_some() || has_settings)
    }

    /// The files that were named.
    pub(super) fn stand_ins(&self, streams: &mut Streams<'_>) -> Result<StandIns, ReadError> {
        let mut read = |path: &Option<PathBuf>| -> Result<_, ReadError> {
            path.as_deref()
                .map(|path| read_all(path, streams))
                .transpose()
        };
        Ok(StandIns {
            node_file: read(&self.node_file)?,
            kubelet_config: read(&self.kubelet_config)?,
            corefile: read(&self.corefile)?,
        })
    }
}

/// The node below a directory or in a snapshot; `None`: this machine.
pub(super) fn node_below(directory: Option<&Path>) -> Result<Root, ReadError> {
    match directory {
        Some(file) if snapshot::is_one(file) => snapshot::open(file),
        Some(directory) => Root::below(directory, Resolution::default()),
        None => Root::live(),
    }
}

/// What a machine has on which a kubelet runs: its own directory, also that of
/// MicroK8s and of k0s.
const KUBELETS: [&str; 3] = [
    "/var/lib/kubelet",
    "/var/snap/microk8s/common/var/lib/kubelet",
    "/var/lib/k0s/kubelet",
];

/// Whether a kubelet runs on the machine, or did.
pub(super) fn has_kubelet(root: &Root) -> bool {
    KUBELETS.iter().any(|it| root.is_directory(Path::new(it)))
}

/// Whether there is a node here to look at.
pub(super) fn is_on_node() -> bool {
    let live = node_below(None).is_ok_and(|it| has_kubelet(&it));
    live || node_below(Some(Path::new(DEBUG))).is_ok_and(|it| has_kubelet(&it))
}

/// Whether this is a pod, and its node is not to be seen.
pub(super) fn is_pod_alone() -> bool {
    is_pod() && !is_on_node()
}

/// The kubelet sets the variable in every container.
pub(super) fn is_pod() -> bool {
    std::env::var_os("KUBERNETES_SERVICE_HOST").is_some() || Path::new(ACCOUNT).is_dir()
}

/// A log has at most so many bytes.
const MAX_LOG: usize = 64 << 20;

/// All of a log that the caller named: what it says can stand anywhere in it.
pub(super) fn read_log(path: &Path, streams: &mut Streams<'_>) -> Result<Source, ReadError> {
    read_long(path, MAX_LOG, streams)
}

/// All of a file that the caller named, which may have so many bytes.
pub(super) fn read_long(
    path: &Path,
    most: usize,
    streams: &mut Streams<'_>,
) -> Result<Source, ReadError> {
    if path.as_os_str() == "-" {
        return host::read_whole("<stdin>", streams.take_input()?, most);
    }
    host::read_whole(&host::shown(path), host::open_named(path)?, most)
}

/// The same of a file that is judged: half of one would give half a verdict.
pub(super) fn read_all(path: &Path, streams: &mut Streams<'_>) -> Result<Source, ReadError> {
    read_named(path, streams)?.whole()
}

/// A file that the caller named; `-` is standard input, for one of them.
pub(super) fn read_named(path: &Path, streams: &mut Streams<'_>) -> Result<FileRead, ReadError> {
    if path.as_os_str() == "-" {
        host::read_stream("<stdin>", streams.take_input()?)
    } else {
        host::read_named(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_running_kubelet_shows_comes_beside_the_node() {
        let source = |text: &str| Source::new("f", text);
        let args = |root: Option<&str>| NodeArgs {
            root: root.map(PathBuf::from),
            ..NodeArgs::below(Path::new("/"))
        };
        let shown = "{\"kubeletconfig\": {\"resolvConf\": \"/etc/resolv.conf\"}}";
        let file = "kind: KubeletConfiguration\nresolvConf: /etc/resolv.conf\n";
        for (root, kubelet, expected) in [
            (None, None, false),
            (None, Some(shown), false),
            (None, Some(file), true),
            (Some("/host"), Some(file), false),
        ] {
            let given = StandIns {
                kubelet_config: kubelet.map(source),
                corefile: Some(source(".")),
                ..StandIns::default()
            };
            let found = args(root).is_files_only(&given);
            assert_eq!(found, expected, "{root:?} {kubelet:?}");
        }
    }
}
