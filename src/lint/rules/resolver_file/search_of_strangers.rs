#![doc = include_str!("search_of_strangers.md")]

use crate::lint::rules::prelude::*;
use crate::lint::rules::resolver_file::common::point_to_setting;
use crate::lint::rules::search::{self, Foreign};

pub(super) fn check(file: &ResolverFile<'_>, _: &Context<'_>, report: &mut Report) {
    for domain in &file.read.searches {
        let Some(foreign) = search::foreign(&domain.text) else {
            continue;
        };
        let finding = report.add(domain.at, foreign.said(&domain.text));
        finding
            .help("remove it from the search line")
            .note(foreign.note());
        // On the node itself only short names are asked for with it.
        if foreign == Foreign::Suffix || file.role == Role::Node {
            finding.severity(Severity::Warning);
        }
        point_to_setting(finding, file);
    }
}
