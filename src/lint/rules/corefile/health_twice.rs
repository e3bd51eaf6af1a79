#![doc = include_str!("health_twice.md")]

use crate::finding::Severity;
use crate::lint::context::Context;
use crate::lint::report::Report;
use crate::lint::subject::CorefileText;
use crate::lint::{Check, Rule};
use std::collections::BTreeMap;

use crate::config::corefile::Word;
use crate::lint::rules::corefile::blocks;

/// KC028.
pub static RULE: Rule = Rule {
    code: "KC028",
    name: "health-twice",
    severity: Severity::Warning,
    summary: "two server blocks open the same health endpoint",
    page: include_str!("health_twice.md"),
    check: Check::Corefile(check),
};

/// Source: `CoreDNS`, plugin/health/health.go.
const DEFAULT: &str = ":8080";

fn check(file: &CorefileText<'_>, _: &Context<'_>, report: &mut Report) {
    let mut first: BTreeMap<&str, &Word> = BTreeMap::new();
    let mut places = blocks::Places::of(file);
    for health in blocks::blocks(file)
        .iter()
        .flat_map(|it| blocks::named(it, "health"))
    {
        let address = health
            .arguments
            .first()
            .map_or(DEFAULT, |it| it.text.as_str());
        let Some(earlier) = first.get(address).copied() else {
            first.insert(address, &health.name);
            continue;
        };
        let (Some(at), Some(first)) = (places.first(&health.name), file.at(earlier.at)) else {
            continue;
        };
        report
            .add(at, format!("health opens {address} a second time"))
            .also(first, "the first time")
            .help("leave it in one server block: it is for all of CoreDNS")
            .note("versions that do not share the port end with listen tcp: bind: address already in use");
    }
}
