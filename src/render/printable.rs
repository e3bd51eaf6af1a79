//! Text from files, processes and the wire, made safe to print.

use std::borrow::Cow;
use std::fmt::Write as _;

/// `text` with control and bidirectional characters escaped as `\u{..}`.
pub fn text(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        if is_unsafe(character) {
            safe.extend(character.escape_unicode());
        } else {
            safe.push(character);
        }
    }
    Cow::Owned(safe)
}

/// `bytes` as text: what is not UTF-8 as `\xNN`, the rest as in [`text`].
pub fn bytes(bytes: &[u8]) -> String {
    let mut safe = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        safe.push_str(&text(chunk.valid()));
        for byte in chunk.invalid() {
            // Writing to a string cannot fail.
            let _ = write!(safe, "\\x{byte:02x}");
        }
    }
    safe
}

/// Characters that steer a terminal or turn the direction of writing.
fn is_unsafe(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_printed_steers_a_terminal() {
        assert_eq!(text("a.b\u{e9}"), "a.b\u{e9}");
        assert_eq!(text("a\u{1b}[31m\u{202e}\n"), "a\\u{1b}[31m\\u{202e}\\u{a}");
        assert_eq!(bytes(b"a\xff\0\xc3\xa9"), "a\\xff\\u{0}é");
    }
}
