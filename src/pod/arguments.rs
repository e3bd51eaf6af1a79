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

/// The runtime that listens at an endpoint such as
/// `unix:///run/containerd/containerd.sock`.
pub fn of_endpoint(endpoint: &str) -> Option<RuntimeKind> {
    let endpoints = [
        ("dockerd", RuntimeKind::Docker),
        ("dockershim", RuntimeKind::Docker),
        ("crio", RuntimeKind::CriO),
        ("containerd", RuntimeKind::Containerd),
    ];
    let known = endpoints.iter().find(|(part, _)| endpoint.contains(part));
    known.map(|it| it.1)
}

/// Whether a process called `kubelet` whose settings name no endpoint has
/// Docker for its runtime: up to 1.23, unless its arguments say something else.
///
/// Source: kubernetes `cmd/kubelet/app/options/container_runtime.go`.
pub fn has_dockershim(arguments: &[String], version: Option<Version>) -> bool {
    let is_old = version.is_some_and(|it| it < Version::minor(1, 24));
    is_old && last(arguments, "container-runtime") != Some("remote")
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
        let check = |endpoint: &str, expected: Option<RuntimeKind>| {
            assert_eq!(of_endpoint(endpoint), expected, "{endpoint}");
        };
        let containerd = "unix:///run/k3s/containerd/containerd.sock";
        check(containerd, Some(RuntimeKind::Containerd));
        check("unix:///var/run/crio/crio.sock", Some(RuntimeKind::CriO));
        check("/var/run/cri-dockerd.sock", Some(RuntimeKind::Docker));
        check("", None);
    }

    #[test]
    fn old_kubelets_have_docker_inside() {
        let check = |words: &[&str], minor: u32, expected: bool| {
            let version = (minor > 0).then(|| Version::minor(1, minor));
            let found = has_dockershim(&arguments(words), version);
            assert_eq!(found, expected, "{words:?} 1.{minor}");
        };
        check(&["kubelet"], 23, true);
        check(&["kubelet"], 24, false);
        check(&["kubelet"], 0, false);
        check(&["--container-runtime", "remote"], 20, false);
    }
}
