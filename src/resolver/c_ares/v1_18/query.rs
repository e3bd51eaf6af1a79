//! From a name to a message.

use hickory_proto::rr::RecordType;

use crate::engine::message::{Because, Question};
use crate::name::{MAX_LABEL_BYTES, Name};
use crate::resolver::c_ares::name::is_onion_domain;
use crate::resolver::c_ares::status::Status;

/// A name that is to be asked, as text.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) name: Vec<u8>,
    pub(super) because: Because,
}

/// The question for `name`. A backslash makes the next byte an ordinary one;
/// no byte is refused, but empty and long labels are.
///
/// Source: c-ares 1.18.1 `src/lib/ares_create_query.c: ares_create_query`.
pub(super) fn ares_create_query(name: &[u8], record_type: RecordType) -> Result<Question, Status> {
    if is_onion_domain(name) {
        return Err(Status::NotFound);
    }
    let mut rest = if name == b"." { b"" } else { name };
    let mut labels: Vec<Vec<u8>> = Vec::new();
    while !rest.is_empty() {
        let (label, after) = label(rest);
        if rest.first() == Some(&b'.') || label.len() > MAX_LABEL_BYTES {
            return Err(Status::BadName);
        }
        labels.push(label);
        rest = after;
    }
    let name = Name::from_labels(labels.iter().map(Vec::as_slice)).map_err(|_| Status::BadName)?;
    Ok(Question::Asked(name, record_type))
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
