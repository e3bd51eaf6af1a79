//! A fact in words.

use schemars::JsonSchema;
use serde::Serialize;

use crate::text::escaped;

/// Names that begin small, also at the beginning of a sentence.
const NAMES: [&str; 5] = ["dnsmasq", "kdns", "named", "systemd-resolved", "unbound"];

/// What a fact says, for people and for programs.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, JsonSchema)]
pub(super) struct Sentence {
    /// Which fact it is: `kubelet-file-missing`. It stays when the words change.
    pub(super) code: &'static str,
    /// The words, without a full stop, safe to print.
    pub(super) text: String,
}

/// A [`Sentence`]: its code, and what `format!` makes the words of.
macro_rules! sentence {
    ($code:expr, $($words:tt)+) => {
        $crate::render::sentence::Sentence::new($code, format!($($words)+))
    };
}

pub(super) use sentence;

/// The full stop behind a step; none behind a path, an address or a setting, with
/// which it would be copied.
pub(super) fn full_stop(text: &str) -> &'static str {
    let last = text.rsplit(' ').next().unwrap_or_default();
    let is_literal = |c: char| "/:=".contains(c) || c.is_ascii_digit();
    if last.contains(is_literal) { "" } else { "." }
}

impl Sentence {
    pub(super) fn new(code: &'static str, text: impl Into<String>) -> Self {
        let text = escaped(text.into().as_bytes());
        Self { code, text }
    }

    /// The same with a capital letter, but for names that begin small, as `eth0`.
    pub(super) fn begun(mut self) -> Self {
        let word = self.text.split(' ').next().unwrap_or_default();
        let is_word = word.chars().all(char::is_lowercase);
        if NAMES.contains(&word) || !is_word {
            return self;
        }
        let mut characters = self.text.chars();
        let first = characters.next().map(char::to_uppercase);
        self.text = first.into_iter().flatten().chain(characters).collect();
        self
    }
}

#[cfg(test)]
mod tests {
    use super::full_stop;

    #[test]
    fn what_is_copied_has_no_full_stop() {
        for (text, stop) in [
            ("recreate the pod", "."),
            ("write resolvConf: /run/systemd/resolve/resolv.conf", ""),
            ("write nameserver 172.31.0.53", ""),
            ("edit /etc/resolv.conf:4:12", ""),
            ("", "."),
        ] {
            assert_eq!(full_stop(text), stop, "{text}");
        }
    }
}
