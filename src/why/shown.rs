//! What listings of other programs show: lines of tcpdump, conntrack, kubectl, ss,
//! resolvectl and dig become sentences that the pages of the catalogue know.

mod answers;
mod cgroups;
mod checks;
mod dump;
mod kubectl;
mod listeners;
mod lookups;
mod pod;
mod pod_range;
mod resolvectl;
mod slices;
mod statistics;
mod tshark;
mod types;

use self::answers::Answers;
use self::cgroups::Cgroups;
use self::checks::Checks;
use self::dump::Dump;
use self::kubectl::Rows;
use self::listeners::Listeners;
use self::lookups::Lookups;
use self::pod_range::PodRange;
use self::resolvectl::Status;
use self::statistics::Statistics;
use self::types::Types;
use super::inside;

/// A text, with sentences in the place of such lines.
#[derive(Debug)]
pub(super) struct Told {
    /// First what stays of it, then what lines show that is not as it should be, then what is.
    pub(super) text: String,
    /// Where the first of these sentences begins.
    pub(super) own: usize,
    /// Where the first begins that speaks only against causes.
    pub(super) health: usize,
}

/// The text, with sentences in the place of such lines, which stand at its end.
pub(super) fn told(text: &str) -> Told {
    let (mut dump, mut statistics) = (Dump::default(), Statistics::default());
    let (mut answers, mut lookups) = (Answers::default(), Lookups::default());
    let (mut rows, mut listeners) = (Rows::default(), Listeners::default());
    let (mut status, mut checks) = (Status::default(), Checks::default());
    let mut cgroups = Cgroups::default();
    let (mut types, mut range) = (Types::default(), PodRange::default());
    let is_listing = inside::has_rules(text);
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        answers.see(line);
        lookups.see(line);
        status.see(line);
        cgroups.see(line);
        types.see(line);
        range.see(line);
        // Of rules only what kube-proxy says in words is a message.
        let is_rule = is_listing && inside::is_rule(line) && !line.contains("has no endpoints");
        let is_listed = is_rule
            || dump.takes(line)
            || statistics.takes(line)
            || rows.takes(line)
            || listeners.takes(line)
            || checks.takes(line);
        if !is_listed {
            out.extend([line, "\n"]);
        }
    }
    rows.end_file();
    let told = [
        answers.sentence(),
        types.sentence(),
        lookups.sentence(),
        range.sentence(),
        dump.sentence(),
        statistics.sentence(),
        cgroups.sentence(),
        rows.sentence(),
        rows.looked_up(&lookups),
        listeners.sentence(),
        status.sentence(),
    ];
    let own = out.len();
    out.extend(told.into_iter().flatten());
    let health = out.len();
    out.extend([rows.health(), checks.health()]);
    Told {
        text: out,
        own,
        health,
    }
}

#[cfg(test)]
mod tests;
