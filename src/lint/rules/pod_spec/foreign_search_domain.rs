#![doc = include_str!("foreign_search_domain.md")]

use crate::lint::rules::prelude::*;
use crate::lint::rules::search::{self, Foreign};

pub(super) fn check(workload: &Workload<'_>, _: &Context<'_>, report: &mut Report) {
    for domain in workload.dns_config("searches") {
        let Some(foreign) = search::foreign(&domain.text) else {
            continue;
        };
        let finding = report.add(domain.at, foreign.said(&domain.text));
        finding.help("remove it from searches").note(foreign.note());
        if foreign == Foreign::Suffix {
            finding.severity(Severity::Warning);
        }
    }
}
