#![doc = include_str!("misspelled_key.md")]

use crate::kubelet::flags::Name;
use crate::lint::facts::KubeletForm;
use crate::lint::rules::is_near;
use crate::lint::rules::kubelet::common::{entries, key, write_instead};
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

/// Keys of the kubelet in a machine of Talos, and of what it puts into the configuration.
///
/// Source: siderolabs/talos `pkg/machinery/config/types/v1alpha1`: `KubeletConfig`,
/// `pkg/machinery/config/decoder`.
fn talos(text: &KubeletText<'_>, report: &mut Report) {
    let of_talos = |it: &KubeletText<'_>| it.form == KubeletForm::Cluster;
    let machine = text.document.yaml().filter(|_| of_talos(text));
    let Some(kubelet) = machine.and_then(|it| it.at(&["machine", "kubelet"])) else {
        return;
    };
    let of_machine = Some(kubelet).map(|it| (it, true));
    let more = kubelet.get("extraConfig").map(|it| (it, false));
    for (node, is_of_machine) in of_machine.into_iter().chain(more) {
        for entry in node.as_mapping().unwrap_or_default() {
            let Some((of, right)) = meant(key(entry)) else {
                continue;
            };
            if is_of_machine && of != Name::ClusterDns {
                continue;
            }
            let at = text.document.at(entry.key.span);
            let wrong = key(entry);
            let message = format!("Talos knows no {wrong} of a kubelet: the key is {right}");
            report
                .add(at, message)
                .help(format!("write {right} in its place"));
        }
    }
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
