//! Names as Java and Netty write them.

use hickory_proto::rr::RecordType;

use crate::engine::message::Question;
use crate::name::Name;

/// Characters that separate labels. Source: OpenJDK `java/net/IDN.java: isLabelSeparator`
const SEPARATORS: [char; 4] = ['.', '\u{3002}', '\u{ff0e}', '\u{ff61}'];
/// Source: OpenJDK `java/net/IDN.java: MAX_LABEL_LENGTH`
const MAX_LABEL: usize = 63;

/// The name in ASCII; `None`: Java throws `IllegalArgumentException`. A final dot stays.
///
/// Source: OpenJDK `java/net/IDN.java: toASCII` (17)
pub(super) fn to_ascii(name: &str) -> Option<String> {
    if name == "." {
        return Some(name.to_owned());
    }
    let mut text = String::with_capacity(name.len());
    let labels = name.split(SEPARATORS);
    let last = labels.clone().count() - 1;
    for (at, label) in labels.enumerate() {
        if at > 0 {
            text.push('.');
        }
        if label.is_empty() && at == last && at > 0 {
            break;
        }
        let label = if label.is_ascii() {
            label.to_owned()
        } else {
            // IDNA 2003, in which `ß` is `ss`.
            idna::domain_to_ascii(&label.replace('ß', "ss").replace('ς', "σ")).ok()?
        };
        if label.is_empty() || label.len() > MAX_LABEL {
            return None;
        }
        text.push_str(&label);
    }
    Some(text)
}

/// The name of a question, with a final dot; `None` as with [`to_ascii`].
///
/// Source: Netty `AbstractDnsRecord.java` (4.1.48)
pub(super) fn name(text: &str) -> Option<String> {
    let mut name = to_ascii(text)?;
    if !name.ends_with('.') {
        name.push('.');
    }
    Some(name)
}

/// What is sent: all labels, however long the whole is.
///
/// Source: Netty `DnsCodecUtil.java: encodeDomainName` (4.1.48)
pub(super) fn question(name: &str, record_type: RecordType) -> Question {
    let labels = name.split('.').map(str::as_bytes);
    let labels = labels.take_while(|label| !label.is_empty());
    match Name::from_labels_unlimited(labels) {
        Ok(name) => Question::Asked(name, record_type),
        Err(_) => Question::Malformed(Vec::new()),
    }
}

/// A name of a reply, in lower case and with a final dot.
pub(super) fn of_reply(name: &Name) -> String {
    let mut text = String::new();
    for label in name.labels() {
        text.push_str(&String::from_utf8_lossy(label));
        text.push('.');
    }
    if text.is_empty() {
        text.push('.');
    }
    text.make_ascii_lowercase();
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_javas() {
        for (text, expected) in [
            ("web", Some("web.")),
            ("Web.a.", Some("Web.a.")),
            (".", Some(".")),
            ("bücher.test", Some("xn--bcher-kva.test.")),
            ("straße", Some("strasse.")),
            ("a..b", None),
            (".a", None),
            ("..", None),
        ] {
            assert_eq!(name(text).as_deref(), expected, "{text}");
        }
        assert_eq!(name(&"a".repeat(64)), None);
    }
}
