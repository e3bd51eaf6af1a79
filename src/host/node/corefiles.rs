//! Reads the Corefile of the cluster's CoreDNS where it belongs to none of the
//! node's pods, and what a Corefile imports.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::config::corefile::{in_manifest, parse};
use crate::config::glob;
use crate::host::node::files::{self, source};
use crate::host::root::Root;
use crate::text::{Source, escaped};

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

/// The Corefile of the cluster's CoreDNS; none if the node has none. With what
/// is there and could not be read, as sentences without a full stop.
/// `stand_in` is taken for it.
pub fn read_cluster_corefile(root: &Root, stand_in: Option<&Source>) -> (Vec<Source>, Vec<String>) {
    if let Some(given) = stand_in {
        return (vec![self::stand_in(given)], Vec::new());
    }
    let mut skipped = Vec::new();
    let manifests = MANIFESTS.iter();
    let mut found = manifests.filter_map(|path| source(root, Path::new(path), &mut skipped));
    let corefile = found.find_map(|it| in_manifest(&it));
    drop(found);
    (corefile.into_iter().collect(), skipped)
}

/// The Corefile in a file that the caller named: the file itself, or what a
/// ConfigMap in it has.
pub fn stand_in(source: &Source) -> Source {
    in_manifest(source).unwrap_or_else(|| source.clone())
}

/// Kinds of volumes that a Corefile can be in.
pub(super) const VOLUMES: [&str; 2] = ["kubernetes.io~configmap", "kubernetes.io~projected"];

/// What NodeLocal DNSCache takes from the ConfigMap kube-dns.
const OF_KUBE_DNS: [&str; 1] = ["upstreamNameservers"];

/// The Corefiles in the volumes of a pod, and with them what they import and
/// what NodeLocal DNSCache puts into its own. `directory` is the kubelet's of
/// the pod; each file has the path from which links lead to it.
///
/// Where a volume is mounted is not known here, so that an import is looked
/// for by the last part of its path in every volume.
pub fn with_imports(
    root: &Root,
    directory: &str,
    corefiles: Vec<Source>,
    skipped: &mut Vec<String>,
) -> Vec<Source> {
    let mut wanted: Vec<Vec<u8>> = OF_KUBE_DNS.map(|it| it.as_bytes().to_vec()).to_vec();
    for corefile in &corefiles {
        let imports = parse(corefile.clone(), &[]).imports;
        wanted.extend(imports.iter().map(|it| last_part(&it.pattern)));
    }
    let mut files = corefiles;
    if files.is_empty() {
        return files;
    }
    for path in in_volumes(root, Path::new(directory)) {
        let name = path.file_name().map(OsStr::as_bytes).unwrap_or_default();
        let is_wanted = wanted.iter().any(|wanted| glob::matches(wanted, name));
        let is_known = files.iter().any(|it| Path::new(&it.name) == path);
        if is_wanted && !is_known && files.len() < MAX_FILES {
            files.extend(source(root, &path, skipped));
        }
    }
    files
}

/// The files in the volumes of a pod, sorted.
fn in_volumes(root: &Root, directory: &Path) -> Vec<PathBuf> {
    let below = |path: &Path| -> Vec<PathBuf> {
        let names = root.list(path).unwrap_or_default();
        // `..data` and the directory it leads to hold the same files again.
        let names = names.iter().filter(|it| !it.as_bytes().starts_with(b".."));
        names.map(|it| path.join(it)).collect()
    };
    let kinds = VOLUMES
        .iter()
        .map(|kind| directory.join("volumes").join(kind));
    let volumes = kinds.flat_map(|kind| below(&kind));
    volumes.flat_map(|volume| below(&volume)).collect()
}

fn last_part(path: &str) -> Vec<u8> {
    let last = path.rsplit('/').next().unwrap_or_default();
    last.as_bytes().to_vec()
}

/// Where a Corefile and what it imports are: on the node, or in a container.
pub trait Files {
    /// The file at an absolute path; what keeps it from being read is noted.
    fn file(&self, path: &Path, skipped: &mut Vec<String>) -> Option<Source>;
    /// The names in a directory; what keeps it from being read is noted.
    fn names(&self, directory: &Path, skipped: &mut Vec<String>) -> Vec<OsString>;
}

impl Files for Root {
    fn file(&self, path: &Path, skipped: &mut Vec<String>) -> Option<Source> {
        source(self, path, skipped)
    }

    fn names(&self, directory: &Path, skipped: &mut Vec<String>) -> Vec<OsString> {
        files::names(self, directory, skipped)
    }
}

/// The Corefile at `path` and behind it what it imports; none if it is not
/// there.
pub fn at(files: &dyn Files, path: &str, skipped: &mut Vec<String>) -> Vec<Source> {
    let Some(main) = files.file(Path::new(path), skipped) else {
        return Vec::new();
    };
    // Imports are told by the paths that the server itself knows.
    let known = |path: &Path, source: &Source| {
        Source::new(path.to_string_lossy().into_owned(), source.bytes.clone())
    };
    let corefile = main.clone();
    let mut seen = vec![known(Path::new(path), &main)];
    let mut found = vec![main];
    let mut asked: Vec<String> = Vec::new();
    loop {
        let others = seen.get(1..).unwrap_or_default();
        let parsed = parse(known(Path::new(path), &corefile), others);
        let patterns = parsed.imports.into_iter().map(|it| it.pattern);
        let new: Vec<String> = patterns.filter(|it| !asked.contains(it)).collect();
        if new.is_empty() {
            return found;
        }
        for pattern in &new {
            for path in named(files, Path::new(pattern), skipped) {
                if found.len() == MAX_FILES {
                    let shown = escaped(pattern.as_bytes());
                    skipped.push(format!("{shown} names more files than kdns reads"));
                    return found;
                }
                if let Some(file) = files.file(&path, skipped) {
                    seen.push(known(&path, &file));
                    found.push(file);
                }
            }
        }
        asked.extend(new);
    }
}

/// The files that a pattern from the root with wildcards in its last part
/// names, sorted; one without them is taken as it is.
pub(super) fn named(files: &dyn Files, pattern: &Path, skipped: &mut Vec<String>) -> Vec<PathBuf> {
    let (Some(directory), Some(last)) = (pattern.parent(), pattern.file_name()) else {
        return Vec::new();
    };
    if !pattern.is_absolute() || glob::has_wildcard(directory.as_os_str().as_bytes()) {
        return Vec::new();
    }
    if !glob::has_wildcard(last.as_bytes()) {
        return vec![pattern.to_owned()];
    }
    let names = files.names(directory, skipped).into_iter();
    let fitting = names.filter(|name| glob::matches(last.as_bytes(), name.as_bytes()));
    fitting.map(|name| directory.join(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::root::Resolution;
    use crate::host::root::fixture::root_with;

    fn names(found: &[Source]) -> Vec<&str> {
        found.iter().map(|it| it.name.as_str()).collect()
    }

    #[test]
    fn corefiles_come_with_their_imports() {
        let (_directory, root) = root_with(&[
            (
                "/etc/coredns/Corefile",
                "import custom/*.server\n. {\n import /x/a\n}\n",
            ),
            ("/etc/coredns/custom/b.server", "b {\n import ../c\n}\n"),
            ("/etc/coredns/custom/b.txt", ""),
            ("/etc/coredns/c", "import c\n"),
            ("/x/a", "log\n"),
        ]);
        let mut skipped = Vec::new();
        let found = at(&root, "/etc/coredns/Corefile", &mut skipped);
        let expected = [
            "/etc/coredns/Corefile",
            "/etc/coredns/custom/b.server",
            "/x/a",
            "/etc/coredns/c",
        ];
        assert_eq!(
            (names(&found).as_slice(), skipped),
            (expected.as_slice(), Vec::new())
        );
        assert!(at(&root, "/etc/coredns/x", &mut Vec::new()).is_empty());
    }

    #[test]
    fn the_cluster_s_corefile_is_no_file_of_the_node() {
        let (_directory, root) = root_with(&[
            ("/etc/coredns/Corefile", ".:53 {\n}\n"),
            (
                "/var/lib/rancher/k3s/server/manifests/coredns.yaml",
                "kind: ConfigMap\ndata:\n  Corefile: |\n    .:53 {\n    }\n",
            ),
        ]);
        let (found, skipped) = read_cluster_corefile(&root, None);
        let expected = ["/var/lib/rancher/k3s/server/manifests/coredns.yaml"];
        assert_eq!(
            (names(&found).as_slice(), skipped),
            (expected.as_slice(), Vec::new())
        );
    }

    #[test]
    fn a_pod_has_corefiles_in_its_volumes() {
        let files = [
            ("config-volume/..data/Corefile", "x"),
            (
                "config-volume/Corefile",
                ". {\n import custom/*.override\n}\nimport b.server\n",
            ),
            ("config-volume/NodeHosts", ""),
            ("custom/a.override", "log\n"),
            ("custom/b.server", ""),
            ("custom/c.server", ""),
            ("kube-dns-config/stubDomains", "{}"),
            ("kube-dns-config/upstreamNameservers", "[]"),
        ];
        let files =
            files.map(|(path, text)| (format!("p/volumes/kubernetes.io~configmap/{path}"), text));
        let (_directory, root) = root_with(&files);
        let path = "/p/volumes/kubernetes.io~configmap/config-volume/Corefile";
        let corefile = root.read(Path::new(path)).unwrap().source;
        let found = with_imports(&root, "/p", vec![corefile], &mut Vec::new());
        let names: Vec<&str> = found
            .iter()
            .filter_map(|it| it.name.strip_prefix("/p/volumes/kubernetes.io~configmap/"))
            .collect();
        let expected = [
            "config-volume/Corefile",
            "custom/a.override",
            "custom/b.server",
            "kube-dns-config/upstreamNameservers",
        ];
        assert_eq!(names, expected);
        assert!(with_imports(&root, "/p", Vec::new(), &mut Vec::new()).is_empty());
    }

    #[test]
    fn what_is_no_file_is_said() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(directory.path().join("etc/coredns/Corefile")).unwrap();
        let root = Root::below(directory.path(), Resolution::default()).unwrap();
        let mut skipped = Vec::new();
        assert!(at(&root, "/etc/coredns/Corefile", &mut skipped).is_empty());
        assert!(skipped[0].starts_with("cannot read "), "{skipped:?}");
    }

    /// One whose directories nobody may look into.
    struct Closed;

    impl Files for Closed {
        fn file(&self, path: &Path, _: &mut Vec<String>) -> Option<Source> {
            Some(Source::new(
                path.to_string_lossy().into_owned(),
                b"import custom/*\n",
            ))
        }

        fn names(&self, directory: &Path, skipped: &mut Vec<String>) -> Vec<OsString> {
            skipped.push(format!("cannot read {}", directory.display()));
            Vec::new()
        }
    }

    #[test]
    fn imports_that_cannot_be_listed_are_noted() {
        let mut skipped = Vec::new();
        assert_eq!(at(&Closed, "/Corefile", &mut skipped).len(), 1);
        assert_eq!(skipped, ["cannot read /custom"]);
    }
}
