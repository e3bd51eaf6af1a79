#![doc = include_str!("misspelt_key.md")]

use crate::finding::Severity;
use crate::lint::context::Context;
use crate::lint::facts::{Key, KubeletForm};
use crate::lint::report::Report;
use crate::lint::rules::is_near;
use crate::lint::rules::kubelet::common::{entries, key};
use crate::lint::subject::KubeletText;
use crate::lint::{Check, Rule};

/// KK026. Not in the catalogue.
pub static RULE: Rule = Rule {
    code: "KK026",
    name: "misspelt-key",
    severity: Severity::Error,
    summary: "a misspelt key of the kubelet's configuration is ignored",
    page: include_str!("misspelt_key.md"),
    check: Check::KubeletText(check),
};

/// The keys that DNS depends on, and how else people write them.
const KEYS: [(Key, &str, &[&str]); 3] = [
    (
        Key::ResolvConf,
        "resolvConf",
        &["resolvconffile", "resolvconfpath", "resolverconf"],
    ),
    (
        Key::ClusterDns,
        "clusterDNS",
        &[
            "clusterdnsip",
            "clusterdnsips",
            "clusterdnsserver",
            "clusterdnsservers",
        ],
    ),
    (
        Key::ClusterDomain,
        "clusterDomain",
        &["clusterdomainname", "clusterdnsdomain"],
    ),
];

fn check(text: &KubeletText<'_>, context: &Context<'_>, report: &mut Report) {
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
        if let Some(other) = entries(text).iter().find(|it| key(it) == right) {
            finding
                .also(document.at(other.key.span), "this counts")
                .help("remove the line");
        } else if let Some(flag) = context.flag_over(document.file, of) {
            finding
                .also(flag.at, "this flag counts, whatever the file says")
                .help(format!("write {right} in its place, and remove the flag"));
        } else {
            // No fix: what was not in force so far would be, unseen.
            finding.help(format!("write {right} in its place"));
        }
    }
}

/// The key that is meant. `None`: the key is right, or another one.
fn meant(written: &str) -> Option<(Key, &'static str)> {
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
    found.or_else(|| (plain == "resolverconfig").then_some((Key::ResolvConf, "resolvConf")))
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
