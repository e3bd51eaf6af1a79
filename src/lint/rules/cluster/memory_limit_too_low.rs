#![doc = include_str!("memory_limit_too_low.md")]

use crate::config::yaml::Node;
use crate::lint::rules::prelude::*;

/// What CoreDNS takes with its usual settings, in MB, before any pod or Service
/// is counted: 30 of them for a full cache.
///
/// Source: coredns/deployment `kubernetes/Scaling_CoreDNS.md`.
const LEAST: f64 = 54.0;

pub(super) fn check(object: &Object<'_>, _: &Context<'_>, report: &mut Report) {
    let template = object.get(&["spec", "template"]);
    let is_dns = |it: &&Node| it.word(&["metadata", "labels", "k8s-app"]) == Some("kube-dns");
    let Some(template) = template.filter(is_dns) else {
        return;
    };
    let is_coredns = |it: &&Node| it.word(&["image"]).is_some_and(|it| it.contains("coredns"));
    for container in template
        .items(&["spec", "containers"])
        .iter()
        .filter(is_coredns)
    {
        let Some(limit) = container.at(&["resources", "limits", "memory"]) else {
            continue;
        };
        let Some(text) = limit.as_scalar().map(|it| it.text.as_str()) else {
            continue;
        };
        if megabytes(text).is_none_or(|it| it >= LEAST) {
            continue;
        }
        report
            .add(
                object.at(limit),
                format!("CoreDNS takes up to {LEAST} MB in a cluster without pods, and may have {text}"),
            )
            .help("write at least (pods + Services) / 1000 + 54 MB, with autopath (pods + Services) / 250 + 56")
            .note("30 MB of it are for a full cache of the usual size; what passes the limit is ended with OOMKilled");
    }
}

/// A quantity in MB: `170Mi`, `64M`, `64000000`. `None`: it is no such one.
///
/// Source: kubernetes/apimachinery `pkg/api/resource/quantity.go`.
fn megabytes(text: &str) -> Option<f64> {
    const UNITS: [(&str, f64); 8] = [
        ("Ki", 1024.0),
        ("Mi", 1_048_576.0),
        ("Gi", 1_073_741_824.0),
        ("k", 1e3),
        ("M", 1e6),
        ("G", 1e9),
        ("T", 1e12),
        ("", 1.0),
    ];
    let (number, unit) = UNITS
        .iter()
        .find_map(|(unit, bytes)| Some((text.strip_suffix(unit)?, bytes)))?;
    let is_number = number.bytes().all(|it| it.is_ascii_digit() || it == b'.');
    let number: f64 = number.parse().ok().filter(|_| is_number)?;
    Some(number * unit / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_read() {
        for (text, expected) in [
            ("64M", Some(64)),
            ("64000000", Some(64)),
            ("1.5G", Some(1500)),
            ("100m", None),
            ("inf", None),
            ("${LIMIT}", None),
            ("", None),
        ] {
            let found = megabytes(text).map(|it| it.to_string());
            assert_eq!(found, expected.map(|it| it.to_string()), "{text}");
        }
    }
}
