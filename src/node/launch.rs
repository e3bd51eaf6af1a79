//! How a container is started, as its runtime wrote it down: its command line
//! and what is mounted into it.

use std::collections::BTreeMap;

use memchr::memmem;
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
    mounts: Vec<MountWritten>,
    #[serde(rename = "Path")]
    path: Option<String>,
    #[serde(rename = "Args")]
    arguments: Option<Vec<String>>,
    #[serde(rename = "Config")]
    config: Option<DockerConfig>,
    #[serde(rename = "MountPoints")]
    mount_points: Option<BTreeMap<String, MountWritten>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Process {
    args: Vec<String>,
    cwd: String,
}

/// OCI has the names in small letters, Docker not.
#[derive(Default, Deserialize)]
#[serde(default)]
struct MountWritten {
    #[serde(alias = "Destination")]
    destination: String,
    #[serde(alias = "Source")]
    source: String,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
struct DockerConfig {
    working_dir: String,
}

/// What containerd adds to a container's specification.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Annotations {
    #[serde(rename = "io.kubernetes.cri.container-name")]
    name: String,
    #[serde(rename = "io.kubernetes.cri.sandbox-id")]
    sandbox: String,
}

/// A specification in containerd's database.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Kept {
    annotations: Annotations,
    #[serde(flatten)]
    written: Written,
}

/// How a specification begins: Go writes the fields in the order of its type.
///
/// Source: opencontainers/runtime-spec, specs-go/config.go: Spec.
const BEGINNING: &[u8] = b"{\"ociVersion\":";

/// How the containers of this name in a sandbox are started, as a part of
/// containerd's `meta.db` says. A value there is in one piece, and never changes
/// while its container is there; what was taken out can still be found.
///
/// Source: containerd, core/metadata/containers.go `writeContainer`; etcd-io/bbolt,
/// page.go: a value that is longer than a page goes on in the next ones.
pub fn in_database(part: &[u8], sandbox: &str, name: &str) -> Vec<Launch> {
    let mut found = Vec::new();
    let mut starts = memmem::find_iter(part, BEGINNING).peekable();
    while let Some(start) = starts.next() {
        let end = starts.peek().copied().unwrap_or(part.len());
        let text = part.get(start..end).unwrap_or_default();
        if memmem::find(text, sandbox.as_bytes()).is_none() {
            continue;
        }
        let mut values = serde_json::Deserializer::from_slice(text).into_iter::<Kept>();
        if let Some(Ok(kept)) = values.next()
            && kept.annotations.sandbox == sandbox
            && kept.annotations.name == name
        {
            found.push(launch(kept.written));
        }
    }
    found
}

/// Reads the file in which a runtime keeps a container; `None`: it is another
/// one.
pub fn parse_launch(text: &[u8]) -> Option<Launch> {
    serde_json::from_slice(text).ok().map(launch)
}

fn launch(written: Written) -> Launch {
    let process = written.process.unwrap_or_default();
    let of_docker = written.path.into_iter();
    let of_docker = of_docker.chain(written.arguments.into_iter().flatten());
    let points = written.mount_points.unwrap_or_default().into_values();
    let mounts = written.mounts.into_iter().chain(points);
    // File systems of the kernel have a name in place of a source.
    let mounts = mounts.filter(|it| it.source.starts_with('/'));
    let mount = |it: MountWritten| Mount {
        point: it.destination,
        source: it.source,
    };
    let directory = written.config.map(|it| it.working_dir);
    Launch {
        arguments: process.args.into_iter().chain(of_docker).collect(),
        directory: directory.unwrap_or(process.cwd),
        mounts: mounts.map(mount).collect(),
    }
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
    fn a_database_says_how_containers_were_started() {
        let spec = |sandbox: &str, name: &str, conf: &str| {
            format!(
                r#"{{"ociVersion":"1.0.2","process":{{"args":["/coredns","-conf","{conf}"],"cwd":"/"}},
                "mounts":[{{"destination":"/etc/coredns","source":"/opt/dns"}}],"annotations":
                {{"io.kubernetes.cri.container-name":"{name}","io.kubernetes.cri.sandbox-id":"{sandbox}"}}}}"#
            )
        };
        let keys = b"\0\x01spec\nH2types.containerd.io/opencontainers/runtime-spec/1/Spec\x12";
        let mut part = b"...ions\":{}}}".to_vec();
        for (sandbox, name, conf) in [
            ("s1", "coredns", "/a"),
            ("s2", "coredns", "/b"),
            ("s1", "other", "/c"),
            ("s1", "coredns", "/d"),
        ] {
            part.extend(keys);
            part.extend(spec(sandbox, name, conf).bytes());
            part.extend([b'}', 0, 255]);
        }
        part.extend(&spec("s1", "coredns", "/cut").as_bytes()[..150]);
        let found = in_database(&part, "s1", "coredns");
        let confs: Vec<&str> = found.iter().map(|it| it.arguments[2].as_str()).collect();
        assert_eq!(confs, ["/a", "/d"]);
        assert_eq!(found[0].mounts, mounts(&[("/opt/dns", "/etc/coredns")]));
        assert!(in_database(&part, "s3", "coredns").is_empty());
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
