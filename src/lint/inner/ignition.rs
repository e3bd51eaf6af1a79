//! Files and units that Ignition and Butane write.
//!
//! Source: coreos/ignition `config/v3_4/types/schema.go`, coreos/butane
//! `base/v0_5/schema.go`; openshift/machine-config-operator `MachineConfig`
//! and its templates of single files and units; coreos/coreos-cloudinit
//! `Documentation/cloud-config.md`, "units".

use crate::config::yaml::Node;
use crate::lint::inner::{Inner, decode};

/// The files and units of a document that is for Ignition or Butane, or has
/// one inside it as a `MachineConfig` does.
pub(super) fn texts(root: &Node) -> Vec<Inner<'_>> {
    let config = if root.word(&["kind"]) == Some("MachineConfig") {
        root.at(&["spec", "config"])
    } else {
        Some(root)
    };
    let Some(config) = config else {
        return Vec::new();
    };
    let files = config.items(&["storage", "files"]);
    let units = config.items(&["systemd", "units"]).iter();
    // Of Container Linux' cloud-config.
    let units = units.chain(config.items(&["coreos", "units"]));
    let mut texts: Vec<Inner<'_>> = files.iter().flat_map(file).collect();
    texts.extend(units.flat_map(unit));
    if config.word(&["kind"]).is_none() {
        texts.extend(template(config));
    }
    texts
}

/// A file: its contents, and what is appended to it.
fn file(file: &Node) -> Vec<Inner<'_>> {
    let Some(path) = file.word(&["path"]) else {
        return Vec::new();
    };
    let contents = file.get("contents").into_iter();
    let all = contents.chain(file.items(&["append"]));
    all.filter_map(|it| contents_of(path, it)).collect()
}

fn contents_of<'n>(path: &str, contents: &'n Node) -> Option<Inner<'n>> {
    if let Some(inline) = contents.get("inline") {
        return Inner::scalar(path, inline);
    }
    let source = contents.get("source")?;
    let bytes = decode::data_url(&source.as_scalar()?.text)?;
    let bytes = match contents.word(&["compression"]) {
        Some("gzip") => decode::gzip(&bytes)?,
        _ => bytes,
    };
    Some(Inner::decoded(path, source, bytes))
}

/// A unit and its drop-ins.
fn unit(unit: &Node) -> Vec<Inner<'_>> {
    let Some(name) = unit.word(&["name"]) else {
        return Vec::new();
    };
    let path = format!("/etc/systemd/system/{name}");
    let contents = |path: &str, it| {
        let keys = ["contents", "content"];
        let text = keys.iter().find_map(|key| Node::get(it, key));
        text.and_then(|it| Inner::scalar(path, it))
    };
    let mut texts: Vec<Inner<'_>> = contents(&path, unit).into_iter().collect();
    let dropins = unit.items(&["dropins"]).iter();
    let dropins = dropins
        .chain(unit.items(&["drop-ins"]))
        .filter_map(|dropin| {
            let path = format!("{path}.d/{}", dropin.word(&["name"])?);
            contents(&path, dropin)
        });
    texts.extend(dropins);
    texts
}

/// A template of one file or one unit: `path` and `contents`, or `name` and
/// `contents`.
fn template(root: &Node) -> Vec<Inner<'_>> {
    let is_path = root.word(&["path"]).is_some_and(|it| it.starts_with('/'));
    let is_unit = root
        .word(&["name"])
        .is_some_and(|it| it.ends_with(".service"));
    if is_path {
        file(root)
    } else if is_unit {
        unit(root)
    } else {
        Vec::new()
    }
}
