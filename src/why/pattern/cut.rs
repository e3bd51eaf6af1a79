//! Texts that end in the middle of a message: people copy what a screen shows.

use super::{Form, Match, Pattern, Piece, Searched};

/// Of words that are cut at the end of a text so many letters must be there, if what
/// stands before them says as much as [`LEAST_KNOWN`] letters.
const LEAST_CUT: usize = 3;
const LEAST_KNOWN: usize = 12;

impl Pattern {
    /// Where it matches up to the text's end, at which its last words are cut; never
    /// with several parts.
    pub fn find_cut<'t>(&self, searched: Searched<'t>) -> Option<Match<'t>> {
        let [part] = self.parts.as_slice() else {
            return None;
        };
        part.forms.iter().find_map(|it| it.find_cut(searched))
    }
}

impl Form {
    /// Where it matches up to the text's end, at which its last words are cut.
    fn find_cut<'t>(&self, searched: Searched<'t>) -> Option<Match<'t>> {
        let (last, before) = self.pieces.split_last()?;
        let Piece::Words(words) = last else {
            return None;
        };
        let whole: usize = before.iter().map(Piece::weight).sum();
        let small = searched.small.trim_end_matches(['.', '…', ' ']);
        // Where several words stand alone their beginning says as much.
        let enough = if whole >= LEAST_KNOWN {
            LEAST_CUT
        } else {
            LEAST_KNOWN
        };
        // Between two words a text can end that says something else.
        let is_in_word = |start: &str, rest: &str| {
            let ends = (start.chars().next_back(), rest.chars().next());
            matches!(ends, (Some(last), Some(next)) if last.is_alphanumeric()
                // Between two scripts a word ends.
                && next.is_alphanumeric() && last.is_ascii() == next.is_ascii())
        };
        let length = (enough..words.len()).rfind(|&it| {
            let split = words.split_at_checked(it);
            split.is_some_and(|(start, rest)| {
                let is_told = whole >= LEAST_KNOWN || start.contains(' ');
                is_told && small.ends_with(start) && is_in_word(start, rest)
            })
        })?;
        let start = words.get(..length)?.to_owned();
        let pieces = before
            .iter()
            .cloned()
            .chain([Piece::Words(start)])
            .collect();
        let cut = Self { pieces };
        let searched = Searched {
            small,
            text: searched.text.get(..small.len())?,
        };
        let found = cut
            .starts(searched)
            .filter_map(|start| cut.at(searched, start));
        found.into_iter().find(|it| it.end == small.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_can_be_cut_in_a_word() {
        let pattern = Pattern::parse("lookup <name> on <server>: i/o timeout");
        let check = |text: &str, expected: bool| {
            let small = text.to_ascii_lowercase();
            let searched = Searched {
                text,
                small: &small,
            };
            assert_eq!(pattern.find_cut(searched).is_some(), expected, "{text}");
        };
        check("x lookup db on 10.96.0.10:53: i/o tim", true);
        check("lookup db on 10.96.0.10:53: i/o timeo...", true);
        check("lookup db on 10.96.0.10:53: i/o", false);
        check("lookup db on 10.96.0.10:53: ", false);
        check("i/o timeo", false);
        check("lookup db on 10.96.0.10:53: i/o tim x", false);
    }

    #[test]
    fn a_word_alone_is_no_beginning() {
        let pattern = Pattern::parse("ConfigurationException: Unknown host");
        for (text, expected) in [
            ("auto-populated configuration", false),
            ("configurationexception: unk", true),
        ] {
            let searched = Searched { text, small: text };
            assert_eq!(pattern.find_cut(searched).is_some(), expected, "{text}");
        }
    }
}
