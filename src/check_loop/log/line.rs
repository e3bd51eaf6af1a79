//! What stands before the message on a line of a log.

use std::borrow::Cow;

/// A line of a log.
pub(super) struct Line<'l> {
    /// The time, as the log has it: the container runtime's, else the
    /// program's own.
    pub(super) time: Option<String>,
    /// What the program wrote.
    pub(super) message: Cow<'l, str>,
    /// Offset of the part of the line that is shown, and its column.
    pub(super) start: usize,
    pub(super) column: usize,
}

/// Takes a line apart.
pub(super) fn split(bytes: &[u8]) -> Line<'_> {
    if let Some(line) = docker(bytes) {
        return line;
    }
    let text = String::from_utf8_lossy(bytes);
    if let Some((time, length)) = cri(&text) {
        let message = String::from_utf8_lossy(bytes.get(length..).unwrap_or_default());
        return Line {
            time: Some(time),
            message,
            start: length,
            column: length + 1,
        };
    }
    Line {
        time: own_time(&text),
        message: text,
        start: 0,
        column: 1,
    }
}

/// `TIME stdout|stderr P|F MESSAGE`: the time and how long the prefix is.
///
/// Source: kubelet `pkg/kubelet/kuberuntime/logs/logs.go` `parseCRILog`.
fn cri(line: &str) -> Option<(String, usize)> {
    let mut words = line.splitn(4, ' ');
    let time = words.next().filter(|time| is_rfc3339(time))?;
    let stream = words
        .next()
        .filter(|it| matches!(*it, "stdout" | "stderr"))?;
    let tag = words.next().filter(|it| it.starts_with(['P', 'F']))?;
    // Nothing of it is beyond ASCII, or it is no prefix.
    let length = time.len() + stream.len() + tag.len() + 3;
    let is_ascii = line.get(..length).is_some_and(str::is_ascii);
    is_ascii.then(|| (time.to_owned(), length))
}

/// `{"log":"MESSAGE\n","stream":"stdout","time":"TIME"}`.
///
/// Source: Docker, daemon/logger/jsonfilelog.
fn docker(bytes: &[u8]) -> Option<Line<'_>> {
    if !bytes.starts_with(b"{\"log\":") {
        return None;
    }
    let value: serde_json::Value = serde_json::from_slice(bytes).ok()?;
    let message = value.get("log")?.as_str()?;
    let time = value.get("time").and_then(|time| time.as_str());
    Some(Line {
        time: time.filter(|time| is_rfc3339(time)).map(str::to_owned),
        message: Cow::Owned(message.trim_end_matches('\n').to_owned()),
        start: 0,
        column: 1,
    })
}

/// The time with which the line of a program or of syslog begins.
fn own_time(line: &str) -> Option<String> {
    let mut words = line.split(' ').filter(|word| !word.is_empty());
    let first = words.next()?;
    let (second, third) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
    // unbound: seconds since 1970.
    if let Some(number) = first.strip_prefix('[').and_then(|it| it.strip_suffix(']')) {
        let is_time = number.len() >= 9 && is_of(number, "0");
        return is_time.then(|| number.to_owned());
    }
    // CoreDNS from 1.2.6 to 1.6.2, journald, kubectl logs --timestamps.
    if is_rfc3339(first) {
        return Some(first.to_owned());
    }
    // CoreDNS before that; named.
    if is_of(second, "00:00:00") && (is_of(first, "0000/00/00") || is_of(first, "00-aaa-0000")) {
        return Some(format!("{first} {second}"));
    }
    // syslog.
    let is_day = !second.is_empty() && second.len() <= 2 && is_of(second, "0");
    if is_of(first, "aaa") && is_day && is_of(third, "00:00:00") {
        return Some(format!("{first} {second} {third}"));
    }
    // klog, as in kube-dns: I0621 07:12:47.123456
    let is_klog = first.starts_with(['I', 'W', 'E', 'F']) && is_of(first, "a0000");
    (is_klog && is_of(second, "00:00:00")).then(|| format!("{first} {second}"))
}

/// `2026-11-21T02:07:12`, and whatever is behind it.
fn is_rfc3339(word: &str) -> bool {
    word.len() <= 40 && is_of(word, "0000-00-00T00:00:00")
}

/// Whether a word begins like the pattern, in which `0` stands for a digit and
/// `a` for a letter. Fractions of a second can follow; a pattern of one `0`
/// is digits only.
fn is_of(word: &str, pattern: &str) -> bool {
    if pattern == "0" {
        return !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    }
    let fits = |(byte, pattern): (u8, u8)| match pattern {
        b'0' => byte.is_ascii_digit(),
        b'a' => byte.is_ascii_alphabetic(),
        _ => byte == pattern,
    };
    let has_end = word.len() == pattern.len() || pattern.ends_with(":00");
    word.len() >= pattern.len() && has_end && word.bytes().zip(pattern.bytes()).all(fits)
}
