//! The `hosts` line of `nsswitch.conf` as Go reads it.

use crate::config::resolv_conf::ResolvConf;
use crate::resolver::go::parse::lines;

/// Source: Go `src/net/nss.go: nssConf`.
#[derive(Debug)]
pub(super) enum NssConf<'a> {
    /// The sources for hosts, none if the file or the line is missing.
    Hosts(Vec<NssSource<'a>>),
    /// The file is malformed.
    Error,
}

/// Source: Go `src/net/nss.go: nssSource`.
#[derive(Debug)]
pub(super) struct NssSource<'a> {
    /// `files`, `dns`, `mdns4_minimal`…
    pub(super) source: &'a [u8],
    criteria: Vec<Criterion>,
}

/// One `STATUS=ACTION` between brackets, in lower case.
///
/// Source: Go `src/net/nss.go: nssCriterion`.
#[derive(Debug)]
struct Criterion {
    negate: bool,
    status: Vec<u8>,
    action: Vec<u8>,
}

/// Reads `file`; `None` if there is none.
///
/// Source: Go `src/net/nss.go: parseNSSConf`.
pub(super) fn parse_nss_conf(file: Option<&ResolvConf>) -> NssConf<'_> {
    let mut hosts = Vec::new();
    for line in file.into_iter().flat_map(lines) {
        let text = line.bytes();
        let comment = text.iter().position(|&byte| byte == b'#');
        let text = trim_space(
            text.get(..comment.unwrap_or(text.len()))
                .unwrap_or_default(),
        );
        if text.is_empty() {
            continue;
        }
        let mut parts = text.splitn(2, |&byte| byte == b':');
        let (Some(database), Some(sources)) = (parts.next(), parts.next()) else {
            return NssConf::Error;
        };
        // A line of another database can be malformed too.
        let Some(sources) = parse_sources(sources) else {
            return NssConf::Error;
        };
        if trim_space(database) == b"hosts" {
            hosts.extend(sources);
        }
    }
    NssConf::Hosts(hosts)
}

/// The sources of a line, which only spaces separate; `None` if it is malformed.
fn parse_sources(text: &[u8]) -> Option<Vec<NssSource<'_>>> {
    let mut sources = Vec::new();
    let mut rest = trim_space(text);
    while !rest.is_empty() {
        let (source, after) = cut_at(rest, b' ').unwrap_or((rest, b""));
        rest = trim_space(after);
        let mut criteria = Vec::new();
        if let Some(block) = rest.strip_prefix(b"[") {
            let (block, after) = cut_at(block, b']')?;
            criteria = parse_criteria(block)?;
            rest = trim_space(after);
        }
        sources.push(NssSource { source, criteria });
    }
    Some(sources)
}

/// Source: Go `src/net/nss.go: parseCriteria`.
fn parse_criteria(block: &[u8]) -> Option<Vec<Criterion>> {
    block
        .split(|&byte| byte == b' ')
        .map(trim_space)
        .filter(|field| !field.is_empty())
        .map(|field| {
            let (negate, field) = match field.strip_prefix(b"!") {
                Some(rest) => (true, rest),
                None => (false, field),
            };
            // Shorter ones are errors even with an equal sign.
            let (status, action) = cut_at(field, b'=').filter(|_| field.len() >= 3)?;
            Some(Criterion {
                negate,
                status: status.to_ascii_lowercase(),
                action: action.to_ascii_lowercase(),
            })
        })
        .collect()
}

impl NssSource<'_> {
    /// Whether the criteria say what holds without them.
    ///
    /// Source: Go `src/net/nss.go: nssSource.standardCriteria`.
    pub(super) fn has_standard_criteria(&self) -> bool {
        let last = self.criteria.len().saturating_sub(1);
        self.criteria
            .iter()
            .enumerate()
            .all(|(index, criterion)| criterion.is_standard(index == last))
    }
}

impl Criterion {
    /// Source: Go `src/net/nss.go: nssCriterion.standardStatusAction`.
    fn is_standard(&self, last: bool) -> bool {
        let default: &[u8] = match self.status.as_slice() {
            _ if self.negate => return false,
            b"success" => b"return",
            b"notfound" | b"unavail" | b"tryagain" => b"continue",
            _ => return false,
        };
        last && self.action == b"return" || self.action == default
    }
}

/// The text before the first `byte` and the text after it.
fn cut_at(text: &[u8], byte: u8) -> Option<(&[u8], &[u8])> {
    let at = text.iter().position(|&it| it == byte)?;
    Some((text.get(..at)?, text.get(at + 1..)?))
}

/// Source: Go `src/net/parse.go: trimSpace, isSpace`.
fn trim_space(mut text: &[u8]) -> &[u8] {
    while let [b' ' | b'\t' | b'\n' | b'\r', rest @ ..] = text {
        text = rest;
    }
    while let [rest @ .., b' ' | b'\t' | b'\n' | b'\r'] = text {
        text = rest;
    }
    text
}
