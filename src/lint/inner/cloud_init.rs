//! Files that cloud-init writes, and Cluster API with it.
//!
//! Source: cloud-init `cloudinit/config/cc_write_files.py: extract_contents`,
//! `cloudinit/user_data.py: _explode_archive`; kubernetes-sigs/cluster-api
//! `bootstrap/kubeadm/api/v1beta1/kubeadmconfig_types.go: File`.

use crate::config::yaml::{Node, Scalar};
use crate::lint::inner::{Inner, decode, items, mime, scalar};

/// The files of a cloud-config, of a cloud-config archive, or of an object of
/// Cluster API that brings files along.
pub(super) fn texts(root: &Node) -> Vec<Inner<'_>> {
    if let Some(parts) = root.as_sequence() {
        return archive(parts);
    }
    let mut texts = write_files(items(root, "write_files"));
    if scalar(root, "kind").is_some_and(|it| it.starts_with("Kubeadm")) {
        texts.extend(
            kubeadm_spec(root)
                .map(|it| write_files(items(it, "files")))
                .unwrap_or_default(),
        );
    }
    texts
}

/// What an object of Cluster API says of kubeadm: `spec`, or below it.
pub(crate) fn kubeadm_spec(root: &Node) -> Option<&Node> {
    let spec = root.get("spec")?;
    let inner = |spec: &'_ Node, path: &[&str]| -> bool {
        path.iter().try_fold(spec, |it, key| it.get(key)).is_some()
    };
    let paths: [&[&str]; 3] = [
        &["template", "spec", "kubeadmConfigSpec"],
        &["template", "spec"],
        &["kubeadmConfigSpec"],
    ];
    let path = paths.into_iter().find(|path| inner(spec, path));
    path.map_or(Some(spec), |path| {
        path.iter().try_fold(spec, |it, key| it.get(key))
    })
}

fn write_files(files: &[Node]) -> Vec<Inner<'_>> {
    let files = files.iter().filter_map(|file| {
        let path = scalar(file, "path")?;
        let content = file.get("content")?;
        match bytes(
            content,
            content.as_scalar()?,
            scalar(file, "encoding").unwrap_or_default(),
        )? {
            Bytes::AsWritten => Inner::scalar(path, content),
            Bytes::Decoded(bytes) => Some(Inner::decoded(path, content, bytes)),
        }
    });
    files.collect()
}

enum Bytes {
    AsWritten,
    Decoded(Vec<u8>),
}

/// The content of a file by its encoding; `None`: it is not that, or of an
/// encoding that is none.
fn bytes(node: &Node, content: &Scalar, encoding: &str) -> Option<Bytes> {
    let is_binary = node.tag.as_deref() == Some("tag:yaml.org,2002:binary");
    let text = content.text.as_bytes();
    let written = if is_binary {
        decode::base64(text)?
    } else {
        text.to_vec()
    };
    Some(match encoding.to_ascii_lowercase().trim() {
        "" | "text/plain" if is_binary => Bytes::Decoded(written),
        "" | "text/plain" => Bytes::AsWritten,
        "b64" | "base64" => Bytes::Decoded(decode::base64(&written)?),
        "gz" | "gzip" => Bytes::Decoded(decode::gzip(&written)?),
        "gz+b64" | "gzip+b64" | "gz+base64" | "gzip+base64" => {
            Bytes::Decoded(decode::gzip(&decode::base64(&written)?)?)
        }
        _ => return None,
    })
}

/// The parts of a cloud-config archive.
fn archive(parts: &[Node]) -> Vec<Inner<'_>> {
    let parts = parts.iter().enumerate().filter_map(|(index, part)| {
        let kind = scalar(part, "type")?;
        let name = scalar(part, "filename").map_or_else(|| mime::part_name(index), str::to_owned);
        let inner = Inner::scalar(&name, part.get("content")?)?;
        Some(match mime::form(kind) {
            Some(form) => inner.of_form(form),
            None => inner,
        })
    });
    parts.collect()
}
