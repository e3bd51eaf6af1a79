//! How a container is started, as its runtime wrote it down: its command line
//! and what is mounted into it.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::mountinfo::Mount;

/// How a container is started.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Launch {
    /// Its arguments, the program first.
    pub arguments: Vec<String>,
    /// Its working directory.
    pub directory: String,
    /// The directories and files of the node that are mounted into it.
    pub mounts: Vec<Mount>,
}

/// The parts of an OCI bundle's `config.json` and of Docker's `config.v2.json`
/// that say so.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Written {
    process: Option<Process>,
    mounts: Vec<OciMount>,
    #[serde(rename = "Path")]
    path: Option<String>,
    #[serde(rename = "Args")]
    arguments: Option<Vec<String>>,
    #[serde(rename = "Config")]
    config: Option<DockerConfig>,
    #[serde(rename = "MountPoints")]
    mount_points: Option<BTreeMap<String, DockerMount>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Process {
    args: Vec<String>,
    cwd: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct OciMount {
    destination: String,
    source: String,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
struct DockerConfig {
    working_dir: String,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
struct DockerMount {
    source: String,
    destination: String,
}

/// Reads the file in which a runtime keeps a container; `None`: it is another
/// one.
pub fn parse_launch(text: &[u8]) -> Option<Launch> {
    let written: Written = serde_json::from_slice(text).ok()?;
    let process = written.process.unwrap_or_default();
    let of_docker = written.path.into_iter();
    let of_docker = of_docker.chain(written.arguments.into_iter().flatten());
    let of_docker_mounts = written.mount_points.unwrap_or_default().into_values();
    let mounts = written
        .mounts
        .into_iter()
        .map(|it| (it.source, it.destination));
    let mounts = mounts.chain(of_docker_mounts.map(|it| (it.source, it.destination)));
    // File systems of the kernel have a name in place of a source.
    let mounts = mounts.filter(|(source, _)| source.starts_with('/'));
    let directory = written.config.map(|it| it.working_dir);
    Some(Launch {
        arguments: process.args.into_iter().chain(of_docker).collect(),
        directory: directory.unwrap_or(process.cwd),
        mounts: mounts
            .map(|(source, point)| Mount { point, source })
            .collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kubelet::effective::absolute;

    fn mounts(list: &[(&str, &str)]) -> Vec<Mount> {
        let mount = |(source, point): &(&str, &str)| Mount {
            source: (*source).to_owned(),
            point: (*point).to_owned(),
        };
        list.iter().map(mount).collect()
    }

    #[test]
    fn a_bundle_says_how_it_is_started() {
        let text =
            br#"{"process": {"args": ["/coredns", "-conf", "/x"], "cwd": "/root", "env": []},
            "mounts": [{"destination": "/proc", "type": "proc", "source": "proc"},
                       {"destination": "/x", "type": "bind", "source": "/opt/x"}]}"#;
        let expected = Launch {
            arguments: ["/coredns", "-conf", "/x"].map(str::to_owned).to_vec(),
            directory: "/root".to_owned(),
            mounts: mounts(&[("/opt/x", "/x")]),
        };
        assert_eq!(parse_launch(text), Some(expected));
        let text =
            br#"{"Path": "/coredns", "Args": ["-conf", "/x"], "Config": {"WorkingDir": "/w"},
            "MountPoints": {"/x": {"Source": "/opt/x", "Destination": "/x"}}}"#;
        let docker = parse_launch(text).unwrap();
        assert_eq!(docker.arguments, ["/coredns", "-conf", "/x"]);
        assert_eq!(
            (docker.directory.as_str(), docker.mounts),
            ("/w", mounts(&[("/opt/x", "/x")]))
        );
        assert_eq!(parse_launch(b"{}"), Some(Launch::default()));
        assert_eq!(parse_launch(b"[1"), None);
    }

    #[test]
    fn paths_begin_in_the_working_directory() {
        for (directory, path, expected) in [
            ("/", "Corefile", "/Corefile"),
            ("/a/b", "../c/./d", "/a/c/d"),
            ("/a", "/b//c", "/b/c"),
            ("", "../..", "/"),
        ] {
            assert_eq!(absolute(directory, path), expected);
        }
    }
}
