//! What a capture of kdns carries of whoever was watched, in comments of pcapng.
//!
//! A comment is text of at most 65,535 bytes (draft-ietf-opsawg-pcapng-04,
//! section 3.5), which Wireshark shows as it is. Each of ours begins with a line
//! that says what it is a part of:
//!
//! ```text
//! kdns: resolv.conf, part 1 of 1, text
//! nameserver 10.96.0.10
//! ```

use std::collections::BTreeMap;
use std::fmt::Write as _;

use data_encoding::BASE64;

/// The most that an option holds.
const MAX_COMMENT: usize = 65_535;

/// What is left of it when the first line is there; a multiple of three, so
/// that base64 of it has no padding within.
const MAX_TEXT: usize = 65_400;
const MAX_BINARY: usize = MAX_TEXT / 4 * 3;

/// What a capture carries of whoever took it, by name: `resolv.conf`, `target`.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Carried {
    /// The bytes of each.
    pub things: BTreeMap<String, Vec<u8>>,
}

impl Carried {
    /// The thing of this name.
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        self.things.get(name).map(Vec::as_slice)
    }

    /// What is carried under this name, as text; `None`: nothing, or no UTF-8.
    pub fn text(&self, name: &str) -> Option<&str> {
        std::str::from_utf8(self.get(name)?).ok()
    }

    /// Carries a thing, too.
    pub fn put(&mut self, name: &str, bytes: impl Into<Vec<u8>>) {
        self.things.insert(name.to_owned(), bytes.into());
    }

    /// The comments that carry it.
    pub fn comments(&self) -> Vec<String> {
        let things = self.things.iter();
        things
            .flat_map(|(name, bytes)| comments(name, bytes))
            .collect()
    }

    /// What comments carry. Those of others are passed over, and so is a thing
    /// of which a part is missing; of two of one name the later one counts.
    pub fn of_comments(comments: &[impl AsRef<str>]) -> Self {
        let mut carried = Self::default();
        let mut open: Option<(String, usize, Vec<u8>)> = None;
        for comment in comments {
            let Some(part) = Part::parse(comment.as_ref()) else {
                continue;
            };
            if part.number == 1 {
                open = Some((part.name.to_owned(), 0, Vec::new()));
            }
            let Some((name, before, bytes)) = &mut open else {
                continue;
            };
            if *name != part.name || *before + 1 != part.number {
                open = None;
                continue;
            }
            bytes.extend(part.bytes);
            *before = part.number;
            if part.number == part.of
                && let Some((name, _, bytes)) = open.take()
            {
                carried.things.insert(name, bytes);
            }
        }
        carried
    }
}

/// The comments that carry one thing.
fn comments(name: &str, bytes: &[u8]) -> Vec<String> {
    let is_plain = |c: char| !c.is_control() || c == '\n' || c == '\t';
    let text = std::str::from_utf8(bytes).ok();
    let text = text.filter(|it| it.chars().all(is_plain));
    let (kind, parts) = if let Some(text) = text {
        ("text", pieces(text))
    } else {
        let parts = bytes.chunks(MAX_BINARY).map(|it| BASE64.encode(it));
        ("base64", parts.collect())
    };
    let of = parts.len();
    let part = |(before, part): (usize, String)| {
        let mut comment = String::new();
        let _ = writeln!(comment, "kdns: {name}, part {} of {of}, {kind}", before + 1);
        comment.push_str(&part);
        debug_assert!(comment.len() <= MAX_COMMENT, "{}", comment.len());
        comment
    };
    parts.into_iter().enumerate().map(part).collect()
}

/// Text in pieces of at most [`MAX_TEXT`] bytes; at least one.
fn pieces(mut text: &str) -> Vec<String> {
    let mut parts = Vec::new();
    loop {
        let mut end = text.len().min(MAX_TEXT);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let (part, rest) = text.split_at(end);
        parts.push(part.to_owned());
        text = rest;
        if text.is_empty() {
            return parts;
        }
    }
}

/// A comment of ours.
struct Part<'c> {
    name: &'c str,
    number: usize,
    of: usize,
    bytes: Vec<u8>,
}

impl<'c> Part<'c> {
    fn parse(comment: &'c str) -> Option<Self> {
        let (line, content) = comment.split_once('\n')?;
        let rest = line.strip_prefix("kdns: ")?;
        let (rest, kind) = rest.rsplit_once(", ")?;
        let (name, numbers) = rest.rsplit_once(", part ")?;
        let (number, of) = numbers.split_once(" of ")?;
        let bytes = match kind {
            "text" => content.as_bytes().to_vec(),
            "base64" => BASE64.decode(content.trim_end().as_bytes()).ok()?,
            _ => return None,
        };
        Some(Self {
            name,
            number: number.parse().ok()?,
            of: of.parse().ok()?,
            bytes,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &[u8], comments: usize) {
        let mut carried = Carried::default();
        carried.put("resolv.conf", bytes);
        carried.put("target", "pod shop/web");
        let all = carried.comments();
        assert_eq!(all.len(), comments + 1, "{} bytes", bytes.len());
        assert!(all.iter().all(|it| it.len() <= MAX_COMMENT));
        let mut others = vec![
            "somebody's remark",
            "kdns: odd",
            "kdns: odd, part x of 2, text\n",
        ];
        others.extend(all.iter().map(String::as_str));
        assert_eq!(Carried::of_comments(&others), carried);
    }

    #[test]
    fn what_is_carried_comes_back() {
        check(b"nameserver 10.96.0.10\n", 1);
        check(b"", 1);
        check(b"\xff\0\x1b[1m", 1);
        check(&b"search \xc3\xa4\n".repeat(20_000), 4);
        check(&vec![0xff; 1 << 20], 22);
    }

    #[test]
    fn a_missing_part_is_no_thing() {
        let mut carried = Carried::default();
        carried.put("hosts", vec![b'x'; 200_000]);
        let all = carried.comments();
        assert_eq!(all.len(), 4);
        for missing in 0..4 {
            let mut some = all.clone();
            some.remove(missing);
            let some = Carried::of_comments(&some);
            assert_eq!(some.get("hosts"), None, "{missing}");
        }
    }
}
