#![doc = include_str!("misplaced_dns_field.md")]

use crate::config::manifest::KINDS;
use crate::config::yaml::{Entry, Node};
use crate::lint::rules::prelude::*;

use super::spec::containers;

pub(super) fn check(workload: &Workload<'_>, _: &Context<'_>, report: &mut Report) {
    let object = workload.object;
    let at = |path: &[&str]| object.at(path);
    let mut wrong: Vec<(Option<&Node>, &str)> = containers(workload)
        .map(|it| (Some(it), "a container"))
        .collect();
    match workload.kind {
        "Pod" => wrong.push((Some(object), "the object itself")),
        "CronJob" => {
            wrong.push((at(&["spec"]), "the CronJob's spec"));
            wrong.push((at(&["spec", "jobTemplate", "spec"]), "the Job's spec"));
            wrong.push((
                at(&["spec", "jobTemplate", "spec", "template"]),
                "the template",
            ));
        }
        kind if KINDS.contains(&kind) => {
            wrong.push((at(&["spec"]), "the object's spec"));
            wrong.push((at(&["spec", "template"]), "the template"));
        }
        _ => {}
    }
    for (node, what) in wrong {
        let entries = node.and_then(Node::as_mapping).unwrap_or_default();
        for (entry, key) in entries.iter().filter_map(dns_field) {
            report
                .add(workload.at(&entry.key), format!("{key} has no effect in {what}"))
                .help(format!("move {key} into the spec of the pods, beside containers"))
                .also(workload.at(workload.spec), "the spec of the pods")
                .note("kubectl refuses the unknown field since 1.25, older ones and most controllers drop it without a word");
        }
    }
}

fn dns_field(entry: &Entry) -> Option<(&Entry, &str)> {
    let key = entry.key.as_scalar()?.text.as_str();
    matches!(key, "dnsPolicy" | "dnsConfig").then_some((entry, key))
}
