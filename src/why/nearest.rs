//! The known messages that an unknown one looks like.

use super::catalogue::{Catalogue, Message};
use crate::order::Order as _;

/// So alike must two texts be, from 0 to 1.
const ALIKE: f64 = 0.35;

/// At most so many are named.
const MOST: usize = 3;

/// The most alike first: by the words that they share, rare ones first, and by
/// how much of the words' letters they share.
pub(super) fn nearest<'c>(catalogue: &'c Catalogue, small: &str) -> Vec<&'c Message> {
    let own = words(small);
    let mut found: Vec<(f64, &Message)> = Vec::new();
    for message in &catalogue.messages {
        let of = |text: &str| alike(&own, &words(&text.to_ascii_lowercase()));
        let patterns = message.patterns.iter().map(|it| of(it.text));
        let best = patterns.fold(0.0, f64::max);
        if best >= ALIKE {
            found.push((best, message));
        }
    }
    found.order_by(|one, other| other.0.total_cmp(&one.0));
    found.into_iter().map(|it| it.1).take(MOST).collect()
}

/// The words that are no numbers and no holes, at most 64.
fn words(text: &str) -> Vec<&str> {
    let is_between = |c: char| !(c.is_alphanumeric() || matches!(c, '_' | '<' | '>'));
    let is_word = |it: &&str| {
        it.len() > 1 && !it.starts_with('<') && it.contains(|c: char| c.is_alphabetic())
    };
    text.split(is_between).filter(is_word).take(64).collect()
}

/// How much of the pattern's words are in the text, words that are nearly the
/// same with what they have in common.
fn alike(text: &[&str], pattern: &[&str]) -> f64 {
    let weight = |it: &&str| usize::min(it.len(), 12);
    let all: usize = pattern.iter().map(weight).sum();
    if all == 0 || pattern.len() < 3 {
        return 0.0;
    }
    let best = |word: &&str| {
        let alike = text
            .iter()
            .filter(|it| it.len().abs_diff(word.len()) * 4 < word.len().max(4))
            .map(|it| strsim::normalized_damerau_levenshtein(it, word));
        let best = alike.fold(0.0, f64::max);
        if best > 0.75 { best } else { 0.0 }
    };
    // Weights are below 1,000: exact as a float.
    let share: f64 = pattern.iter().map(|it| best(it) * exact(weight(it))).sum();
    // Of two that fit alike the longer one says more.
    share / exact(all + 4)
}

fn exact(number: usize) -> f64 {
    u32::try_from(number).map_or(f64::MAX, f64::from)
}
