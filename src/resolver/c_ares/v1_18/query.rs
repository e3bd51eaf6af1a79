//! From a name to a message.

use hickory_proto::rr::RecordType;

use crate::engine::message::Question;
use crate::name::{Name, NameError};
use crate::resolver::c_ares::name::is_onion_domain;
use crate::resolver::c_ares::status::Status;

/// The question for `name`. A backslash makes the next byte an ordinary one;
/// no byte is refused, but empty and long labels are.
///
/// Source: c-ares 1.18.1 `src/lib/ares_create_query.c: ares_create_query`.
pub(super) fn ares_create_query(name: &[u8], record_type: RecordType) -> Result<Question, Status> {
    if is_onion_domain(name) {
        return Err(Status::NotFound);
    }
    let name = if name.contains(&b'\\') {
        from_escaped(name)
    } else {
        Name::from_plain(name)
    };
    let name = name.map_err(|_| Status::BadName)?;
    Ok(Question::Asked(name, record_type))
}

/// The name that a text with escapes spells.
fn from_escaped(text: &[u8]) -> Result<Name, NameError> {
    let mut rest = text;
    let mut labels: Vec<Vec<u8>> = Vec::new();
    while !rest.is_empty() {
        if rest.first() == Some(&b'.') {
            return Err(NameError::EmptyLabel);
        }
        let (label, after) = label(rest);
        labels.push(label);
        rest = after;
    }
    Name::from_labels(labels.iter().map(Vec::as_slice))
}

/// The first label, and what follows its dot.
fn label(text: &[u8]) -> (Vec<u8>, &[u8]) {
    let mut label = Vec::new();
    let mut rest = text;
    loop {
        match rest {
            [] => return (label, rest),
            [b'.', after @ ..] => return (label, after),
            [b'\\', byte, after @ ..] | [byte, after @ ..] => {
                label.push(*byte);
                rest = after;
            }
        }
    }
}
