//! Findings and advice in words.

mod answers;
mod losses;

use std::fmt::Write as _;

use crate::hidden::Shown;
use crate::name::Name;
use crate::packet::Unreachable;
use crate::render::watch::time;
use crate::text::{counted, some_of};
use crate::watch::advice::{Advice, Change};
use crate::watch::findings::{Finding, What};
use crate::watch::report::Report;

/// What a finding says: the sentence, what it is not, and what to do.
#[derive(Debug, Default)]
pub(super) struct Words {
    /// What is wrong, one sentence without a full stop.
    pub(super) message: String,
    /// What it could be taken for, and is not, or is not known.
    pub(super) not: String,
    /// What to do.
    pub(super) fix: String,
}

fn queries(number: u64) -> String {
    counted(number, "query", "queries")
}

/// `1 time`, `2 times`.
fn times(number: u64) -> String {
    counted(number, "time", "times")
}

/// A finding in words.
pub(super) fn finding(finding: &Finding, shown: &Shown) -> Words {
    let server = finding
        .server
        .map_or_else(|| "the server".to_owned(), |it| shown.server(it));
    let name = finding
        .name
        .as_ref()
        .map_or_else(|| "a name".to_owned(), |it| shown.name(it));
    // Packets are in order, and the name is that of the first.
    let first = match finding.packets.first() {
        Some(packet) => format!("{name} (packet {packet})"),
        None => name.clone(),
    };
    let of = Of {
        finding,
        shown,
        first: &first,
        server: &server,
        name: &name,
        number: finding.count,
    };
    of.words()
}

/// The search list that nobody gave, what it was read off, and what is known of
/// `ndots`; `None`: there is none.
pub(super) fn inferred(report: &Report, shown: &Shown) -> Option<String> {
    let evidence = report.evidence?;
    let against = match evidence.against {
        0 => String::new(),
        1 => " (that of 1 other contradicts)".to_owned(),
        many => format!(" (those of {many} others contradict)"),
    };
    let by = counted(evidence.names as u64, "name", "names");
    let assumed = report.search.ndots;
    let ndots = match evidence.ndots {
        (least, Some(most)) if least == most => format!("{least}"),
        (least, Some(most)) => format!("{least} to {most}; {assumed} is assumed"),
        (least, None) if least == assumed => format!("at least {least}"),
        (least, None) => format!("at least {least}; {assumed} is assumed, as pods have it"),
    };
    let entries = report.search.entries.iter().map(|it| shown.name(it));
    let entries: Vec<String> = entries.collect();
    Some(format!(
        "No file was given: by the lookups of {by}{against} the search list is {}, and ndots is {ndots}",
        entries.join(" ")
    ))
}

struct Of<'f> {
    finding: &'f Finding,
    shown: &'f Shown,
    server: &'f str,
    name: &'f str,
    first: &'f str,
    number: u64,
}

fn words(message: String, not: &str, fix: &str) -> Words {
    Words {
        message,
        not: not.to_owned(),
        fix: fix.to_owned(),
    }
}

impl Of<'_> {
    fn words(&self) -> Words {
        match &self.finding.what {
            What::Unanswered { .. } | What::ConntrackRace { .. } => self.lost(),
            What::ServerSilent
            | What::ServerClosed(_)
            | What::UdpSilent { .. }
            | What::LargeRepliesLost { .. }
            | What::TruncatedNoTcp
            | What::TcpRefused { .. }
            | What::TcpClosed => self.unreached(),
            What::SlowServer(_)
            | What::SlowZone { .. }
            | What::ServerFails { .. }
            | What::ServersDisagree { .. }
            | What::AaaaFails { .. }
            | What::WrongSource { .. } => self.answers(),
            What::Wildcard { .. } | What::SearchWaste { .. } | What::NoCache { .. } => self.names(),
            What::MdnsLeak => self.leak(),
            What::Duplicates | What::Mismatched | What::Loop => self.packets(),
        }
    }

    fn listed(&self, names: &[Name]) -> String {
        listed(names, self.shown)
    }
}

fn listed(names: &[Name], shown: &Shown) -> String {
    let names: Vec<String> = names.iter().map(|it| shown.name(it)).collect();
    names.join(", ")
}

fn more(number: u64) -> String {
    match number {
        0 | 1 => String::new(),
        _ => format!(" ({number} times)"),
    }
}

/// What an ICMP error says.
pub(super) fn unreachable(kind: Unreachable) -> String {
    match kind {
        Unreachable::Port => {
            "port unreachable: nobody listens there, or a rule rejects it".to_owned()
        }
        Unreachable::Host => "host or network unreachable".to_owned(),
        Unreachable::Prohibited => "prohibited by a filter".to_owned(),
        Unreachable::TooBig(Some(mtu)) => format!("too big for a link of {mtu} bytes"),
        Unreachable::TooBig(None) => "too big for a link".to_owned(),
        Unreachable::HopsExceeded => "it went through too many hops".to_owned(),
        Unreachable::ReassemblyExceeded => "its fragments did not all arrive".to_owned(),
        Unreachable::Other(kind, code) => format!("type {kind}, code {code}"),
    }
}

/// A change in words, with what it would have saved.
pub(super) fn advice(advice: &Advice, shown: &Shown) -> (String, String) {
    let change = match &advice.change {
        Change::Ndots(ndots) => format!("options ndots:{ndots}"),
        Change::FinalDot(names) => {
            let names = names.iter().map(|it| format!("{}.", shown.name(it)));
            format!("a final dot: {}", some_of(names, 3))
        }
        Change::WithoutEntries(names) => {
            format!("the search list without {}", listed(names, shown))
        }
        Change::SingleRequestReopen => "options single-request-reopen".to_owned(),
        Change::UseVc => "options use-vc".to_owned(),
        Change::NodeCache => "a cache on the node".to_owned(),
    };
    let mut effect = match advice.queries_saved {
        0 => format!("saves {}", time(nanoseconds(advice))),
        saved => format!("saves {} and {}", queries(saved), time(nanoseconds(advice))),
    };
    if !advice.breaks.is_empty() {
        let _ = write!(effect, "; breaks {}", listed(&advice.breaks, shown));
    }
    if !advice.unknown.is_empty() {
        let _ = write!(effect, "; not known for {}", listed(&advice.unknown, shown));
    }
    (change, effect)
}

fn nanoseconds(advice: &Advice) -> i64 {
    i64::try_from(advice.time_saved.as_nanos()).unwrap_or(i64::MAX)
}
