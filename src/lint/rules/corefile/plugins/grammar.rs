//! The table of plugins, read.
//!
//! Behind a name stand slots with blanks between: a kind (`kind.rs`), or words
//! as they are with `|` between; `name=kind` is a word with another one behind
//! it. `?`: it can be left out; `*`: any number; `+`: at least one. `...` at the
//! end: CoreDNS does not look at what follows. A property has `@` and the first
//! version that knows it, `-` and the first that does not; `~`: letters can be
//! large or small; `!`: it can stand there once; `*` alone: any other; `-` alone:
//! there is no block. A property in several lines has as many forms.

use crate::config::corefile::Word;
use crate::kubelet::Version;
use crate::lint::rules::corefile::plugins::kind::Kind;
use crate::lint::rules::is_near;

/// A plugin.
#[derive(Debug)]
pub(super) struct Plugin {
    pub(super) name: &'static str,
    pub(super) arguments: Shape,
    pub(super) properties: Vec<Property>,
    /// Whether lines that are no property are allowed.
    pub(super) is_open: bool,
    /// Whether it is known to have no block.
    pub(super) has_no_block: bool,
}

/// A property in a plugin's block.
#[derive(Debug)]
pub(in crate::lint::rules::corefile) struct Property {
    name: &'static str,
    any_case: bool,
    /// Whether a second one is refused.
    pub(super) is_single: bool,
    /// The first version that knows it.
    pub(in crate::lint::rules::corefile) since: Option<Version>,
    /// The first version that does not know it any more.
    pub(in crate::lint::rules::corefile) gone: Option<Version>,
    pub(super) arguments: Shape,
}

/// What may stand behind a name.
#[derive(Debug, Default)]
pub(super) struct Shape {
    slots: Vec<Slot>,
    /// Whether what follows is not looked at.
    is_open: bool,
}

#[derive(Debug)]
struct Slot {
    /// One of these.
    kinds: Vec<Kind>,
    count: Count,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Count {
    One,
    Optional,
    Any,
    Some,
}

/// Why words are refused.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(in crate::lint::rules::corefile) enum Refusal<'w> {
    /// This is missing.
    Missing(String),
    /// A word must be this.
    Wrong(&'w Word, String),
    /// Nothing may stand here.
    TooMuch(&'w Word),
    /// It stands there a second time.
    Twice(&'w Word),
    /// A word like it stands before it.
    Repeated(&'w Word),
    /// It stands there beside another one.
    Beside(&'w Word, &'w str),
}

impl Refusal<'_> {
    /// Of the refusals of two forms that of the one which takes more words; of the same word
    /// both.
    pub(super) fn farther(self, other: Self) -> Self {
        match (self, other) {
            (Self::Wrong(word, wanted), Self::Wrong(same, more)) if word.at == same.at => {
                let more = (!wanted.contains(&more)).then(|| format!(" or {more}"));
                Self::Wrong(word, wanted + &more.unwrap_or_default())
            }
            (one, other) if other.reach() > one.reach() => other,
            (one, _) => one,
        }
    }

    /// The place of the refused word, and whether another one could stand there.
    fn reach(&self) -> (u32, bool) {
        match self {
            Self::Missing(_) => (u32::MAX, true),
            Self::Wrong(word, _) => (word.at.span.start, true),
            Self::TooMuch(word)
            | Self::Twice(word)
            | Self::Repeated(word)
            | Self::Beside(word, _) => (word.at.span.start, false),
        }
    }
}

impl Plugin {
    /// The properties of this name: forms of one, each with its versions.
    pub(super) fn properties_named(&self, name: &str) -> impl Iterator<Item = &Property> {
        let is_it = move |it: &&Property| {
            if it.any_case {
                it.name.eq_ignore_ascii_case(name)
            } else {
                it.name == name
            }
        };
        self.properties.iter().filter(is_it)
    }
}

/// Older ones are in no Kubernetes since 1.20.
///
/// Source: kubernetes/kubernetes `cmd/kubeadm/app/constants/constants.go`
/// v1.21.0: `CoreDNSVersion`.
const OLDEST: Version = Version::release(1, 8, 0);

impl Property {
    /// Whether a word is its name, or this misspelled.
    pub(super) fn is_near(&self, word: &str) -> bool {
        is_near(&word.to_ascii_lowercase(), self.name, 2)
    }

    /// Whether a version knows it; of an unknown one, whether any since [`OLDEST`] does.
    pub(super) fn is_known(&self, version: Option<Version>) -> bool {
        match version {
            Some(version) => {
                self.since.is_none_or(|since| version >= since)
                    && self.gone.is_none_or(|gone| version < gone)
            }
            None => self.gone.is_none_or(|gone| gone > OLDEST),
        }
    }
}

impl Shape {
    /// Why CoreDNS refuses these words; variables are taken for right.
    pub(super) fn refusal<'w>(&self, words: &'w [Word]) -> Option<Refusal<'w>> {
        let mut rest = words;
        for slot in &self.slots {
            let many = matches!(slot.count, Count::Any | Count::Some);
            if rest.is_empty() && matches!(slot.count, Count::One | Count::Some) {
                return Some(Refusal::Missing(slot.wanted()));
            }
            while let Some((word, behind)) = rest.split_first() {
                let taken = slot.taken(word, behind);
                match taken {
                    Some(count) => rest = behind.get(count - 1..).unwrap_or_default(),
                    None => return Some(Refusal::Wrong(word, slot.wanted())),
                }
                if !many {
                    break;
                }
            }
        }
        let more = rest.first().filter(|_| !self.is_open)?;
        Some(Refusal::TooMuch(more))
    }
}

impl Slot {
    /// How many words it takes; none where it refuses the first.
    fn taken(&self, word: &Word, behind: &[Word]) -> Option<usize> {
        if word.has_variable() {
            return Some(1);
        }
        let kind = self.kinds.iter().find(|it| it.is_met(&word.text))?;
        let count = if kind.has_value() { 2 } else { 1 };
        (behind.len() + 1 >= count).then_some(count)
    }

    fn wanted(&self) -> String {
        let names: Vec<String> = self.kinds.iter().map(Kind::wanted).collect();
        match names.as_slice() {
            [name] => name.clone(),
            [before @ .., last] => format!("{} or {last}", before.join(", ")),
            [] => String::new(),
        }
    }
}

/// The plugins of a table.
pub(super) fn plugins(table: &'static str) -> Vec<Plugin> {
    let mut plugins: Vec<Plugin> = Vec::new();
    for line in table.lines() {
        let text = line.trim();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let (name, rest) = text.split_once(' ').unwrap_or((text, ""));
        let arguments = shape(rest);
        match plugins.last_mut().filter(|_| line.starts_with(' ')) {
            Some(plugin) if name == "*" => plugin.is_open = true,
            Some(plugin) if name == "-" => plugin.has_no_block = true,
            Some(plugin) => plugin.properties.push(property(name, arguments)),
            None => plugins.push(Plugin {
                name,
                arguments,
                properties: Vec::new(),
                is_open: false,
                has_no_block: false,
            }),
        }
    }
    plugins
}

fn property(name: &'static str, arguments: Shape) -> Property {
    // Names have `-` in them, too: a version begins with a digit.
    let gone = name
        .rsplit_once('-')
        .and_then(|(name, gone)| Some((name, gone.parse().ok()?)));
    let (name, gone) = gone.map_or((name, None), |(name, gone)| (name, Some(gone)));
    let (name, since) = name
        .split_once('@')
        .map_or((name, None), |(name, since)| (name, since.parse().ok()));
    Property {
        name: name.trim_start_matches(['~', '!']),
        any_case: name.starts_with('~'),
        is_single: name.starts_with('!'),
        since,
        gone,
        arguments,
    }
}

fn shape(text: &'static str) -> Shape {
    let mut shape = Shape::default();
    for word in text.split_whitespace() {
        if word == "..." {
            shape.is_open = true;
            continue;
        }
        let (kinds, count) = match word.as_bytes().last() {
            Some(b'?') => (word.strip_suffix('?'), Count::Optional),
            Some(b'*') => (word.strip_suffix('*'), Count::Any),
            Some(b'+') => (word.strip_suffix('+'), Count::Some),
            _ => (Some(word), Count::One),
        };
        let kinds = kinds.unwrap_or(word).split('|');
        shape.slots.push(Slot {
            kinds: kinds.map(Kind::named).collect(),
            count,
        });
    }
    shape
}
