//! User data of several parts, as cloud-init takes it.
//!
//! Source: RFC 2045, RFC 2046 section 5.1; cloud-init
//! `cloudinit/user_data.py: convert_string`.

use crate::lint::form::Form;
use crate::text::Span;

/// A part of a text of several parts.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Part {
    /// Its name, else its number.
    pub name: String,
    /// Its type, lower case, without parameters: `text/cloud-config`.
    pub kind: String,
    /// Its transfer encoding, lower case: `base64`, `7bit`, nothing.
    pub encoding: String,
    /// Its bytes.
    pub body: Span,
}

/// More parts than this are not looked at.
const MAX_PARTS: usize = 100;

/// Whether bytes begin as a message of several parts does.
pub fn is_multipart(bytes: &[u8]) -> bool {
    let (headers, _) = headers(bytes, 0);
    header(&headers, "content-type").is_some_and(|it| {
        let kind = it.split(';').next().unwrap_or_default().trim();
        kind.to_ascii_lowercase().starts_with("multipart/")
    })
}

/// The parts of a message. Parts in parts are not opened. Total: any bytes
/// give a result.
pub fn parts(bytes: &[u8]) -> Vec<Part> {
    let (outer, start) = headers(bytes, 0);
    let kind = header(&outer, "content-type").unwrap_or_default();
    let Some(boundary) = parameter(kind, "boundary").filter(|it| !it.is_empty()) else {
        return Vec::new();
    };
    let delimiter = format!("--{boundary}");
    let mut parts = Vec::new();
    let mut begin = None;
    let mut at = start;
    let rest = bytes.get(start..).unwrap_or_default();
    for line in rest.split_inclusive(|&byte| byte == b'\n') {
        let text = line.trim_ascii_end();
        let end = text.strip_prefix(delimiter.as_bytes());
        let is_delimiter = matches!(end, Some(b"" | b"--"));
        if is_delimiter && parts.len() < MAX_PARTS {
            parts.extend(begin.map(|begin| part(bytes, begin, at, parts.len())));
            begin = (end == Some(b"")).then_some(at + line.len());
        }
        at += line.len();
    }
    // Without an end the last part goes to the end of the text.
    parts.extend(begin.map(|begin| part(bytes, begin, bytes.len(), parts.len())));
    parts
}

/// What a part or a file of a type is, if the type says so.
pub fn form(kind: &str) -> Option<Form> {
    match kind {
        "text/cloud-config" | "text/cloud-config-archive" | "application/node.eks.aws" => {
            Some(Form::Yaml)
        }
        _ => None,
    }
}

/// The name of a part without one.
pub fn part_name(index: usize) -> String {
    format!("part-{:03}", index + 1)
}

fn part(bytes: &[u8], begin: usize, end: usize, index: usize) -> Part {
    let (headers, start) = headers(bytes.get(..end).unwrap_or_default(), begin);
    let lower = |name| {
        let value = header(&headers, name).unwrap_or_default();
        let first = value.split(';').next().unwrap_or_default();
        first.trim().to_ascii_lowercase()
    };
    let disposition = header(&headers, "content-disposition").unwrap_or_default();
    let name = parameter(disposition, "filename").filter(|it| !it.is_empty());
    Part {
        name: name.unwrap_or_else(|| part_name(index)),
        kind: lower("content-type"),
        encoding: lower("content-transfer-encoding"),
        body: Span::new(start.min(end), end),
    }
}

/// The header lines from `begin` to an empty line, folded ones put together,
/// and where the body begins.
fn headers(bytes: &[u8], begin: usize) -> (Vec<(String, String)>, usize) {
    let mut found: Vec<(String, String)> = Vec::new();
    let mut at = begin;
    let rest = bytes.get(begin..).unwrap_or_default();
    for line in rest.split_inclusive(|&byte| byte == b'\n') {
        let text = String::from_utf8_lossy(line);
        let text = text.trim_end();
        if text.is_empty() {
            return (found, at + line.len());
        }
        if text.starts_with([' ', '\t']) {
            if let Some((_, value)) = found.last_mut() {
                value.push(' ');
                value.push_str(text.trim_start());
            }
        } else if let Some((name, value)) = text.split_once(':') {
            found.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
        } else if !text.starts_with("From ") {
            return (found, at);
        }
        at += line.len();
    }
    (found, at)
}

fn header<'h>(headers: &'h [(String, String)], name: &str) -> Option<&'h str> {
    let found = headers.iter().find(|it| it.0 == name)?;
    Some(&found.1)
}

/// A parameter of a header: `boundary="a"`.
fn parameter(header: &str, name: &str) -> Option<String> {
    let parameters = header.split(';').skip(1);
    let found = parameters.filter_map(|it| {
        let (key, value) = it.split_once('=')?;
        let is_it = key.trim().eq_ignore_ascii_case(name);
        is_it.then(|| value.trim().trim_matches('"').to_owned())
    });
    found.into_iter().next()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "MIME-Version: 1.0\nContent-Type: multipart/mixed;\n boundary=\"==B==\"\n\nfor others\n--==B==\nContent-Type: text/cloud-config; charset=\"us-ascii\"\nContent-Disposition: attachment; filename=\"a.yaml\"\n\n#cloud-config\nx: 1\n--==B==\r\nContent-Transfer-Encoding: Base64\r\n\r\nYQ==\r\n--==B==--\nrest\n";

    fn check(text: &str, expected: &[(&str, &str, &str, &str)]) {
        let found = parts(text.as_bytes());
        let found: Vec<_> = found
            .iter()
            .map(|it| {
                let body = String::from_utf8_lossy(it.body.slice(text.as_bytes()));
                (
                    it.name.clone(),
                    it.kind.clone(),
                    it.encoding.clone(),
                    body.into_owned(),
                )
            })
            .collect();
        let expected: Vec<_> = expected
            .iter()
            .map(|it| {
                (
                    it.0.to_owned(),
                    it.1.to_owned(),
                    it.2.to_owned(),
                    it.3.to_owned(),
                )
            })
            .collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn parts_are_found() {
        let first = ("a.yaml", "text/cloud-config", "", "#cloud-config\nx: 1\n");
        check(TEXT, &[first, ("part-002", "", "base64", "YQ==\r\n")]);
        let cut = TEXT.split("--==B==\r").next().unwrap();
        check(cut, &[first]);
        check("Content-Type: multipart/mixed\n\n--\n\na\n", &[]);
        check("a\nb\n", &[]);
        check("", &[]);
    }

    #[test]
    fn messages_are_told() {
        for (text, expected) in [
            (TEXT, true),
            (
                "From nobody Fri\nContent-Type: Multipart/Mixed; boundary=a\n",
                true,
            ),
            ("Content-Type: text/plain\n\nx", false),
            ("apiVersion: v1\nContent-Type: multipart/mixed\n", true),
            ("- a\nContent-Type: multipart/mixed\n", false),
            ("", false),
        ] {
            assert_eq!(is_multipart(text.as_bytes()), expected, "{text}");
        }
    }
}
