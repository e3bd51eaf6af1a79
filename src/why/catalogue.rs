//! The messages that are known, and their causes: pages that are part of the
//! program, read when they are asked for.

use std::io::Read as _;
use std::ops::Range;
use std::sync::LazyLock;

use flate2::bufread::GzDecoder;

use super::asked::{Asked, Kind};
use super::cause::{Cause, Likely};
use super::looked::Looked;
use super::page::Page;
use super::pattern::{Pattern, Searched};
use super::speaker::{self, Speaker};
use crate::order::Order as _;

/// The pages of messages, each behind a line with the id of its speaker.
static MESSAGES: LazyLock<String> =
    LazyLock::new(|| unpacked(include_bytes!(concat!(env!("OUT_DIR"), "/why_messages.gz"))));

/// The pages of causes.
static CAUSES: LazyLock<String> =
    LazyLock::new(|| unpacked(include_bytes!(concat!(env!("OUT_DIR"), "/why_causes.gz"))));

/// What `build.rs` has compressed: it is whole.
fn unpacked(packed: &[u8]) -> String {
    let mut text = String::new();
    GzDecoder::new(packed)
        .read_to_string(&mut text)
        .unwrap_or_default();
    text
}

/// Pages that name each other's causes are followed so far.
const DEEPEST: usize = 4;

/// Everything that is known.
#[derive(Clone, Debug)]
pub struct Catalogue {
    /// The messages, by speaker, in the order of their ids.
    pub messages: Vec<Message>,
    /// The causes, in the order of their codes.
    pub causes: Vec<Cause>,
}

/// A message.
#[derive(Clone, Debug)]
pub struct Message {
    /// Its stable name: `go-no-such-host`.
    pub id: &'static str,
    /// Who says it.
    pub speaker: &'static Speaker,
    /// What it means, a sentence or two with full stops.
    pub meaning: String,
    /// Any of these is it.
    pub patterns: Vec<Pattern>,
    /// Where one of these stands right before or in it, another program says it.
    pub(super) unless: Vec<Pattern>,
    /// What it proves, each a sentence without a full stop.
    pub proves: Vec<&'static str>,
    /// What it rules out.
    pub rules_out: Vec<&'static str>,
    /// Whether it is a note that is seldom the cause of anything, whatever it proves.
    pub is_aside: bool,
    /// What it can come from, the likeliest first; empty: it is no DNS error.
    causes: Vec<Hypothesis>,
    /// Where it is written or was seen.
    pub sources: Vec<&'static str>,
}

/// A cause that a message can have.
#[derive(Clone, Debug)]
struct Hypothesis {
    /// The cause's code, or the id of the message whose causes these are.
    code: &'static str,
    /// How likely it is; `None`: as in the other message.
    likely: Option<Likely>,
    /// Only if such a server was asked; `None` among them: if none is named.
    only: Vec<Option<Kind>>,
}

impl Catalogue {
    /// All that is in the program; its pages are read once.
    pub fn built_in() -> &'static Self {
        static READ: LazyLock<Catalogue> = LazyLock::new(Catalogue::read);
        &READ
    }

    fn read() -> Self {
        let messages = MESSAGES.split('\0').filter_map(|it| it.split_once('\n'));
        Self {
            messages: messages
                .filter_map(|(speaker, text)| Message::of_page(speaker, text))
                .collect(),
            causes: CAUSES.split('\0').map(Cause::of_page).collect(),
        }
    }

    /// The message with this id.
    pub fn message(&self, id: &str) -> Option<&Message> {
        self.messages.iter().find(|it| it.id == id)
    }

    /// The cause with this code.
    pub fn cause(&self, code: &str) -> Option<&Cause> {
        self.causes.iter().find(|it| it.code == code)
    }

    /// The causes that a message can have where this server was asked for such a
    /// name, the likeliest first.
    pub fn causes_of(
        &self,
        message: &Message,
        asked: Option<&Asked>,
        looked: Option<Looked>,
    ) -> Vec<(Likely, &Cause)> {
        let kind = asked.map(|it| it.kind);
        let counts = |it: &Hypothesis| it.only.is_empty() || it.only.contains(&kind);
        let mut found: Vec<(Likely, &Cause)> = Vec::new();
        for (likely, cause) in self.listed(message, &counts, DEEPEST) {
            if !found.iter().any(|it| it.1.code == cause.code) {
                found.push((cause.likely_for(looked, likely), cause));
            }
        }
        let is_always = |it: &&Cause| message.is_dns() && looked.is_some_and(|of| it.is_always(of));
        for cause in self.causes.iter().filter(is_always) {
            let own = found.iter().position(|it| it.1.code == cause.code);
            let own = own.map_or(Likely::Medium, |it| found.remove(it).0);
            let likely = cause.likely_for(looked, Likely::Medium);
            found.insert(0, (likely.min(own), cause));
        }
        found.order_by_key(|it| it.0);
        // What such a name has more often stands behind the two likeliest.
        let mut rest = found.split_off(found.len().min(2));
        rest.order_by_key(|it| (it.0, !it.1.is_likelier(looked)));
        found.extend(rest);
        found
    }

    /// Whether a message can have this cause, whichever server was asked.
    pub(super) fn lists(&self, message: &Message, cause: &Cause) -> bool {
        let listed = self.listed(message, &|_| true, DEEPEST);
        listed.iter().any(|it| it.1.code == cause.code)
    }

    /// The causes that stand on the page of a message where a server that counts was asked,
    /// and on the pages that it names, these so deep.
    fn listed(
        &self,
        message: &Message,
        counts: &impl Fn(&Hypothesis) -> bool,
        depth: usize,
    ) -> Vec<(Likely, &Cause)> {
        let own = message.causes.iter();
        own.filter(|it| counts(it))
            .flat_map(|it| match (it.likely, depth.checked_sub(1)) {
                (Some(likely), _) => {
                    let cause = self.cause(it.code);
                    cause.map(|it| (likely, it)).into_iter().collect()
                }
                (None, Some(depth)) => {
                    let other = self.message(it.code);
                    other.map_or_else(Vec::new, |it| self.listed(it, counts, depth))
                }
                (None, None) => Vec::new(),
            })
            .collect()
    }
}

impl Message {
    /// Whether it is an error of DNS.
    pub fn is_dns(&self) -> bool {
        !self.causes.is_empty()
    }

    /// Whether one of its causes is likely.
    pub fn leads(&self) -> bool {
        let likely = Some(Likely::High);
        self.causes.iter().any(|it| it.likely == likely)
    }

    /// Whether it is a line that the plugin log writes of a query, whose name is a
    /// candidate of the client's.
    pub fn is_query_line(&self) -> bool {
        self.id.starts_with("coredns-log-")
    }

    /// What kind of name this is, where it was looked up.
    pub(super) fn looked(&self, name: Option<&str>) -> Option<Looked> {
        name.and_then(|it| match self {
            _ if self.is_query_line() => Looked::of_query(it),
            _ if self.speaker.is_server() => None,
            _ => Looked::of_name(it),
        })
    }

    /// All places where a text has it, in bytes.
    pub(super) fn places(&self, searched: Searched<'_>) -> Vec<Range<usize>> {
        let mut places = Vec::new();
        for pattern in &self.patterns {
            let mut done = 0;
            while let Some(at) = pattern.find(searched.from(done)) {
                places.push(at.start + done..at.end + done);
                done += at.end;
            }
        }
        places
    }

    /// The codes of its causes, and the ids of messages whose causes it has.
    pub fn codes(&self) -> impl Iterator<Item = &'static str> {
        self.causes.iter().map(|it| it.code)
    }

    fn of_page(speaker: &str, text: &'static str) -> Option<Self> {
        let page = Page::parse(text);
        let patterns = page.verbatim("Message").into_iter();
        let speaker = speaker::find(speaker)?;
        let read = if speaker.is_symptom() {
            Pattern::seen
        } else {
            Pattern::parse
        };
        Some(Self {
            id: page.title,
            speaker,
            meaning: page.lead.clone(),
            patterns: patterns.map(read).collect(),
            unless: page.verbatim("Unless").into_iter().map(read).collect(),
            proves: page.items("Proves"),
            rules_out: page.items("Rules out"),
            is_aside: !page.items("Aside").is_empty(),
            causes: page
                .items("Causes")
                .into_iter()
                .map(Hypothesis::parse)
                .collect(),
            sources: page.items("Sources"),
        })
    }
}

impl Hypothesis {
    /// `CODE LIKELY`, `CODE LIKELY if KIND KIND`, `as ID`.
    fn parse(item: &'static str) -> Self {
        let (head, only) = item.split_once(" if ").unwrap_or((item, ""));
        let only = only.split_whitespace().map(Kind::of_word).collect();
        let (code, likely) = head.split_once(' ').unwrap_or((head, ""));
        if code == "as" {
            return Self {
                code: likely,
                likely: None,
                only,
            };
        }
        let likely = Likely::of_word(likely).unwrap_or(Likely::Low);
        Self {
            code,
            likely: Some(likely),
            only,
        }
    }
}
