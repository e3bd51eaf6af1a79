//! Patterns of `per-file-ignores`: those that no file can fit are mistakes.

/// A pattern as in a `.gitignore`.
///
/// # Errors
///
/// No file can ever fit it.
pub(super) fn checked(word: &str) -> Result<String, String> {
    let reason = match word.as_bytes() {
        _ if word.trim().is_empty() => "it is empty",
        [b'#', ..] => "it is a comment",
        [b'!', ..] => "it takes back what no other one says",
        bytes if has_open_end(bytes) => "its last [ or \\ is not closed",
        _ => return Ok(word.to_owned()),
    };
    Err(format!("no file fits the pattern {word:?}: {reason}"))
}

/// Whether a `[` has no `]`, or nothing follows the last `\`.
///
/// Source: git, wildmatch.c `dowild`.
fn has_open_end(pattern: &[u8]) -> bool {
    let mut bytes = pattern.iter().peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' if bytes.next().is_none() => return true,
            b'[' => {
                bytes.next_if(|it| matches!(it, b'!' | b'^'));
                // The first one stands for itself.
                let first = bytes.next();
                let is_closed = first.is_some() && bytes.any(|it| *it == b']');
                if !is_closed {
                    return true;
                }
            }
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_those_that_a_file_can_fit() {
        for word in [
            "a",
            "*.yaml",
            "a[b]c",
            "[]]",
            "[!]]",
            "[^a-c]/",
            "a\\[",
            "[[:alpha:]]",
            "\\#a",
            "\\!a",
        ] {
            assert_eq!(checked(word).as_deref(), Ok(word));
        }
        for word in ["", " ", "#a", "!a", "[", "a[b", "[]", "[!", "[^]", "a\\"] {
            assert!(checked(word).is_err(), "{word}");
        }
    }
}
