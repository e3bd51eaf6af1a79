//! Pods of the cluster's DNS and of its network, as kubectl lists and describes them.

/// What the names of its pods begin with.
const PODS: [&str; 5] = [
    "coredns-",
    "kube-dns-",
    "rke2-coredns-rke2-coredns-",
    "dns-default-",
    "core-dns-",
];

/// What pods are that will not run any more: others take their place.
const ENDED: [&str; 7] = [
    "Completed",
    "ContainerStatusUnknown",
    "Evicted",
    "Failed",
    "NodeShutdown",
    "Succeeded",
    "Terminating",
];

/// A pod that was restarted so often does not only follow its node.
const OFTEN: u32 = 10;

/// One of them.
#[derive(Debug)]
pub(super) struct Pod {
    pub(super) name: String,
    /// `None`: it is not said.
    pub(super) is_ready: Option<bool>,
    pub(super) status: String,
    pub(super) restarts: u32,
}

impl Pod {
    /// How bad it is; 0: it is not.
    pub(super) fn badness(&self) -> u32 {
        match self.status.as_str() {
            // What was killed once, and is ready, may have been so long ago.
            "OOMKilled" if self.is_ready != Some(true) || self.restarts >= OFTEN => 5,
            "CrashLoopBackOff" => 4,
            // After a node's restart the last state is this, too.
            "Error" if self.is_ready != Some(true) => 4,
            "Running" if self.is_ready == Some(false) => 2,
            "Running" | "Completed" | "Error" | "OOMKilled" => u32::from(self.restarts >= OFTEN),
            _ => 3,
        }
    }

    pub(super) fn has_ended(&self) -> bool {
        ENDED.contains(&self.status.as_str())
    }

    /// What is bad about it.
    pub(super) fn state(&self) -> Option<String> {
        Some(match self.badness() {
            5 => "OOMKilled".to_owned(),
            4 => "crashing".to_owned(),
            3 => format!("waiting: {}", self.status),
            2 => "running and unready".to_owned(),
            1 => format!("restarted {} times", self.restarts),
            _ => return None,
        })
    }
}

/// Whether a name is one of a DNS pod; host names have dots.
pub(super) fn is_dns(name: &str) -> bool {
    let own = name.trim_start_matches("pod/");
    let is_other = name.contains('.') || name.contains("autoscaler");
    !is_other && PODS.iter().any(|it| own.starts_with(it))
}
