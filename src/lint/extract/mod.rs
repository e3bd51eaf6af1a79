//! From documents to facts, and to the subjects of rules.

mod cluster;
mod corefile;
mod flags;
mod kubelet;
mod objects;
mod setting;
mod templates;

use crate::config::resolv_conf::ResolvConf;
use crate::config::yaml::Node;
use crate::lint::document::{Document, Documents, Syntax};
use crate::lint::facts::{DnsPod, Facts, KubeletFacts, KubeletForm, Resolver, Text};
use crate::lint::{egress, inner};
use crate::pod::kubelet_file::fields;
use crate::text::Span;

pub use cluster::is_of_kubespray;
pub use flags::{arguments, own_arguments, settings};
pub use kubelet::flag_lists;
pub use objects::objects;
pub use templates::{is_misspelled, misspelled_policy, pod_specs};

/// What others must know of a file.
pub fn facts(found: &Documents) -> Facts {
    let mut facts = Facts::default();
    // A part of a resolv.conf is none that somebody could name.
    let is_part = |it: &Document| it.is_partial && matches!(it.syntax, Syntax::ResolvConf(_));
    // Nor does what need not be there say anything of others.
    let is_whole = |it: &&Document| !is_part(it) && it.condition.is_none();
    let whole = found.documents.iter().filter(is_whole);
    whole.for_each(|it| add(it, &mut facts));
    facts
}

/// What others must know of one document.
pub(super) fn facts_of(document: &Document) -> Facts {
    let mut facts = Facts::default();
    add(document, &mut facts);
    facts
}

fn add(document: &Document, facts: &mut Facts) {
    match &document.syntax {
        Syntax::ResolvConf(conf) => facts.resolvers.push(resolver(document, conf)),
        _ if document.is_partial => {
            facts.kubelets.extend(partial(document));
            facts.dns_pods.extend(versions(document));
        }
        Syntax::Corefile(file) => {
            facts.corefiles.push(corefile::facts(document, file));
            facts.importable.push(document.path.clone());
        }
        Syntax::CorefilePart => facts.importable.push(document.path.clone()),
        Syntax::Yaml(root) => yaml(document, root, facts),
        Syntax::Unit(_) | Syntax::Environment(_) | Syntax::Arguments(_) => {
            facts.kubelets.extend(flags::facts(document));
        }
        Syntax::Settings(_) | Syntax::Nginx(_) | Syntax::Haproxy(_) => {}
    }
}

/// The CoreDNS whose image stands in a part of a text: it tells its version only.
fn versions(document: &Document) -> impl Iterator<Item = DnsPod> {
    let pods = document.yaml().into_iter().flat_map(objects);
    let pods = pods.filter_map(|it| objects::dns_pod(document, it));
    pods.filter(|it| it.image.is_some()).map(|it| DnsPod {
        is_clusters: false,
        ..it
    })
}

/// What a part of a text sets of kubelets: what is missing there can be in the whole, and
/// what a template does not say it can become.
fn partial(document: &Document) -> Vec<KubeletFacts> {
    let mut found = match document.yaml() {
        Some(root) => kubelet::facts(document, root),
        None => flags::facts(document).into_iter().collect(),
    };
    // One that is started with nothing of DNS can have a flag that is misspelled.
    let is_started = arguments(document).iter().any(|it| it.1);
    for kubelet in &mut found {
        let is_open = |it: &Text| it.text.contains('$');
        kubelet.settings.retain(|it| !it.values.iter().any(is_open));
        if is_started || !kubelet.settings.is_empty() || document.yaml().is_some() {
            (kubelet.form, kubelet.body) = (KubeletForm::Cluster, None);
        }
    }
    // What is misspelled there sets nothing.
    let is_whole = match document.yaml() {
        Some(it) => it.word(&["kind"]) == Some("KubeletConfiguration") || inner::is_talos(it),
        None => is_started || !own_arguments(document).is_empty(),
    };
    found.retain(|it| is_whole || !it.settings.is_empty());
    found
}

fn yaml(document: &Document, root: &Node, facts: &mut Facts) {
    facts.kubelets.extend(kubelet::facts(document, root));
    facts.dns_pods.extend(objects::composed(document, root));
    facts.dns_pods.extend(objects::in_variables(document, root));
    for object in objects(root) {
        facts
            .services
            .extend(objects::dns_service(document, object));
        facts.dns_pods.extend(objects::dns_pod(document, object));
        facts
            .dns_pods
            .extend(cluster::kubeadm_dns(document, object));
        facts
            .proxy_modes
            .extend(objects::proxy_mode(document, object));
        facts.networks.extend(objects::networks(document, object));
        facts.let_out.extend(egress::let_out(object));
        facts.pods.extend(egress::pods(object));
        facts.headless.extend(objects::headless(object));
    }
}

/// What the kubelet takes from a text in the syntax of resolv.conf.
///
/// Source: kubernetes `pkg/kubelet/network/dns/dns.go: parseResolvConf`.
pub(super) fn resolver(document: &Document, conf: &ResolvConf) -> Resolver {
    let text = |span: &Span| Text {
        text: String::from_utf8_lossy(conf.bytes(*span)).into_owned(),
        at: document.at(*span),
    };
    let mut servers = Vec::new();
    let mut searches = Vec::new();
    for line in conf.lines() {
        let words = fields(line.bytes(), line.span().start as usize);
        let Some((keyword, values)) = words.split_first() else {
            continue;
        };
        match conf.bytes(*keyword) {
            b"nameserver" => servers.extend(values.first().map(text)),
            b"search" => searches = values.iter().map(text).collect(),
            _ => {}
        }
    }
    Resolver {
        path: document.path.clone(),
        file: document.file,
        servers,
        searches,
        is_of_script: document.is_of_script,
    }
}

/// The text of a scalar, with its place.
pub(super) fn text(document: &Document, node: &Node) -> Option<Text> {
    let scalar = node.as_scalar()?;
    Some(Text {
        text: scalar.text.clone(),
        at: document.at(node.span),
    })
}
