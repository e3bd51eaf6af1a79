//! What several rules about kubelets need.

use crate::config::traced::Traced;
use crate::config::yaml::{Entry, Kind, Node};
use crate::kubelet::flags::Name;
use crate::kubelet::{self, Origin};
use crate::lint::context::Context;
use crate::lint::document::{At, Document, FileId};
use crate::lint::facts::{KubeletForm, Setting};
use crate::lint::report::Draft;
use crate::lint::subject::KubeletText;
use crate::text::{Place, Span};

/// The entries of a `KubeletConfiguration`, also of a drop-in; none of other
/// texts.
pub(super) fn entries<'d>(text: &KubeletText<'d>) -> &'d [Entry] {
    let is_it = |root: &&Node| {
        matches!(text.form, KubeletForm::Configuration | KubeletForm::DropIn)
            || text.document.is_partial && root.word(&["kind"]) == Some("KubeletConfiguration")
    };
    let root = text.document.yaml().filter(is_it);
    root.and_then(Node::as_mapping).unwrap_or_default()
}

/// The key of an entry.
pub(super) fn key(entry: &Entry) -> &str {
    entry.key.as_scalar().map_or("", |it| &it.text)
}

/// Where a document says that it is a `KubeletConfiguration`.
pub(super) fn kind_at(document: &Document) -> At {
    let root = document.yaml();
    let kind = root.and_then(|it| it.get("kind").or(root));
    document.at(kind.map(|it| it.span).unwrap_or_default())
}

/// `10.96.0.10, fd00::10 and 10.0.0.1`.
pub(super) fn listed<'t>(words: impl IntoIterator<Item = &'t str>) -> String {
    let mut words: Vec<&str> = words.into_iter().collect();
    let last = words.pop().unwrap_or_default();
    if words.is_empty() {
        return last.to_owned();
    }
    format!("{} and {last}", words.join(", "))
}

/// The texts of a setting, as people would write them.
pub(super) fn shown(setting: &Setting) -> String {
    listed(setting.values.iter().map(|it| it.text.as_str()))
}

/// Whether a setting is the one of its key that counts for the kubelet that
/// its file is a part of.
pub(super) fn counts(setting: &Setting, file: FileId, context: &Context<'_>) -> bool {
    let is_it = |it: &Setting| it.at == setting.at;
    let own = context.kubelet_with(setting);
    let kubelet = own.or_else(|| context.kubelet_of(file));
    kubelet.is_none_or(|it| it.setting(setting.key).is_none_or(is_it))
}

/// The last setting of a key in a text, if it is the one that counts.
pub(super) fn counting<'t>(
    text: &KubeletText<'t>,
    key: Name,
    context: &Context<'_>,
) -> Option<&'t Setting> {
    // The name that the kubelet has inside is KK003's and KK004's.
    let is_it = |it: &&Setting| it.key == key && it.written.text != "resolverConfig";
    let last = text.settings.iter().rfind(is_it);
    last.filter(|it| counts(it, text.document.file, context))
}

/// The bytes of an argument, from the first that stands in a file: a program such as k3s
/// puts its own before them.
pub(super) fn span(argument: &Traced) -> Span {
    let length = argument.bytes().len();
    let first = (0..length).find_map(|at| Some((at, argument.spot(at)?)));
    let (start, length) = first.map_or((0, length), |(at, it)| (it.offset as usize, length - at));
    Span::new(start, start + length)
}

/// Whether nothing on the node sets what `of` the kubelet is.
pub(super) fn lacks<T: Default + PartialEq>(
    context: &Context<'_>,
    of: fn(&kubelet::Kubelet) -> &kubelet::Setting<T>,
) -> bool {
    let kubelet = context.node().and_then(|it| it.kubelet.as_ref());
    let setting = kubelet.map(of);
    setting.is_some_and(|it| it.value == T::default() && it.origin == Origin::BuiltIn)
}

/// What to do about a key that counts for nothing where `right` counts: `counted`
/// is where that stands, too. No fix: what was not in force so far would be, unseen.
pub(super) fn write_instead(
    finding: &mut Draft,
    right: &str,
    counted: Option<At>,
    flag: Option<&Setting>,
) {
    if let Some(counted) = counted {
        finding.also(counted, "this counts").help("remove the line");
    } else if let Some(flag) = flag {
        finding
            .also(flag.at, "this flag counts, whatever the file says")
            .help(format!("write {right} in its place, and remove the flag"));
    } else {
        finding.help(format!("write {right} in its place"));
    }
}

/// Whether a file has a text of this form.
pub(super) fn has_form(file: FileId, form: KubeletForm, context: &Context<'_>) -> bool {
    let facts = context.workspace().facts(file);
    facts.is_some_and(|it| it.kubelets.iter().any(|it| it.form == form))
}

/// What a flag and a file call a key.
pub(super) fn names(key: Name) -> (&'static str, &'static str) {
    match key {
        Name::ResolvConf => ("--resolv-conf", "resolvConf"),
        Name::ClusterDns => ("--cluster-dns", "clusterDNS"),
        Name::ClusterDomain => ("--cluster-domain", "clusterDomain"),
        Name::Config => ("--config", "--config"),
        Name::ConfigDir => ("--config-dir", "--config-dir"),
        Name::FeatureGates => ("--feature-gates", "featureGates"),
        Name::RuntimeEndpoint => ("--container-runtime-endpoint", "containerRuntimeEndpoint"),
        Name::StaticPods => ("--pod-manifest-path", "staticPodPath"),
    }
}

/// Where a setting of a node was made.
pub(super) fn place(origin: &Origin) -> Place {
    match origin {
        Origin::Argument { pid, argument } => {
            Place::nowhere(&format!("{argument} (argument of process {pid})"))
        }
        other => other.at().unwrap_or_else(|| Place::nowhere("the kubelet")),
    }
}

/// Whether the configuration is one for Windows: a path in it has a drive.
pub(super) fn is_for_windows(document: &Document) -> bool {
    document.yaml().is_some_and(|it| has_drive(it, 0))
}

/// Whether a path is one of Windows: `C:\`, `c:/`.
pub(super) fn is_windows_path(text: &str) -> bool {
    let mut characters = text.chars();
    let drive = characters.next().is_some_and(|it| it.is_ascii_alphabetic());
    drive
        && characters.next() == Some(':')
        && characters.next().is_some_and(|it| matches!(it, '\\' | '/'))
}

/// Values deeper than this are not looked at.
const MAX_DEPTH: usize = 8;

fn has_drive(node: &Node, depth: usize) -> bool {
    if depth > MAX_DEPTH {
        return false;
    }
    if let Some(scalar) = node.as_scalar() {
        return node.kind() == Some(Kind::Text) && is_windows_path(&scalar.text);
    }
    let items = node.as_sequence().unwrap_or_default();
    let entries = node.as_mapping().unwrap_or_default();
    items.iter().any(|it| has_drive(it, depth + 1))
        || entries.iter().any(|it| has_drive(&it.value, depth + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_windows_have_a_drive() {
        for (text, expected) in [
            ("C:\\k\\resolv.conf", true),
            ("c:/k", true),
            ("/etc/resolv.conf", false),
            ("c:k", false),
            ("Host", false),
        ] {
            assert_eq!(is_windows_path(text), expected, "{text}");
        }
    }
}
