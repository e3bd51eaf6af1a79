//! Reads which runtime writes the files of a node's pods, and which release it is.

use crate::host::node::place::{Inside, Place};
use crate::host::node::processes::{Directory, ProcessSeen};
use crate::host::node::programs::{self, VersionFound};
use crate::host::root::Root;
use crate::kubelet::{Found, Kubelet};
use crate::node::Maker;
use crate::pod::{self, Runtime, RuntimeKind};
use crate::program::release::{CONTAINERD, CRI_O, Product};

/// How a runtime is found on a node.
struct Traces {
    kind: RuntimeKind,
    /// The names of its processes.
    processes: &'static [&'static str],
    /// Its program, where packages put it.
    programs: &'static [&'static str],
    /// The names of Debian's packages that have it.
    packages: &'static [&'static str],
    /// What its program is; Docker's version decides nothing.
    product: Option<&'static Product>,
}

/// cri-dockerd comes first: Docker has a containerd, too.
const TRACES: [Traces; 3] = [
    Traces {
        kind: RuntimeKind::Docker,
        processes: &["cri-dockerd"],
        programs: &[],
        packages: &[],
        product: None,
    },
    Traces {
        kind: RuntimeKind::CriO,
        processes: &["crio"],
        programs: &["/usr/bin/crio", "/usr/local/bin/crio"],
        packages: &["cri-o"],
        product: Some(&CRI_O),
    },
    Traces {
        kind: RuntimeKind::Containerd,
        processes: &["containerd"],
        programs: &["/usr/bin/containerd", "/usr/local/bin/containerd"],
        packages: &["containerd", "containerd.io"],
        product: Some(&CONTAINERD),
    },
];

/// The runtime that the kubelet's settings name, else the one that runs.
pub fn read_runtime(root: &Root, processes: &[ProcessSeen], kubelet: Option<&Kubelet>) -> Maker {
    let node = Inside::of_processes(root, processes);
    let process = |traces: &Traces| {
        let is_named =
            |it: &&ProcessSeen| traces.processes.contains(&it.comm.as_str()) && !it.is_zombie;
        let mut named = processes.iter().filter(is_named);
        named.find(|it| node.place(it) == Place::Node)
    };
    let named = kubelet.and_then(|it| named(root, it));
    let running = || {
        let runs = |it: &&Traces| process(it).is_some();
        Some(TRACES.iter().find(runs)?.kind)
    };
    let Some(kind) = named.or_else(running) else {
        return Maker::default();
    };
    let traces = TRACES.iter().find(|it| it.kind == kind);
    let found = traces.and_then(|it| version(root, it, process(it)));
    Maker {
        runtime: Runtime {
            kind,
            version: found.as_ref().map(|it| it.0),
        },
        version_from: found.map(|it| it.1),
    }
}

/// The runtime that the kubelet's settings name.
fn named(root: &Root, kubelet: &Kubelet) -> Option<RuntimeKind> {
    let kind = pod::arguments::of_endpoint(&kubelet.runtime_endpoint.value);
    if kind.is_some() {
        return kind;
    }
    let Found::Process { comm, .. } = &kubelet.found else {
        return None;
    };
    let arguments = super::kubelet::arguments(root, kubelet);
    let is_docker =
        comm == "kubelet" && pod::arguments::has_dockershim(&arguments, kubelet.version);
    is_docker.then_some(RuntimeKind::Docker)
}

/// The release: that of the program that runs, else of the one that is there.
fn version(root: &Root, traces: &Traces, process: Option<&ProcessSeen>) -> Option<VersionFound> {
    let product = traces.product?;
    let of_file = |path: &&str| programs::of_file(root, path, product);
    process
        .and_then(|it| programs::of_process(root, &Directory::of_seen(root, it)?, product))
        .or_else(|| traces.programs.iter().find_map(of_file))
        .or_else(|| programs::of_package(root, traces.packages))
        .or_else(|| programs::of_logs(root, product))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::root::fixture::root_with;
    use crate::kubelet::Version;

    const CONTAINERD_FILE: &[u8] = include_bytes!("../../../testdata/elf/containerd");
    const PACKAGE: &[u8] =
        b"Package: runc\nStatus: install ok installed\nVersion: 1.1.5\n\nPackage: containerd\n\
          Status: install ok installed\nVersion: 1.7.24~ds1-6\n";
    const LOG: &[u8] =
        b"Nov 23 x containerd[8]: time=\"y\" level=info msg=\"starting containerd\" \
                         revision=z version=v2.1.4\n";

    fn check(files: &[(&str, &[u8])], expected: Option<(Version, &str)>) {
        let (_directory, root) = root_with(files);
        let kubelet = Kubelet {
            runtime_endpoint: crate::kubelet::Setting::built_in(
                "unix:///run/containerd/containerd.sock".to_owned(),
            ),
            ..pod::assumed_kubelet()
        };
        let maker = read_runtime(&root, &[], Some(&kubelet));
        let found = maker.runtime.version.zip(maker.version_from);
        let expected = expected.map(|(version, from)| (version, from.to_owned()));
        assert_eq!(found, expected);
    }

    #[test]
    fn the_program_tells_before_its_package_and_that_before_logs() {
        let file = ("/usr/bin/containerd", CONTAINERD_FILE);
        let package = ("/var/lib/dpkg/status", PACKAGE);
        let log = ("/var/log/syslog", LOG);
        let of = Version::release;
        check(
            &[file, package, log],
            Some((of(1, 6, 20), "/usr/bin/containerd")),
        );
        check(
            &[package, log],
            Some((of(1, 7, 24), "/var/lib/dpkg/status")),
        );
        check(&[log], Some((of(2, 1, 4), "/var/log/syslog")));
        check(&[], None);
        let script = ("/usr/bin/containerd", &b"#!/bin/sh\n"[..]);
        check(&[script, log], Some((of(2, 1, 4), "/var/log/syslog")));
    }
}
