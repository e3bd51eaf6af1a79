//! What rules find, before lines are counted.

use crate::finding::Severity;
use crate::lint::Rule;
use crate::lint::document::{At, Change};
use crate::text::{Place, Span, escaped};

/// Collects the findings of one rule.
#[derive(Debug)]
pub struct Report {
    rule: &'static Rule,
    found: Vec<Draft>,
}

/// A finding whose places are still bytes of numbered files.
#[derive(Clone, Debug)]
pub struct Draft {
    /// The rule.
    pub rule: &'static Rule,
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong.
    pub message: String,
    /// Where it is.
    pub primary: Mark,
    /// What else has to do with it.
    pub secondary: Vec<Mark>,
    /// The exact text to write.
    pub help: Option<String>,
    /// What breaks and when.
    pub notes: Vec<String>,
    /// The one fix: what it does, and the changes.
    pub fix: Option<(String, Vec<Change>)>,
    /// Whether the fix cannot change what works.
    pub is_fix_safe: bool,
}

/// A place with words for it.
#[derive(Clone, Debug)]
pub struct Mark {
    /// Where.
    pub spot: Spot,
    /// What is said about it; can be empty.
    pub text: String,
}

/// A place of a finding.
#[derive(Clone, Debug)]
pub enum Spot {
    /// Bytes of a file.
    At(At),
    /// A place of which only line and column are known, as of a [`crate::node::Node`].
    Place(Place),
}

impl From<At> for Spot {
    fn from(at: At) -> Self {
        Self::At(at)
    }
}

impl From<Place> for Spot {
    fn from(place: Place) -> Self {
        Self::Place(place)
    }
}

impl Report {
    /// An empty report of a rule.
    pub fn new(rule: &'static Rule) -> Self {
        Self {
            rule,
            found: Vec::new(),
        }
    }

    /// Adds a finding. `message` says the problem first, in one line without a
    /// full stop; what comes from files in it need not be escaped. What else
    /// there is to say is added to the draft.
    pub fn add(&mut self, spot: impl Into<Spot>, message: impl AsRef<str>) -> &mut Draft {
        self.found.push(Draft {
            rule: self.rule,
            severity: self.rule.severity,
            message: cut(shown(message), MAX_MESSAGE),
            primary: Mark {
                spot: spot.into(),
                text: String::new(),
            },
            secondary: Vec::new(),
            help: None,
            notes: Vec::new(),
            fix: None,
            is_fix_safe: true,
        });
        let last = self.found.len() - 1;
        // Just pushed.
        #[expect(clippy::indexing_slicing, reason = "the last one was just pushed")]
        &mut self.found[last]
    }

    /// How many findings there are.
    pub fn count(&self) -> usize {
        self.found.len()
    }

    /// Keeps at most so many findings; the last of them says how many more
    /// there were.
    pub fn keep(&mut self, most: usize) {
        let more = self.found.len().saturating_sub(most);
        if more > 0 {
            self.found.truncate(most);
            let last = self.found.last_mut();
            last.map(|it| it.note(format!("{more} more in this file are not shown")));
        }
    }

    /// Keeps of those behind the first `count` what stands under a condition of a
    /// template, as a remark.
    pub(super) fn under(&mut self, condition: Span, count: usize) {
        let before: Vec<Draft> = self.found.drain(..count.min(self.found.len())).collect();
        self.found.retain_mut(|it| {
            it.severity(Severity::Info).note(UNDER_CONDITION);
            let Spot::At(at) = it.primary.spot else {
                return false;
            };
            condition.start <= at.span.start && at.span.end <= condition.end
        });
        self.found.splice(0..0, before);
    }

    /// The findings, in the order in which they were added.
    pub fn into_found(self) -> Vec<Draft> {
        self.found
    }
}

impl Draft {
    /// What is said at its place: `this is the pod itself`.
    pub fn label(&mut self, text: impl AsRef<str>) -> &mut Self {
        self.primary.text = cut(shown(text), MAX_MESSAGE);
        self
    }

    /// Another place that has to do with it, in any file.
    pub fn also(&mut self, spot: impl Into<Spot>, text: impl AsRef<str>) -> &mut Self {
        self.secondary.push(Mark {
            spot: spot.into(),
            text: cut(shown(text), MAX_MESSAGE),
        });
        self
    }

    /// The same of each of these places, of which there can be none.
    pub fn also_each(
        &mut self,
        spots: impl IntoIterator<Item = impl Into<Spot>>,
        text: &str,
    ) -> &mut Self {
        for spot in spots {
            self.also(spot, text);
        }
        self
    }

    /// The exact text to write, or what to do: `write resolvConf: /run/…`.
    pub fn help(&mut self, text: impl AsRef<str>) -> &mut Self {
        self.help = Some(cut(shown(text), MAX_HELP));
        self
    }

    /// What breaks and when, one sentence without a full stop.
    pub fn note(&mut self, text: impl AsRef<str>) -> &mut Self {
        self.notes.push(cut(shown(text), MAX_HELP));
        self
    }

    /// Another severity than the rule's: by consequence.
    pub fn severity(&mut self, severity: Severity) -> &mut Self {
        self.severity = severity;
        self
    }

    /// A fix that depends on what was not seen, or makes something count that
    /// did not: only `--unsafe-fixes` makes it.
    pub fn unsafe_fix(
        &mut self,
        title: impl AsRef<str>,
        changes: impl IntoIterator<Item = Option<Change>>,
    ) -> &mut Self {
        self.is_fix_safe = false;
        self.fix(title, changes)
    }

    /// The one fix, which cannot change what works. Nothing happens if a change is `None`: where it
    /// would have to be made, no byte can be replaced for another.
    pub fn fix(
        &mut self,
        title: impl AsRef<str>,
        changes: impl IntoIterator<Item = Option<Change>>,
    ) -> &mut Self {
        let changes: Option<Vec<Change>> = changes.into_iter().collect();
        self.fix = changes
            .filter(|it| !it.is_empty())
            .map(|it| (shown(title), it));
        self
    }
}

const UNDER_CONDITION: &str =
    "it stands under a condition of the template, and counts where that is met";

/// Longer messages and labels are cut: they repeat what stands in a file.
const MAX_MESSAGE: usize = 500;
/// The same for what is to be written: the longest search list fits.
const MAX_HELP: usize = 4096;

/// A text of at most so many characters.
fn cut(mut text: String, most: usize) -> String {
    if let Some((end, _)) = text.char_indices().nth(most) {
        text.truncate(end);
        text.push('…');
    }
    text
}

/// On one line and safe to print.
fn shown(text: impl AsRef<str>) -> String {
    escaped(text.as_ref().as_bytes())
}
