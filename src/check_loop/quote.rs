//! What stands at a place: a proof is the words of the file itself.

use super::report::Proof;
use crate::node::{HostFile, Node};
use crate::text::{Place, Source, escaped};

/// The statement around the value at `place`: `nameserver 127.0.0.53`,
/// `resolvConf: /etc/resolv.conf`, `--resolv-conf=/etc/resolv.conf`. Of a file
/// that was not kept, `value`.
pub(super) fn quote(node: &Node, place: &Place, value: &str) -> Proof {
    quote_in(source(node, &place.file), place, value)
}

/// The same of a file that was found.
pub(super) fn quote_in(source: Option<&Source>, place: &Place, value: &str) -> Proof {
    let found = source.and_then(|it| statement(it, place));
    found.unwrap_or_else(|| Proof {
        place: place.clone(),
        text: value.to_owned(),
    })
}

/// An argument where it stands in `/proc/PID/cmdline`.
pub(super) fn argument(node: &Node, pid: u32, argument: &str) -> Proof {
    let file = format!("/proc/{pid}/cmdline");
    let arguments = source(node, &file).map(|it| it.bytes.split(|&byte| byte == 0));
    let mut column = 1;
    for word in arguments.into_iter().flatten() {
        if escaped(word) == argument {
            break;
        }
        column += String::from_utf8_lossy(word).chars().count() + 1;
    }
    let place = Place::new(file, 1, column);
    Proof {
        place,
        text: argument.to_owned(),
    }
}

/// Where a line can be added to the file: behind its last one.
pub(super) fn end(node: &Node, file: &str) -> Place {
    let newlines = |it: &Source| it.bytes.iter().filter(|&&byte| byte == b'\n').count();
    let source = source(node, file);
    let is_whole = |it: &&Source| it.bytes.last().is_none_or(|&byte| byte == b'\n');
    let extra = if source.as_ref().is_none_or(is_whole) {
        1
    } else {
        2
    };
    Place::new(file, source.map_or(0, newlines) + extra, 1)
}

/// A file of the node that was kept.
pub(super) fn source<'n>(node: &'n Node, file: &str) -> Option<&'n Source> {
    sources(node).find(|it| it.name == file)
}

/// The files of the node that were kept; of several of one name the first counts.
pub(super) fn sources(node: &Node) -> impl Iterator<Item = &Source> {
    let of_pods = node.pods.iter().flat_map(|pod| {
        let files = [&pod.resolv_conf, &pod.seen_resolv_conf];
        let files = files.into_iter().flatten().map(|conf| &conf.source);
        files.chain(&pod.corefiles)
    });
    let files = node.kubelet_file.iter().chain(&node.node_file);
    let files = files.chain(&node.files).filter_map(HostFile::conf);
    let files = files.map(|conf| &conf.source);
    files
        .chain(&node.sources)
        .chain(&node.corefiles)
        .chain(of_pods)
}

/// Longest line of which a statement is shown; of longer ones the value alone.
const MAX_LINE: usize = 10_000;

fn statement(source: &Source, place: &Place) -> Option<Proof> {
    let mut lines = source.bytes.split(|&byte| byte == b'\n');
    let line = lines.nth(place.line.checked_sub(1)?)?;
    if line.len() > MAX_LINE {
        return None;
    }
    let line = String::from_utf8_lossy(line);
    let characters: Vec<char> = line.chars().collect();
    let at = place.column.checked_sub(1)?;
    let before = characters.get(..at)?;
    let start = start(before);
    let text: String = characters.get(start..)?.iter().collect();
    let value = at - start;
    let text = text.get(..end_of(&text, value, is_in_list(before)))?;
    let text = text.trim_end();
    (!text.is_empty()).then(|| Proof {
        place: Place {
            column: start + 1,
            ..place.clone()
        },
        text: escaped(text.as_bytes()),
    })
}

/// Where the statement begins whose value comes after these characters: at
/// its key, at the flag, at the line's first word.
fn start(before: &[char]) -> usize {
    let is_blank = |it: &char| it.is_whitespace() || *it == '"' || *it == '\'';
    let key_end = before
        .iter()
        .rposition(|it| !is_blank(it))
        .map_or(0, |it| it + 1);
    let key = before.get(..key_end).unwrap_or_default();
    match key.last() {
        Some(':') => {
            let name = |it: &char| !matches!(it, ',' | '{' | '[') && !it.is_whitespace();
            key.iter().rposition(|it| !name(it)).map_or(0, |it| it + 1)
        }
        Some('=') => {
            // Also in `ARGS=--resolv-conf=/a`.
            let name = |it: &char| !is_blank(it) && *it != ',' && *it != '=';
            let flag = key.split_last().map_or(key, |(_, flag)| flag);
            flag.iter().rposition(|it| !name(it)).map_or(0, |it| it + 1)
        }
        Some('[' | ',') => before.len(),
        _ => before
            .iter()
            .position(|it| !it.is_whitespace())
            .unwrap_or(before.len()),
    }
}

/// Whether a list in brackets is open behind these characters.
fn is_in_list(before: &[char]) -> bool {
    let count = |bracket| before.iter().filter(|it| **it == bracket).count();
    count('[') > count(']')
}

/// Where it ends, in bytes; the value begins after `value` characters.
fn end_of(text: &str, value: usize, is_in_list: bool) -> usize {
    let mut offsets = text.char_indices().skip(value);
    let Some((at, first)) = offsets.next() else {
        return text.len();
    };
    let rest = text.get(at..).unwrap_or_default();
    if first == '"' || first == '\'' {
        let inner = rest.get(1..).unwrap_or_default();
        return inner.find(first).map_or(text.len(), |it| at + it + 2);
    }
    let before = text.get(..at).unwrap_or_default();
    if before.ends_with('=') {
        let stop = |it: char| it.is_whitespace() || it == '"' || it == '\'';
        return rest.find(stop).map_or(text.len(), |it| at + it);
    }
    if is_in_list && let Some(end) = rest.find([',', ']']) {
        return at + end;
    }
    let rest = rest.split(" #").next().unwrap_or_default().trim_end();
    let rest = rest.strip_suffix('{').unwrap_or(rest).trim_end();
    at + rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, value: &str, expected: &str) {
        let column = line.find(value).unwrap() + 1;
        let source = Source::new("f", format!("first\n{line}\n"));
        let place = Place::new("f", 2, column);
        let proof = statement(&source, &place).unwrap();
        assert_eq!(proof.text, expected, "{line}");
        let from = line.get(proof.place.column - 1..).unwrap();
        assert!(from.starts_with(expected), "{line}");
    }

    #[test]
    fn statements_are_found_around_their_values() {
        for (line, value, expected) in [
            ("nameserver 127.0.0.53", "127", "nameserver 127.0.0.53"),
            ("  nameserver 10.0.0.1 # x", "10", "nameserver 10.0.0.1"),
            ("resolvConf: /a/b", "/a", "resolvConf: /a/b"),
            ("resolvConf: \"/a/b\" # x", "\"/a", "resolvConf: \"/a/b\""),
            (
                "  \"resolvConf\": \"/a\",",
                "\"/a",
                "\"resolvConf\": \"/a\"",
            ),
            (
                "{\"a\":1,\"resolvConf\":\"/a\",\"b\":2}",
                "\"/a",
                "\"resolvConf\":\"/a\"",
            ),
            ("A=\"--x=1 --resolv-conf=/a --y\"", "/a", "--resolv-conf=/a"),
            ("ARGS=--resolv-conf=/a", "/a", "--resolv-conf=/a"),
            ("  - 10.96.0.10", "10", "- 10.96.0.10"),
            ("clusterDNS: [10.96.0.10]", "10", "10.96.0.10"),
            ("clusterDNS: [a, 10.96.0.10 , b] # x", "10", "10.96.0.10"),
            (
                "forward . [::1]:53 1.1.1.1",
                "[::1]",
                "forward . [::1]:53 1.1.1.1",
            ),
            (
                "forward . [::1]:53 1.1.1.1",
                "1.1",
                "forward . [::1]:53 1.1.1.1",
            ),
            (
                "  forward . /etc/resolv.conf {",
                "/etc",
                "forward . /etc/resolv.conf",
            ),
            ("server=127.0.0.2", "127", "server=127.0.0.2"),
        ] {
            check(line, value, expected);
        }
    }

    #[test]
    fn odd_places_are_no_trouble() {
        let source = Source::new("f", b"\xff\xfe a\n");
        for (line, column) in [(0, 0), (1, 0), (1, 1), (1, 5), (1, 99), (9, 1)] {
            let place = Place::new("f", line, column);
            statement(&source, &place);
        }
    }
}
