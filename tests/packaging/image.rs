//! The image for `kubectl debug node/NODE`, built without a daemon and run by
//! runc as the kubelet's runtime would.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::lab::{dist, said, source, texts};

/// The image's configuration as `buildah inspect` has it.
struct Image {
    config: Value,
    root: PathBuf,
}

pub(crate) fn on_a_node() {
    let scratch = tempfile::tempdir().unwrap();
    let image = build(scratch.path());
    let config = &image.config["OCIv1"]["config"];
    assert_eq!(config["Entrypoint"], json!(["/usr/bin/kdns"]));
    assert_eq!(
        config["User"],
        Value::Null,
        "only root reads and enters what is on a node"
    );
    let label = |name: &str| config["Labels"][format!("org.opencontainers.image.{name}")].clone();
    assert_eq!(label("source"), env!("CARGO_PKG_REPOSITORY"));
    assert_eq!(label("licenses"), env!("CARGO_PKG_LICENSE"));
    assert_eq!(label("description"), env!("CARGO_PKG_DESCRIPTION"));
    let bytes = fs::read(image.root.join("usr/bin/kdns")).unwrap();
    assert!(bytes == fs::read(dist().join("kdns")).unwrap());

    // `kubectl debug node/NODE --image=… -- kdns check-loop --root /host`: a looping node below /host, with the
    // environment of the image, which tells where `kdns` is.
    let node = source().join("testdata/nodes/cluster-loop");
    let words = ["kdns", "check-loop", "--root", "/host"];
    let inside = run(scratch.path(), &image, &words, &node);
    let own = Command::new(env!("CARGO_BIN_EXE_kdns"));
    let outside = verdict(own, &words[1..3], &node);
    assert!(
        inside.1.contains("DNS loops") && inside.0 == Some(1),
        "{inside:?}"
    );
    assert_eq!(inside, outside);
}

/// What `kdns check-loop --root NODE` says where it was built.
fn verdict(mut kdns: Command, words: &[&str], node: &Path) -> (Option<i32>, String) {
    let output = kdns.args(words).arg(node).output().unwrap();
    (output.status.code(), texts(&output).0)
}

/// Builds the image of the repository's `Dockerfile`, and lays it out.
fn build(scratch: &Path) -> Image {
    let buildah = |words: &[&str]| {
        let mut command = Command::new("buildah");
        command.arg("--root").arg(scratch.join("images"));
        command.arg("--runroot").arg(scratch.join("run"));
        said(command.args(["--storage-driver", "vfs"]).args(words))
    };
    let file = source().join("Dockerfile");
    let (file, context) = (file.to_str().unwrap().to_owned(), dist());
    let context = context.to_str().unwrap();
    buildah(&[
        "bud",
        "--isolation",
        "chroot",
        "--tag",
        "kdns",
        "--file",
        &file,
        context,
    ]);
    let container = buildah(&["from", "--pull-never", "kdns"]);
    let root = buildah(&["mount", container.trim()]);
    let config = buildah(&["inspect", "--type", "image", "kdns"]);
    Image {
        config: serde_json::from_str(&config).unwrap(),
        root: PathBuf::from(root.trim()),
    }
}

/// Runs a command in a container of the image, with the node below `/host`.
fn run(scratch: &Path, image: &Image, words: &[&str], node: &Path) -> (Option<i32>, String) {
    let bundle = scratch.join("bundle");
    fs::create_dir(&bundle).unwrap();
    // A debug pod shares the node's namespaces, but for its mounts.
    let config = json!({
        "ociVersion": "1.0.2",
        "process": {
            "user": {"uid": 0, "gid": 0},
            "args": words,
            "cwd": "/",
            "env": image.config["OCIv1"]["config"]["Env"],
        },
        "root": {"path": image.root},
        "mounts": [
            {"destination": "/proc", "type": "bind", "source": "/proc", "options": ["rbind"]},
            {"destination": "/host", "type": "bind", "source": node, "options": ["rbind"]},
        ],
        "linux": {"namespaces": [{"type": "mount"}], "cgroupsPath": group()},
    });
    fs::write(bundle.join("config.json"), config.to_string()).unwrap();
    let mut runc = Command::new("runc");
    runc.arg("--root").arg(scratch.join("runc"));
    runc.args(["run", "--bundle"]).arg(&bundle);
    let output = runc
        .arg(format!("kdns-image-{}", std::process::id()))
        .output()
        .unwrap();
    let (out, err) = texts(&output);
    assert!(!out.is_empty(), "{err}");
    (output.status.code(), out)
}

/// A control group of this run's own, which runc takes away again.
fn group() -> String {
    format!("/kdns-image-{}", std::process::id())
}
