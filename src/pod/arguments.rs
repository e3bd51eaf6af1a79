//! What the kubelet's arguments say that only pods' files need.

use std::net::IpAddr;

use crate::kubelet::Version;
use crate::pod::RuntimeKind;

/// The addresses of `--node-ip`; none without it. They decide the loopback
/// servers of an empty `resolvConf`.
///
/// Source: kubernetes `pkg/util/node: ParseNodeIPArgument`.
pub fn node_ips(arguments: &[String]) -> Vec<IpAddr> {
    let words = last(arguments, "node-ip").unwrap_or_default().split(',');
    words.filter_map(|word| word.trim().parse().ok()).collect()
}

/// The runtime that the arguments of a process called `kubelet` name. Up to
/// 1.23 it is Docker unless they say something else.
///
/// Source: kubernetes `cmd/kubelet/app/options/container_runtime.go`.
pub fn runtime(arguments: &[String], version: Option<Version>) -> Option<RuntimeKind> {
    let endpoint = last(arguments, "container-runtime-endpoint").unwrap_or_default();
    let endpoints = [
        ("dockerd", RuntimeKind::Docker),
        ("dockershim", RuntimeKind::Docker),
        ("crio", RuntimeKind::CriO),
        ("containerd", RuntimeKind::Containerd),
    ];
    let known = endpoints.iter().find(|(part, _)| endpoint.contains(part));
    if let Some((_, kind)) = known {
        return Some(*kind);
    }
    let has_dockershim = version.is_some_and(|it| it < Version::minor(1, 24));
    let is_remote = last(arguments, "container-runtime") == Some("remote");
    (has_dockershim && !is_remote).then_some(RuntimeKind::Docker)
}

/// The value of the last flag with this name; `_` in it is as good as `-`.
fn last<'a>(arguments: &'a [String], name: &str) -> Option<&'a str> {
    let is_it = |argument: &str| {
        let flag = argument.strip_prefix("--");
        flag.is_some_and(|flag| flag.replace('_', "-") == name)
    };
    let mut value = None;
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.split_once('=') {
            Some((flag, given)) if is_it(flag) => value = Some(given),
            None if is_it(argument) => value = rest.next().map(String::as_str),
            _ => {}
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(words: &[&str]) -> Vec<String> {
        words.iter().map(|&it| it.to_owned()).collect()
    }

    #[test]
    fn the_last_node_ip_counts() {
        let check = |words: &[&str], expected: &[&str]| {
            let expected: Vec<IpAddr> = expected.iter().map(|it| it.parse().unwrap()).collect();
            assert_eq!(node_ips(&arguments(words)), expected, "{words:?}");
        };
        check(&["kubelet"], &[]);
        check(&["--node-ip=10.0.0.1"], &["10.0.0.1"]);
        check(
            &["--node_ip", "10.0.0.1,fd00::1", "-v"],
            &["10.0.0.1", "fd00::1"],
        );
        check(&["--node-ip=10.0.0.1", "--node-ip=::"], &["::"]);
        check(&["--node-ip=x", "--node-ips=10.0.0.1", "--node-ip"], &[]);
    }

    #[test]
    fn the_endpoint_names_the_runtime() {
        let check = |words: &[&str], minor: u32, expected: Option<RuntimeKind>| {
            let version = (minor > 0).then(|| Version::minor(1, minor));
            let found = runtime(&arguments(words), version);
            assert_eq!(found, expected, "{words:?} 1.{minor}");
        };
        let endpoint = |path: &str| format!("--container-runtime-endpoint=unix://{path}");
        let containerd = endpoint("/run/k3s/containerd/containerd.sock");
        check(&[&containerd], 20, Some(RuntimeKind::Containerd));
        check(
            &[&endpoint("/var/run/crio/crio.sock")],
            0,
            Some(RuntimeKind::CriO),
        );
        check(
            &[&endpoint("/var/run/cri-dockerd.sock")],
            30,
            Some(RuntimeKind::Docker),
        );
        check(&["kubelet"], 23, Some(RuntimeKind::Docker));
        check(&["kubelet"], 24, None);
        check(&["kubelet"], 0, None);
        check(&["--container-runtime", "remote"], 20, None);
    }
}
