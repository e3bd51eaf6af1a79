//! The kubelet's setting: how to change it, and what must be done after it.

use super::{affected, view};
use crate::check_loop::{Edit, Mend};
use crate::kubelet::{Found, Kubelet, Origin, Setting};
use crate::node::{Node, Pod};
use crate::text::{Place, escaped};

/// Where kubeadm has the kubelet's configuration.
const USUAL_FILE: &str = "/var/lib/kubelet/config.yaml";

/// Points `resolvConf` to another file.
pub(super) fn point_to(node: &Node, path: &str) -> Mend {
    let Some(kubelet) = &node.kubelet else {
        return Mend {
            edit: added(USUAL_FILE, path),
            then: Vec::new(),
            but: Vec::new(),
            not: Vec::new(),
        };
    };
    let restart = restart(kubelet);
    Mend {
        edit: edit(kubelet, path),
        then: restart.into_iter().chain(recreation(node)).collect(),
        but: overridden(kubelet),
        not: Vec::new(),
    }
}

/// Nothing is left to change: only the pods are old.
pub(super) fn recreate(node: &Node) -> Option<Mend> {
    let kubelet = node.kubelet.as_ref()?;
    let value = escaped(kubelet.resolv_conf.value.as_bytes());
    let stands = match view::origin(&kubelet.resolv_conf, words(&kubelet.resolv_conf, &value)) {
        Some(proof) => proof,
        None => {
            let listed = view::of_file(node.kubelet_file.as_ref()?).ok()?;
            listed.first()?.proof.last()?.clone()
        }
    };
    Some(Mend {
        edit: Edit {
            place: stands.place,
            old: Some(stands.text.clone()),
            new: stands.text,
        },
        then: recreation(node).into_iter().collect(),
        but: Vec::new(),
        not: vec![
            "Restarting the pods' containers only: a pod keeps its file until it is deleted"
                .to_owned(),
        ],
    })
}

/// The setting as it is to be written where it stands now.
fn edit(kubelet: &Kubelet, path: &str) -> Edit {
    let setting = &kubelet.resolv_conf;
    let old = escaped(setting.value.as_bytes());
    match &setting.origin {
        Origin::File(place) => Edit {
            place: place.clone(),
            old: Some(words(setting, &old)),
            new: words(setting, path),
        },
        Origin::Argument { pid, argument } => Edit {
            place: Place {
                file: format!("/proc/{pid}/cmdline"),
                line: 1,
                column: 1,
            },
            old: Some(argument.clone()),
            new: format!("--resolv-conf={path}"),
        },
        Origin::BuiltIn | Origin::Option(_) | Origin::Unread(_) => {
            added(&configuration(kubelet), path)
        }
    }
}

fn added(file: &str, path: &str) -> Edit {
    let is_json = has_ending(file, "json");
    Edit {
        place: Place {
            file: file.to_owned(),
            line: 1,
            column: 1,
        },
        old: None,
        new: match is_json {
            true => format!("\"resolvConf\": \"{path}\","),
            false => format!("resolvConf: {path}"),
        },
    }
}

/// The setting in the words of the file where it stands.
fn words(setting: &Setting<String>, value: &str) -> String {
    let file = match &setting.origin {
        Origin::File(place) => place.file.as_str(),
        Origin::Argument { .. } => return format!("--resolv-conf={value}"),
        _ => "",
    };
    if file.contains("/rancher/") {
        format!("resolv-conf={value}")
    } else if has_flags(file) {
        format!("--resolv-conf={value}")
    } else if has_ending(file, "json") {
        format!("\"resolvConf\": \"{value}\"")
    } else {
        format!("resolvConf: {value}")
    }
}

/// Whether flags stand in the file: environment files and units.
fn has_flags(file: &str) -> bool {
    let is_settings = has_ending(file, "json") || has_ending(file, "yaml");
    !is_settings
        && (file.starts_with("/etc/default/")
            || file.starts_with("/etc/sysconfig/")
            || file.contains("/systemd/")
            || file.contains("/args/")
            || has_ending(file, "env")
            || has_ending(file, "service"))
}

fn has_ending(file: &str, ending: &str) -> bool {
    file.rsplit_once('.')
        .is_some_and(|(_, own)| own.eq_ignore_ascii_case(ending))
}

/// The kubelet's configuration file, told from its other settings.
fn configuration(kubelet: &Kubelet) -> String {
    let of_dns = &kubelet.cluster_dns.origin;
    let of_domain = &kubelet.cluster_domain.origin;
    let mut files = [of_dns, of_domain].into_iter().filter_map(|it| match it {
        Origin::File(place) if !has_flags(&place.file) => Some(place.file.clone()),
        _ => None,
    });
    files.next().unwrap_or_else(|| USUAL_FILE.to_owned())
}

/// What to know about files that would beat the change, or be beaten.
fn overridden(kubelet: &Kubelet) -> Vec<String> {
    let setting = &kubelet.resolv_conf;
    let is_flag = match &setting.origin {
        Origin::File(place) => has_flags(&place.file) || place.file.contains("/rancher/"),
        Origin::Argument { .. } => true,
        _ => false,
    };
    let overrode = setting.overrode.iter().map(|(value, origin)| {
        format!(
            "{} at {origin} has no effect, as {} overrides it: changing it there mends nothing",
            escaped(value.as_bytes()),
            setting.origin
        )
    });
    let mut but: Vec<String> = overrode.collect();
    if !is_flag {
        but.push("A flag --resolv-conf would override it; this kubelet has none".to_owned());
    }
    if matches!(&setting.origin, Origin::File(place) if place.file == USUAL_FILE) {
        but.push(
            "kubeadm writes this file again at the next upgrade, from the ConfigMap \
             kube-system/kubelet-config"
                .to_owned(),
        );
    }
    but
}

/// How the kubelet reads its settings again.
fn restart(kubelet: &Kubelet) -> Option<String> {
    let comm = match &kubelet.found {
        Found::Process { comm, .. } => comm.as_str(),
        Found::Files { file } if file.contains("k3s") => "k3s",
        Found::Files { file } if file.contains("rke2") => "rke2",
        Found::Files { .. } | Found::Named => "kubelet",
    };
    let command = match comm {
        "k3s-server" | "k3s" => "systemctl restart k3s",
        "k3s-agent" => "systemctl restart k3s-agent",
        "rke2" | "rke2-server" => "systemctl restart rke2-server",
        "rke2-agent" => "systemctl restart rke2-agent",
        "kubelite" => "snap restart microk8s",
        "k0s" => "systemctl restart k0sworker",
        _ => "systemctl restart kubelet",
    };
    Some(format!("Restart the kubelet: {command}"))
}

/// Which pods have to be made anew.
pub(super) fn recreation(node: &Node) -> Vec<String> {
    let pods = affected(node);
    let mut sentences = Vec::new();
    let mut namespaces: Vec<&str> = pods
        .iter()
        .filter_map(|it| it.namespace.as_deref())
        .collect();
    namespaces.sort_unstable();
    namespaces.dedup();
    for namespace in namespaces {
        let of_it = |pod: &&&Pod| pod.namespace.as_deref() == Some(namespace);
        let names = pods
            .iter()
            .filter(of_it)
            .filter_map(|it| it.name.as_deref());
        let names: Vec<&str> = names.collect();
        sentences.push(format!(
            "Recreate the DNS pods, which keep their old file until then: kubectl -n {namespace} \
             delete pod {}",
            names.join(" ")
        ));
    }
    if sentences.is_empty() {
        sentences.push(
            "Recreate the DNS pods, which keep their old file until then: kubectl -n kube-system \
             delete pod -l k8s-app=kube-dns"
                .to_owned(),
        );
    }
    sentences
}
