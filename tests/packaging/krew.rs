//! krew's manifest against krew's rules, and what krew would do with it.
//!
//! The rules and where they are written: `packaging/README.md`.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Component, Path};
use std::process::Command;

use kdns::config::yaml::{self, Node};
use kdns::text::Source;

use crate::lab::{dist, said, stem};
use crate::tarball::{archive, unpack};

/// krew, `pkg/constants`.
const API_VERSION: &str = "krew.googlecontainertools.github.com/v1alpha2";
/// krew, `cmd/validate-krew-manifest`: longer lines are a warning there.
const MAX_SHORT: usize = 50;
const MAX_LINE: usize = 80;
/// The same: what counts as the licence among the files that are installed.
const LICENCES: [&str; 8] = [
    "license",
    "license.txt",
    "license.md",
    "licenses",
    "licenses.txt",
    "licenses.md",
    "copying",
    "copying.txt",
];
/// The same: systems that krew is made for.
const PLATFORMS: [(&str, &str); 11] = [
    ("windows", "386"),
    ("windows", "amd64"),
    ("windows", "arm64"),
    ("linux", "386"),
    ("linux", "amd64"),
    ("linux", "arm"),
    ("linux", "arm64"),
    ("linux", "ppc64le"),
    ("darwin", "386"),
    ("darwin", "amd64"),
    ("darwin", "arm64"),
];

fn manifest() -> Node {
    let name = "kdns.yaml";
    let bytes = fs::read(dist().join(name)).unwrap();
    let source = Source::new(name, bytes);
    let [document] = <[_; 1]>::try_from(yaml::documents(&source)).unwrap();
    document.root.unwrap()
}

/// The value at a path of keys.
#[track_caller]
fn at<'a>(node: &'a Node, path: &[&str]) -> &'a Node {
    path.iter().fold(node, |it, key| {
        it.get(key).unwrap_or_else(|| panic!("no {path:?}"))
    })
}

#[track_caller]
fn text<'a>(node: &'a Node, path: &[&str]) -> &'a str {
    &at(node, path).as_scalar().unwrap().text
}

pub(crate) fn rules() {
    let manifest = manifest();
    assert_eq!(text(&manifest, &["apiVersion"]), API_VERSION);
    assert_eq!(text(&manifest, &["kind"]), "Plugin");
    name(text(&manifest, &["metadata", "name"]));
    let spec = at(&manifest, &["spec"]);
    assert_eq!(
        text(spec, &["version"]),
        concat!("v", env!("CARGO_PKG_VERSION"))
    );
    assert_eq!(text(spec, &["homepage"]), env!("CARGO_PKG_REPOSITORY"));
    tagline(text(spec, &["shortDescription"]));
    for field in ["description", "caveats"] {
        let text = text(spec, &[field]);
        assert!(
            !text.is_empty() && text.lines().all(|it| it.len() <= MAX_LINE),
            "{text}"
        );
    }
    let platforms = at(spec, &["platforms"]).as_sequence().unwrap();
    assert!(!platforms.is_empty());
    for system in PLATFORMS {
        let for_it = platforms.iter().filter(|it| selects(it, system)).count();
        assert!(for_it <= 1, "{for_it} platforms for {system:?}");
    }
    for it in platforms {
        platform(it);
    }
    // Nothing of the template is left.
    let written = fs::read_to_string(dist().join("kdns.yaml")).unwrap();
    assert!(!written.contains('@'), "{written}");
}

fn name(name: &str) {
    // The manifest has the plugin's name.
    assert_eq!(format!("{name}.yaml"), "kdns.yaml");
    let is_word = |it: &str| {
        !it.is_empty()
            && it
                .bytes()
                .all(|it| it.is_ascii_lowercase() || it.is_ascii_digit())
    };
    assert!(name.split('-').all(is_word), "{name} is not in kebab-case");
    for prefix in ["kube-", "kubernetes-", "kubectl-"] {
        assert!(!name.starts_with(prefix), "{name} repeats {prefix}");
    }
}

fn tagline(line: &str) {
    assert!((1..=MAX_SHORT).contains(&line.chars().count()), "{line}");
    assert!(
        !line.contains(['\r', '\n', '…']) && !line.ends_with('.'),
        "{line}"
    );
    // Each line of `kubectl krew search` is one of those.
    assert!(!line.to_lowercase().contains("plugin"), "{line}");
}

fn selects(platform: &Node, (os, arch): (&str, &str)) -> bool {
    let labels = at(platform, &["selector", "matchLabels"]);
    let wants = |key, value| {
        labels
            .get(key)
            .is_none_or(|it| it.as_scalar().unwrap().text == value)
    };
    wants("os", os) && wants("arch", arch)
}

fn platform(platform: &Node) {
    assert!(
        PLATFORMS.iter().any(|it| selects(platform, *it)),
        "for no system that krew knows"
    );
    let labels = at(platform, &["selector", "matchLabels"])
        .as_mapping()
        .unwrap();
    assert!(!labels.is_empty());
    for label in labels {
        assert!(
            ["os", "arch"].contains(&&*label.key.as_scalar().unwrap().text),
            "{label:?}"
        );
    }
    let uri = text(platform, &["uri"]);
    let file = archive();
    let address = concat!(
        env!("CARGO_PKG_REPOSITORY"),
        "/releases/download/v",
        env!("CARGO_PKG_VERSION"),
        "/"
    );
    assert_eq!(uri, format!("{address}{}.tar.gz", stem()));
    assert_eq!(text(platform, &["sha256"]), checksum(&file));
    let operations = at(platform, &["files"]).as_sequence().unwrap();
    assert!(!operations.is_empty());
    for operation in operations {
        let (from, to) = (text(operation, &["from"]), text(operation, &["to"]));
        assert!(
            !from.is_empty() && (to == "." || is_clean(to)),
            "{from} {to}"
        );
    }
}

/// Go's `filepath.Clean` would not change it, and it stays below.
fn is_clean(path: &str) -> bool {
    let parts = Path::new(path).components();
    !path.is_empty()
        && parts.clone().all(|it| matches!(it, Component::Normal(_)))
        && parts.as_path() == Path::new(path)
}

fn checksum(file: &Path) -> String {
    let line = said(Command::new("sha256sum").arg(file));
    line.split(' ').next().unwrap().to_owned()
}

/// The steps of krew's `installation.Install`: unpack, move the files, link the
/// program as kubectl looks for it.
pub(crate) fn installed() {
    let manifest = manifest();
    let platform = &at(&manifest, &["spec", "platforms"]).as_sequence().unwrap()[0];
    let scratch = tempfile::tempdir().unwrap();
    let (store, bin) = (scratch.path().join("store"), scratch.path().join("bin"));
    let unpacked = scratch.path().join("unpacked");
    for directory in [&store, &bin, &unpacked] {
        fs::create_dir(directory).unwrap();
    }
    unpack(&unpacked);
    for operation in at(platform, &["files"]).as_sequence().unwrap() {
        let from = unpacked.join(text(operation, &["from"]));
        let to = match text(operation, &["to"]) {
            "." => store.join(from.file_name().unwrap()),
            path => store.join(path),
        };
        fs::rename(from, to).unwrap();
    }
    let names = fs::read_dir(&store)
        .unwrap()
        .map(|it| it.unwrap().file_name());
    let names: Vec<String> = names
        .map(|it| it.to_str().unwrap().to_lowercase())
        .collect();
    assert!(
        names.iter().any(|it| LICENCES.contains(&&**it)),
        "no licence: {names:?}"
    );
    let program = store.join(text(platform, &["bin"]));
    assert_eq!(
        program.metadata().unwrap().permissions().mode() & 0o111,
        0o111
    );
    let name = text(&manifest, &["metadata", "name"]).replace('-', "_");
    let link = bin.join(format!("kubectl-{name}"));
    symlink(&program, &link).unwrap();
    let version = said(Command::new(link).arg("--version"));
    assert_eq!(version, concat!("kdns ", env!("CARGO_PKG_VERSION"), "\n"));
}
