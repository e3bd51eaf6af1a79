//! Files that cloud-init writes, and Cluster API with it.
//!
//! Source: cloud-init `cloudinit/config/cc_write_files.py: extract_contents`,
//! `cloudinit/util.py: shellify`,
//! `cloudinit/config/cc_resolv_conf.py`, `templates/resolv.conf.tmpl`,
//! `cloudinit/user_data.py: _explode_archive`; kubernetes-sigs/cluster-api
//! `bootstrap/kubeadm/api/v1beta1/kubeadmconfig_types.go: File`; gardener/gardener
//! `pkg/apis/extensions/v1alpha1/types_operatingsystemconfig.go: FileContent`;
//! kubermatic/operating-system-manager `pkg/crd/osm/v1alpha1/common.go: FileContent`.

use crate::config::yaml::{Entry, Node, Scalar};
use crate::kubelet::choice::NODE_FILE;
use crate::lint::form::Form;
use crate::lint::inner::pieces::Pieces;
use crate::lint::inner::{Inner, decode, mime};

/// The files of a cloud-config, of a cloud-config archive, or of an object of
/// Cluster API that brings files along.
pub(super) fn texts(root: &Node) -> Vec<Inner<'_>> {
    if let Some(parts) = root.as_sequence() {
        return archive(parts);
    }
    let mut texts = write_files(root.items(&["write_files"]));
    texts.extend(resolv_conf(root));
    let keys = ["bootcmd", "runcmd"];
    texts.extend(keys.iter().filter_map(|it| script(root.get(it)?)));
    let kind = root.word(&["kind"]).unwrap_or_default();
    if kind.starts_with("OperatingSystem") {
        let keys: [&[&str]; 3] = [
            &["files"],
            &["bootstrapConfig", "files"],
            &["provisioningConfig", "files"],
        ];
        let specs = root.get("spec").into_iter();
        let files = specs.flat_map(|spec| keys.iter().flat_map(|it| write_files(spec.items(it))));
        texts.extend(files);
    }
    if kind.starts_with("Kubeadm") {
        let spec = kubeadm_spec(root).into_iter();
        texts.extend(spec.flat_map(|spec| {
            let keys = ["preKubeadmCommands", "postKubeadmCommands"];
            let scripts = keys.iter().filter_map(|it| script(spec.get(it)?));
            let files = write_files(spec.items(&["files"])).into_iter();
            files.chain(scripts).collect::<Vec<_>>()
        }));
    }
    texts
}

/// The script that a list of commands makes: a list in it is one command of a program.
fn script(commands: &Node) -> Option<Inner<'_>> {
    let mut script = Pieces::new(commands);
    for command in commands.as_sequence()? {
        match command.as_sequence() {
            Some([_, flag, text]) if flag.word(&[]) == Some("-c") => script.scalar(text),
            Some(_) => {}
            None => script.scalar(command),
        }
        script.text("\n");
    }
    Some(Inner::made("script.sh", script, Form::Script))
}

/// What an object of Cluster API says of kubeadm: `spec`, or below it.
pub(crate) fn kubeadm_spec(root: &Node) -> Option<&Node> {
    let spec = root.get("spec")?;
    let paths: [&[&str]; 3] = [
        &["template", "spec", "kubeadmConfigSpec"],
        &["template", "spec"],
        &["kubeadmConfigSpec"],
    ];
    paths.iter().find_map(|it| spec.at(it)).or(Some(spec))
}

fn write_files(files: &[Node]) -> Vec<Inner<'_>> {
    let files = files.iter().filter_map(|file| {
        let path = file.word(&["path"])?;
        let content = file.get("content")?;
        // Gardener and the operator of Kubermatic have it a layer deeper.
        let inline = content.get("inline").unwrap_or(content);
        let content = inline.get("data").unwrap_or(content);
        let encoding = inline.word(&["encoding"]).or(file.word(&["encoding"]));
        match bytes(content, content.as_scalar()?, encoding.unwrap_or_default())? {
            Bytes::AsWritten => Inner::scalar(path, content),
            Bytes::Decoded(bytes) => Some(Inner::decoded(path, content, bytes)),
        }
    });
    files.collect()
}

/// The `/etc/resolv.conf` that cloud-init makes from `resolv_conf`, if it is
/// told to with `manage_resolv_conf`; the lines in the order of its template.
fn resolv_conf(root: &Node) -> Option<Inner<'_>> {
    let is_managed = root.word(&["manage_resolv_conf"])?.to_ascii_lowercase();
    if !matches!(is_managed.as_str(), "true" | "yes" | "on" | "1") {
        return None;
    }
    // Most distributions write none: what has no servers says nothing of theirs.
    let whole = root.get("resolv_conf")?;
    whole.get("nameservers")?;
    let mut made = Pieces::new(whole);
    for server in whole.items(&["nameservers"]) {
        line(&mut made, "nameserver", std::slice::from_ref(server));
    }
    line(&mut made, "search", whole.items(&["searchdomains"]));
    let of_key = |name: &str| {
        let mut entries = whole.as_mapping().unwrap_or_default().iter();
        entries.rfind(|it| it.key.as_scalar().is_some_and(|it| it.text == name))
    };
    if let Some(domain) = of_key("domain").filter(|it| it.value.as_scalar().is_some()) {
        made.key(&domain.key);
        made.text(" ");
        made.scalar(&domain.value);
        made.text("\n");
    }
    line(&mut made, "sortlist", whole.items(&["sortlist"]));
    if let Some(entry) = of_key("options") {
        options(&mut made, entry);
    }
    Some(Inner::made(NODE_FILE, made, Form::ResolvConf))
}

/// All options on a line: those that are true alone, others with their values.
fn options<'n>(made: &mut Pieces<'n>, entry: &'n Entry) {
    let said = |it: &Entry| it.value.as_scalar().map(|it| it.text.to_ascii_lowercase());
    let is = |it: &Entry, words: [&str; 3]| said(it).is_some_and(|it| words.contains(&it.as_str()));
    let options = entry.value.as_mapping().unwrap_or_default().iter();
    let mut given = options
        .filter(|it| !is(it, ["false", "no", "off"]))
        .peekable();
    if given.peek().is_none() {
        return;
    }
    made.key(&entry.key);
    for option in given {
        made.text(" ");
        made.scalar(&option.key);
        if !is(option, ["true", "yes", "on"]) {
            made.text(":");
            made.scalar(&option.value);
        }
    }
    made.text("\n");
}

/// A keyword and those of the values that are texts; nothing without any: a
/// template can stand there.
fn line<'n>(made: &mut Pieces<'n>, keyword: &str, values: &'n [Node]) {
    let texts = values.iter().filter(|it| it.as_scalar().is_some());
    let mut texts = texts.peekable();
    if texts.peek().is_none() {
        return;
    }
    made.text(keyword);
    for value in texts {
        made.text(" ");
        made.scalar(value);
    }
    made.text("\n");
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
        let kind = part.word(&["type"])?;
        let name = part
            .word(&["filename"])
            .map_or_else(|| mime::part_name(index), str::to_owned);
        let inner = Inner::scalar(&name, part.get("content")?)?;
        Some(match mime::form(kind) {
            Some(form) => inner.of_form(form),
            None => inner,
        })
    });
    parts.collect()
}
