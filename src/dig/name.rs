//! Names as BIND reads them from text.

use crate::name::{Name, NameError, escape};

/// A name from text that may lack its origin.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct TextName {
    /// The labels that were written.
    pub(crate) labels: Name,
    /// Whether the text ended with a dot.
    pub(crate) absolute: bool,
}

/// The text is no name ("is not in legal name syntax").
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct BadName;

impl From<NameError> for BadName {
    fn from(_: NameError) -> Self {
        Self
    }
}

impl TextName {
    /// The name below `origin`, unless it is absolute.
    ///
    /// # Errors
    ///
    /// It does not fit a message.
    ///
    /// Source: BIND lib/dns/name.c: `dns_name_concatenate` (9.18)
    pub(crate) fn concatenate(&self, origin: &Name) -> Result<Name, NameError> {
        if self.absolute {
            return Ok(self.labels.clone());
        }
        Name::from_labels(self.labels.labels().chain(origin.labels()))
    }
}

/// Reads a name in the syntax of master files, `@` included: alone it stands
/// for the origin, so it has no labels.
///
/// # Errors
///
/// An empty, long or unfinished label, a bad escape, a long name.
///
/// Source: BIND lib/dns/name.c: `dns_name_fromtext` (9.18)
pub(crate) fn fromtext(text: &[u8]) -> Result<TextName, BadName> {
    if text.is_empty() {
        return Err(BadName);
    }
    if text == b"@" {
        return Ok(TextName {
            labels: Name::root(),
            absolute: false,
        });
    }
    if text.contains(&b'\\') {
        return from_escaped(text);
    }
    Ok(TextName {
        labels: Name::from_plain(text)?,
        absolute: text.ends_with(b"."),
    })
}

/// [`fromtext`] for a text with escapes.
fn from_escaped(text: &[u8]) -> Result<TextName, BadName> {
    let mut labels: Vec<Vec<u8>> = Vec::new();
    let mut label = Vec::new();
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            b'.' if label.is_empty() => return Err(BadName),
            b'.' => labels.push(std::mem::take(&mut label)),
            b'\\' => {
                // `\[` begins a bitstring label, which is no longer known.
                if label.is_empty() && after.first() == Some(&b'[') {
                    return Err(BadName);
                }
                let (escaped, after) = escape(after).ok_or(BadName)?;
                rest = after;
                label.push(escaped);
            }
            byte => label.push(byte),
        }
    }
    let absolute = label.is_empty();
    if !absolute {
        labels.push(label);
    }
    Ok(TextName {
        labels: Name::from_labels(labels.iter().map(Vec::as_slice))?,
        absolute,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<(&str, bool)>) {
        let name = fromtext(text.as_bytes()).ok();
        let shown = name.map(|name| (name.labels.to_string(), name.absolute));
        let expected = expected.map(|(labels, absolute)| (labels.to_owned(), absolute));
        assert_eq!(shown, expected, "{text}");
    }

    #[test]
    fn text_is_read_as_in_master_files() {
        check("a.b", Some(("a.b", false)));
        check("a.b.", Some(("a.b", true)));
        check(".", Some((".", true)));
        check("@", Some((".", false)));
        check("a@b", Some(("a@b", false)));
        check("a\\.b", Some(("a\\.b", false)));
        check("a\\046b.", Some(("a\\.b", true)));
        check("\\097", Some(("a", false)));
        check("a\\.", Some(("a\\.", false)));
        for bad in [
            "", "..", ".a", "a..b", "a..", "\\", "a\\", "\\[x", "\\25", "\\256", "\\1a2", "a\\.\\",
        ] {
            check(bad, None);
        }
        check("a\\[x", Some(("a[x", false)));
        check(&"x".repeat(63), Some((&"x".repeat(63), false)));
        check(&"x".repeat(64), None);
    }
}
