//! Which rules run: `--select`, `--ignore`.

use crate::lint::Rule;
use crate::lint::rules;

/// What is wanted and what is not: codes, beginnings of codes, names.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Selection {
    /// Empty: every rule.
    pub select: Vec<String>,
    /// What is left out.
    pub ignore: Vec<String>,
}

impl Selection {
    /// The rules that run. Of two words for one rule the more exact one
    /// counts, and of two as exact ones the one in `ignore`.
    pub fn rules(&self) -> Vec<&'static Rule> {
        rules::all().filter(|rule| self.has(rule)).collect()
    }

    fn has(&self, rule: &Rule) -> bool {
        let wanted = exactness(&self.select, rule);
        let wanted = if self.select.is_empty() {
            Some(0)
        } else {
            wanted
        };
        wanted.is_some() && wanted > exactness(&self.ignore, rule)
    }
}

/// How exactly the words name the rule, if one does.
fn exactness(words: &[String], rule: &Rule) -> Option<usize> {
    let of = |word: &String| match word.as_str() {
        "ALL" => Some(1),
        name if name == rule.name => Some(usize::MAX),
        word => (!word.is_empty() && rule.code.starts_with(word)).then_some(word.len()),
    };
    words.iter().filter_map(of).max()
}

/// Whether a word names any rule.
pub fn is_known(word: &str) -> bool {
    word == "ALL" || !word.is_empty() && rules::all().any(|rule| rule.is_named(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(select: &[&str], ignore: &[&str], code: &str, expected: bool) {
        let words = |words: &[&str]| words.iter().map(|&it| it.to_owned()).collect();
        let selection = Selection {
            select: words(select),
            ignore: words(ignore),
        };
        let has = selection.rules().iter().any(|it| it.code == code);
        assert_eq!(has, expected, "{select:?} {ignore:?} {code}");
    }

    #[test]
    fn the_more_exact_word_counts() {
        check(&[], &[], "KR001", true);
        check(&["KR"], &[], "KR001", true);
        check(&["KR"], &[], "KK001", false);
        check(&["KR"], &["KR001"], "KR001", false);
        check(&["KR001"], &["KR"], "KR001", true);
        check(&["loopback-nameserver"], &["KR001"], "KR001", true);
        check(&["KR"], &["KR"], "KR001", false);
        check(&["ALL"], &["KS"], "KS001", false);
        check(&[], &["loopback-nameserver"], "KR001", false);
    }
}
