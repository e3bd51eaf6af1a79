//! What a user names as a target: a process, a network namespace, a container
//! or a pod; and what that means on a node.

mod fit;
mod notice;
mod plan;
mod wanted;

pub use fit::Fit;
pub use notice::{PlanError, Warning};
pub use plan::{Door, Files, Plan, Scene, plan};
pub use wanted::{Group, Names, Wanted};

use crate::text::escaped;

/// A target as it was named.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Target {
    /// A process.
    Pid(u32),
    /// A file that keeps a network namespace; a path of the caller's own.
    File(String),
    /// The beginning of a container's or sandbox's id: at least 8 hexadecimal
    /// digits, in lower case.
    Id(String),
    /// A pod of the node; in any namespace if none is given.
    Pod {
        /// Its namespace.
        namespace: Option<String>,
        /// What its name is the name of, as for kubectl: `deploy`, `svc`; a pod
        /// without it.
        kind: Option<String>,
        /// Its name, its uid, or the beginning of its name.
        name: String,
        /// One of its containers; the first that runs if none is given.
        container: Option<String>,
    },
}

/// Why a word is no target. The sentence says all of it.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("`{word}` is no target: {reason}")]
pub struct WordError {
    /// What was given, safe to print.
    pub word: String,
    /// What is wrong with it.
    pub reason: &'static str,
}

/// Process ids have at most so many digits: the kernel's limit is 4194304.
///
/// Source: Linux `include/linux/threads.h` `PID_MAX_LIMIT`.
const MAX_PID_DIGITS: usize = 7;

/// Shorter ids are more likely names.
const MIN_ID_DIGITS: usize = 8;

/// As `kubectl describe` writes ids.
const RUNTIMES: &[&str] = &["containerd://", "cri-o://", "docker://"];

const USAGE: &str = "write a pid, a namespace's file with a `/` in front, a container's id \
    (8 digits or more), POD, NAMESPACE/POD, deploy/NAME, svc/NAME or POD:CONTAINER";

impl std::str::FromStr for Target {
    type Err = WordError;

    fn from_str(word: &str) -> Result<Self, WordError> {
        let no = |reason| WordError {
            word: escaped(word.as_bytes()),
            reason,
        };
        if let Some(id) = RUNTIMES.iter().find_map(|it| word.strip_prefix(it)) {
            let reason = "an id has 8 to 64 hexadecimal digits";
            return id_of(id).ok_or_else(|| no(reason));
        }
        if word.starts_with('/') || word.starts_with("./") || word.starts_with("../") {
            return Ok(of_process(word).unwrap_or_else(|| Self::File(word.to_owned())));
        }
        if is_digits(word) && word.len() <= MAX_PID_DIGITS {
            let pid = word.parse().ok().filter(|&pid| pid != 0);
            let reason = "the ids of processes begin at 1";
            return pid.map(Self::Pid).ok_or_else(|| no(reason));
        }
        if let Some(id) = id_of(word) {
            return Ok(id);
        }
        let (pod, container) = match word.rsplit_once(':') {
            Some((pod, container)) => (pod, Some(container)),
            None => (word, None),
        };
        let (front, name) = match pod.rsplit_once('/') {
            Some((front, name)) => (Some(front), name),
            None => (None, pod),
        };
        let (namespace, kind) = match front.map(|it| it.split_once('/').unwrap_or(("", it))) {
            Some(("", kind)) if fit::is_kind(kind) => (None, Some(kind)),
            Some(("", namespace)) => (Some(namespace), None),
            Some((namespace, kind)) if fit::is_kind(kind) => (Some(namespace), Some(kind)),
            Some(_) => return Err(no(USAGE)),
            None => (None, None),
        };
        let parts = namespace.into_iter().chain([name]).chain(container);
        if !parts.into_iter().all(is_object_name) {
            return Err(no(USAGE));
        }
        Ok(Self::Pod {
            namespace: namespace.map(str::to_owned),
            kind: kind.map(str::to_owned),
            name: name.to_owned(),
            container: container.map(str::to_owned),
        })
    }
}

/// `/proc/PID/ns/net` is the namespace of a process, whose files are at hand.
fn of_process(path: &str) -> Option<Target> {
    let pid = path.strip_prefix("/proc/")?.strip_suffix("/ns/net")?;
    let is_pid = is_digits(pid) && pid.len() <= MAX_PID_DIGITS;
    pid.parse().ok().filter(|_| is_pid).map(Target::Pid)
}

fn id_of(word: &str) -> Option<Target> {
    let is_id = (MIN_ID_DIGITS..=64).contains(&word.len())
        && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_id.then(|| Target::Id(word.to_ascii_lowercase()))
}

fn is_digits(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a namespace or pod can have this name.
///
/// Source: apimachinery `pkg/api/validation` `NameIsDNSSubdomain`.
fn is_object_name(name: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = name.as_bytes();
    let ends = [bytes.first(), bytes.last()];
    name.len() <= 253
        && ends.iter().all(|it| it.is_some_and(|&byte| is_inner(byte)))
        && bytes.iter().all(|&it| is_inner(it) || b"-.".contains(&it))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(word: &str, expected: Option<&Target>) {
        assert_eq!(word.parse::<Target>().ok().as_ref(), expected, "{word}");
    }

    #[test]
    fn words_are_told_apart() {
        let pid = |word, pid| check(word, Some(&Target::Pid(pid)));
        let file = |word: &str| check(word, Some(&Target::File(word.to_owned())));
        let id = |word, id: &str| check(word, Some(&Target::Id(id.to_owned())));
        let pod = |word, namespace: Option<&str>, name: &str| {
            let expected = Target::Pod {
                namespace: namespace.map(str::to_owned),
                kind: None,
                name: name.to_owned(),
                container: None,
            };
            check(word, Some(&expected));
        };
        pid("1", 1);
        pid("4194304", 4_194_304);
        pid("/proc/77/ns/net", 77);
        file("/proc/self/ns/net");
        file("/run/netns/a");
        file("./a");
        file("/");
        id("12345678", "12345678");
        id("deadbeef", "deadbeef");
        id("DEADBEEF", "deadbeef");
        id("containerd://DEADBEEF01", "deadbeef01");
        id(&"a".repeat(64), &"a".repeat(64));
        pod("deadbee", None, "deadbee");
        pod("deadbeefs", None, "deadbeefs");
        pod("default/1234", Some("default"), "1234");
        pod(
            "kube-system/coredns-a.b",
            Some("kube-system"),
            "coredns-a.b",
        );
        pod(&"a".repeat(65), None, &"a".repeat(65));
        let of_container = |namespace: Option<&str>| Target::Pod {
            namespace: namespace.map(str::to_owned),
            kind: None,
            name: "web".to_owned(),
            container: Some("sidecar".to_owned()),
        };
        check("shop/web:sidecar", Some(&of_container(Some("shop"))));
        check("web:sidecar", Some(&of_container(None)));
    }

    #[test]
    fn other_words_are_none() {
        for word in [
            "",
            "0",
            "0000000",
            "a/b/c",
            "a:",
            ":a",
            "a:b:c",
            "a:b/c",
            "shop/:a",
            "a/",
            "A",
            "a b",
            "-a",
            "a-",
            "docker://abc",
            "docker://nginx",
            "podman://deadbeef",
            "a\u{1b}[0m",
        ] {
            check(word, None);
        }
        check(&"z".repeat(254), None);
        let error = "a\u{1b}b".parse::<Target>().unwrap_err();
        assert!(!error.to_string().contains('\u{1b}'));
    }
}
