//! Whether a file is a resolv.conf, by its name and its lines.

use super::{HEAD, mentions};
use crate::config::resolv_conf::is_blank;

/// Whether a file is called as a resolv.conf is: `resolv.conf`,
/// `pod.resolv.conf`, `resolv-uplink.conf`, `resolv.conf.bak`. A page of a
/// manual, a template and a program about it are none.
pub(super) fn is_resolv_conf_name(name: &str) -> bool {
    const ABOUT: [&str; 13] = [
        "5", "8", "diff", "erb", "in", "j2", "lua", "patch", "php", "pl", "tmpl", "tpl", "txt",
    ];
    let copy = name.strip_prefix("resolv.conf.");
    copy.is_some_and(|it| !ABOUT.contains(&it))
        || name.ends_with("resolv.conf")
        || name.starts_with("resolv") && is_conf(name)
}

pub(super) fn is_conf(name: &str) -> bool {
    name.strip_suffix(".conf").is_some()
}

/// Whether every line that says anything begins with a keyword of
/// `resolv.conf(5)`, one of them with `nameserver` or `search`; of a file that
/// is named so, one line.
pub(super) fn is_resolv_conf(is_named: bool, bytes: &[u8]) -> bool {
    let head = bytes.get(..bytes.len().min(HEAD)).unwrap_or_default();
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let mut telling = 0_usize;
    for line in head.split(|&byte| byte == b'\n') {
        let line = line.trim_ascii_start();
        if line.is_empty() || matches!(line.first(), Some(b'#' | b';')) {
            continue;
        }
        let keyword = line
            .split(|&byte| is_blank(byte))
            .next()
            .unwrap_or_default();
        match keyword {
            b"nameserver" | b"search" | b"options" | b"domain" => telling += 1,
            b"sortlist" => {}
            _ if is_named => {}
            _ => return false,
        }
    }
    telling > 0 && (is_named || mentions(head, b"nameserver"))
}

/// Whether nothing is put into its lines: no template's mark stands outside of comments.
pub(super) fn is_plain(bytes: &[u8]) -> bool {
    let mut lines = bytes
        .split(|&byte| byte == b'\n')
        .map(<[u8]>::trim_ascii_start);
    lines.all(|it| {
        matches!(it.first(), Some(b'#' | b';')) || !it.iter().any(|it| b"{$<@%".contains(it))
    })
}
