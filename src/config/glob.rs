//! Patterns that name files.

use gix_ignore::glob::wildmatch;
use gix_ignore::glob::wildmatch::Mode;

/// Whether a path fits a pattern of `glob(7)`: no wildcard stands for a slash.
pub fn matches(pattern: &[u8], path: &[u8]) -> bool {
    wildmatch(pattern.into(), path.into(), Mode::NO_MATCH_SLASH_LITERAL)
}

/// Whether a pattern can name no file or several.
pub fn has_wildcard(pattern: &[u8]) -> bool {
    pattern.iter().any(|byte| b"*?[".contains(byte))
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn patterns_fit_names() {
        for (pattern, name, expected) in [
            ("*.conf", "a.conf", true),
            ("*.conf", "a.conf.bak", false),
            ("a?c*", "abcd", true),
            ("a?c*", "ac", false),
            ("*a*b*", "xxaxxbxx", true),
            ("", "", true),
            ("[ab].conf", "b.conf", true),
            ("/a/*", "/a/b/c", false),
        ] {
            let found = matches(pattern.as_bytes(), name.as_bytes());
            assert_eq!(found, expected, "{pattern} {name}");
        }
    }
}
