#![doc = include_str!("option_without_name.md")]

use super::spec::options;
use crate::lint::rules::prelude::*;

pub(super) fn check(workload: &Workload<'_>, _: &Context<'_>, report: &mut Report) {
    for option in options(workload) {
        let is_named = option
            .name
            .is_some_and(|it| it.as_scalar().is_some_and(|it| !it.text.is_empty()));
        if is_named || option.node.as_mapping().is_none() && option.node.as_scalar().is_none() {
            continue;
        }
        let finding = report.add(workload.at(option.node), "an option has no name");
        let word = option.node.as_scalar().map(|it| it.text.as_str());
        match word.and_then(|it| it.split_once(':')) {
            Some((name, value)) => {
                finding.help(format!("write name: {name} and value: \"{value}\""))
            }
            None => finding.help(format!("write name: {}", word.unwrap_or("ndots"))),
        };
        finding.note("the API server refuses the pod");
    }
}
