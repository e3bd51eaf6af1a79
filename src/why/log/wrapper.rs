//! What stands around the message of a program: the marks of container
//! runtimes, of collectors and of `kubectl`.

use memchr::{memchr, memmem};

use super::time::Times;

/// A message of more lines than one is kept up to so many bytes.
const MAX_PARTIAL: usize = 1 << 16;

/// The words with which lines of `CoreDNS` begin.
///
/// Source: `CoreDNS`, plugin/pkg/log/log.go.
const LEVELS: [&[u8]; 5] = [b"[INFO]", b"[ERROR]", b"[WARNING]", b"[FATAL]", b"[DEBUG]"];

/// A message, taken out of its line.
#[derive(Debug)]
pub(super) struct Message<'l> {
    pub(super) text: &'l [u8],
    /// In nanoseconds since 1970.
    pub(super) time: Option<i64>,
    /// Whose it is, where lines of several pods are mixed.
    pub(super) pod: Option<&'l [u8]>,
}

/// Takes messages out of lines.
#[derive(Clone, Debug, Default)]
#[expect(
    clippy::option_option,
    reason = "whether it was looked for, and what was found"
)]
pub(super) struct Wrapper {
    times: Times,
    /// The parts of a message so far.
    partial: Vec<u8>,
    /// A message out of JSON, without its escapes.
    text: Vec<u8>,
    /// The pod in JSON.
    pod: Vec<u8>,
    /// The time of the journal's entry, if the lines are those of its export.
    journal: Option<Option<i64>>,
}

/// How much of a message a line has.
enum Part<'l> {
    Whole(&'l [u8]),
    /// More follows.
    Begin(&'l [u8]),
    /// The line is one of JSON, and its message is kept apart.
    Kept {
        is_whole: bool,
    },
}

impl Wrapper {
    /// The message of a line; `None`: there is none, or not all of it yet.
    pub(super) fn message<'l>(&'l mut self, line: &'l [u8]) -> Option<Message<'l>> {
        // The usual case first: nothing around it.
        if line.starts_with(b"[INFO] ") {
            return Some(Message {
                text: line,
                time: None,
                pod: None,
            });
        }
        if self.journal.is_some() || line.starts_with(b"__CURSOR=") {
            return self.export(line);
        }
        let (pod, line) = prefix(line);
        let mut is_json = false;
        let (time, part) = match line.first() {
            Some(b'0'..=b'9') => self.timed(line),
            Some(b'{') => {
                let (time, part) = self.json(line);
                is_json = true;
                (time, part)
            }
            _ => (None, Part::Whole(own(line))),
        };
        let pod = pod.or_else(|| (is_json && !self.pod.is_empty()).then_some(&self.pod));
        let text = match part {
            Part::Begin(text) => {
                keep(&mut self.partial, text);
                return None;
            }
            Part::Kept { is_whole: false } => {
                keep(&mut self.partial, &self.text);
                return None;
            }
            Part::Whole(text) if self.partial.is_empty() => text,
            Part::Kept { .. } if self.partial.is_empty() => &self.text,
            Part::Whole(text) => join(&mut self.partial, &mut self.text, text),
            Part::Kept { .. } => {
                let last = std::mem::take(&mut self.text);
                join(&mut self.partial, &mut self.text, &last)
            }
        };
        Some(Message { text, time, pod })
    }

    /// `TIME stdout F MESSAGE`, and `TIME MESSAGE`.
    ///
    /// Source: kubelet `pkg/kubelet/kuberuntime/logs/logs.go` `parseCRILog`.
    fn timed<'l>(&mut self, line: &'l [u8]) -> (Option<i64>, Part<'l>) {
        let Some(end) = line.iter().take(40).position(|&byte| byte == b' ') else {
            return (None, Part::Whole(line));
        };
        let (word, rest) = line.split_at_checked(end).unwrap_or_default();
        let rest = rest.get(1..).unwrap_or_default();
        let Some(time) = self.times.parse(word) else {
            return self.with_own_time(line);
        };
        let stream = rest
            .strip_prefix(b"stdout ")
            .or_else(|| rest.strip_prefix(b"stderr "));
        let part = match stream {
            Some([b'F', b' ', text @ ..]) => Part::Whole(own(text)),
            Some([b'P', b' ', text @ ..]) => Part::Begin(text),
            Some([b'F' | b'P', b':', tags @ ..]) => {
                let end = memchr(b' ', tags).map_or(tags.len(), |it| it + 1);
                Part::Whole(own(tags.get(end..).unwrap_or_default()))
            }
            _ => Part::Whole(own(rest)),
        };
        (Some(time), part)
    }

    /// Go's logger: `2018/07/11 07:12:47 [INFO] …`.
    fn with_own_time<'l>(&mut self, line: &'l [u8]) -> (Option<i64>, Part<'l>) {
        let time = line.get(..19).and_then(|it| self.times.parse(it));
        (time, Part::Whole(own(line)))
    }

    /// Docker's file, and what collectors and journald make of a line.
    ///
    /// Sources: Docker, daemon/logger/jsonfilelog (`log`, `time`); Fluent Bit's
    /// filter `kubernetes`; Vector and Logstash (`message`, `timestamp`,
    /// `@timestamp`); systemd, `docs/JOURNAL_EXPORT_FORMATS.md`.
    fn json<'l>(&mut self, line: &'l [u8]) -> (Option<i64>, Part<'l>) {
        let Ok(value) = serde_json::from_slice::<serde_json::Value>(line) else {
            return (None, Part::Whole(line));
        };
        let word = |keys: &[&str]| keys.iter().find_map(|key| value.get(key)?.as_str());
        let Some(text) = word(&["log", "message", "MESSAGE", "msg", "line"]) else {
            return (None, Part::Whole(line));
        };
        let time = word(&["time", "timestamp", "@timestamp", "ts"]);
        let time = time.and_then(|it| self.times.parse(it.as_bytes()));
        let micro = word(&["__REALTIME_TIMESTAMP"]).and_then(|it| it.parse::<i64>().ok());
        let pod = value.get("kubernetes").and_then(|it| it.get("pod_name"));
        let pod = pod.and_then(|it| it.as_str()).unwrap_or_default();
        self.pod.clear();
        self.pod.extend_from_slice(pod.as_bytes());
        // Docker cuts at 16 KiB, and only the last part has the newline.
        let is_docker = value.get("stream").is_some() && value.get("time").is_some();
        let is_whole = !is_docker || text.ends_with('\n');
        let inner = text.trim_end_matches('\n').as_bytes();
        self.text.clear();
        self.text.extend_from_slice(own(inner));
        let time = time.or_else(|| micro.and_then(|it| it.checked_mul(1000)));
        (time, Part::Kept { is_whole })
    }

    /// `KEY=VALUE` lines, entries with an empty line between.
    ///
    /// Source: systemd, `docs/JOURNAL_EXPORT_FORMATS.md`.
    fn export<'l>(&mut self, line: &'l [u8]) -> Option<Message<'l>> {
        let time = self.journal.get_or_insert(None);
        if let Some(micro) = line.strip_prefix(b"__REALTIME_TIMESTAMP=") {
            let micro = std::str::from_utf8(micro).ok()?.parse::<i64>().ok()?;
            *time = micro.checked_mul(1000);
        }
        let text = own(line.strip_prefix(b"MESSAGE=")?);
        Some(Message {
            text,
            time: *time,
            pod: None,
        })
    }
}

/// `kubectl logs --prefix`: `[pod/NAME/CONTAINER] `.
fn prefix(line: &[u8]) -> (Option<&[u8]>, &[u8]) {
    let Some(rest) = line.strip_prefix(b"[pod/") else {
        return (None, line);
    };
    let Some(end) = memmem::find(rest, b"] ") else {
        return (None, line);
    };
    let (name, rest) = rest.split_at_checked(end).unwrap_or_default();
    let name = name.split(|&byte| byte == b'/').next();
    (name, rest.get(2..).unwrap_or_default())
}

/// The message of a program: without what syslog or klog put before it, and
/// the program's own time.
fn own(line: &[u8]) -> &[u8] {
    if line.first() == Some(&b'[') {
        return line;
    }
    // A level is near the beginning, and no name in a query has brackets.
    let head = line.get(..160).unwrap_or(line);
    if let Some(start) = memchr(b'[', head) {
        let rest = line.get(start..).unwrap_or_default();
        let found = memchr::memchr_iter(b'[', head).find(|&at| {
            let rest = line.get(at..).unwrap_or_default();
            LEVELS.iter().any(|level| rest.starts_with(level))
        });
        if let Some(found) = found {
            return line.get(found..).unwrap_or(rest);
        }
    }
    klog(line).unwrap_or(line)
}

/// `I0621 07:12:47.123456       1 file.go:12] MESSAGE`.
fn klog(line: &[u8]) -> Option<&[u8]> {
    let [b'I' | b'W' | b'E' | b'F', digits @ ..] = line else {
        return None;
    };
    let is_date = digits.first_chunk::<4>()?.iter().all(u8::is_ascii_digit);
    let end = memmem::find(line.get(..160).unwrap_or(line), b"] ")?;
    is_date.then(|| line.get(end + 2..)).flatten()
}

fn keep(partial: &mut Vec<u8>, text: &[u8]) {
    let room = MAX_PARTIAL.saturating_sub(partial.len());
    partial.extend_from_slice(text.get(..room).unwrap_or(text));
}

/// All parts of a message, in `whole`.
fn join<'l>(partial: &mut Vec<u8>, whole: &'l mut Vec<u8>, last: &[u8]) -> &'l [u8] {
    keep(partial, last);
    whole.clear();
    let start = partial.len() - own(partial).len();
    whole.extend(partial.drain(..).skip(start));
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUERY: &str = r#"[INFO] 10.0.0.7:40 - 9 "A IN a. udp 20 false 512" NOERROR qr 40 0.1s"#;

    /// The message of the last line, and whether it has a time and a pod.
    fn check(lines: &[String], has_time: bool, pod: Option<&str>) {
        let mut wrapper = Wrapper::default();
        let (last, before) = lines.split_last().unwrap();
        for line in before {
            assert!(wrapper.message(line.as_bytes()).is_none(), "{line}");
        }
        let found = wrapper.message(last.as_bytes()).unwrap();
        assert_eq!(String::from_utf8_lossy(found.text), QUERY, "{last}");
        assert_eq!(found.time.is_some(), has_time, "{last}");
        assert_eq!(found.pod, pod.map(str::as_bytes), "{last}");
    }

    #[test]
    fn messages_come_out_of_every_wrapper() {
        let time = "2026-11-21T02:07:12.831987544Z";
        let json = serde_json::to_string(QUERY).unwrap();
        let docker = serde_json::to_string(&format!("{QUERY}\n")).unwrap();
        for (line, has_time, pod) in [
            (QUERY.to_owned(), false, None),
            (format!("{time} {QUERY}"), true, None),
            (format!("{time} stdout F {QUERY}"), true, None),
            (
                format!("[pod/coredns-1/coredns] {QUERY}"),
                false,
                Some("coredns-1"),
            ),
            (
                format!("[pod/coredns-1/coredns] {time} {QUERY}"),
                true,
                Some("coredns-1"),
            ),
            (
                format!(r#"{{"log":{docker},"stream":"stdout","time":"{time}"}}"#),
                true,
                None,
            ),
            (
                format!(r#"{{"MESSAGE":{json},"__REALTIME_TIMESTAMP":"1795226832000000"}}"#),
                true,
                None,
            ),
            (
                format!(
                    r#"{{"message":{json},"kubernetes":{{"pod_name":"c-2"}},"timestamp":"{time}"}}"#
                ),
                true,
                Some("c-2"),
            ),
            (
                format!("I1121 02:07:12.831987       1 log.go:184] {QUERY}"),
                false,
                None,
            ),
            (
                format!("Nov 21 02:07:12 node coredns[812]: {QUERY}"),
                false,
                None,
            ),
            (
                format!("2026-11-21T02:07:12+0000 node coredns[812]: {QUERY}"),
                true,
                None,
            ),
            (format!("2018/07/11 07:12:47 {QUERY}"), true, None),
        ] {
            check(&[line], has_time, pod);
        }
    }

    #[test]
    fn parts_are_joined() {
        let time = "2026-11-21T02:07:12.831987544Z";
        let (one, two) = QUERY.split_at(33);
        let cri = [
            format!("{time} stdout P {one}"),
            format!("{time} stdout F {two}"),
        ];
        check(&cri, true, None);
        let docker = |text: &str| {
            let text = serde_json::to_string(text).unwrap();
            format!(r#"{{"log":{text},"stream":"stdout","time":"{time}"}}"#)
        };
        check(&[docker(one), docker(&format!("{two}\n"))], true, None);
        let export = [
            "__CURSOR=s=1",
            "__REALTIME_TIMESTAMP=1795226832000000",
            "_PID=7",
        ];
        let mut export = export.map(str::to_owned).to_vec();
        export.push(format!("MESSAGE={QUERY}"));
        check(&export, true, None);
    }
}
