//! Reads the Corefiles of a node that belong to none of its pods.

use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::config::corefile::{in_manifest, parse};
use crate::host::root::Root;
use crate::text::{Source, escaped};

/// Where a CoreDNS that runs on the node itself has its Corefile; AKS writes
/// the second of its two when it starts.
///
/// Source: Azure/AgentBaker parts/linux/cloud-init/artifacts/localdns.sh.
const COREFILES: [&str; 3] = [
    "/etc/coredns/Corefile",
    "/opt/azure/containers/localdns/updated.localdns.corefile",
    "/opt/azure/containers/localdns/localdns.corefile",
];

/// Manifests from which k3s and k0s make the cluster's CoreDNS, on servers
/// and controllers.
///
/// Source: k3s `manifests/coredns.yaml`, k0s
/// `pkg/component/controller/coredns.go`.
const MANIFESTS: [&str; 2] = [
    "/var/lib/rancher/k3s/server/manifests/coredns.yaml",
    "/var/lib/k0s/manifests/coredns/coredns.yaml",
];

/// More files than this are not read for one Corefile.
const MAX_FILES: usize = 100;

/// The Corefile and what it imports, the Corefile first; none if the node has
/// none. With what is there and could not be read, as sentences without a
/// full stop. `stand_in` is taken for every Corefile.
pub fn read(root: &Root, stand_in: Option<&Source>) -> (Vec<Source>, Vec<String>) {
    if let Some(source) = stand_in {
        return (vec![self::stand_in(source)], Vec::new());
    }
    let mut skipped = Vec::new();
    for path in COREFILES {
        let files = at(root, path, &mut skipped);
        if !files.is_empty() {
            return (files, skipped);
        }
    }
    let manifests = MANIFESTS.iter();
    let mut found = manifests.filter_map(|path| file(root, Path::new(path), &mut skipped));
    let corefile = found.find_map(|it| in_manifest(&it));
    drop(found);
    (corefile.into_iter().collect(), skipped)
}

/// The Corefile that the caller named, or that of a manifest.
pub fn stand_in(source: &Source) -> Source {
    in_manifest(source).unwrap_or_else(|| source.clone())
}

/// The Corefile at `path` and what it imports; none if it is not there.
pub fn at(root: &Root, path: &str, skipped: &mut Vec<String>) -> Vec<Source> {
    let Some(main) = file(root, Path::new(path), skipped) else {
        return Vec::new();
    };
    let mut files = vec![main.clone()];
    let mut asked: Vec<String> = Vec::new();
    loop {
        let others = files.get(1..).unwrap_or_default();
        let parsed = parse(main.clone(), others);
        let patterns = parsed.imports.into_iter().map(|it| it.pattern);
        let new: Vec<String> = patterns.filter(|it| !asked.contains(it)).collect();
        if new.is_empty() {
            return files;
        }
        for pattern in &new {
            for path in glob(root, pattern) {
                if files.len() == MAX_FILES {
                    let shown = escaped(pattern.as_bytes());
                    skipped.push(format!("{shown} names more files than kdns reads"));
                    return files;
                }
                files.extend(file(root, &path, skipped));
            }
        }
        asked.extend(new);
    }
}

fn file(root: &Root, path: &Path, skipped: &mut Vec<String>) -> Option<Source> {
    match root.read_if_there(path) {
        Ok(file) => {
            let file = file?;
            if file.is_cut {
                let name = &file.source.name;
                skipped.push(format!("Only the first 1 MiB of {name} was read"));
            }
            Some(file.source)
        }
        Err(error) => {
            skipped.push(sentence(&error.to_string()));
            None
        }
    }
}

/// With a capital letter.
fn sentence(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(characters).collect()
}

/// The files that a pattern from the root can name: every one in a directory
/// where its last part has a wildcard. The parser picks among them.
fn glob(root: &Root, pattern: &str) -> Vec<PathBuf> {
    let path = Path::new(pattern);
    let has_wildcard = |text: &[u8]| text.iter().any(|byte| matches!(byte, b'*' | b'?'));
    let (Some(directory), Some(last)) = (path.parent(), path.file_name()) else {
        return Vec::new();
    };
    if !path.is_absolute() || has_wildcard(directory.as_os_str().as_bytes()) {
        return Vec::new();
    }
    if !has_wildcard(last.as_bytes()) {
        return vec![path.to_owned()];
    }
    let names = root.list(directory).unwrap_or_default();
    let ends = last.as_bytes().rsplit(|byte| matches!(byte, b'*' | b'?'));
    let ending = ends.into_iter().next().unwrap_or_default();
    let fitting = names
        .iter()
        .filter(|name| name.as_bytes().ends_with(ending));
    fitting.map(|name| directory.join(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::root::Resolution;

    fn check(files: &[(&str, &str)], expected: &[&str]) {
        let directory = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = directory.path().join(path.trim_start_matches('/'));
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let root = Root::below(directory.path(), Resolution::default()).unwrap();
        let (found, skipped) = read(&root, None);
        let names: Vec<&str> = found.iter().map(|it| it.name.as_str()).collect();
        assert_eq!((names.as_slice(), skipped), (expected, Vec::new()));
    }

    #[test]
    fn corefiles_come_with_their_imports() {
        check(&[], &[]);
        check(
            &[
                (
                    "/etc/coredns/Corefile",
                    "import custom/*.server\n. {\n import /x/a\n}\n",
                ),
                ("/etc/coredns/custom/b.server", "b {\n import ../c\n}\n"),
                ("/etc/coredns/custom/b.txt", ""),
                ("/etc/coredns/c", "import c\n"),
                ("/x/a", "log\n"),
            ],
            &[
                "/etc/coredns/Corefile",
                "/etc/coredns/custom/b.server",
                "/x/a",
                "/etc/coredns/c",
            ],
        );
        check(
            &[(
                "/opt/azure/containers/localdns/localdns.corefile",
                ".:53 {\n}\n",
            )],
            &["/opt/azure/containers/localdns/localdns.corefile"],
        );
        check(
            &[(
                "/var/lib/rancher/k3s/server/manifests/coredns.yaml",
                "kind: ConfigMap\ndata:\n  Corefile: |\n    .:53 {\n    }\n",
            )],
            &["/var/lib/rancher/k3s/server/manifests/coredns.yaml"],
        );
    }

    #[test]
    fn what_is_no_file_is_said() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(directory.path().join("etc/coredns/Corefile")).unwrap();
        let root = Root::below(directory.path(), Resolution::default()).unwrap();
        let (found, skipped) = read(&root, None);
        assert!(found.is_empty());
        assert!(skipped[0].starts_with("Cannot read "), "{skipped:?}");
    }
}
