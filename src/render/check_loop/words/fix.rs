//! What to do for a fix, and what to know about it.

use crate::address::DNS_PORT;
use crate::check_loop::facts::{Caveat, Manifest, Step, Useless};
use crate::render::command::Command;
use crate::render::kubelet;
use crate::render::sentence::{Sentence, sentence};

/// A step, with the command for it.
pub(in crate::render) struct Action {
    code: &'static str,
    /// What it is, without a full stop.
    pub(in crate::render) text: String,
    pub(in crate::render) command: Option<Command>,
}

impl Action {
    fn new(code: &'static str, text: impl Into<String>, command: Option<Command>) -> Self {
        let text = text.into();
        Self {
            code,
            text,
            command,
        }
    }

    /// It and its command as one sentence.
    pub(in crate::render) fn sentence(self) -> Sentence {
        let text = match self.command {
            Some(command) => format!("{}: {command}", self.text),
            None => self.text,
        };
        Sentence::new(self.code, text)
    }
}

fn kubectl(namespace: &str) -> Command {
    Command::new("kubectl -n").arg(namespace)
}

/// The step as a sentence.
#[expect(clippy::too_many_lines, reason = "a table: one arm a fact")]
pub(in crate::render) fn action(step: &Step) -> Action {
    match step {
        Step::Write { path, servers } if servers.is_empty() => Action::new(
            "write-file",
            format!(
                "Write {path} with a line nameserver ADDRESS for each DNS server of your network \
                 that pods reach: no file that was read has one"
            ),
            None,
        ),
        Step::Write { path, servers } => {
            let write = Command::new(r"printf 'nameserver %s\n'").args(servers);
            let write = Command::new(format!("{write} >{path}"));
            Action::new("write-file", format!("Write {path}"), Some(write))
        }
        Step::Address => Action::new(
            "choose-address",
            "ADDRESS is that of a DNS server of your network: no file that was read has one",
            None,
        ),
        Step::Ask { pod, server } => {
            let enter = Command::new("kdns nsenter").arg(pod);
            let ask = enter.args(["dig", &format!("@{}", server.ip())]);
            let ask = match server.port() {
                DNS_PORT => ask,
                port => ask.arg("-p").arg(port),
            };
            let ask = ask.args([".", "NS"]);
            Action::new("ask-server", "Ask it from the pod's network", Some(ask))
        }
        Step::Walk { pod, server } => {
            let path = Command::new("kdns path --target").arg(pod);
            let path = path.arg(format!("{server}/tcp"));
            let text =
                "See where packets to the Kubernetes API go, and whether anybody listens there";
            Action::new("walk-to-api", text, Some(path))
        }
        Step::MayRead => Action::new(
            "see-permission",
            "See whether the account of the DNS pods may, by its usual name: if not, ClusterRole \
             system:coredns lacks it; if so, their token is no longer good, and new pods have one",
            Some(Command::new(
                "kubectl auth can-i list endpointslices.discovery.k8s.io \
                 --as system:serviceaccount:kube-system:coredns",
            )),
        ),
        Step::Probe => Action::new(
            "probe",
            "See whether queries come back from outside",
            Some(Command::new("kdns check-loop --probe")),
        ),
        Step::Flag(pid) => Action::new(
            "change-flag",
            "Change the flag in what starts the kubelet, which is in no file that kdns knows",
            Some(Command::new("systemctl status").arg(pid)),
        ),
        Step::OtherZones => Action::new(
            "change-other-zones",
            "Do the same in the other zones of the cluster: node-cache puts the address of the \
             service that -upstreamsvc names there, usually kube-dns-upstream",
            None,
        ),
        Step::ConfigMap {
            namespace,
            pod: Some(pod),
            ..
        } => Action::new(
            "edit-config-map",
            format!("Edit the ConfigMap that pod {namespace}/{pod} mounts, whose name this tells"),
            Some(kubectl(namespace).args(["get", "pod", pod, "-o", VOLUMES])),
        ),
        Step::ConfigMap {
            namespace, name, ..
        } => Action::new(
            "edit-config-map",
            // The node has the name of the volume alone.
            "Edit the ConfigMap, by its usual name",
            Some(kubectl(namespace).args(["edit", "configmap", name])),
        ),
        Step::Rollout { namespace, name } => Action::new(
            "restart-rollout",
            "Have the pods read it (with reload they do so within two minutes)",
            Some(kubectl(namespace).args(["rollout", "restart", name])),
        ),
        Step::Reload => Action::new(
            "restart-coredns",
            "Restart CoreDNS, or wait two minutes if its Corefile has reload",
            None,
        ),
        Step::Restart(program) => {
            Action::new("restart-program", format!("Restart {program}"), None)
        }
        Step::RestartKubelet {
            command,
            is_unit_changed,
        } => {
            let reload = if *is_unit_changed {
                "systemctl daemon-reload && "
            } else {
                ""
            };
            let command = Command::new(format!("{reload}{command}"));
            Action::new("restart-kubelet", "Restart the kubelet", Some(command))
        }
        Step::Recreate { namespace, pods } => {
            let delete = kubectl(namespace).args(["delete", "pod"]);
            let delete = if pods.is_empty() {
                delete.args(["-l", "k8s-app=kube-dns"])
            } else {
                delete.args(pods)
            };
            Action::new(
                "recreate-pods",
                "Recreate the DNS pods, which keep their old file until then",
                Some(delete),
            )
        }
        Step::RecreateStatic { pod, manifest } => {
            let manifest = match manifest {
                Manifest::File(path) => path.clone(),
                Manifest::In(folder) => format!("in {folder}"),
                Manifest::Unknown => "in the kubelet's staticPodPath".to_owned(),
            };
            let text = format!(
                "Recreate the static pod {pod}, which deleting does not: move its manifest \
                 {manifest} out of its directory, wait until kdns pods shows the pod no more, and \
                 move it back"
            );
            Action::new("recreate-static-pod", text, None)
        }
    }
}

/// What would undo it, as a sentence.
pub(in crate::render) fn caveat(caveat: &Caveat) -> Sentence {
    match caveat {
        Caveat::NoEffect { value, at, by } => sentence!(
            "overridden",
            "{value} at {} has no effect, as {} overrides it: changing it there fixes \
                 nothing",
            kubelet::origin(at),
            kubelet::origin(by)
        ),
        Caveat::Flag => Sentence::new(
            "flag-overrides",
            "A flag --resolv-conf would override it; this kubelet has none",
        ),
        Caveat::Kubeadm => Sentence::new(
            "kubeadm-rewrites",
            "kubeadm writes this file again at the next upgrade, from the ConfigMap \
             kube-system/kubelet-config",
        ),
        Caveat::Node(path) => sentence!(
            "node-reads-file",
            "The node itself reads {path} too, and no longer asks that server; a file for the \
                 kubelet alone, which resolvConf names, leaves the node as it is"
        ),
    }
}

/// The `ConfigMaps` of a pod's volumes.
const VOLUMES: &str = "jsonpath={.spec.volumes[*].configMap.name}";

/// What does not fix it, as a sentence.
pub(in crate::render) fn useless(useless: &Useless) -> Sentence {
    match useless {
        Useless::NoLoopPlugin => Sentence::new(
            "remove-loop-plugin",
            "Removing loop from the Corefile: it only tells of the loop, and without it queries go \
             round until the memory is used up",
        ),
        Useless::Editing(path) => sentence!(
            "edit-generated-file",
            "Editing {path}: its owner writes it again"
        ),
        Useless::Containers => Sentence::new(
            "restart-containers",
            "Restarting the pods' containers only: a pod keeps its file until it is deleted",
        ),
        Useless::PodsFirst => Sentence::new(
            "recreate-pods-first",
            "Recreating the pods before the kubelet is restarted: they get the old file again",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_config_map_is_a_guess() {
        for name in ["coredns", "coredns-b"] {
            let step = action(&Step::ConfigMap {
                namespace: "kube-system".to_owned(),
                name: name.to_owned(),
                pod: None,
            });
            assert!(step.text.ends_with("by its usual name"), "{name}");
        }
    }
}
