//! Causes, each modelled once: what it is, the command that decides it, its fix.

use super::looked::Looked;
use super::page::Page;
use super::pattern::{Pattern, Searched};

/// A cause.
#[derive(Clone, Debug)]
pub struct Cause {
    /// Its stable name, in kebab-case: `conntrack-race`.
    pub code: &'static str,
    /// What is the case if it is the cause, a sentence with a full stop.
    pub what: String,
    /// The command that decides it, with `{name}`, `{service}` and `{server}` in it.
    pub command: &'static str,
    /// What it shows if this is the cause.
    pub shows: String,
    /// What fixes it.
    pub fix: String,
    /// The rules of `lint` that find it on a node, by their names.
    pub rules: Vec<&'static str>,
    /// Those that speak for it where what they find is quoted beside a message, and say
    /// nothing of a node: there it can be another pod's.
    pub quoted: Vec<&'static str>,
    /// The names of which it is likelier than a message says.
    likelier: Vec<Looked>,
    /// The names of which it is seen at most.
    unlikely: Vec<Looked>,
    /// The names of which it has to be thought of, whatever the message.
    always: Vec<Looked>,
    /// What speaks for it where it stands beside a message that can have several causes.
    signs: Vec<Pattern>,
    /// What speaks against it there.
    counter_signs: Vec<Pattern>,
    /// Where that is written.
    pub sources: Vec<&'static str>,
}

/// How likely a cause is, from the message alone.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Likely {
    /// Most such messages have it.
    High,
    /// Some have it.
    Medium,
    /// It is seen.
    Low,
}

impl Likely {
    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Self::High => "high",
            Self::Medium => "medium",
            Self::Low => "low",
        }
    }

    /// The one of a word.
    pub(super) fn of_word(word: &str) -> Option<Self> {
        let all = [Self::High, Self::Medium, Self::Low];
        all.into_iter().find(|it| it.word() == word)
    }
}

impl Cause {
    /// The cause of a page.
    pub(super) fn of_page(text: &'static str) -> Self {
        let page = Page::parse(text);
        Self {
            code: page.title,
            command: page.verbatim("Decide").first().copied().unwrap_or_default(),
            shows: page.prose("Decide"),
            fix: page.prose("Fix"),
            what: page.lead.clone(),
            rules: page.items("Rules"),
            quoted: page.items("Quoted"),
            likelier: names(&page, "likelier: "),
            unlikely: names(&page, "unlikely: "),
            always: names(&page, "always: "),
            signs: signs(&page, "for: "),
            counter_signs: signs(&page, "against: "),
            sources: page.items("Sources"),
        }
    }

    /// How likely it is for such a name, where a message says this much.
    pub(super) fn likely_for(&self, looked: Option<Looked>, likely: Likely) -> Likely {
        match looked {
            _ if self.is_likelier(looked) => Likely::High,
            Some(it) if self.unlikely.contains(&it) => Likely::Low,
            _ => likely,
        }
    }

    /// Whether it is likelier for such a name than a message says.
    pub(super) fn is_likelier(&self, looked: Option<Looked>) -> bool {
        looked.is_some_and(|it| self.likelier.contains(&it))
    }

    /// Whether a text speaks for it, or, which counts more, against it; `None`: neither,
    /// or what does is denied there (`no network policy`).
    pub(super) fn shown_by(&self, text: Searched<'_>) -> Option<bool> {
        let has = |signs: &[Pattern]| signs.iter().any(|it| it.is_said_in(text));
        let is_against = has(&self.counter_signs);
        (is_against || has(&self.signs)).then_some(!is_against)
    }

    /// Whether it has to be thought of for such a name, whatever the message.
    pub(super) fn is_always(&self, looked: Looked) -> bool {
        self.always.contains(&looked)
    }
}

/// The patterns in the items below `Signs` that begin so.
fn signs(page: &Page, start: &str) -> Vec<Pattern> {
    let items = page.items("Signs").into_iter();
    let patterns = items.filter_map(|it| it.strip_prefix(start));
    patterns.map(Pattern::seen).collect()
}

/// The kinds of names in the item below `Names` that begins so.
fn names(page: &Page, start: &str) -> Vec<Looked> {
    let items = page.items("Names").into_iter();
    let words = items.filter_map(|it| it.strip_prefix(start));
    words
        .flat_map(str::split_whitespace)
        .filter_map(Looked::of_word)
        .collect()
}
