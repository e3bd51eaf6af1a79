//! From a name to a question.

use std::borrow::Cow;

use hickory_proto::rr::RecordType;

use crate::engine::message::Question;
use crate::name::{Name, escape};
use crate::resolver::c_ares::name::is_hostnamech;
use crate::resolver::c_ares::status::Status;

/// Longest name as text: 2 bytes more than fit a message. It is kept for
/// compression with its escapes, which count there.
///
/// Source: c-ares 1.34 `src/lib/record/ares_dns_name.c: ARES_MAX_NAME_PRESENTATION_LEN`,
/// `ares_split_dns_name, ares_nameoffset_create`.
const MAX_TEXT: usize = 255;
/// Room for the text with its escapes.
const TEXT_BUFFER: usize = 512;

/// The question for `name`: letters, digits and `-_/*` in labels of up to 63
/// bytes, which may be written as escapes.
///
/// Source: c-ares 1.34 `src/lib/record/ares_dns_name.c: ares_dns_name_write,
/// ares_split_dns_name`.
pub(super) fn question(name: &[u8], record_type: RecordType) -> Result<Question, Status> {
    let text = name
        .get(..name.len().min(TEXT_BUFFER - 1))
        .unwrap_or_default();
    let is_known = |&byte: &u8| is_hostnamech(byte) || byte == b'*';
    // Nearly every name is like this.
    if let Ok(plain) = Name::from_plain(text)
        && text.iter().all(is_known)
    {
        return Ok(Question::Asked(plain, record_type));
    }
    let mut labels = split(text)?;
    if labels.last().is_some_and(|it| it.is_empty()) {
        labels.pop();
    }
    // The root is two empty labels.
    if labels.len() == 1 && labels.first().is_some_and(|it| it.is_empty()) {
        labels.pop();
    }
    if !labels.iter().all(|it| it.iter().all(is_known)) {
        return Err(Status::BadName);
    }
    let made = Name::from_labels_unlimited(labels.iter().map(|it| &**it));
    let made = made.map_err(|_| Status::BadName)?;
    // On the wire the root and the first label have one byte more.
    if made.wire_len() > MAX_TEXT + 2 {
        return Err(Status::BadName);
    }
    if name.len() > MAX_TEXT {
        return Err(Status::FormErr);
    }
    Ok(Question::Asked(made, record_type))
}

/// The labels, escapes undone: one more than there are dots.
///
/// Source: c-ares 1.34 `src/lib/record/ares_dns_name.c: ares_parse_dns_name_escape`.
fn split(text: &[u8]) -> Result<Vec<Cow<'_, [u8]>>, Status> {
    if !text.contains(&b'\\') {
        let labels = text.split(|&byte| byte == b'.');
        return Ok(labels.map(Cow::Borrowed).collect());
    }
    let mut labels = vec![Vec::new()];
    let mut rest = text;
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        if first == b'.' {
            labels.push(Vec::new());
            continue;
        }
        let mut byte = first;
        if first == b'\\' {
            (byte, rest) = escape(after).ok_or(Status::BadName)?;
        }
        if let Some(label) = labels.last_mut() {
            label.push(byte);
        }
    }
    Ok(labels.into_iter().map(Cow::Owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_host_names_are_asked() {
        let check = |text: &str, expected: Result<&str, Status>| {
            let name = question(text.as_bytes(), RecordType::A).map(|question| match question {
                Question::Asked(name, _) => name.to_string(),
                Question::Malformed(_) => unreachable!(),
            });
            assert_eq!(
                name.as_deref().map_err(|status| *status),
                expected,
                "{text}"
            );
        };
        check("", Ok("."));
        check(".", Ok("."));
        check("we\\.b.a", Ok("we\\.b.a"));
        check("\\097.*", Ok("a.*"));
        for bad in ["..", "a..b", ".a", "my host", "web:80", "a\\", "\\09x"] {
            check(bad, Err(Status::BadName));
        }
        check(&["x"; 63].join("."), Ok(&["x"; 63].join(".")));
        check(&["x"; 128].join("."), Ok(&["x"; 128].join(".")));
        check(&["x"; 129].join("."), Err(Status::BadName));
        let escapes = |count| ["\\120"; 4].map(|byte| byte.repeat(count)).join(".");
        assert_eq!(escapes(15).len() + 12, 255);
        check(
            &format!("{}.{}", escapes(15), "x".repeat(11)),
            Ok(&format!(
                "{}.{}",
                [&*"x".repeat(15); 4].join("."),
                "x".repeat(11)
            )),
        );
        check(
            &format!("{}.{}", escapes(15), "x".repeat(12)),
            Err(Status::FormErr),
        );
    }
}
