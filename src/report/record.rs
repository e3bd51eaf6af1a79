//! One report, as `kdns check-loop` writes it in JSON, and what of it counts.

use std::net::SocketAddr;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::Kind;
use super::logs::LogReport;
use crate::check_loop::{Setup, State, Verdict};

/// A report has at most so many bytes: that of logs whose names are as long as can
/// be has 2 MiB.
pub const MAX_RECORD: usize = 4 << 20;

/// The version of the format that is known here.
const FORMAT: u64 = 2;

/// Longest text that is kept of a report, in characters.
const MAX_TEXT: usize = 300;

/// So many items of a list are kept.
const MAX_LIST: usize = 32;

/// Hops of a query path that are kept.
const MAX_HOPS: usize = 12;

/// Shorter words of hexadecimal digits are numbers, not somebody's id.
const SHORTEST_ID: usize = 8;

/// A report, without what only this node has.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct NodeReport {
    /// The node's name; `None`: the report does not say it.
    pub node: Option<String>,
    /// The cluster that it says it belongs to.
    pub cluster: Option<String>,
    /// The machine's own id.
    pub machine: Option<String>,
    /// What it has in common with nodes that are alike.
    pub kind: Kind,
    /// Whether it has remarks, or log lines that show something.
    pub is_remarked: bool,
}

/// What a JSON value in the input is.
#[derive(Debug)]
pub(super) enum Found {
    Report(Box<NodeReport>),
    /// What `kdns why LOG` has written.
    Logs(Box<LogReport>),
    /// Something else's.
    Other,
    /// A log line of a collector; the program's own text in it.
    Enveloped(String),
}

/// Why it is no JSON, or no report.
#[derive(Debug)]
pub(super) struct Wrong {
    /// From 1, in bytes, and the line in the text from 1, if known.
    pub(super) at: Option<(usize, usize)>,
    pub(super) message: String,
}

/// Reads a JSON value. What is no JSON is somebody else's, unless it could have
/// become a report.
pub(super) fn parse_record(text: &[u8]) -> Result<Found, Wrong> {
    let look: Look = match serde_json::from_slice(text) {
        Ok(look) => look,
        Err(error) if resembles(text) => return Err(wrong("is no JSON", &error)),
        Err(_) => return Ok(Found::Other),
    };
    if let Some(inner) = look.check_loop {
        // A report of doctor has one in it.
        return parse_record(inner.to_string().as_bytes());
    }
    if look.verdict.is_none() && look.rcodes.is_some() && look.latency.is_some() {
        let wrong = |it| wrong("is no report of kdns why LOG", &it);
        return Ok(Found::Logs(serde_json::from_slice(text).map_err(wrong)?));
    }
    if look.verdict.is_none() || look.next_start.is_none() {
        let envelopes = [look.log, look.message, look.journal];
        let text = envelopes.into_iter().flatten().find_map(|it| match it {
            Value::String(text) => Some(text),
            _ => None,
        });
        return Ok(text.map_or(Found::Other, Found::Enveloped));
    }
    if let Some(format) = look.format.and_then(|it| it.as_u64())
        && format > FORMAT
    {
        return Err(said(format!(
            "is a report in format {format}, and this kdns knows {FORMAT}: use a newer one"
        )));
    }
    let document: ReportIn =
        serde_json::from_slice(text).map_err(|it| wrong("is no report of check-loop", &it))?;
    Ok(Found::Report(Box::new(report(document)?)))
}

/// Whether a text that is no JSON, or not all of it, has to do with a report:
/// it has a key that is seldom elsewhere, or was cut behind the first one.
pub(super) fn resembles(text: &[u8]) -> bool {
    let inside = text.strip_prefix(b"{").unwrap_or(text).trim_ascii_start();
    let has = |key: &[u8]| memchr::memmem::find(text, key).is_some();
    // Collectors may put quotes and backslashes around, and sort the keys.
    inside.starts_with(b"\"format\"") || has(b"\"verdict") || has(b"\"chains")
}

/// Enough to tell whose it is; at the end where collectors of logs put the line
/// of the program.
///
/// Sources: Docker's json-file driver and Fluent Bit (`log`), Vector and
/// Logstash (`message`), journald's JSON (`MESSAGE`).
#[derive(Deserialize)]
struct Look {
    format: Option<Value>,
    verdict: Option<IgnoredAny>,
    next_start: Option<IgnoredAny>,
    check_loop: Option<Value>,
    rcodes: Option<IgnoredAny>,
    latency: Option<IgnoredAny>,
    log: Option<Value>,
    message: Option<Value>,
    #[serde(rename = "MESSAGE")]
    journal: Option<Value>,
}

#[derive(Deserialize)]
struct ReportIn {
    node: Option<String>,
    cluster: Option<String>,
    machine_id: Option<String>,
    verdict: String,
    now: String,
    next_start: String,
    setup: Option<Setup>,
    /// Of which only the first counts.
    #[serde(default)]
    chains: Vec<ChainIn>,
    fix: Option<FixIn>,
    #[serde(default)]
    evidence: Vec<IgnoredAny>,
    #[serde(default)]
    missing: Vec<SentenceIn>,
    #[serde(default)]
    remarks: Vec<IgnoredAny>,
    #[serde(default)]
    errors: Vec<ErrorIn>,
}

#[derive(Deserialize)]
struct ChainIn {
    #[serde(default)]
    hops: Vec<HopIn>,
    end: String,
}

#[derive(Deserialize)]
struct HopIn {
    who: String,
    network: String,
    sends_to: String,
}

#[derive(Deserialize)]
struct FixIn {
    file: String,
    new: String,
    old: Option<String>,
}

/// A sentence; format 1 had no codes.
#[derive(Deserialize)]
#[serde(untagged)]
enum SentenceIn {
    Coded { text: String },
    Plain(String),
}

#[derive(Deserialize)]
struct ErrorIn {
    message: String,
}

fn report(document: ReportIn) -> Result<NodeReport, Wrong> {
    let verdict = verdict(&document.verdict)?;
    let errors = document.errors.iter().map(|it| &it.message);
    let missing = document.missing.iter().map(|it| match it {
        SentenceIn::Coded { text } | SentenceIn::Plain(text) => text,
    });
    let why = errors.chain(missing).next();
    let name = document.node.filter(|it| !it.is_empty());
    Ok(NodeReport {
        node: name.map(|it| cut(&it)),
        cluster: document.cluster.map(|it| cut(&it)),
        machine: document.machine_id.map(|it| cut(&it)),
        kind: Kind {
            verdict,
            now: state(&document.now)?,
            next_start: state(&document.next_start)?,
            query_path: document.chains.first().map(query_path).unwrap_or_default(),
            why: why
                .filter(|_| verdict == Verdict::Unknown)
                .map(|it| general(it)),
            fix: document.fix.as_ref().map(fix),
            setup: document.setup.map(setup),
            is_rest: false,
        },
        is_remarked: !document.remarks.is_empty() || !document.evidence.is_empty(),
    })
}

fn verdict(word: &str) -> Result<Verdict, Wrong> {
    let known = Verdict::ALL.into_iter().find(|it| it.word() == word);
    known.ok_or_else(|| not_given("verdict", word))
}

fn state(word: &str) -> Result<State, Wrong> {
    let known = State::ALL.into_iter().find(|it| it.word() == word);
    known.ok_or_else(|| not_given("state", word))
}

fn not_given(what: &str, word: &str) -> Wrong {
    let word = cut(word);
    said(format!("has the {what} {word}, which kdns does not give"))
}

/// It within bounds.
fn setup(setup: Setup) -> Setup {
    let word = |it: Option<String>| it.map(|it| cut(&it));
    let list = |it: Vec<String>| it.iter().take(MAX_LIST).map(|it| cut(it)).collect();
    Setup {
        resolv_conf: word(setup.resolv_conf),
        resolv_conf_from: word(setup.resolv_conf_from),
        leads_to: word(setup.leads_to),
        name_servers: list(setup.name_servers),
        on_node: list(setup.on_node),
        forwards: list(setup.forwards),
    }
}

/// The file, and what is to be done there.
fn fix(fix: &FixIn) -> (String, String) {
    let todo = match &fix.old {
        Some(old) if *old == fix.new => "nothing is left to edit: recreate the DNS pods".to_owned(),
        Some(old) if fix.new.is_empty() => format!("remove {old}"),
        _ => fix.new.clone(),
    };
    (general(&fix.file), general(&todo))
}

/// `CoreDNS in the pod's network -> 127.0.0.53:53 -> again: a loop`. Of addresses only
/// loopback ones are named: others are a node's or a pod's own.
fn query_path(chain: &ChainIn) -> String {
    let mut stops = Vec::new();
    for hop in chain.hops.iter().take(MAX_HOPS) {
        stops.push(format!("{} {}", general(&hop.who), general(&hop.network)));
        match hop.sends_to.parse::<SocketAddr>() {
            Ok(to) if !to.ip().to_canonical().is_loopback() => {}
            _ => stops.push(general(&hop.sends_to)),
        }
    }
    stops.push(match chain.end.as_str() {
        "cycle" => "again: a loop".to_owned(),
        "refused" => "nobody listens there".to_owned(),
        "outside" => "a server outside".to_owned(),
        _ => "not known".to_owned(),
    });
    stops.join(" -> ")
}

/// The text without what only one pod or node has: names of pods, numbers of
/// processes, ids in paths.
fn general(text: &str) -> String {
    let mut shown = String::new();
    let mut rest = text;
    while let Some((before, inside)) = rest.split_once(" (") {
        let Some((words, after)) = inside.split_once(')') else {
            break;
        };
        shown.push_str(before);
        if !(words.starts_with("pod ") || words.starts_with("process ")) {
            shown.extend([" (", words, ")"]);
        }
        rest = after;
    }
    shown.push_str(rest);
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let mut general = String::new();
    let mut rest = shown.as_str();
    while !rest.is_empty() {
        let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
        general.push_str(if is_id(word) { "…" } else { word });
        let mut characters = after.chars();
        general.extend(characters.next());
        rest = characters.as_str();
    }
    cut(&general)
}

/// Whether it is an id or has one: a pod's uid, a container's id, the suffix
/// that a `ReplicaSet` gives its pods (`coredns-5d78c9869d-k8x2q`).
fn is_id(word: &str) -> bool {
    let is_hex = |it: &str| {
        let is_digit = |c: char| c.is_ascii_hexdigit();
        it.len() >= SHORTEST_ID && it.chars().all(is_digit)
    };
    word.split(['-', '_'])
        .any(|part| is_hex(part) && part.chars().any(|c| c.is_ascii_digit()))
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_TEXT) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

fn said(message: String) -> Wrong {
    Wrong { at: None, message }
}

/// The sentence without the place, which is said on its own.
fn wrong(what: &str, error: &serde_json::Error) -> Wrong {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let reason = text.strip_suffix(&place).unwrap_or(&text);
    let at = (error.line() > 0).then_some((error.line(), error.column()));
    Wrong {
        at,
        message: format!("{what}: {}", cut(reason)),
    }
}
