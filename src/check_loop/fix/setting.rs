//! The kubelet's setting: how to change it, and what must be done after it.

use super::{pods, quote, view};
use crate::check_loop::facts::{Caveat, Step, Useless};
use crate::check_loop::report::{Edit, Fix};
use crate::kubelet::{Found, Kubelet, Origin};
use crate::node::Node;
use crate::text::{Place, Source, escaped};

/// Where kubeadm has the kubelet's configuration.
const USUAL_FILE: &str = "/var/lib/kubelet/config.yaml";

/// Points `resolvConf` to another file.
pub(super) fn point_to(node: &Node, path: &str) -> Fix {
    let mut fix = Fix::new(edit(node, path), Vec::new());
    if let Some(kubelet) = &node.kubelet {
        fix.then.extend(found_first(kubelet));
        fix.then.push(restart(kubelet));
        fix.but = overridden(kubelet);
    }
    fix.then.push(pods::recreation_of_all());
    fix
}

/// Nothing is left to change: only the pods are old, and with `is_restart` the
/// kubelet, too.
pub(super) fn recreate(node: &Node, is_restart: bool) -> Option<Fix> {
    let kubelet = node.kubelet.as_ref()?;
    let value = escaped(kubelet.resolv_conf.value.as_bytes());
    let of_file = || {
        let listed = view::of_file(node.kubelet_file.as_ref()?).ok()?;
        Some(listed.first()?.proof.last()?.clone())
    };
    let stands = view::origin(node, &kubelet.resolv_conf, &value).or_else(of_file)?;
    let first = is_restart.then_some(Useless::PodsFirst);
    let not = first.into_iter().chain([Useless::Containers]).collect();
    Some(Fix {
        edit: Edit {
            place: stands.place,
            old: Some(stands.text.clone()),
            new: stands.text,
        },
        is_restart,
        then: is_restart.then(|| restart(kubelet)).into_iter().collect(),
        but: Vec::new(),
        not,
    })
}

/// The setting as it is to be written where it stands now.
fn edit(node: &Node, path: &str) -> Edit {
    let Some(kubelet) = &node.kubelet else {
        return added(node, USUAL_FILE, path);
    };
    let value = escaped(kubelet.resolv_conf.value.as_bytes());
    match view::origin(node, &kubelet.resolv_conf, &value) {
        Some(stands) => {
            let new = match stands.text.rfind(&value).filter(|_| !value.is_empty()) {
                Some(at) => {
                    let before = stands.text.get(..at).unwrap_or_default();
                    let after = stands.text.get(at + value.len()..).unwrap_or_default();
                    format!("{before}{path}{after}")
                }
                None if stands.text.starts_with('-') => format!("--resolv-conf={path}"),
                None => format!("resolvConf: {path}"),
            };
            Edit {
                place: stands.place,
                old: Some(stands.text),
                new,
            }
        }
        None => match configuration(kubelet) {
            Some(file) => added(node, &file, path),
            None => {
                beside_flag(node, kubelet, path).unwrap_or_else(|| added(node, USUAL_FILE, path))
            }
        },
    }
}

/// One more flag behind one that the kubelet has.
fn beside_flag(node: &Node, kubelet: &Kubelet, path: &str) -> Option<Edit> {
    let dns = kubelet.cluster_dns.value.first().map(ToString::to_string);
    let dns = dns.and_then(|it| view::origin(node, &kubelet.cluster_dns, &it));
    let domain = escaped(kubelet.cluster_domain.value.as_bytes());
    let domain = || view::origin(node, &kubelet.cluster_domain, &domain);
    let flag = dns.or_else(domain).filter(|it| it.text.starts_with('-'))?;
    Some(Edit {
        new: format!("{} --resolv-conf={path}", flag.text),
        place: flag.place,
        old: Some(flag.text),
    })
}

/// The setting behind the last line of a file that does not have it.
fn added(node: &Node, file: &str, path: &str) -> Edit {
    if has_ending(file, "json") {
        // Behind the brace that begins the document.
        let source = quote::source(node, file);
        let brace = source.and_then(|it| it.bytes.iter().position(|&byte| byte == b'{'));
        let start = brace.map_or(0, |at| u32::try_from(at + 1).unwrap_or(0));
        let place = source.map_or_else(|| quote::end(node, file), |it| it.place_of(start));
        return Edit {
            place,
            old: None,
            new: format!("\"resolvConf\": \"{path}\","),
        };
    }
    if has_flags(file) {
        return Edit {
            place: quote::end(node, file),
            old: None,
            new: format!("--resolv-conf={path}"),
        };
    }
    // A second key beside one without a value would be a repeated one.
    let empty = quote::source(node, file).and_then(empty_key);
    let (place, old) = match empty {
        Some((place, line)) => (place, Some(line)),
        None => (quote::end(node, file), None),
    };
    Edit {
        place,
        old,
        new: format!("resolvConf: {path}"),
    }
}

/// The line that has the key and a null.
fn empty_key(source: &Source) -> Option<(Place, String)> {
    let mut start = 0;
    for line in source.bytes.split_inclusive(|&byte| byte == b'\n') {
        let value = line.strip_prefix(b"resolvConf:");
        let value = value.and_then(|it| it.split(|&byte| byte == b'#').next());
        if value.is_some_and(|it| matches!(it.trim_ascii(), b"" | b"~" | b"null")) {
            let place = source.place_of(u32::try_from(start).ok()?);
            return Some((place, escaped(line.trim_ascii())));
        }
        start += line.len();
    }
    None
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

/// The kubelet's configuration file, recognised by its other settings; `None`:
/// they are not in one.
fn configuration(kubelet: &Kubelet) -> Option<String> {
    let of_dns = &kubelet.cluster_dns.origin;
    let of_domain = &kubelet.cluster_domain.origin;
    let mut files = [of_dns, of_domain].into_iter().filter_map(|it| match it {
        Origin::File(place) if !has_flags(&place.file) => Some(place.file.clone()),
        _ => None,
    });
    files.next()
}

/// What to know about files that would beat the change, or be beaten.
fn overridden(kubelet: &Kubelet) -> Vec<Caveat> {
    let setting = &kubelet.resolv_conf;
    let is_flag = match &setting.origin {
        Origin::File(place) => has_flags(&place.file) || place.file.contains("/rancher/"),
        Origin::Argument { .. } => true,
        _ => false,
    };
    let overrode = setting.overrode.iter().map(|(value, at)| Caveat::NoEffect {
        value: escaped(value.as_bytes()),
        at: at.clone(),
        by: setting.origin.clone(),
    });
    let mut but: Vec<Caveat> = overrode.collect();
    if !is_flag {
        but.push(Caveat::Flag);
    }
    if matches!(&setting.origin, Origin::File(place) if place.file == USUAL_FILE) {
        but.push(Caveat::Kubeadm);
    }
    but
}

/// Arguments of a process cannot be edited: where they come from can.
fn found_first(kubelet: &Kubelet) -> Option<Step> {
    match kubelet.resolv_conf.origin {
        Origin::Argument { pid, .. } => Some(Step::Flag(pid)),
        _ => None,
    }
}

/// How the kubelet reads its settings again.
pub(super) fn restart(kubelet: &Kubelet) -> Step {
    let comm = match &kubelet.found {
        Found::Process { comm, .. } => comm.as_str(),
        Found::Files { file } if file.contains("k3s") => "k3s",
        Found::Files { file } if file.contains("rke2") => "rke2",
        Found::Files { .. } | Found::Named => "kubelet",
    };
    let is_of_k0s = configuration(kubelet).is_some_and(|it| it.starts_with("/var/lib/k0s/"));
    let command = match comm {
        "k3s-server" | "k3s" => "systemctl restart k3s",
        "k3s-agent" => "systemctl restart k3s-agent",
        "rke2" | "rke2-server" => "systemctl restart rke2-server",
        "rke2-agent" => "systemctl restart rke2-agent",
        "kubelite" => "snap restart microk8s",
        "k0s" => "systemctl restart k0sworker",
        _ if is_of_k0s => "systemctl restart k0sworker",
        _ => "systemctl restart kubelet",
    };
    let running = kubelet.running.as_ref();
    Step::RestartKubelet {
        command,
        is_unit_changed: running.is_some_and(|it| it.is_unit_changed),
    }
}
