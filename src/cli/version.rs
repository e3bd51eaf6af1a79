//! Versions of the kubelet and of runtimes as options.

use crate::kubelet::Version;
use crate::pod::{Runtime, RuntimeKind};
use crate::text::escaped;

/// `1.29`, `v1.29.3`, `v1.29.3+k3s1`.
pub(super) fn parse_version(text: &str) -> Result<Version, String> {
    version(text, "1.29 or v1.29.3")
}

/// `example` is what would be one.
fn version(text: &str, example: &str) -> Result<Version, String> {
    text.parse().map_err(|()| {
        let shown = escaped(text.as_bytes());
        format!("`{shown}` is no version; {example} would be")
    })
}

/// `containerd`, `containerd@1.6.20`, `containerd://1.6.20` as kubectl prints it.
pub(super) fn parse_runtime(text: &str) -> Result<Runtime, String> {
    let parts = text.split_once("://").or_else(|| text.split_once('@'));
    let (name, version) = parts.map_or((text, None), |(name, version)| (name, Some(version)));
    let (kind, example) = match name {
        "containerd" => (RuntimeKind::Containerd, "containerd@1.6.20"),
        "cri-o" | "crio" => (RuntimeKind::CriO, "cri-o@1.28.1"),
        "docker" => (RuntimeKind::Docker, "docker@20.10"),
        _ => return Err("a runtime is containerd, cri-o or docker".to_owned()),
    };
    Ok(Runtime {
        kind,
        version: version.map(|it| self::version(it, example)).transpose()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_as_tools_print_them() {
        let check = |text: &str, expected: Option<(u32, u32, u32)>| {
            let found = parse_version(text).ok();
            let found = found.map(|it| (it.major, it.minor, it.patch.unwrap_or(0)));
            assert_eq!(found, expected, "{text}");
        };
        check("1.29", Some((1, 29, 0)));
        check("v1.29.3", Some((1, 29, 3)));
        check("v1.29.3+k3s1", Some((1, 29, 3)));
        check("1.20.2-rc.1", Some((1, 20, 2)));
        check("1.6.20~ds1", Some((1, 6, 20)));
        for wrong in [
            "",
            "v",
            "1",
            "1.",
            "1.2.3.4",
            "1.x",
            "1.2a",
            "-1.2",
            "1.99999999999",
            "1.29\u{1b}[31m",
            "1.29+\u{202e}",
            "1.29 ",
            "1.29/x",
        ] {
            check(wrong, None);
        }
    }

    #[test]
    fn runtimes_are_read_as_kubectl_prints_them() {
        let check = |text: &str, expected: Option<(RuntimeKind, Option<u32>)>| {
            let found = parse_runtime(text).ok();
            let found = found.map(|it| (it.kind, it.version.map(|version| version.minor)));
            assert_eq!(found, expected, "{text}");
        };
        check("containerd", Some((RuntimeKind::Containerd, None)));
        check(
            "containerd@1.6.20",
            Some((RuntimeKind::Containerd, Some(6))),
        );
        check("cri-o://1.28.1", Some((RuntimeKind::CriO, Some(28))));
        check("docker@20.10", Some((RuntimeKind::Docker, Some(10))));
        check("podman", None);
        check("containerd@new", None);
        check("containerd@", None);
        let error = parse_runtime("containerd@").unwrap_err();
        assert_eq!(error, "`` is no version; containerd@1.6.20 would be");
    }
}
