#![doc = include_str!("misspelled_key.md")]

use crate::config::yaml::Node;
use crate::kubelet::flags::Name;
use crate::lint::extract;
use crate::lint::facts::KubeletForm;
use crate::lint::inner::is_talos;
use crate::lint::rules::is_near;
use crate::lint::rules::kubelet::common::{entries, key, names, span, write_instead};
use crate::lint::rules::prelude::*;

/// The keys that DNS depends on, and how else people write them.
const KEYS: [(Name, &str, &[&str]); 3] = [
    (
        Name::ResolvConf,
        "resolvConf",
        &["resolvconffile", "resolvconfpath", "resolverconf"],
    ),
    (
        Name::ClusterDns,
        "clusterDNS",
        &[
            "clusterdnsip",
            "clusterdnsips",
            "clusterdnsserver",
            "clusterdnsservers",
        ],
    ),
    (
        Name::ClusterDomain,
        "clusterDomain",
        &["clusterdomainname", "clusterdnsdomain"],
    ),
];

pub(super) fn check(text: &KubeletText<'_>, context: &Context<'_>, report: &mut Report) {
    talos(text, report);
    flags(text, report);
    for entry in entries(text) {
        let Some((of, right)) = meant(key(entry)) else {
            continue;
        };
        // Drop-ins are merged by a decoder that takes upper for lower case.
        let is_case_only = key(entry).eq_ignore_ascii_case(right);
        if is_case_only && text.form == KubeletForm::DropIn {
            continue;
        }
        let document = text.document;
        let wrong = key(entry);
        let finding = report
            .add(
                document.at(entry.key.span),
                format!("the kubelet ignores {wrong}: the key is {right}"),
            )
            .note("it starts all the same, with a warning in its log, and without the setting");
        let other = entries(text).iter().find(|it| key(it) == right);
        let counted = other.map(|it| document.at(it.key.span));
        write_instead(
            finding,
            right,
            counted,
            context.flag_over(document.file, of),
        );
    }
}

/// Flags on command lines, and in lists of YAML that k3s, rke2 and kubeadm make flags of.
fn flags(text: &KubeletText<'_>, report: &mut Report) {
    let document = text.document;
    let lists = extract::arguments(document);
    let words = lists.iter().flat_map(|it| &it.0);
    let words = words.map(|it| (it.text().into_owned(), document.at(span(it))));
    let mut written: Vec<_> = words.filter(|it| it.0.starts_with("--")).collect();
    for list in document.yaml().map(extract::flag_lists).unwrap_or_default() {
        let items = list.as_sequence().unwrap_or_default().iter();
        // One flag can stand there without a list.
        let items = items.chain(Some(list).filter(|it| it.as_scalar().is_some()));
        let items = items.map(|it| it.get("name").unwrap_or(it));
        let entries = list.as_mapping().unwrap_or_default().iter();
        for node in items.chain(entries.map(|it| &it.key)) {
            let word = node.as_scalar().map(|it| it.text.clone());
            written.extend(word.map(|it| (it, document.at(node.span))));
        }
    }
    let own = extract::own_arguments(document);
    let own = own.iter().map(|(program, it)| {
        let word = (it.text().into_owned(), document.at(span(it)));
        (word, *program)
    });
    for ((word, at), program) in written.into_iter().map(|it| (it, "the kubelet")).chain(own) {
        let written = word.trim_start_matches('-').split('=').next();
        let written = written.unwrap_or_default();
        let name = written.replace('_', "-");
        let flags = KEYS.iter().map(|it| names(it.0).0);
        let meant = |it: &&str| is_near(&name, it.trim_start_matches('-'), 1);
        let Some(right) = flags.clone().find(meant) else {
            continue;
        };
        if flags.clone().all(|it| it.trim_start_matches('-') != name) {
            report
                .add(
                    at,
                    format!("{program} does not start: it knows no flag --{written}"),
                )
                .help(format!("write {right}"));
        }
    }
}

/// Where the settings of DNS of a machine of Talos are, with their keys.
///
/// Source: siderolabs/talos `pkg/machinery/config/types/v1alpha1`: `KubeletConfig`, `NetworkConfig`,
/// `FeaturesConfig`, `HostDNSConfig`; `pkg/machinery/config/decoder`.
const OF_TALOS: [(&[&str], &[&str]); 5] = [
    (&["kubelet"], &["clusterDNS"]),
    (
        &["kubelet", "extraConfig"],
        &["clusterDNS", "clusterDomain", "resolvConf"],
    ),
    (&["network"], &["nameservers", "searchDomains"]),
    (&["features"], &["hostDNS"]),
    (
        &["features", "hostDNS"],
        &["forwardKubeDNSToHost", "resolveMemberNames"],
    ),
];

/// Keys in a machine of Talos, and in what it puts into the kubelet's configuration.
fn talos(text: &KubeletText<'_>, report: &mut Report) {
    let of_talos = |it: &KubeletText<'_>| it.form == KubeletForm::Cluster;
    let root = text.document.yaml().filter(|_| of_talos(text));
    let root = root.filter(|it| is_talos(it));
    let Some(machine) = root.and_then(|it| it.get("machine")) else {
        return;
    };
    for (path, keys) in OF_TALOS {
        let entries = machine.at(path).and_then(Node::as_mapping);
        for entry in entries.unwrap_or_default() {
            let wrong = key(entry);
            let Some(right) = meant_of(wrong, keys) else {
                continue;
            };
            let at = text.document.at(entry.key.span);
            let place = path.join(".");
            let message = format!("Talos knows no {wrong} in machine.{place}: the key is {right}");
            report
                .add(at, message)
                .help(format!("write {right} in its place"));
        }
    }
}

/// The key of these that is meant. `None`: the key is right, or another one.
fn meant_of(written: &str, keys: &[&'static str]) -> Option<&'static str> {
    if keys.contains(&written) {
        return None;
    }
    let known = meant(written).map(|it| it.1).filter(|it| keys.contains(it));
    let lower = written.to_ascii_lowercase();
    let near = |it: &&str| it.len() > 6 && is_near(&lower, &it.to_ascii_lowercase(), 1);
    known.or_else(|| keys.iter().copied().find(near))
}

/// The key that is meant. `None`: the key is right, or another one.
fn meant(written: &str) -> Option<(Name, &'static str)> {
    // KK003 is about the name that the kubelet has inside.
    if written == "resolverConfig" || KEYS.iter().any(|it| it.1 == written) {
        return None;
    }
    let is_letter = |it: &char| !matches!(it, '-' | '_' | ' ');
    let plain: String = written.chars().filter(is_letter).collect();
    let plain = plain.to_ascii_lowercase();
    let found = KEYS.iter().find_map(|&(key, right, others)| {
        let wanted = right.to_ascii_lowercase();
        let is_near = is_near(&plain, &wanted, 1);
        let is_other = others.contains(&plain.as_str());
        (plain == wanted || is_near || is_other).then_some((key, right))
    });
    found.or_else(|| (plain == "resolverconfig").then_some((Name::ResolvConf, "resolvConf")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_misses_of_the_keys_are_known() {
        for (written, expected) in [
            ("resolveConf", Some("resolvConf")),
            ("resolvconf", Some("resolvConf")),
            ("resolv-conf", Some("resolvConf")),
            ("reslovConf", Some("resolvConf")),
            ("ResolverConfig", Some("resolvConf")),
            ("clusterDns", Some("clusterDNS")),
            ("cluster_dns", Some("clusterDNS")),
            ("clusterDNSs", Some("clusterDNS")),
            ("clusterDomian", Some("clusterDomain")),
            ("clusterdomains", Some("clusterDomain")),
            ("resolvConf", None),
            ("resolverConfig", None),
            ("clusterDNS", None),
            ("cgroupDriver", None),
            ("clusterName", None),
            ("", None),
        ] {
            assert_eq!(meant(written).map(|it| it.1), expected, "{written}");
        }
    }
}
