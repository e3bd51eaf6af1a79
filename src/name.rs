//! Domain names as they stand in a query: labels of any bytes.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

/// Longest name on the wire, length bytes and root included (RFC 1035, section 3.1).
pub const MAX_WIRE_BYTES: usize = 255;
/// Longest label (RFC 1035, section 3.1).
pub const MAX_LABEL_BYTES: usize = 63;

/// A fully qualified name: its labels, in order, case kept, any byte allowed.
///
/// It is held in wire format without the final zero byte, so the root is
/// empty. A value is one that fits a message, but for
/// [`Name::from_labels_unlimited`]: how a text becomes a name, and which texts
/// do not, differs from resolver to resolver. Copies
/// share their bytes: one name is in many queries.
#[derive(Clone, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Name {
    wire: Arc<[u8]>,
}

/// Why labels do not make a name.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum NameError {
    /// Two dots in a row, or a dot at the beginning.
    #[error("a label is empty")]
    EmptyLabel,
    /// A label of more than [`MAX_LABEL_BYTES`].
    #[error("a label is longer than 63 bytes")]
    LongLabel,
    /// More than [`MAX_WIRE_BYTES`] on the wire.
    #[error("the name is longer than 255 bytes on the wire")]
    LongName,
}

/// The name of an address below `in-addr.arpa` or `ip6.arpa`, as text without a
/// final dot.
pub fn reverse_name(ip: IpAddr) -> String {
    let text = hickory_proto::rr::Name::from(ip).to_ascii();
    text.trim_end_matches('.').to_owned()
}

impl Name {
    /// The root, `.`.
    pub fn root() -> Self {
        Self::default()
    }

    /// The name with these labels, in order.
    ///
    /// # Errors
    ///
    /// An empty or long label, a long name.
    pub fn from_labels<'l>(labels: impl IntoIterator<Item = &'l [u8]>) -> Result<Self, NameError> {
        let mut wire = [0; MAX_WIRE_BYTES];
        let mut end = 0;
        let mut too_long = false;
        for label in labels {
            let length = label_length(label)?;
            let next = end + 1 + label.len();
            // The root's zero byte counts on the wire.
            match wire.get_mut(end..next).and_then(<[u8]>::split_first_mut) {
                Some((first, rest)) if next < MAX_WIRE_BYTES => {
                    *first = length;
                    rest.copy_from_slice(label);
                }
                _ => too_long = true,
            }
            end = next;
        }
        match wire.get(..end) {
            Some(wire) if !too_long => Ok(Self { wire: wire.into() }),
            _ => Err(NameError::LongName),
        }
    }

    /// The name with these labels, in order, however long it is: c-ares 1.34
    /// sends names that are 2 bytes longer than a message allows.
    ///
    /// # Errors
    ///
    /// An empty or long label.
    pub fn from_labels_unlimited<'l>(
        labels: impl IntoIterator<Item = &'l [u8]>,
    ) -> Result<Self, NameError> {
        let mut wire = Vec::with_capacity(MAX_WIRE_BYTES + 2);
        for label in labels {
            wire.push(label_length(label)?);
            wire.extend_from_slice(label);
        }
        Ok(Self { wire: wire.into() })
    }

    /// The name that `text` spells when every byte stands for itself: no
    /// escapes, one final dot allowed.
    ///
    /// # Errors
    ///
    /// An empty or long label, a long name.
    pub fn from_plain(text: &[u8]) -> Result<Self, NameError> {
        let text = text.strip_suffix(b".").unwrap_or(text);
        if text.is_empty() {
            return Ok(Self::root());
        }
        // Where a label begins the wire has its length, and a dot is before it in the text.
        let mut wire = [0; MAX_WIRE_BYTES];
        let fits = text.len() + 1 < MAX_WIRE_BYTES;
        if let (true, Some(rest)) = (fits, wire.get_mut(1..=text.len())) {
            rest.copy_from_slice(text);
        }
        let mut start = 0;
        for label in text.split(|&byte| byte == b'.') {
            let length = label_length(label)?;
            if let Some(first) = wire.get_mut(start) {
                *first = length;
            }
            start += 1 + label.len();
        }
        let wire = wire.get(..start).filter(|_| fits);
        let wire = wire.ok_or(NameError::LongName)?.into();
        Ok(Self { wire })
    }

    /// The name that `text` spells in a master file: `\.` and `\DDD` escapes,
    /// one final dot allowed (RFC 1035, section 5.1).
    ///
    /// # Errors
    ///
    /// An empty or long label, a long name.
    pub fn from_master_file(text: &[u8]) -> Result<Self, NameError> {
        if !text.contains(&b'\\') {
            return Self::from_plain(text);
        }
        let mut labels = vec![Vec::new()];
        let mut rest = text;
        while let Some((&byte, after)) = rest.split_first() {
            rest = after;
            match byte {
                b'.' => labels.push(Vec::new()),
                b'\\' => {
                    // What is no escape is itself, also a lone backslash at the end.
                    let itself = || after.split_first().map(|(&byte, rest)| (byte, rest));
                    let escaped = escape(after).or_else(itself);
                    let (escaped, after) = escaped.unwrap_or((byte, after));
                    rest = after;
                    labels.last_mut().unwrap_or(&mut Vec::new()).push(escaped);
                }
                byte => labels.last_mut().unwrap_or(&mut Vec::new()).push(byte),
            }
        }
        if labels.last().is_some_and(Vec::is_empty) {
            labels.pop();
        }
        Self::from_labels(labels.iter().map(Vec::as_slice))
    }

    /// The labels, in order; none for the root.
    pub fn labels(&self) -> impl Iterator<Item = &[u8]> {
        labels(&self.wire)
    }

    /// Bytes on the wire, the root's zero byte included.
    pub fn wire_len(&self) -> usize {
        self.wire.len() + 1
    }

    /// Wire format without the root's zero byte.
    pub fn as_wire(&self) -> &[u8] {
        &self.wire
    }

    /// Whether both are the same name in DNS: ASCII case is ignored (RFC 4343).
    pub fn eq_ignore_case(&self, other: &Self) -> bool {
        // Nearly always they are the same bytes, which is seen faster.
        self.wire == other.wire || self.wire.eq_ignore_ascii_case(&other.wire)
    }
}

/// The byte that stands before a label.
fn label_length(label: &[u8]) -> Result<u8, NameError> {
    match u8::try_from(label.len()) {
        Ok(0) => Err(NameError::EmptyLabel),
        Ok(length) if label.len() <= MAX_LABEL_BYTES => Ok(length),
        _ => Err(NameError::LongLabel),
    }
}

/// What an escape stands for, and the text after it: three digits are a byte,
/// anything else is itself. `None`: it is cut, or no byte.
pub(crate) fn escape(after: &[u8]) -> Option<(u8, &[u8])> {
    let (&first, rest) = after.split_first()?;
    if !first.is_ascii_digit() {
        return Some((first, rest));
    }
    let (digits, rest) = after.split_at_checked(3)?;
    let is_number = digits.iter().all(u8::is_ascii_digit);
    let digits = std::str::from_utf8(digits).ok().filter(|_| is_number)?;
    Some((digits.parse().ok()?, rest))
}

/// The name without its final dot, `.` for the root, odd bytes as in master
/// files (`\.`, `\032`).
impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fmt::Write as _;
        if let Some(text) = self.plain_text(&mut [0; MAX_WIRE_BYTES]) {
            return f.write_str(text);
        }
        for (index, label) in self.labels().enumerate() {
            if index > 0 {
                f.write_char('.')?;
            }
            for &byte in label {
                match byte {
                    b'.' | b'\\' => write!(f, "\\{}", char::from(byte))?,
                    0x21..=0x7e => f.write_char(char::from(byte))?,
                    _ => write!(f, "\\{byte:03}")?,
                }
            }
        }
        Ok(())
    }
}

impl Name {
    /// What [`Display`](fmt::Display) shows, if it has no escapes, without its
    /// machinery: of many scenarios every name is matched and written.
    pub fn plain_text<'t>(&self, text: &'t mut [u8; MAX_WIRE_BYTES]) -> Option<&'t str> {
        let Some((&first, rest)) = self.wire.split_first() else {
            return Some(".");
        };
        let text = text.get_mut(..rest.len())?;
        text.copy_from_slice(rest);
        let is_plain = put_dots(first, text);
        std::str::from_utf8(text).ok().filter(|_| is_plain)
    }

    /// Appends what [`Display`](fmt::Display) shows.
    pub fn append_to(&self, text: &mut Vec<u8>) {
        match self.plain_text(&mut [0; MAX_WIRE_BYTES]) {
            Some(plain) => text.extend_from_slice(plain.as_bytes()),
            None => text.extend_from_slice(self.to_string().as_bytes()),
        }
    }
}

/// Puts a dot in place of the length of every label but the first one, which
/// is `first` bytes long. Whether no byte of the labels needs an escape: then
/// this is the name as text, ASCII. Nearly every name is.
fn put_dots(first: u8, mut rest: &mut [u8]) -> bool {
    let mut length = first;
    loop {
        let Some((label, after)) = rest.split_at_mut_checked(usize::from(length)) else {
            return false;
        };
        let is_plain = |byte: &u8| match byte {
            b']'..=b'~' => true,
            b'!'..=b'[' => *byte != b'.',
            _ => false,
        };
        if !label.iter().all(is_plain) {
            return false;
        }
        let Some((next, after)) = after.split_first_mut() else {
            return true;
        };
        length = std::mem::replace(next, b'.');
        rest = after;
    }
}

/// The labels of a name in the form of messages, with their lengths.
pub fn labels(wire: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = wire;
    std::iter::from_fn(move || {
        let (&length, after) = rest.split_first()?;
        let (label, after) = after.split_at_checked(usize::from(length))?;
        rest = after;
        Some(label)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_shown_as_in_master_files() {
        let check = |labels: &[&[u8]], text: &str| {
            let name = Name::from_labels(labels.iter().copied()).unwrap();
            assert_eq!(name.to_string(), text);
            assert_eq!(Name::from_master_file(text.as_bytes()), Ok(name));
        };
        check(&[], ".");
        check(&[b"Web", b"a", b"t"], "Web.a.t");
        check(&[b"we b", b"x\r"], "we\\032b.x\\013");
        check(&["ü".as_bytes()], "\\195\\188");
        check(&[b"a.b\\c"], "a\\.b\\\\c");
    }

    #[test]
    fn what_does_not_fit_a_message_is_no_name() {
        assert_eq!(Name::from_plain(b"a..b"), Err(NameError::EmptyLabel));
        assert_eq!(Name::from_plain(b".a"), Err(NameError::EmptyLabel));
        assert_eq!(Name::from_plain(&[b'x'; 64]), Err(NameError::LongLabel));
        let long = |last: usize| {
            [
                vec![b'x'; 63],
                vec![b'x'; 63],
                vec![b'x'; 63],
                vec![b'x'; last],
            ]
            .join(&b'.')
        };
        assert_eq!(
            Name::from_plain(&long(61)).map(|name| name.wire_len()),
            Ok(255)
        );
        assert_eq!(Name::from_plain(&long(62)), Err(NameError::LongName));
    }
}
