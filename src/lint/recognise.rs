//! What a file is, by its name and a look at its bytes: cheap, so that
//! thousands of files that are none of ours cost nothing.

mod json;
mod program;
mod resolv_conf;
mod words;

use memchr::memmem;

use self::json::{is_foreign_json, is_json};
use self::program::is_program;
use self::resolv_conf::{is_conf, is_resolv_conf, is_resolv_conf_name};
pub use self::words::FLAGS;
use self::words::{FACTS, SETTINGS, SUBJECTS};
use crate::config::corefile::quoted;
use crate::config::{haproxy_cfg, nginx_conf};
use crate::lint::form::Form;
use crate::lint::inner::mime;
use crate::text::MAX_READ;

/// What the file at `path` is; `None`: none of ours. What was not chosen by
/// anybody, but found, is a resolv.conf only if it can hardly be anything else.
pub fn form(path: &str, bytes: &[u8], is_chosen: bool) -> Option<Form> {
    if is_manual(bytes) {
        return None;
    }
    let name = path.rsplit('/').next().unwrap_or(path);
    if let Some(text) = from_utf_16(bytes) {
        let content = || by_content(name, &text, is_chosen);
        let found = by_name(path, name, &text).or_else(content);
        // A rule says what resolvers make of a resolv.conf.
        return found.map(|it| match it {
            Form::ResolvConf => it,
            _ => Form::Wide,
        });
    }
    if let Some(form) = program(name, bytes) {
        return holds_text(form, bytes).then_some(form);
    }
    let named = || by_name(path, name, bytes);
    let found = by_made(path, bytes).or_else(named);
    found.or_else(|| by_content(name, bytes, is_chosen))
}

/// Whether it is a page of a manual, in the language of `man`: it quotes files.
fn is_manual(bytes: &[u8]) -> bool {
    const BEGINNINGS: [&[u8]; 5] = [b".\\\"", b"'\\\"", b".TH ", b".Dd ", b".SH "];
    BEGINNINGS.iter().any(|it| bytes.starts_with(it))
}

/// Whether what was found is to be YAML or JSON, and not a text that begins as
/// such (a snapshot of a test, a list of examples), a template, or what is wrong on
/// purpose.
pub fn must_be_yaml(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_wrong = ["invalid", "malformed"].iter().any(|it| name.contains(it));
    has_yaml_name(name) && !is_wrong
}

/// Whether it is a part of the resolv.conf that resolvconf makes.
///
/// Source: resolvconf(8) of Debian, "FILES"; resolvconf.conf(5) of openresolv.
pub fn is_part(path: &str) -> bool {
    let part = path.rsplit_once("resolv.conf.d/").map_or("", |it| it.1);
    matches!(part, "base" | "head" | "original" | "tail")
}

/// Whether `sed` and the like put words into a file before it counts: its name says so.
pub fn is_filled_in(path: &str) -> bool {
    // What NodeLocal DNSCache fills in itself is called `Corefile.base`.
    [".sed", ".in", ".yaml.base"]
        .iter()
        .any(|it| path.ends_with(it))
}

/// The text of a file in UTF-16, which its first two bytes tell.
fn from_utf_16(bytes: &[u8]) -> Option<Vec<u8>> {
    let unit: fn([u8; 2]) -> u16 = match bytes {
        [0xff, 0xfe, ..] => u16::from_le_bytes,
        [0xfe, 0xff, ..] => u16::from_be_bytes,
        _ => return None,
    };
    let (pairs, _) = bytes.as_chunks::<2>();
    let units: Vec<u16> = pairs.iter().skip(1).map(|it| unit(*it)).collect();
    Some(String::from_utf16_lossy(&units).into_bytes())
}

/// Whether a file of this name can be one of ours at all: what is not need
/// not be opened.
pub fn can_be(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let extension = name.rsplit_once('.').map_or("", |it| it.1);
    let mut others = OTHERS.split(' ');
    // The settings of an editor have comments, which JSON has not; those of CircleCI may
    // merge lists, as Go's decoder does not.
    let is_tools = name == "devcontainer.json" || path.contains(".circleci/");
    !is_tools && !others.any(|it| extension.eq_ignore_ascii_case(it))
}

/// Endings of files that hold nothing of ours.
const OTHERS: &str = "rs go py js ts tsx jsx c h cc cpp hpp java rb md rst html css png jpg jpeg gif svg pdf \
    gz xz zst zip tar tgz so a o exe wasm lock sum mod sql csv proto toml jsonnet \
    libsonnet cue k nix dhall pkl rego just log diff";

/// What a template makes, of what is read before it is rendered.
fn by_made(path: &str, bytes: &[u8]) -> Option<Form> {
    let (made, name) = made_of_template(path)?;
    let forms = [
        Form::Unit,
        Form::Environment,
        Form::Settings,
        Form::Corefile,
    ];
    let form = by_name(made, name, bytes)?;
    // Into a comment alone something is put in.
    let is_plain = || form == Form::ResolvConf && resolv_conf::is_plain(bytes);
    (forms.contains(&form) || is_plain()).then_some(form)
}

fn by_name(path: &str, name: &str, bytes: &[u8]) -> Option<Form> {
    let lower = name.to_ascii_lowercase();
    let extension = lower.rsplit_once('.').map_or("", |it| it.1);
    let is_manifest = has_yaml_name(&lower);
    if lower.ends_with("corefile") || lower.starts_with("corefile.") && !is_manifest {
        return Some(Form::Corefile);
    }
    // What the Corefile of k3s and AKS imports from a ConfigMap: directives, and
    // server blocks.
    if extension == "override" && !bytes.trim_ascii().is_empty() {
        return Some(Form::CorefilePart);
    }
    if extension == "server" && mentions(bytes, b"{") && mentions(bytes, b"forward") {
        return Some(Form::Corefile);
    }
    let in_folder = |folder: &str| path.contains(folder);
    if name == "resolved.conf" || in_folder("resolved.conf.d/") && extension == "conf" {
        return Some(Form::Settings);
    }
    if name == "NetworkManager.conf" || in_folder("NetworkManager/conf.d/") && extension == "conf" {
        return Some(Form::Settings);
    }
    let is_named = matches!(
        name,
        "resolv.conf" | "stub-resolv.conf" | "no-stub-resolv.conf"
    );
    if is_named || is_part(path) {
        return Some(Form::ResolvConf);
    }
    let is_drop_in = || in_folder(".service.d/") || mentions(bytes, b"[Service]");
    if extension == "service" || extension == "conf" && is_drop_in() {
        // Of k3s and rke2 only what sets something of their kubelet.
        const WORDS: [&[u8]; 2] = [b"kubelet", b"_RESOLV_CONF"];
        let names_files = mentions(bytes, b"EnvironmentFile")
            && [&b"k3s"[..], b"rke2"].iter().any(|it| mentions(bytes, it));
        let mut words = WORDS.iter().chain(&FLAGS);
        let is_kubelets =
            names_files || words.any(|it| mentions(bytes, it)) || path.contains("kubelet");
        return is_kubelets.then_some(Form::Unit);
    }
    if path.ends_with("args/kubelet") && mentions(bytes, b"--") {
        return Some(Form::Arguments);
    }
    // Of k3s and rke2: `k3s.service.env`, `/etc/default/k3s`.
    let is_rancher = (name.starts_with("k3s") || name.starts_with("rke2"))
        && (extension == "env"
            || ["default/", "sysconfig/", "conf.d/"]
                .into_iter()
                .any(in_folder));
    if is_rancher && mentions(bytes, b"_RESOLV_CONF") {
        return Some(Form::Environment);
    }
    let is_variables = name == "kubeadm-flags.env"
        || matches!(name, "kubelet" | "kubelet.env")
        || in_folder("default/") && name.starts_with("kubelet")
        || path.ends_with("kubelet/environment");
    // One flag can be put together from a variable and the unit.
    let is_known = in_folder("etc/default/") || in_folder("etc/sysconfig/");
    let has_flags = mentions(bytes, b"=") && (is_known || mentions(bytes, b"--"))
        || mentions(bytes, b"KUBELET_CONFIG_DROPIN");
    (is_variables && has_flags && !looks_like_yaml(bytes)).then_some(Form::Environment)
}

/// Whether it is a program, whose text is none of ours: what it holds can be.
fn program(name: &str, bytes: &[u8]) -> Option<Form> {
    let lower = name.to_ascii_lowercase();
    let extension = lower.rsplit_once('.').map_or("", |it| it.1);
    let is_docker = ["dockerfile", "containerfile"]
        .iter()
        .any(|it| lower.starts_with(it) || extension == *it);
    let is_shell = || {
        let first = bytes.split(|&it| it == b'\n').next().unwrap_or_default();
        !name.contains('.') && first.starts_with(b"#!") && mentions(first, b"sh")
    };
    match extension {
        "tf" | "hcl" => Some(Form::Terraform),
        "sh" | "bash" => Some(Form::Script),
        _ => (is_docker || is_shell()).then_some(Form::Script),
    }
}

/// Whether a program holds a text of ours. One that is longer than a file may be
/// has an archive in it.
fn holds_text(form: Form, bytes: &[u8]) -> bool {
    let marks = match form {
        Form::Script => "<<|echo |printf |coredns:",
        _ => "<<|encode(|manifest|kubernetes_|module|provisioner",
    };
    let mut marks = marks.split('|');
    let has_flag = || form == Form::Script && FLAGS.iter().any(|it| mentions(bytes, it));
    let has_mark = marks.any(|it| mentions(bytes, it.as_bytes())) || has_flag();
    bytes.len() < MAX_READ && has_mark && has_subject(bytes)
}

fn by_content(name: &str, bytes: &[u8], is_chosen: bool) -> Option<Form> {
    if is_multipart(bytes) {
        // Its parts can be encoded.
        return Some(Form::Mime);
    }
    if is_yaml(name, bytes) {
        let is_script_or_diff = || bytes.starts_with(b"#!") || mentions(bytes, b"\n+++ ");
        let is_others = !has_yaml_name(name) && is_script_or_diff()
            || is_foreign_json(bytes)
            || is_chart_index(bytes)
            || is_program(bytes);
        return (!is_others && has_subject(bytes)).then_some(Form::Yaml);
    }
    if let Some(form) = form_of_daemon(name, bytes) {
        return Some(form);
    }
    if is_chosen && is_corefile(bytes) {
        return Some(Form::Corefile);
    }
    let is_named = if is_chosen {
        name.contains("resolv") && name.contains("conf")
    } else {
        is_resolv_conf_name(name)
    };
    // Every line of it, where the name says nothing.
    let can_be = is_chosen || is_named || !name.contains('.') || is_conf(name);
    if can_be && is_resolv_conf(is_named, bytes) {
        return Some(Form::ResolvConf);
    }
    None
}

/// A configuration of nginx or `HAProxy`: it has a word that is theirs, and is in its syntax as a whole.
fn form_of_daemon(name: &str, bytes: &[u8]) -> Option<Form> {
    let can_be = |own: &str, other| name.contains(own) || other || !name.contains('.');
    if can_be("nginx", is_conf(name)) && mentions(bytes, b"proxy_pass") {
        return nginx_conf::is_whole(bytes).then_some(Form::Nginx);
    }
    let own = can_be("haproxy", name.strip_suffix(".cfg").is_some()) && mentions(bytes, b"server");
    (own && haproxy_cfg::is_whole(bytes, name.contains('.'))).then_some(Form::Haproxy)
}

/// Whether it is a Corefile, whatever it is called: standard input has no name.
fn is_corefile(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes.get(..bytes.len().min(QUOTED)).unwrap_or_default());
    let lines: Vec<&str> = text.lines().collect();
    quoted(&lines) > 0
}

/// Whether it is YAML or JSON, by its name or its beginning.
pub fn is_yaml(path: &str, bytes: &[u8]) -> bool {
    let is_template = made_of_template(path).is_some_and(|(made, name)| {
        let has_helpers = || path.rsplit('.').next() == Some("tpl") && has_dns_setting(bytes);
        let is_helper = || name.starts_with('_') && has_helpers();
        has_yaml_name(made) || path.ends_with(".template") && !name.contains('.') || is_helper()
    });
    has_yaml_name(path) || is_template || looks_like_yaml(bytes)
}

/// What a template makes, by its path, which says it before its last part, and its
/// name: `worker.yaml.tpl`.
pub fn made_of_template(path: &str) -> Option<(&str, &str)> {
    let (made, ending) = path.rsplit_once('.')?;
    let name = made.rsplit('/').next().unwrap_or(made);
    TEMPLATES.contains(&ending).then_some((made, name))
}

/// Endings of templates.
const TEMPLATES: [&str; 6] = ["template", "tmpl", "tpl", "tftpl", "gotmpl", "j2"];

fn has_yaml_name(path: &str) -> bool {
    let extension = path.rsplit_once('.').map_or("", |it| it.1);
    matches!(extension, "yaml" | "yml" | "json" | "ign" | "bu")
}

/// Whether it is user data of several parts.
fn is_multipart(bytes: &[u8]) -> bool {
    const BEGINNINGS: [&[u8]; 3] = [b"MIME-Version:", b"Content-Type:", b"From "];
    let begins = |it: &&[u8]| {
        let head = bytes.get(..it.len()).unwrap_or_default();
        head.eq_ignore_ascii_case(it)
    };
    BEGINNINGS.iter().any(begins) && mime::is_multipart(bytes)
}

/// Whether a file can have facts that rules about other files ask for: one that has none
/// of certain words need not be parsed for that. A resolv.conf is left out: it is asked
/// for only by a file that names it.
pub fn can_have_facts(form: Form, bytes: &[u8]) -> bool {
    match form {
        Form::Yaml => FACTS.iter().any(|it| it.find(bytes).is_some()),
        Form::ResolvConf | Form::Settings | Form::Nginx | Form::Haproxy | Form::Wide => false,
        _ => true,
    }
}

/// Whether a part of a template says something of DNS itself.
pub fn has_dns_setting(bytes: &[u8]) -> bool {
    SETTINGS.iter().any(|word| mentions(bytes, word))
}

/// Whether a template can be a network policy that lets something out to DNS.
pub fn has_dns_policy(bytes: &[u8]) -> bool {
    let words: [&[u8]; 3] = [b"NetworkPolicy", b"egress", b"53"];
    words.iter().all(|word| mentions(bytes, word))
}

/// Whether the file begins as an object of Kubernetes does.
fn looks_like_yaml(bytes: &[u8]) -> bool {
    let head = bytes.get(..bytes.len().min(HEAD)).unwrap_or_default();
    mentions(head, b"apiVersion:")
        || mentions(head, b"\"apiVersion\"")
        || head.starts_with(b"#cloud-config")
        || mentions(head, b"\n#cloud-config")
        || mentions(head, b"kind: KubeletConfiguration")
        || mentions(head, b"\"ignition\"")
        || mentions(head, b"\nkubelet-arg:")
}

/// A server block is shorter.
const QUOTED: usize = 1 << 16;

/// So many bytes tell what a file is.
const HEAD: usize = 4096;

/// Words without which no YAML file holds anything of ours.
pub fn has_subject(bytes: &[u8]) -> bool {
    SUBJECTS.iter().any(|it| it.find(bytes).is_some())
}

/// Whether a document of a long stream can say anything of ours.
pub fn is_wanted_document(bytes: &[u8]) -> bool {
    !is_schema(bytes) && (has_subject(bytes) || mentions(bytes, b"kubeadm.k8s.io"))
}

/// The same of one that is too long to be judged: in lists of dashboards the words that
/// queries of metrics have stand, too, and count as keys alone.
pub fn is_wanted_long_document(bytes: &[u8]) -> bool {
    let is_key = |behind: &[u8]| {
        let mut behind = behind.iter().skip_while(|it| b"\"'\\ ".contains(it));
        behind.next() == Some(&b':')
    };
    let has = |it: &memmem::Finder<'_>| match it.needle() {
        word @ (b"containers" | b"kubelet") => it
            .find_iter(bytes)
            .any(|at| bytes.get(at + word.len()..).is_some_and(is_key)),
        _ => it.find(bytes).is_some(),
    };
    !is_schema(bytes) && (SUBJECTS.iter().any(has) || mentions(bytes, b"kubeadm.k8s.io"))
}

/// Whether a document is a schema of custom resources: it says how pods are
/// written, and is none.
pub fn is_schema(bytes: &[u8]) -> bool {
    let is_kind = |at: usize| {
        let before = bytes.get(..at).unwrap_or_default();
        let before = before.strip_suffix(b"\"").unwrap_or(before);
        before == b"kind: " || before.ends_with(b"\nkind: ")
    };
    let count = |word: &[u8]| memmem::find_iter(bytes, word).count();
    // `kubectl get crds -o yaml` writes a list.
    let listed = || Some(count(b"\n- apiVersion: apiextensions.k8s.io/")).filter(|it| *it > 0);
    memmem::find_iter(bytes, b"CustomResourceDefinition").any(is_kind)
        || bytes.starts_with(b"apiVersion: v1\nitems:")
            && listed() == Some(count(b"\n- apiVersion: "))
}

/// Whether a file that is longer than a document may be has several: YAML is
/// read on, JSON is one.
pub fn can_be_long(path: &str, bytes: &[u8]) -> bool {
    is_yaml(path, bytes) && !is_json(bytes) && !is_chart_index(bytes)
}

/// Whether it is the index of a repository of charts, which can be long.
///
/// Source: Helm, "The Chart Repository Guide", "The index file".
fn is_chart_index(bytes: &[u8]) -> bool {
    bytes.starts_with(b"apiVersion: v1\nentries:\n")
}

fn mentions(bytes: &[u8], word: &[u8]) -> bool {
    memmem::find(bytes, word).is_some()
}

#[cfg(test)]
mod tests;
