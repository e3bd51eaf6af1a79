//! The names of log files and directories, which say whose they are.
//!
//! Source: kubelet `pkg/kubelet/kuberuntime/helpers.go`
//! `BuildPodLogsDirectory`, `buildContainerLogsPath`, and `legacy.go`
//! `LegacySymlink`.

use super::cgroup::is_id;
use crate::order::Order as _;
use crate::text::Source;

/// Whose a directory in `/var/log/pods` is: `NAMESPACE_NAME_UID`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Owner {
    /// The pod's namespace.
    pub namespace: String,
    /// The pod's name.
    pub name: String,
    /// The pod's uid.
    pub uid: String,
}

/// Whose a link in `/var/log/containers` is:
/// `NAME_NAMESPACE_CONTAINER-ID.log`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Link {
    /// The pod's name.
    pub name: String,
    /// The pod's namespace.
    pub namespace: String,
    /// The container's name in the pod's spec.
    pub container: String,
    /// Its id.
    pub id: String,
}

/// The owner of a directory, by the last part of its path.
pub fn pod(path: &str) -> Option<Owner> {
    let directory = path.trim_end_matches('/').rsplit('/').next()?;
    let mut parts = directory.splitn(3, '_').map(str::to_owned);
    let owner = Owner {
        namespace: parts.next()?,
        name: parts.next()?,
        uid: parts.next()?,
    };
    let is_whole = !owner.namespace.is_empty() && !owner.name.is_empty() && !owner.uid.is_empty();
    is_whole.then_some(owner)
}

/// What the name of a link in `/var/log/containers` says.
pub fn link(name: &str) -> Option<Link> {
    let mut parts = name.strip_suffix(".log")?.splitn(3, '_');
    let (name, namespace, rest) = (parts.next()?, parts.next()?, parts.next()?);
    let (container, id) = rest.rsplit_once('-')?;
    is_id(id).then(|| Link {
        name: name.to_owned(),
        namespace: namespace.to_owned(),
        container: container.to_owned(),
        id: id.to_owned(),
    })
}

/// Which start of the container a log is of, from 0: `2.log`, and rotated
/// `2.log.20260102-150405.gz`.
pub fn start(name: &str) -> Option<u32> {
    let (number, rest) = name.split_once('.')?;
    let is_log = rest == "log" || rest.starts_with("log.");
    number.parse().ok().filter(|_| is_log)
}

/// The logs of the last two starts that are not rotated away, newest first.
pub fn newest<'n>(names: &[&'n str]) -> Vec<&'n str> {
    let mut logs: Vec<(u32, &str)> = names
        .iter()
        .filter(|name| name.rsplit_once('.').is_some_and(|(_, rest)| rest == "log"))
        .filter_map(|name| Some((start(name)?, *name)))
        .collect();
    logs.order_by(|a, b| b.cmp(a));
    logs.into_iter().take(2).map(|(_, name)| name).collect()
}

/// The newest part of the log `name` that was rotated away and is not packed yet.
///
/// Source: kubelet `pkg/kubelet/logs/container_log_manager.go` `rotateLatestLog`, which
/// packs all but that one.
pub fn rotated<'n>(names: &[&'n str], name: &str) -> Option<&'n str> {
    let is_part = |it: &&&str| {
        let time = it.strip_prefix(name).and_then(|it| it.strip_prefix('.'));
        time.is_some_and(|it| it.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-'))
    };
    names.iter().filter(is_part).max().copied()
}

/// The time of the first line of a container's log, as the runtime wrote it.
/// Texts of one runtime compare as their times do.
///
/// Source: kubernetes `pkg/kubelet/kuberuntime/logs/logs.go: parseCRILog`.
pub fn first_time(log: &Source) -> Option<&str> {
    time(log.bytes.split(|&byte| byte == b'\n').next()?)
}

/// The time of the last line of a container's log.
pub fn last_time(log: &Source) -> Option<&str> {
    let mut lines = log.bytes.rsplit(|&byte| byte == b'\n');
    time(lines.find(|line| !line.is_empty())?)
}

/// `2026-01-02T15:04:05.000000001Z stdout F text`.
fn time(line: &[u8]) -> Option<&str> {
    let mut words = line.split(|&byte| byte == b' ');
    let time = std::str::from_utf8(words.next()?).ok()?;
    let is_stream = matches!(words.next()?, b"stdout" | b"stderr");
    let is_time = time.len() > 18 && time.get(10..11) == Some("T");
    (is_stream && is_time && time.is_ascii()).then_some(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_times() {
        let check = |text: &str, expected: Option<(&str, &str)>| {
            let log = Source::new("l", text);
            assert_eq!(first_time(&log).zip(last_time(&log)), expected, "{text}");
        };
        let (first, last) = ("2026-01-02T15:04:05.1Z", "2026-01-02T15:04:06.1Z");
        let text = format!("{first} stdout F a\n{last} stderr F b\n");
        check(&text, Some((first, last)));
        let seconds = "2026-01-02T15:04:05";
        check(&format!("{seconds} stdout F a\n"), Some((seconds, seconds)));
        check("2026-01-02T15:04:0 stdout F a\n", None);
        check("", None);
        check("plain text\n", None);
        check(&format!("{first} stdin F a\n"), None);
    }

    #[test]
    fn names_say_whose_they_are() {
        for (name, expected) in [
            (
                "kube-system_coredns-57_6fbd",
                Some(["kube-system", "coredns-57", "6fbd"]),
            ),
            ("/var/log/pods/a_b_c/", Some(["a", "b", "c"])),
            ("a_b", None),
            ("a__c", None),
            ("", None),
        ] {
            let owner = pod(name).map(|it| [it.namespace, it.name, it.uid]);
            assert_eq!(owner, expected.map(|it| it.map(str::to_owned)), "{name}");
        }
        let id = "f3c2d1b98413cc66d7b32f17ff03264eb1d157942ddaf68983e57b3f9a6af0f0";
        let found = link(&format!("coredns-57_kube-system_a-b-{id}.log")).unwrap();
        assert_eq!(
            [found.name, found.namespace, found.container],
            ["coredns-57", "kube-system", "a-b"]
        );
        assert_eq!(found.id, id);
        assert_eq!(link("a_b_c-d.log"), None);
    }

    #[test]
    fn logs_count_starts() {
        for (name, expected) in [
            ("0.log", Some(0)),
            ("12.log.20260102-150405.gz", Some(12)),
            ("a.log", None),
            ("1.logs", None),
            ("99999999999.log", None),
        ] {
            assert_eq!(start(name), expected, "{name}");
        }
        let names = ["10.log", "2.log", "9.log", "9.log.20260102-150405"];
        assert_eq!(newest(&names), ["10.log", "9.log"]);
        let names = [
            "0.log",
            "0.log.20260101-150405.gz",
            "0.log.20260102-150405",
            "0.log.20260102-150405.tmp",
            "0.log.20251231-150405",
            "10.log.20260103-150405",
        ];
        assert_eq!(rotated(&names, "0.log"), Some("0.log.20260102-150405"));
        assert_eq!(rotated(&names, "1.log"), None);
    }
}
