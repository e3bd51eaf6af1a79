//! One lookup: as a line, and as a timeline beside its plan.

use std::borrow::Cow;
use std::io::{self, Write};
use std::time::Duration;

use hickory_proto::rr::RecordType;
use jiff::Timestamp;

use crate::dig::mnemonic::rcode_text;
use crate::engine::message::Transport;
use crate::order::Order as _;
use crate::render::watch::words::unreachable;
use crate::render::watch::{Style, time};
use crate::scenario::record_type::Shown as ShownType;
use crate::text::counted;
use crate::text::escaped;
use crate::watch::lookup::{Ended, Exchange, Lookup, Sent};
use crate::watch::plan::Planned;
use crate::watch::reply::Reply;
use crate::watch::{Judged, Pair, Wrong};

/// How a lookup ended, as far as the packets show it, in one word.
pub(super) fn outcome(lookup: &Lookup) -> &'static str {
    let Some(last) = lookup.exchanges.last() else {
        return "open";
    };
    let newest = || {
        lookup
            .exchanges
            .iter()
            .filter(|it| it.name.eq_ignore_case(&last.name))
    };
    let replies = || newest().filter_map(|it| it.reply);
    match () {
        () if replies().any(|it| it.is_found() && !it.is_truncated()) => "found",
        () if newest().any(|it| it.wrong_source().is_some() && it.reply.is_none()) => {
            "wrong-source"
        }
        () if newest().any(|it| it.unreachable().is_some()) => "refused",
        () if replies().any(|it| it.is_failure()) => "failed",
        () if newest().all(|it| it.reply.is_some_and(|it| it.is_truncated())) => "truncated",
        () if newest().all(|it| it.reply.is_some_and(|it| it.is_negative())) => "not-found",
        () if lookup.ended != Ended::Settled => "open",
        () => "timed-out",
    }
}

/// The name as the program asked for it: with its final dot, if it must have had
/// one.
pub(super) fn asked(judged: &Judged, style: &Style) -> String {
    let reading = judged.plan.as_ref().map_or(0, |it| it.0);
    let reading = judged
        .lookup
        .readings
        .get(reading)
        .or(judged.lookup.readings.first());
    let Some(reading) = reading else {
        return String::new();
    };
    let dot = if reading.is_absolute { "." } else { "" };
    format!("{}{dot}", style.shown.name(&reading.name))
}

/// The other names that it can have asked for.
pub(super) fn or(judged: &Judged, style: &Style) -> Vec<String> {
    let taken = judged.plan.as_ref().map_or(0, |it| it.0);
    let others = judged
        .lookup
        .readings
        .iter()
        .enumerate()
        .filter(|it| it.0 != taken);
    others
        .map(|(_, it)| {
            format!(
                "{}{}",
                style.shown.name(&it.name),
                if it.is_absolute { "." } else { "" }
            )
        })
        .collect()
}

/// A record type.
pub(super) fn record_type(qtype: u16) -> String {
    match qtype {
        0 => "?".to_owned(),
        other => ShownType(RecordType::from(other)).to_string(),
    }
}

/// What came back for a sending of a query, and the response; `None`: nothing.
pub(super) fn came(exchange: &Exchange, sent: Sent) -> Option<(Cow<'static, str>, Option<Reply>)> {
    if let Some(reply) = exchange.reply_to(sent) {
        let word = match () {
            () if reply.is_truncated() => "TC".into(),
            () if reply.rcode != 0 => rcode_text(u16::from(reply.rcode)),
            () if reply.is_found() => "ANSWER".into(),
            () => "NODATA".into(),
        };
        return Some((word, Some(*reply)));
    }
    let word = match () {
        () if exchange.reply.is_some() => return None,
        () if exchange.wrong_source().is_some() => "WRONG-SOURCE",
        () if exchange.unreachable().is_some() => "ICMP",
        () if exchange.broken().is_some() => "CLOSE",
        () => return None,
    };
    Some((word.into(), None))
}

/// Faults in words, each without a full stop.
pub(super) fn faults(judged: &Judged, style: &Style) -> Vec<String> {
    let mut said: Vec<String> = Vec::new();
    for fault in &judged.faults {
        let Some(exchange) = judged.lookup.exchanges.get(fault.exchange) else {
            continue;
        };
        let of = format!(
            "{} {}",
            record_type(exchange.qtype),
            style.shown.name(&exchange.name)
        );
        let server = style.shown.server(exchange.server);
        let sentence = match &fault.what {
            Wrong::Lost { sendings, pair } => {
                let times = if *sendings > 1 {
                    format!(" {sendings} times")
                } else {
                    String::new()
                };
                let place = match pair {
                    Pair::First => ", the first of its pair",
                    Pair::Second => ", the second of its pair",
                    Pair::None | Pair::Both => "",
                };
                format!("no answer{times} from {server} to {of}{place}")
            }
            Wrong::Ignored { .. } => format!("{of} was answered, and asked again as if not"),
            Wrong::Unreachable(kind) => format!("{server}: {}", unreachable(*kind)),
            Wrong::NoConnection { is_refused: true } => {
                format!("{of} truncated, {server} refuses TCP")
            }
            Wrong::NoConnection { is_refused: false } => {
                format!("{of} truncated, no connection to {server}")
            }
            Wrong::NoTcp => format!("{of} truncated, and nobody asked over TCP"),
            Wrong::Broken => format!("{server} closed the connection without an answer to {of}"),
            Wrong::Failure(rcode) => {
                format!("{} from {server} to {of}", rcode_text(u16::from(*rcode)))
            }
            Wrong::WrongSource(from) => format!(
                "answer to {of} from {}, not {server}",
                style.shown.server(*from)
            ),
            Wrong::Duplicates(number) => format!(
                "{of}: {} too many",
                counted(u64::from(*number), "packet", "packets")
            ),
            Wrong::Mismatched(number) => format!(
                "{of}: {} that answer something else",
                counted(u64::from(*number), "packet", "packets")
            ),
        };
        if !said.contains(&sentence) {
            said.push(sentence);
        }
    }
    said
}

/// When, in UTC.
pub(super) fn stamp(nanoseconds: i64) -> Option<Timestamp> {
    Timestamp::from_nanosecond(i128::from(nanoseconds)).ok()
}

/// One line for a lookup.
///
/// # Errors
///
/// Any error of `out`.
pub fn line(judged: &Judged, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let lookup = &judged.lookup;
    let at = stamp(lookup.start()).map(|it| it.strftime("%H:%M:%S%.3f").to_string());
    let took = lookup.took();
    let took = took.map_or_else(|| "time not known".to_owned(), time);
    let planned = judged.plan.as_ref().map(|it| it.1.planned.len());
    let queries = counted(lookup.queries() as u64, "query", "queries");
    let queries = match planned {
        Some(planned) if planned != lookup.queries() => format!("{queries} ({planned} planned)"),
        _ => queries,
    };
    let faults = faults(judged, style);
    let mark = if faults.is_empty() {
        style.green("ok   ")
    } else {
        style.paint(crate::finding::Severity::Error, "broke")
    };
    let asker = lookup.process.as_ref().map(|it| {
        let (comm, pid) = (&it.comm, it.pid);
        format!(", asked by {comm} (process {pid})")
    });
    let two = judged.second().map_or("", |_| ", or two lookups");
    let text = format!(
        "{} {}: {}, {took}, {queries}{two}{}",
        style.shown.ip(lookup.client),
        asked(judged, style),
        outcome(lookup),
        asker.unwrap_or_default()
    );
    let why = match faults.as_slice() {
        [] => String::new(),
        all => format!("; {}", all.join("; ")),
    };
    let text = escaped(format!("{text}{why}").as_bytes());
    writeln!(out, "{} {mark} {text}", at.unwrap_or_default())
}

/// Says how many more lookups broke the plan than have a line.
///
/// # Errors
///
/// Any error of `out`.
pub fn unlisted(count: u64, out: &mut dyn Write) -> io::Result<()> {
    let lookups = counted(count, "more lookup", "more lookups");
    writeln!(out, "… {lookups} broke the plan; -v lists every lookup")
}

/// A lookup as a timeline: what was planned beside what was seen.
///
/// # Errors
///
/// Any error of `out`.
pub fn show(judged: &Judged, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    line(judged, style, out)?;
    for other in or(judged, style) {
        writeln!(out, "  or it asked for {}", escaped(other.as_bytes()))?;
    }
    let lookup = &judged.lookup;
    if let Some(second) = judged.second() {
        let at = time(second.first.time.saturating_sub(lookup.start()));
        let what = format!(
            "{} {}",
            record_type(second.qtype),
            style.shown.name(&second.name)
        );
        let what = escaped(what.as_bytes());
        writeln!(
            out,
            "  or these are two lookups, the second from {at} on: {what} from another port, with another id"
        )?;
    }
    writeln!(
        out,
        "{}",
        style.dim("       planned        seen  query and what came")
    )?;
    let mut rows: Vec<(i64, Row<'_>)> = Vec::new();
    let plan = judged.plan.as_ref().map(|it| &it.1);
    for planned in plan.into_iter().flat_map(|it| &it.planned) {
        let at = i64::try_from(planned.at.as_nanos()).unwrap_or(i64::MAX);
        let seen = planned
            .seen
            .and_then(|(exchange, sending)| sending_of(lookup, exchange, sending));
        let order = seen.map_or(at, |it| it.1);
        rows.push((order, (Some(planned), seen)));
    }
    for (number, exchange) in lookup.exchanges.iter().enumerate() {
        for sending in 0..exchange.sendings() {
            let is_planned = plan.is_some_and(|it| !it.unplanned.contains(&(number, sending)));
            if let (false, Some(seen)) = (is_planned, sending_of(lookup, number, sending)) {
                rows.push((seen.1, (None, Some(seen))));
            }
        }
    }
    rows.order_by_key(|it| it.0);
    for (_, row) in rows {
        show_row(row, style, plan.is_some(), out)?;
    }
    Ok(())
}

/// A sending, its exchange, and when it was sent after the start.
type Seen<'l> = (&'l Exchange, i64, Sent);

type Row<'l> = (Option<&'l Planned>, Option<Seen<'l>>);

fn sending_of(lookup: &Lookup, exchange: usize, sending: usize) -> Option<Seen<'_>> {
    let exchange = lookup.exchanges.get(exchange)?;
    let sent = exchange.sent().nth(sending)?;
    Some((exchange, sent.time.saturating_sub(lookup.start()), sent))
}

fn show_row(
    (planned, seen): Row<'_>,
    style: &Style,
    has_plan: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let at = |it: Option<i64>, none: &str| it.map_or_else(|| none.to_owned(), time);
    let planned_at = planned.map(|it| nanoseconds(it.at));
    let none = if has_plan { "not planned" } else { "-" };
    let (name, qtype, server, tcp) = match (seen, planned) {
        (Some((exchange, ..)), _) => (
            style.shown.name(&exchange.name),
            exchange.qtype,
            style.shown.server(exchange.server),
            exchange.is_tcp(),
        ),
        (None, Some(planned)) => (
            style.shown.name(&planned.name),
            planned.qtype,
            style.shown.ip(planned.server),
            planned.transport == Transport::Tcp,
        ),
        (None, None) => return Ok(()),
    };
    let came = match seen.map(|(exchange, _, sent)| (sent, came(exchange, sent))) {
        None => "was not seen".into(),
        Some((_, None)) => "no answer".into(),
        Some((_, Some((word, None)))) => word,
        Some((sent, Some((word, Some(reply))))) => {
            let case = if reply.is_other_case {
                ", its name in another case"
            } else {
                ""
            };
            let took = reply.after(sent).map(|it| format!(" in {}", time(it)));
            format!("{word}{}{case}", took.unwrap_or_default()).into()
        }
    };
    let tcp = if tcp { " over TCP" } else { "" };
    let seen_at = match seen {
        Some((_, _, sent)) if !sent.is_time_known => "not known".to_owned(),
        seen => at(seen.map(|it| it.1), "not seen"),
    };
    let what = escaped(format!("{} {name}", record_type(qtype)).as_bytes());
    writeln!(out, "  {:>12} {seen_at:>11}  {what}", at(planned_at, none))?;
    writeln!(out, "  {:>12} {:>11}    {server}{tcp}: {came}", "", "")
}

fn nanoseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}
