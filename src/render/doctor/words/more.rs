//! The words of what logs, packets, counters and servers show.

use std::time::Duration;

use crate::doctor::{Counted, Logs, Lookup, Route, Unasked};
use crate::finding::Finding;
use crate::node::kernel::Room;
use crate::path::Verdict;
use crate::render::live::concluded;
use crate::render::path::{self, words};
use crate::render::why::log::words::said;
use crate::render::why::numbers::{grouped, minute, percent};
use crate::text::counted as number_of;
use crate::why::log::Waste;

pub(super) fn logs(logs: Option<&Logs>) -> String {
    let Some(Logs {
        summary,
        count,
        since,
    }) = logs
    else {
        return "no line of a DNS pod's log is to be seen here".to_owned();
    };
    let trouble = summary
        .advice
        .iter()
        .find(|it| crate::doctor::checks::is_trouble(it));
    if let Some(advice) = trouble {
        return said(advice).fact.text;
    }
    let logs = number_of(*count, "log", "logs");
    let since = since.map_or_else(String::new, |it| {
        format!(" since {}", minute(it.div_euclid(60_000_000_000)))
    });
    if summary.queries == 0 {
        return format!("no error in {logs} of DNS pods{since}, and no line about a query");
    }
    let queries = summary.queries;
    let waste = match summary.waste {
        Waste::Known(waste) => format!(", {} of them search-list waste", percent(waste, queries)),
        Waste::Unknown => String::new(),
    };
    let count = match queries {
        1 => "1 query".to_owned(),
        _ => format!("{} queries", grouped(queries)),
    };
    format!("no error in {logs} of DNS pods{since}: {count}{waste}")
}

pub(super) fn path(route: Result<&Route, &str>) -> String {
    let route = match route {
        Ok(route) => route,
        Err(reason) => return reason.to_owned(),
    };
    if let Some(finding) = route.wrong().next() {
        return path::findings::words(finding).what.text;
    }
    let worst = route.trees.iter().find(|it| it.fails());
    let open = || route.trees.iter().find(|it| it.verdict == Verdict::Unknown);
    let Some(tree) = worst.or_else(open).or(route.trees.first()) else {
        return "no packet was sent through the rules".to_owned();
    };
    let verdict = words::verdict(tree);
    let (first, rest) = verdict.split_at(verdict.chars().next().map_or(0, char::len_utf8));
    let what = format!(
        "from {}: {}{rest}",
        words::asker(tree),
        first.to_lowercase()
    );
    let depends_on = open().and_then(words::depends_on);
    let why = depends_on.map(|it| format!("it is not known whether {it}"));
    let why = why.or_else(|| {
        let unseen = words::unseen(route.hiding(), route.gaps(), &route.skipped);
        let first = unseen.into_iter().next();
        first.map(|it| format!("not all was seen ({})", it.text))
    });
    match why {
        Some(why) if !tree.fails() && !route.is_whole() => format!("{why}; {what}"),
        _ => what,
    }
}

/// Whether what is worst about the kernel is how full the disk is.
pub(super) fn speaks_of_disk(findings: &[&Finding], counted: &Counted) -> bool {
    findings.is_empty() && !counted.is_losing() && counted.disk.is_some()
}

pub(super) fn kernel(findings: &[&Finding], counted: &Counted) -> String {
    if let Some(first) = findings.first() {
        return format!("{} {}", first.code, first.message);
    }
    if counted.is_losing() {
        return dropping(counted);
    }
    if let Some(disk) = counted.disk {
        return short_of_disk(disk);
    }
    let room = counted.room.map(|it| {
        let share = percent(it.count, it.max);
        format!("the table of connections is {share} full")
    });
    let quiet = counted
        .twice
        .as_ref()
        .map(|it| format!("no packet was dropped in {}", span(it.between)));
    match (room, quiet) {
        (Some(room), Some(quiet)) => format!("{room}, and {quiet}"),
        (Some(one), None) | (None, Some(one)) => one,
        (None, None) => "what the kernel keeps about connections is not to be seen here".to_owned(),
    }
}

/// That packets are dropped, in words without a full stop.
pub(super) fn dropping(counted: &Counted) -> String {
    let Some(twice) = &counted.twice else {
        return String::new();
    };
    let within = span(twice.between);
    match (twice.dropped(), twice.thrown_out()) {
        (0, thrown_out) => format!(
            "The table of connections is full: {} were thrown out within {within}",
            grouped(thrown_out)
        ),
        (dropped, _) => format!(
            "The kernel dropped {} packets within {within}: their connections could not be entered",
            grouped(dropped)
        ),
    }
}

/// That the kubelet has little room, in words without a full stop.
pub(super) fn short_of_disk(disk: Room) -> String {
    format!(
        "The disk of /var/lib/kubelet is {} full: by default the kubelet ends pods at 90 %, that of \
         k3s at 95 %, and starts none then",
        percent(disk.count, disk.max)
    )
}

fn span(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

pub(super) fn not_asked(why: Unasked) -> &'static str {
    match why {
        Unasked::NotWanted => "no server was asked: kdns doctor --ask does that",
        Unasked::Loops => {
            "no server was asked: queries go round, or it is not known that they do not"
        }
        Unasked::NoServer => "no server was asked: none is known here",
    }
}

pub(super) fn lookup(lookup: Result<&Lookup, &str>) -> String {
    match lookup {
        Ok(it) => format!("{}: {}", it.whom(), looked_up(it)),
        Err(reason) => reason.to_owned(),
    }
}

/// How a lookup went, without a full stop.
pub(super) fn looked_up(lookup: &Lookup) -> String {
    match lookup.elsewhere() {
        Some(it) => format!(
            "{} is answered as {}, which is no name of the cluster",
            lookup.scenario.name, it.name
        ),
        None => concluded(&lookup.scenario, &lookup.lived).what,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::{Gap, Packet, unroutable};
    use crate::rules::Note;
    use crate::text::Place;

    /// A table that is there twice is no reason for a question mark.
    #[test]
    fn the_reason_is_one_that_counts() {
        let mut tree = unroutable(Packet::query(), "it");
        (tree.verdict, tree.gaps) = (Verdict::Reaches, vec![Gap::Routes]);
        let route = Route {
            trees: vec![tree],
            findings: Vec::new(),
            notes: vec![Note::Twice {
                place: Place::nowhere("rules"),
                table: "nat".into(),
            }],
            other_proxy: None,
            skipped: Vec::new(),
            question: Vec::new(),
        };
        let said = path(Ok(&route));
        let begins = format!(
            "not all was seen ({}); from ",
            words::gap(&Gap::Routes).text
        );
        assert!(said.starts_with(&begins), "{said}");
    }
}
