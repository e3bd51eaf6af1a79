//! Patterns of messages: words that stand there, and holes of a kind.
//!
//! `lookup <name> on <server>: no such host`. Letters may be large or small. A
//! hole ends where the words behind it begin for the first time, so matching
//! never goes back. `headless <and> {nxdomain|no such host}` are two that both have
//! to be there, in any order, the second in one of two forms. `=nxdomain` is a text that says
//! nothing more.

mod cut;
mod denial;
mod hole;
mod lists;
mod searched;

pub(super) use self::hole::Hole;
pub(super) use self::searched::{Alike, Searched};
use super::plain::boundary;

/// A pattern.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// As it is written.
    pub text: &'static str,
    parts: Vec<Part>,
    /// Whether nothing more may be said.
    is_whole: bool,
    /// How much it says: the letters that have to be there, and a little for
    /// what its holes demand.
    pub weight: usize,
}

/// What stands between two `<and>`: any of its forms will do.
#[derive(Clone, Debug)]
struct Part {
    forms: Vec<Form>,
    /// Whether one of them is the name of a list whose words are of no one thing.
    is_listed: bool,
}

#[derive(Clone, Debug)]
struct Form {
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug)]
enum Piece {
    /// Lower-case words.
    Words(String),
    Hole(Hole),
}

/// What stood in a hole.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Found<'t> {
    /// Of which kind the hole is.
    pub hole: Hole,
    /// What stood there, as written.
    pub text: &'t str,
}

/// A match: where it begins and ends, and what stood in its holes.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Match<'t> {
    /// The first byte.
    pub start: usize,
    /// The byte behind the last.
    pub end: usize,
    /// The holes, in order.
    pub found: Vec<Found<'t>>,
}

/// Between parts that all have to be there.
const AND: &str = " <and> ";

impl Pattern {
    /// Reads one; an unknown word between `<` and `>` stands for itself.
    pub fn parse(text: &'static str) -> Self {
        Self::read(text, Form::parse)
    }

    /// Reads one of what somebody has seen, in words that are written in many ways: it is looked
    /// for in an [`Alike`].
    pub fn seen(text: &'static str) -> Self {
        Self::read(text, |it| Form::parse(&Alike::of(it).text))
    }

    fn read(text: &'static str, form: fn(&str) -> Form) -> Self {
        let words = text.strip_prefix('=');
        let parts = words.unwrap_or(text).split(AND);
        let parts: Vec<Part> = parts.map(|it| Part::read(it, form)).collect();
        Self {
            text,
            is_whole: words.is_some(),
            weight: parts.iter().map(Part::weight).sum(),
            parts,
        }
    }

    /// What complaints have in them.
    pub fn complaint() -> Self {
        Self::seen("{@complaint}")
    }

    /// What complaints of DNS have in them.
    pub fn complaint_of_dns() -> Self {
        Self::seen("{@dns|name} <and> {@complaint}")
    }

    /// Whether it ends with a text that may be anything.
    pub fn is_open(&self) -> bool {
        let last = self.parts.last();
        last.is_some_and(|it| it.forms.iter().any(Form::is_open))
    }

    /// The first place where it matches; with several parts, from the first to
    /// the last of them.
    pub fn find<'t>(&self, searched: Searched<'t>) -> Option<Match<'t>> {
        let mut parts = self.parts.iter().map(|it| it.find(searched));
        let first = parts.next()??;
        let all = parts.try_fold(first, |mut all, part| {
            let part = part?;
            all.start = all.start.min(part.start);
            all.end = all.end.max(part.end);
            all.found.extend(part.found);
            Some(all)
        });
        all.filter(|it| !self.is_whole || searched.is_all(it))
    }

    /// Whether a text says it: all its parts stand there, and not in words like `no` and
    /// `is disabled` only.
    pub fn is_said_in(&self, searched: Searched<'_>) -> bool {
        self.parts.iter().all(|it| it.is_said_in(searched))
    }
}

impl Part {
    /// One form, or several: `{dns|resolv.conf}`, of which one may be a list's name.
    fn read(text: &str, form: fn(&str) -> Form) -> Self {
        let inner = text.strip_prefix('{').and_then(|it| it.strip_suffix('}'));
        let words = || inner.unwrap_or(text).split('|');
        let forms = match inner {
            Some(_) => {
                let words = words().map(|it| lists::named(it).unwrap_or(it));
                words.flat_map(|it| it.split('|')).map(form).collect()
            }
            None => vec![form(text)],
        };
        Self {
            forms,
            is_listed: words()
                .any(|it| !["@ends", lists::COMPLAINT].contains(&it) && lists::named(it).is_some()),
        }
    }

    /// Whether it stands in a text in which nothing denies it; one with a list may be
    /// denied: `no answer from DNS`.
    fn is_said_in(&self, searched: Searched<'_>) -> bool {
        let mut found = self.forms.iter().flat_map(|it| it.matches(searched));
        found.any(|Match { start, end, .. }| {
            let before = searched.small.get(..start).unwrap_or_default();
            let said = denial::subject(searched.small.get(start..end).unwrap_or_default());
            let behind = searched.small.get(start + said.len()..);
            let behind = behind.unwrap_or_default();
            !denial::is_of_object(said, behind)
                && (self.is_listed || !denial::denies(before, behind))
        })
    }

    /// The weight of the form that says the least.
    fn weight(&self) -> usize {
        let weights = self.forms.iter().map(Form::weight);
        weights.min().unwrap_or_default()
    }

    fn find<'t>(&self, searched: Searched<'t>) -> Option<Match<'t>> {
        self.forms.iter().find_map(|it| it.find(searched))
    }
}

impl Form {
    fn parse(text: &str) -> Self {
        let mut pieces = Vec::new();
        let mut words = String::new();
        let mut rest = text;
        while let Some(at) = rest.find('<') {
            let (before, behind) = rest.split_at(at);
            words.push_str(before);
            let hole = behind.find('>').and_then(|end| {
                let word = behind.get(1..end)?;
                Some((Hole::of_word(word)?, behind.get(end + 1..)?))
            });
            if let Some((hole, behind)) = hole {
                push_words(&mut pieces, &mut words);
                pieces.push(Piece::Hole(hole));
                rest = behind;
            } else {
                words.push('<');
                rest = behind.get(1..).unwrap_or_default();
            }
        }
        words.push_str(rest);
        push_words(&mut pieces, &mut words);
        Self { pieces }
    }

    fn weight(&self) -> usize {
        self.pieces.iter().map(Piece::weight).sum()
    }

    fn is_open(&self) -> bool {
        matches!(self.pieces.last(), Some(Piece::Hole(Hole::Text)))
    }

    fn find<'t>(&self, searched: Searched<'t>) -> Option<Match<'t>> {
        self.matches(searched).next()
    }

    /// Each place where it matches.
    fn matches<'a, 't: 'a>(
        &'a self,
        searched: Searched<'t>,
    ) -> impl Iterator<Item = Match<'t>> + 'a {
        let has = |piece: &Piece| match piece {
            Piece::Words(words) => searched.small.contains(words.as_str()),
            Piece::Hole(_) => true,
        };
        let starts = self.pieces.iter().all(has).then(|| self.starts(searched));
        let starts = starts.into_iter().flatten();
        starts.filter_map(move |start| self.at(searched, start))
    }

    /// Where it can begin: where its first words stand, or, before a hole, where
    /// any word begins.
    fn starts<'a>(&'a self, searched: Searched<'a>) -> Box<dyn Iterator<Item = usize> + 'a> {
        let small = searched.small;
        if let Some(Piece::Words(words)) = self.pieces.first() {
            let found = small.match_indices(words.as_str()).map(|it| it.0);
            return Box::new(found.filter(move |&at| searched.is_word_start(at)));
        }
        let is_start = move |at: &usize| {
            let before = small.as_bytes().get(at.wrapping_sub(1));
            before.is_none_or(|it| !it.is_ascii_alphanumeric() && *it != b'.')
        };
        Box::new((0..small.len()).filter(is_start))
    }

    /// Whether it matches what begins at `start`.
    fn at<'t>(&self, searched: Searched<'t>, start: usize) -> Option<Match<'t>> {
        let (mut at, mut found) = (start, Vec::new());
        let mut pieces = self.pieces.iter().peekable();
        while let Some(piece) = pieces.next() {
            let rest = searched.small.get(at..)?;
            match piece {
                Piece::Words(words) => {
                    rest.strip_prefix(words.as_str())?;
                    at += words.len();
                }
                Piece::Hole(hole) => {
                    let length = match pieces.peek() {
                        // Words may begin with what the hole could have, too.
                        Some(Piece::Words(words)) => {
                            let longest = hole.longest(rest, true);
                            let most = longest.saturating_add(words.len());
                            let most = boundary(rest, most);
                            rest.get(..most)?.find(words.as_str())?
                        }
                        _ => hole.longest(rest, false),
                    };
                    let text = searched.text.get(at..at + length)?;
                    if !hole.takes(text) {
                        return None;
                    }
                    // `EAI_AGAIN error when` names nobody; `and cannot be resolved` is no message.
                    match (hole.is_of_sentence(text), pieces.peek()) {
                        (true, Some(_)) if at == start => return None,
                        (true, None) => {}
                        _ => found.push(Found { hole: *hole, text }),
                    }
                    at += length;
                }
            }
        }
        Some(Match {
            start,
            end: at,
            found,
        })
    }
}

fn push_words(pieces: &mut Vec<Piece>, words: &mut String) {
    if !words.is_empty() {
        pieces.push(Piece::Words(std::mem::take(words).to_ascii_lowercase()));
    }
}

impl Piece {
    fn weight(&self) -> usize {
        match self {
            Self::Words(words) => words.len(),
            Self::Hole(Hole::Server(Some(_)) | Hole::Known) => 8,
            Self::Hole(Hole::Text | Hole::Clause) => 0,
            // Its digits, written out, say more.
            Self::Hole(Hole::Number) => 1,
            Self::Hole(_) => 2,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &'static str, text: &str, expected: Option<&[&str]>) {
        let small = text.to_ascii_lowercase();
        let pattern = Pattern::parse(pattern);
        let searched = Searched {
            text,
            small: &small,
        };
        let found = pattern.find(searched).map(|it| {
            let texts = it.found.iter().map(|it| it.text);
            texts.collect::<Vec<_>>()
        });
        assert_eq!(found.as_deref(), expected, "{text}");
    }

    #[test]
    fn holes_take_what_they_are_for() {
        let lookup = "lookup <name> on <server>: no such host";
        let text = "dial tcp: lookup Db.x on [::1]:53: no such host";
        check(lookup, text, Some(&["Db.x", "[::1]:53"]));
        check(lookup, "lookup db on somebody: no such host", None);
        check(
            "lookup <name> on <loopback>: no",
            text,
            Some(&["Db.x", "[::1]:53"]),
        );
        check("lookup <name> on <public>: no", text, None);
        check(
            "<name> could not be resolved (<number>: <text>)",
            "[error] 7#7: a.b could not be resolved (3: Host not found), client",
            Some(&["a.b", "3", "Host not found"]),
        );
        check("A <nil> B", "a <nil> b", Some(&[]));
        check(
            "<client>-><server>: i/o",
            "x 10.0.0.1:5->8.8.8.8:53: i/o",
            Some(&["10.0.0.1:5", "8.8.8.8:53"]),
        );
        check(
            lookup,
            "lookup db on 10.x.x.x:53: no such host",
            Some(&["db", "10.x.x.x:53"]),
        );
        check("name <name>", "name é.x!", Some(&["é.x"]));
        check("name <name>", "name x]", Some(&["x"]));
        check(
            "lookup <name>: no",
            "lookup a.<b>.c: no",
            Some(&["a.<b>.c"]),
        );
    }

    #[test]
    fn parts_stand_in_any_order() {
        let pattern = "headless <and> NXDOMAIN for <name>";
        let text = "we get nxdomain for db.x of a Headless Service";
        check(pattern, text, Some(&["db.x"]));
        check(pattern, "nxdomain for db.x", None);
        let pattern = "headless <and> {nxdomain|no such host}";
        check(pattern, "headless: no such host", Some(&[]));
        check(pattern, "headless: NXDOMAIN", Some(&[]));
        check(pattern, "headless", None);
    }

    #[test]
    fn the_first_place_that_does_not_match_is_not_the_last() {
        check(
            "lookup <name> on <server>",
            "lookup of lookup a on 1.1.1.1:53",
            Some(&["a", "1.1.1.1:53"]),
        );
    }
}
