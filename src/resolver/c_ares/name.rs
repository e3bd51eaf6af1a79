//! Names that both versions treat alike.

use crate::engine::message::Because;
use crate::resolver::c_ares::Candidate;
use crate::resolver::c_ares::config::Config;
use crate::scenario::Scenario;

/// Names at or below `.onion` are never asked (RFC 7686).
///
/// Source: c-ares `src/lib/ares_getnameinfo.c: ares_is_onion_domain`.
pub(super) fn is_onion_domain(name: &[u8]) -> bool {
    ends_with(name, b".onion") || ends_with(name, b".onion.")
}

/// Source: c-ares `src/lib/ares_getnameinfo.c: ares_striendstr`.
pub(super) fn ends_with(name: &[u8], end: &[u8]) -> bool {
    name.len()
        .checked_sub(end.len())
        .and_then(|at| name.get(at..))
        .is_some_and(|tail| tail.eq_ignore_ascii_case(end))
}

/// Whether `byte` may stand in a host name, or separate its labels.
///
/// Source: c-ares `src/lib/ares_expand_name.c: is_hostnamech` (1.18), which
/// does not know the star; `src/lib/include/ares_str.h: ares_is_hostnamech` (1.34).
pub(super) fn is_hostnamech(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'/')
}

/// How many dots `name` has, the final one included.
pub(super) fn dots(name: &[u8]) -> usize {
    name.iter().filter(|&&byte| byte == b'.').count()
}

/// The name that a program passes: C ends it at the first zero byte.
pub(super) fn c_string(text: &str) -> &[u8] {
    text.as_bytes()
        .split(|&byte| byte == 0)
        .next()
        .unwrap_or_default()
}

/// The file with aliases, where one can have `name`: it has no dot.
pub(super) fn host_aliases<'a>(scenario: &'a Scenario, name: &[u8]) -> Option<&'a str> {
    let path = scenario.env("HOSTALIASES")?;
    let is_plain = !name.contains(&b'.');
    is_plain.then(|| std::str::from_utf8(c_string(path)).ok())?
}

/// The name below `domain`, unless `domain` is empty text and so on: there is
/// no check at all.
///
/// Source: c-ares `src/lib/ares_search.c: ares_cat_domain`.
pub(super) fn cat_domain(name: &[u8], domain: &[u8]) -> Vec<u8> {
    [name, b".", domain].concat()
}

/// The names to try, in order: as it is first or last, and below each domain, as
/// `cat_domain` writes that.
///
/// Source: c-ares 1.18.1 `src/lib/ares_getaddrinfo.c: next_dns_lookup`, 1.34
/// `src/lib/ares_search.c: ares_search_name_list`.
pub(super) fn name_list(
    name: Candidate,
    config: &Config<'_>,
    cat_domain: fn(&[u8], &[u8]) -> Vec<u8>,
) -> Vec<Candidate> {
    if name.name.ends_with(b".") {
        return vec![name];
    }
    let reading = &config.reading;
    let domains = reading.search.iter().enumerate();
    let searched = domains.map(|(index, domain)| Candidate {
        name: cat_domain(&name.name, &domain.value),
        because: Because::Search(index),
    });
    let mut names: Vec<Candidate> = searched.collect();
    let ndots = reading.ndots.unwrap_or_default().value as usize;
    let is_first = dots(&name.name) >= ndots;
    names.insert(if is_first { 0 } else { names.len() }, name);
    names
}

/// `isspace` of the C locale.
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c)
}
