//! A reply as text.

use std::fmt::Write as _;

use super::idn::Refused;
use super::style::{Style, indent};
use super::words::ttl;
use super::{dns64, edns, rdata};
use crate::dig::lookup::Globals;
use crate::dig::message::{Message, Question, Record, flag};
use crate::dig::mnemonic::{class_text, opcode_text, rcode_text, type_text};
use crate::dig::printed::Exchange;
use crate::text::escaped;

const SOA: u16 = 6;
const AXFR: u16 = 252;
const UPDATE: u8 = 5;

/// A message with what is needed to print it.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'s> {
    /// The lookup and the server.
    pub exchange: &'s Exchange,
    /// The message.
    pub message: &'s Message,
    /// Whether it is the query itself.
    pub is_query: bool,
    /// Whether it is the first of its lookup.
    pub first: bool,
    /// What holds for all lookups.
    pub globals: &'s Globals,
}

impl Shown<'_> {
    pub(super) fn now(&self) -> u64 {
        let times = &self.exchange.times;
        times.received.as_secs().max(times.sent.as_secs())
    }

    pub(super) fn sections(&self) -> [(&'static str, &[Record], bool); 3] {
        let print = &self.exchange.lookup.print;
        let message = self.message;
        let [answer, authority] = if message.opcode == UPDATE {
            ["PREREQUISITE", "UPDATE"]
        } else {
            ["ANSWER", "AUTHORITY"]
        };
        [
            (answer, message.answers.as_slice(), print.answer),
            (authority, &message.authorities, print.authority),
            ("ADDITIONAL", &message.additionals, print.additional),
        ]
    }

    pub(super) fn question_title(&self) -> &'static str {
        if self.message.opcode == UPDATE {
            "ZONE"
        } else {
            "QUESTION"
        }
    }

    /// Whether the question section is printed. That of a query of a header
    /// alone is empty, and has a title all the same.
    pub(super) fn has_question(&self) -> bool {
        let lookup = &self.exchange.lookup;
        let is_bare = self.is_query && lookup.header_only;
        lookup.print.question && (is_bare || !self.message.questions.is_empty())
    }

    /// What a message is signed with.
    pub(super) fn signatures(&self) -> impl Iterator<Item = (&'static str, &Record)> {
        let both = [("TSIG", &self.message.tsig), ("SIG0", &self.message.sig0)];
        both.into_iter()
            .filter_map(|(name, record)| Some((name, record.as_ref()?)))
    }

    /// The records of the answer section that are printed: of a transfer
    /// `+onesoa` leaves all SOA records but the first out.
    fn is_left_out(&self, record: &Record, seen: &mut bool) -> bool {
        let lookup = &self.exchange.lookup;
        if record.rdtype != SOA || !lookup.print.one_soa || lookup.rdtype != AXFR {
            return false;
        }
        !self.first || std::mem::replace(seen, true)
    }
}

/// The message in dig's usual form.
///
/// # Errors
///
/// A name has no letters of its own: of the message no more than its header
/// is there.
///
/// Source: BIND bin/dig/dig.c: `printmessage` (9.18)
pub fn write(shown: &Shown<'_>, out: &mut String) -> Result<(), Refused> {
    let lookup = &shown.exchange.lookup;
    greeting(shown, out);
    if lookup.dns64_prefix {
        dns64::write(shown.message, out);
        return Ok(());
    }
    if shown.globals.short {
        if lookup.print.answer {
            return short(shown, out);
        }
        return Ok(());
    }
    let comments = lookup.print.comments;
    if comments {
        header(shown, out);
    }
    let head = out.len();
    if comments {
        out.push('\n');
        edns::write(shown.message, shown.exchange.cookie_ok, out);
    }
    let style = Style::of_section(&lookup.print, shown.globals, shown.now());
    let title = |out: &mut String, title: &str| {
        if comments {
            let _ = writeln!(out, ";; {title} SECTION:");
        }
    };
    let end = |out: &mut String| {
        if comments {
            out.push('\n');
        }
    };
    if shown.has_question() {
        title(out, shown.question_title());
        for question in &shown.message.questions {
            out.push(';');
            write_question(question, &style, out);
        }
        end(out);
    }
    let mut seen_soa = false;
    for (at, (section, records, wanted)) in shown.sections().into_iter().enumerate() {
        if !wanted || records.is_empty() {
            continue;
        }
        title(out, section);
        for record in records {
            if at > 0 || !shown.is_left_out(record, &mut seen_soa) {
                write_record(record, &style, out);
            }
        }
        end(out);
    }
    if lookup.print.additional {
        signatures(shown, &style, out);
    }
    style.refused().inspect_err(|_| out.truncate(head))
}

fn signatures(shown: &Shown<'_>, style: &Style, out: &mut String) {
    for (section, record) in shown.signatures() {
        let comments = shown.exchange.lookup.print.comments;
        if comments {
            let _ = writeln!(out, ";; {section} PSEUDOSECTION:");
        }
        write_record(record, style, out);
        if comments {
            out.push('\n');
        }
    }
}

/// Version and arguments, before the first reply.
fn greeting(shown: &Shown<'_>, out: &mut String) {
    let globals = shown.globals;
    if !shown.first || globals.short || !globals.show_command {
        return;
    }
    if !shown.exchange.lookup.dns64_prefix {
        write_greeting(&shown.exchange.lookup.greeting, out);
    }
}

/// The greeting's lines; the arguments are a stranger's, perhaps.
pub fn write_greeting(greeting: &[u8], out: &mut String) {
    for line in greeting.split_inclusive(|&byte| byte == b'\n') {
        match line.strip_suffix(b"\n") {
            Some(line) => {
                out.push_str(&escaped(line));
                out.push('\n');
            }
            None => out.push_str(&escaped(line)),
        }
    }
}

fn header(shown: &Shown<'_>, out: &mut String) {
    let message = shown.message;
    out.push_str(if shown.is_query {
        ";; Sending:\n"
    } else {
        ";; Got answer:\n"
    });
    let is_local = |question: &Question| {
        let last = question.name.labels().last();
        last.is_some_and(|label| label.eq_ignore_ascii_case(b"local"))
    };
    if message.questions.iter().any(is_local) {
        out.push_str(
            ";; WARNING: .local is reserved for Multicast DNS\n;; You are currently \
             testing what happens when an mDNS query is leaked to DNS\n",
        );
    }
    let rcode = rcode_text(message.rcode);
    let unknown = if rcode.bytes().all(|byte| byte.is_ascii_digit()) {
        "?"
    } else {
        ""
    };
    let (opcode, id) = (opcode_text(message.opcode), message.id);
    let _ = writeln!(
        out,
        ";; ->>HEADER<<- opcode: {opcode}, status: {unknown}{rcode}, id: {id}"
    );
    let mbz = if message.flags & flag::Z == 0 {
        ""
    } else {
        "; MBZ: 0x4"
    };
    let [questions, answers, authorities, additionals] = message.counts;
    let _ = writeln!(
        out,
        ";; flags:{}{mbz}; QUERY: {questions}, ANSWER: {answers}, \
         AUTHORITY: {authorities}, ADDITIONAL: {additionals}",
        flags(message)
    );
    if shown.is_query {
        return;
    }
    if message.flags & (flag::RD | flag::RA) == flag::RD {
        out.push_str(";; WARNING: recursion requested but not available\n");
    }
    let edns = &shown.exchange.lookup.edns;
    if edns.version.is_some() && message.opt.is_none() && matches!(message.rcode, 1 | 4) {
        let also = if edns.dnssec { "+nodnssec " } else { "" };
        let _ = writeln!(
            out,
            "\n;; WARNING: EDNS query returned status {rcode} - retry with '{also}+noedns'"
        );
    }
    if message.extra > 0 {
        let extra = message.extra;
        let _ = writeln!(out, ";; WARNING: Message has {extra} extra bytes at end");
    }
}

/// ` qr rd ra`
pub(super) fn flags(message: &Message) -> String {
    [
        (flag::QR, " qr"),
        (flag::AA, " aa"),
        (flag::TC, " tc"),
        (flag::RD, " rd"),
        (flag::RA, " ra"),
        (flag::AD, " ad"),
        (flag::CD, " cd"),
    ]
    .iter()
    .filter(|(bit, _)| message.flags & bit != 0)
    .map(|&(_, text)| text)
    .collect()
}

/// Source: BIND lib/dns/masterdump.c: `question_totext` (9.18)
pub(super) fn write_question(question: &Question, style: &Style, out: &mut String) {
    let owner = style.name(&question.name);
    let (class, rdtype) = if style.unknown_format {
        let (class, rdtype) = (question.rdclass, question.rdtype);
        (
            format!("CLASS{class}").into(),
            format!("TYPE{rdtype}").into(),
        )
    } else {
        (class_text(question.rdclass), type_text(question.rdtype))
    };
    if style.yaml {
        let _ = write!(out, "{owner} {class} {rdtype}");
        return;
    }
    let [_, class_column, type_column, _] = style.columns;
    out.push_str(&owner);
    let column = indent(out, owner.len(), class_column);
    out.push_str(&class);
    indent(out, column + class.len(), type_column);
    out.push_str(&rdtype);
    out.push('\n');
}

/// Source: BIND lib/dns/masterdump.c: `rdataset_totext` (9.18)
fn write_record(record: &Record, style: &Style, out: &mut String) {
    let [ttl_column, class_column, type_column, data_column] = style.columns;
    let owner = style.name(&record.owner);
    let mut column = owner.len();
    out.push_str(&owner);
    let mut part = |out: &mut String, to: usize, text: &str| {
        column = indent(out, column, to) + text.len();
        out.push_str(text);
    };
    if style.ttl {
        let seconds = if style.ttl_units {
            ttl(record.ttl, false)
        } else {
            record.ttl.to_string()
        };
        part(out, ttl_column, &seconds);
    }
    let (class, rdtype) = kind(record, style);
    if style.class {
        part(out, class_column, &class);
    }
    part(out, type_column, &rdtype);
    part(out, data_column, "");
    out.push_str(&rdata::text(record, style));
    out.push('\n');
}

/// A record on one line with single spaces, as YAML has it.
pub(super) fn record_text(record: &Record, style: &Style) -> String {
    let (class, rdtype) = kind(record, style);
    let (owner, seconds) = (style.name(&record.owner), record.ttl);
    let data = rdata::text(record, style);
    format!("{owner} {seconds} {class} {rdtype} {data}")
}

/// A record's data alone.
pub(super) fn data_text(record: &Record, style: &Style) -> String {
    rdata::text(record, style)
}

fn kind(record: &Record, style: &Style) -> (String, String) {
    if style.unknown_format {
        let (class, rdtype) = (record.rdclass, record.rdtype);
        return (format!("CLASS{class}"), format!("TYPE{rdtype}"));
    }
    let (class, rdtype) = (class_text(record.rdclass), type_text(record.rdtype));
    (class.into_owned(), rdtype.into_owned())
}

/// Source: BIND bin/dig/dig.c: `short_answer`, `say_message` (9.18)
pub(super) fn short(shown: &Shown<'_>, out: &mut String) -> Result<(), Refused> {
    let head = out.len();
    let print = &shown.exchange.lookup.print;
    let style = Style::short(print, shown.globals, shown.now());
    for record in &shown.message.answers {
        out.push_str(&rdata::text(record, &style));
        if print.identify {
            let server = &shown.exchange.server.address;
            let _ = write!(
                out,
                " from server {}",
                escaped(server.to_string().as_bytes())
            );
            let elapsed = shown.exchange.times.elapsed;
            let _ = if print.microseconds {
                write!(out, " in {} us.", elapsed.as_micros())
            } else {
                write!(out, " in {} ms.", elapsed.as_millis())
            };
        }
        out.push('\n');
    }
    style.refused().inspect_err(|_| out.truncate(head))
}
