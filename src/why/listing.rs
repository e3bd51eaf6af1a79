//! Lines that programs print in columns, as YAML, as `key: value` or to a log: each says something
//! of its own, and words of two of them say nothing together.

use std::ops::Range;

use super::plain::plain;

/// What follows the first words of `kubectl describe`, or of a row that goes on, is set in by so
/// many blanks at least.
const SET_IN: usize = 8;

/// So many lines of YAML one after the other are of a file; fewer may be of a sentence.
const FILE: usize = 3;

/// Where such lines are in the same text as [`plain`], in order.
pub(super) fn rows(text: &str) -> Vec<Range<usize>> {
    let lines: Vec<&str> = text.lines().map(unquoted).collect();
    let mut is_row: Vec<bool> = Vec::with_capacity(lines.len());
    for line in &lines {
        let goes_on = is_row.last() == Some(&true) && indent(line) >= SET_IN;
        is_row.push(goes_on || has_columns(line) || is_logged(line));
    }
    let mut start = 0;
    for run in lines.chunk_by(|a, b| is_yaml(a) == is_yaml(b)) {
        let is_file = run.len() >= FILE && run.first().is_some_and(|it| is_yaml(it));
        for it in is_row.iter_mut().skip(start).take(run.len()) {
            *it |= is_file;
        }
        start += run.len();
    }
    let found = placed(text).zip(is_row);
    let rows = found.filter(|((at, _), is_row)| *is_row && !at.is_empty());
    rows.map(|it| it.0.0).collect()
}

/// Where `kubectl describe` shows DNS pods that fail, in the same: all rows of one are about it.
pub(super) fn failing(text: &str) -> Vec<Range<usize>> {
    let lines: Vec<(Range<usize>, &str)> = placed(text).filter(|it| !it.0.is_empty()).collect();
    let mut found = Vec::new();
    for run in lines.chunk_by(|a, b| is_described(a.1) && is_described(b.1)) {
        // Each but the first begins where the second title, and the next ones, stand.
        let titles = (0..run.len()).filter(|&at| run.get(at).is_some_and(|it| is_title(it.1)));
        let mut ends: Vec<usize> = titles.skip(1).collect();
        ends.push(run.len());
        let mut start = 0;
        for end in ends {
            let rows = run.get(start..end).unwrap_or_default();
            let is_dns = rows.iter().any(|it| is_title(it.1) && names_dns(it.1));
            if let (true, Some(first), Some(last)) = (is_dns, rows.first(), rows.last()) {
                let fails = rows.iter().any(|it| says_failure(it.1));
                found.extend(fails.then_some(first.0.start..last.0.end));
            }
            start = end;
        }
    }
    found
}

/// Each line without what marks it as quoted, and where it is in the same text as [`plain`].
fn placed(text: &str) -> impl Iterator<Item = (Range<usize>, &str)> {
    let mut at = 0;
    text.lines().map(move |line| {
        let range = at..at + plain(line).len();
        if !range.is_empty() {
            at = range.end + 1;
        }
        (range, unquoted(line))
    })
}

/// Whether `kubectl describe` prints such a line: it is set in, or `Key:   value`.
fn is_described(line: &str) -> bool {
    let key = line.split_once(':');
    let is_key = |(key, value): (&str, &str)| {
        let is_short = key.split_whitespace().count() <= 3;
        is_short
            && (value.trim().is_empty() || value.starts_with(['\t']) || value.starts_with("  "))
    };
    line.starts_with([' ', '\t']) || is_title(line) || key.is_some_and(is_key)
}

/// Whether `kubectl describe` begins with it.
fn is_title(line: &str) -> bool {
    line.starts_with("Name:")
}

fn names_dns(line: &str) -> bool {
    ["coredns", "core-dns", "kube-dns", "node-local-dns"]
        .iter()
        .any(|it| line.contains(it))
}

/// Whether a row of a pod says that it, or a container of it, failed.
fn says_failure(line: &str) -> bool {
    let code = line.trim().strip_prefix("Exit Code:");
    let words = [
        "OOMKilled",
        "BackOff",
        "Error",
        "Unhealthy",
        "Failed",
        "Evicted",
    ];
    code.is_some_and(|it| it.trim() != "0") || words.iter().any(|it| line.contains(it))
}

/// A line without what marks it as quoted.
fn unquoted(line: &str) -> &str {
    line.strip_prefix("> ").unwrap_or(line)
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Whether words stand in columns: several wide gaps, which do not follow a sentence, or one
/// behind `key:`.
fn has_columns(line: &str) -> bool {
    let line = line.trim();
    let before = |at: usize| line.get(..at).unwrap_or_default();
    let gaps = line.match_indices(['\t', ' ']).filter(|&(at, gap)| {
        let behind = line.get(at + 1..).unwrap_or_default();
        let is_wide = gap == "\t" || behind.starts_with(' ');
        is_wide && !before(at).ends_with([' ', '\t', '.', '!', '?', ',', ';'])
    });
    let gaps: Vec<usize> = gaps.map(|it| it.0).collect();
    let is_key = |at: &usize| {
        let key = before(*at).strip_suffix(':');
        key.is_some_and(|it| !it.contains(": "))
    };
    gaps.len() > 1 || gaps.iter().any(is_key)
}

/// Whether a line is one that the kubelet or the journal has written: `I1201 10:00:00.123456`, or
/// `Dec 01 10:00:00 n1 kubelet[812]: …`.
fn is_logged(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let first = words.next().unwrap_or_default();
    let is_clock =
        |it: Option<&str>| it.is_some_and(|it| it.len() >= 8 && it.matches(':').count() == 2);
    let (severity, day) = first.split_at_checked(1).unwrap_or_default();
    let is_day = day.len() == 4 && day.bytes().all(|it| it.is_ascii_digit());
    if is_day && ["I", "W", "E", "F"].contains(&severity) {
        return is_clock(words.next());
    }
    let is_month = first.len() == 3 && first.starts_with(char::is_uppercase);
    let is_day = words.next().is_some_and(|it| it.parse::<u32>().is_ok());
    let is_clock = is_clock(words.next());
    let program = words.nth(1);
    is_month && is_day && is_clock && program.is_some_and(|it| it.ends_with("]:"))
}

/// Whether a line is of YAML: `key: value`, `- value` or `key:`.
fn is_yaml(line: &str) -> bool {
    let own = line.trim_start();
    let item = own.strip_prefix("- ");
    let own = item.unwrap_or(own);
    let key = own.split_once(':');
    let is_word = |it: &str| {
        let is_its = |c: char| c.is_alphanumeric() || "._-/\"'".contains(c);
        !it.is_empty() && it.chars().all(is_its)
    };
    let is_pair = key.is_some_and(|(key, value)| {
        is_word(key) && (value.is_empty() || value.starts_with(' ')) && !key.ends_with("Error")
    });
    is_pair || item.is_some_and(|it| is_word(it.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_told_from_sentences() {
        for (text, expected) in [
            ("coredns is restarted.  Then DNS fails.  Why?", false),
            ("DNS fails in new pods", false),
            ("Error: getaddrinfo ENOTFOUND db", false),
            ("NAME  READY  STATUS", true),
            ("Selector:   k8s-app=kube-dns", true),
            ("Type\tReason", false),
            ("Type\tReason\tAge", true),
            ("hostNetwork: true", false),
            ("I1201 10:00:00.123456 812 server.go:467] DNS fails", true),
            ("Dec 01 10:00:00 n1 kubelet[812]: DNS fails", true),
            ("Dec 1 it began, DNS fails", false),
        ] {
            assert_eq!(!rows(text).is_empty(), expected, "{text}");
        }
    }

    #[test]
    fn rows_go_on_and_files_are_rows() {
        let text = "the pod:\nLabels:  a=b\n         c=d\nspec:\n  dnsPolicy: Default\n  \
                    hostNetwork: true\nIt fails";
        let rows = rows(text);
        let plain = plain(text);
        let lines: Vec<&str> = rows.iter().filter_map(|it| plain.get(it.clone())).collect();
        assert_eq!(
            lines,
            [
                "Labels: a=b",
                "c=d",
                "spec:",
                "dnsPolicy: Default",
                "hostNetwork: true"
            ]
        );
    }
}
