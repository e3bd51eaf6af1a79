#![doc = include_str!("health_twice.md")]

use std::collections::BTreeMap;

use crate::config::corefile::Word;
use crate::kubelet::Version;
use crate::lint::rules::corefile::blocks;
use crate::lint::rules::prelude::*;

/// Source: `CoreDNS`, plugin/health/health.go.
const DEFAULT: &str = ":8080";

/// From here on the port is opened for sharing.
/// Source: coredns/coredns#3473.
const SHARED: Version = blocks::release(1, 6, 6);

pub(super) fn check(file: &CorefileText<'_>, context: &Context<'_>, report: &mut Report) {
    let version = blocks::version(file, context);
    let severity = if version.is_some_and(|it| it.value < SHARED) {
        Severity::Error
    } else {
        Severity::Info
    };
    let mut first: BTreeMap<&str, &Word> = BTreeMap::new();
    let mut places = blocks::Places::new(file);
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
            .severity(severity)
            .also(first, "the first time")
            .help("leave it in one server block: it is for all of CoreDNS")
            .note("CoreDNS before 1.6.6 ends with listen tcp: bind: address already in use; later ones answer at it twice");
    }
}
