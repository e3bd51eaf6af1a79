#![doc = include_str!("misspelled_dns_field.md")]

use crate::config::manifest::KINDS;
use crate::config::yaml::{Entry, Node};
use crate::lint::extract::is_misspelled;
use crate::lint::rules::is_near;
use crate::lint::rules::prelude::*;

pub(super) fn check(workload: &Workload<'_>, _: &Context<'_>, report: &mut Report) {
    if is_kubernetes(workload) {
        look(workload, Some(workload.spec), &SPEC, report);
    } else {
        values(workload, report);
    }
    look(workload, workload.get("dnsConfig"), &CONFIG, report);
}

/// What people write, without `-`, `_` and capital letters, and what they mean.
type Words = [(&'static str, &'static str)];
const SPEC: [(&str, &str); 4] = [
    ("dnspolicy", "dnsPolicy"),
    ("dnsconfig", "dnsConfig"),
    ("dnspolicies", "dnsPolicy"),
    ("dnsconfigs", "dnsConfig"),
];
const CONFIG: [(&str, &str); 12] = [
    ("nameservers", "nameservers"),
    ("nameserver", "nameservers"),
    ("servers", "nameservers"),
    ("dnsservers", "nameservers"),
    ("searches", "searches"),
    ("search", "searches"),
    ("searchdomains", "searches"),
    ("domains", "searches"),
    ("options", "options"),
    ("option", "options"),
    ("opts", "options"),
    ("ndots", "options"),
];

/// Whether Kubernetes reads the spec: a chart or a program can have keys of its own.
fn is_kubernetes(workload: &Workload<'_>) -> bool {
    let has_kind = workload.kind == "Pod" || KINDS.contains(&workload.kind);
    has_kind || workload.get("containers").is_some()
}

/// In values without a kind a key counts that nobody would choose.
fn values(workload: &Workload<'_>, report: &mut Report) {
    if workload.object.get("kind").is_some() {
        return;
    }
    for entry in workload.spec.as_mapping().unwrap_or_default() {
        let written = entry.key.as_scalar().map_or("", |it| it.text.as_str());
        let right = ["dnsPolicy", "dnsConfig"].into_iter();
        for right in right.filter(|it| is_misspelled(written, it)) {
            report
                .add(
                    workload.at(&entry.key),
                    format!("there is no field {written}"),
                )
                .help(format!("write {right}"))
                .note("nothing in Kubernetes is called so, if the chart passes it on");
        }
    }
}

fn look(workload: &Workload<'_>, node: Option<&Node>, words: &Words, report: &mut Report) {
    let entries = node.and_then(Node::as_mapping).unwrap_or_default();
    let key = |it: &Entry| it.key.as_scalar().map(|it| it.text.clone());
    // Where other fields are written so too, a program reads it that wants them so.
    let is_foreign = |it: &Entry| key(it).is_some_and(|it| it.contains('_') && !it.contains("dns"));
    if entries.iter().any(is_foreign) {
        return;
    }
    for entry in entries {
        let Some(written) = key(entry) else {
            continue;
        };
        let plain = written.replace(['-', '_'], "").to_ascii_lowercase();
        let found = words.iter().find(|it| it.0 == plain);
        // No other field is as long and so near.
        let near = || {
            words
                .iter()
                .find(|it| it.0.len() > 8 && is_near(&plain, it.0, 1))
        };
        let Some((_, meant)) = found.or_else(near).filter(|it| it.1 != written) else {
            continue;
        };
        let finding = report.add(
            workload.at(&entry.key),
            format!("there is no field {written}"),
        );
        finding
            .help(format!("write {meant}"))
            .note("kubectl refuses the unknown field since 1.25, older ones and most controllers drop it without a word");
    }
}
