//! How text is written into a value of the text around it.

/// What other text becomes where it is put into a value.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Writing {
    /// Lines, each behind blanks.
    Lines {
        /// How many.
        indent: u16,
        /// Whether the line it is put into ends with a carriage return.
        is_crlf: bool,
    },
    /// Between double quotes: with escapes.
    Double,
    /// Between single quotes, which are doubled there.
    Single,
    /// Without quotes: what would need them cannot be written.
    Plain,
    /// Where nothing may be written: a key.
    Fixed,
}

impl Writing {
    /// Lines as they are.
    pub(super) const AS_IT_IS: Self = Self::Lines {
        indent: 0,
        is_crlf: false,
    };

    /// The text as it is to be written; `None`: it cannot stand there.
    /// `is_behind`: it stands for everything up to the end of a line.
    pub(super) fn written(self, text: String, is_behind: bool) -> Option<String> {
        match self {
            Self::Lines { indent, is_crlf } if text.contains('\n') => {
                Some(indented(&text, indent.into(), is_crlf, is_behind))
            }
            Self::Lines { .. } => Some(text),
            Self::Double => Some(text.chars().map(escaped).collect()),
            Self::Single => (!text.contains('\n')).then(|| text.replace('\'', "''")),
            Self::Plain => is_plain(&text).then_some(text),
            Self::Fixed => None,
        }
    }
}

/// A text of several lines with blanks before each but the first. If it ends
/// a line and stands for whole lines, the next one has its own blanks.
fn indented(text: &str, indent: usize, is_crlf: bool, is_whole: bool) -> String {
    let end = if is_crlf { "\r\n" } else { "\n" };
    let text = if is_crlf {
        text.replace("\r\n", "\n")
    } else {
        text.to_owned()
    };
    let newline = format!("{end}{}", " ".repeat(indent));
    match text.strip_suffix('\n').filter(|_| is_whole) {
        Some(lines) => lines.replace('\n', &newline) + end,
        None => text.replace('\n', &newline),
    }
}

/// A character between double quotes, as JSON and YAML both read it.
fn escaped(character: char) -> String {
    match character {
        '"' => "\\\"".to_owned(),
        '\\' => "\\\\".to_owned(),
        '\n' => "\\n".to_owned(),
        '\r' => "\\r".to_owned(),
        '\t' => "\\t".to_owned(),
        it if it.is_control() => format!("\\u{:04x}", u32::from(it)),
        it => it.to_string(),
    }
}

/// Whether a text means itself wherever it is put into a value without quotes.
fn is_plain(text: &str) -> bool {
    let is_word = |it: char| it.is_alphanumeric() || matches!(it, '.' | '_' | '-' | '/');
    let mut rest = text.chars();
    while let Some(character) = rest.next() {
        let is_fine = match character {
            // A mapping begins where a blank or nothing follows.
            ':' => rest.clone().next().is_some_and(is_word),
            ' ' => true,
            it => is_word(it),
        };
        if !is_fine {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_written_as_it_is_read() {
        let lines = |is_crlf| Writing::Lines { indent: 2, is_crlf };
        let check = |writing: Writing, text: &str, expected: Option<&str>| {
            let written = writing.written(text.to_owned(), true);
            assert_eq!(written.as_deref(), expected, "{writing:?} {text:?}");
        };
        check(lines(false), "a\nb\n", Some("a\n  b\n"));
        check(lines(true), "a\nb\n", Some("a\r\n  b\r\n"));
        check(lines(true), "a\r\nb", Some("a\r\n  b"));
        check(Writing::AS_IT_IS, "a\r\nb", Some("a\r\nb"));
        check(
            Writing::Double,
            "a \"b\" \\ \n\r\t\u{7} \u{e9}",
            Some("a \\\"b\\\" \\\\ \\n\\r\\t\\u0007 \u{e9}"),
        );
        check(Writing::Single, "it's", Some("it''s"));
        check(Writing::Single, "a\nb", None);
        check(Writing::Plain, "options ndots:2", Some("options ndots:2"));
        check(Writing::Plain, "/etc/resolv.conf", Some("/etc/resolv.conf"));
        for text in ["a: b", "a #b", "a:", "a\nb", "\"a\"", "{a", "a,b"] {
            check(Writing::Plain, text, None);
        }
    }
}
