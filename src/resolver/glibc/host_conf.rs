//! `host.conf(5)`, as far as it matters: whether a name in the hosts file can
//! have several addresses.

use crate::resolver::glibc::name::isspace;
use crate::scenario::Scenario;

/// Whether the flag `HCONF_FLAG_MULTI` is set. Debian's file sets it, and
/// stands in for one that the scenario does not have.
///
/// Source: glibc `resolv/res_hconf.c: do_init` (2.36).
pub(super) fn multi(scenario: &Scenario) -> bool {
    let path = scenario.env("RESOLV_HOST_CONF").unwrap_or("/etc/host.conf");
    let mut multi = match scenario.files.get(path) {
        Some(text) => text
            .split(|&byte| byte == b'\n')
            .filter_map(multi_line)
            .next_back()
            .unwrap_or(false),
        None => path == "/etc/host.conf",
    };
    if let Some(value) = scenario.env("RESOLV_MULTI") {
        multi = arg_bool(value.as_bytes()).unwrap_or(multi);
    }
    multi
}

/// Source: glibc `resolv/res_hconf.c: parse_line` (2.36).
fn multi_line(line: &[u8]) -> Option<bool> {
    let line = line.trim_ascii_start();
    let ends = |byte: &u8| isspace(*byte) || matches!(byte, b'#' | b',');
    let length = line.iter().position(ends).unwrap_or(line.len());
    let (word, value) = line.split_at_checked(length)?;
    let same = word.eq_ignore_ascii_case(b"multi");
    same.then(|| arg_bool(value.trim_ascii_start())).flatten()
}

/// Source: glibc `resolv/res_hconf.c: arg_bool` (2.36).
fn arg_bool(text: &[u8]) -> Option<bool> {
    let begins = |word: &[u8]| {
        text.get(..word.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(word))
    };
    match (begins(b"on"), begins(b"off")) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    }
}
