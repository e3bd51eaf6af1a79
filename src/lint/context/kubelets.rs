//! Kubelets, put together from configurations, drop-ins and flags.
//!
//! A unit's command names the configuration, and what it names is looked for
//! in the same tree. A configuration that nothing names is a kubelet of its
//! own, and so are flags without one.

use std::collections::{BTreeMap, BTreeSet};

use crate::kubelet::Version;
use crate::kubelet::configuration::{Ignored, Role, taken, without_effect};
use crate::lint::command;
use crate::lint::context::Context;
use crate::lint::context::paths::tree_of;
use crate::lint::document::FileId;
use crate::lint::facts::{Key, KubeletFacts, KubeletForm, Setting};
use crate::lint::subject::Kubelet;

/// A text of the workspace and its file.
type Part<'w> = (FileId, &'w KubeletFacts);

/// All kubelets, in the order of their files.
pub(super) fn all<'w>(context: &Context<'w>) -> Vec<Kubelet<'w>> {
    let parts: Vec<Part<'w>> = context
        .workspace()
        .all_facts()
        .flat_map(|(file, it)| it.kubelets.iter().map(move |facts| (file, facts)))
        .collect();
    let mut groups = groups(context, &parts);
    groups.retain(|group| group.iter().any(|it| is_telling(it.1)));
    groups.iter().map(|group| kubelet(context, group)).collect()
}

/// The parts of each kubelet.
fn groups<'w>(context: &Context<'_>, parts: &[Part<'w>]) -> Vec<Vec<Part<'w>>> {
    use KubeletForm::{Cluster, Configuration, DropIn, Kubeadm, Rancher};
    let mut groups: Vec<Vec<Part<'w>>> = Vec::new();
    // The group of each file with a configuration, and of each tree.
    let mut by_file = BTreeMap::new();
    let mut by_tree = BTreeMap::new();
    let is_main = |form| matches!(form, Configuration | Kubeadm | Rancher | Cluster);
    for &(file, facts) in parts.iter().filter(|it| is_main(it.1.form)) {
        by_file.entry(file).or_insert(groups.len());
        let is_of_tree = matches!(facts.form, Configuration | Rancher);
        if let (true, Some(tree)) = (is_of_tree, tree_of(&facts.path)) {
            by_tree.entry(tree).or_insert(groups.len());
        }
        groups.push(vec![(file, facts)]);
    }
    for &(file, facts) in parts.iter().filter(|it| !is_main(it.1.form)) {
        let named = named_configurations(context, file, facts);
        let named = named.iter().find_map(|it| by_file.get(it)).copied();
        let beside = || {
            let beside = match facts.form {
                DropIn => main_beside(context, &facts.path),
                _ => kubeadms_beside(context, &facts.path),
            };
            beside.and_then(|it| by_file.get(&it)).copied()
        };
        let tree = tree_of(&facts.path);
        let of_tree = || tree.and_then(|it| by_tree.get(it)).copied();
        let group = named.or_else(beside).or_else(of_tree);
        if let Some(group) = group.and_then(|it| groups.get_mut(it)) {
            group.push((file, facts));
        } else {
            by_tree.extend(tree.map(|tree| (tree, groups.len())));
            groups.push(vec![(file, facts)]);
        }
    }
    groups
}

/// The configuration beside a folder of drop-ins: `config.json` beside
/// `config.json.d/`.
fn main_beside(context: &Context<'_>, path: &str) -> Option<FileId> {
    let folder = path.rsplit_once('/')?.0;
    context.workspace().file_at(folder.strip_suffix(".d")?)
}

/// The configuration that kubeadm writes beside its flags.
fn kubeadms_beside(context: &Context<'_>, path: &str) -> Option<FileId> {
    let folder = path.strip_suffix("kubeadm-flags.env")?;
    context.workspace().file_at(&format!("{folder}config.yaml"))
}

/// The files of the same tree that the flags name with `--config`.
fn named_configurations(context: &Context<'_>, file: FileId, facts: &KubeletFacts) -> Vec<FileId> {
    let named = facts.settings.iter().filter(|it| it.key == Key::Config);
    let paths = named.filter_map(Setting::value);
    paths
        .filter_map(|it| context.resolve(file, &it.text))
        .collect()
}

/// Whether a text says anything of a kubelet; a command without settings says
/// only how others count.
fn is_telling(facts: &KubeletFacts) -> bool {
    let is_unit = facts.form == KubeletForm::Unit;
    !is_unit || !facts.settings.is_empty()
}

/// What the parts of a kubelet come to.
fn kubelet<'w>(context: &Context<'w>, group: &[Part<'w>]) -> Kubelet<'w> {
    let mut parts = group.to_vec();
    parts.sort_by_key(|(file, facts)| (facts.form, *file, facts.at));
    let mut kubelet = Kubelet::default();
    if let Some((_, first)) = parts.first() {
        kubelet.at = Some(first.at);
        kubelet.path = &first.path;
        let form = first.form;
        kubelet.has_configuration =
            matches!(form, KubeletForm::Configuration | KubeletForm::Rancher);
    }
    let is_command = |form| matches!(form, KubeletForm::Unit | KubeletForm::Environment);
    let commands = parts.iter().map(|it| it.1).filter(|it| is_command(it.form));
    let flags = command::flags(&commands.collect::<Vec<_>>());
    for (file, facts) in parts {
        kubelet.files.push(file);
        if is_command(facts.form) {
            continue;
        }
        for (setting, ignored) in taken_of(facts, context.kubelet_version()) {
            match ignored {
                Some(reason) => kubelet.ignored.push((setting, reason)),
                None => kubelet.made.push(setting),
            }
        }
    }
    kubelet.files.dedup();
    // What k3s and rke2 read from their environment counts least.
    let is_variable = |it: &&Setting| !it.is_flag;
    let (variables, flags_made): (Vec<_>, Vec<_>) = flags.made.into_iter().partition(is_variable);
    kubelet.made.splice(0..0, variables);
    kubelet.made.extend(flags_made);
    kubelet.ignored.extend(flags.ignored);
    // Stable: flags beat files, and keep their order.
    kubelet.made.sort_by_key(|it| it.is_flag);
    // There can be very many of them.
    kubelet.made.shrink_to_fit();
    kubelet.files.shrink_to_fit();
    kubelet
}

/// What a text sets, in order, and why some of it is not taken.
fn taken_of(
    facts: &KubeletFacts,
    version: Option<Version>,
) -> impl Iterator<Item = (&Setting, Option<Ignored>)> {
    let mut names = facts.settings.iter().map(|it| it.written.text.as_str());
    let has_documented = names.any(|it| it == "resolvConf");
    let mut seen = BTreeSet::new();
    let settings = facts.settings.iter().rev().map(|it| {
        let is_repeated = !it.is_flag && !seen.insert(it.written.text.as_str());
        let ignored = ignored(it, facts, version, has_documented);
        (it, ignored.or(is_repeated.then_some(Ignored::Repeated)))
    });
    let settings: Vec<_> = settings.collect();
    settings.into_iter().rev()
}

fn ignored(
    setting: &Setting,
    facts: &KubeletFacts,
    version: Option<Version>,
    has_documented: bool,
) -> Option<Ignored> {
    if setting.is_flag {
        return None;
    }
    let is_drop_in = facts.form == KubeletForm::DropIn;
    if is_drop_in && facts.path.strip_suffix(".conf").is_none() {
        return Some(Ignored::Suffix);
    }
    let role = if is_drop_in { Role::DropIn } else { Role::Main };
    match taken(&setting.written.text, role, version, has_documented) {
        Some(Err(ignored)) => Some(ignored),
        Some(Ok(name)) => {
            let text = setting.value().map(|it| it.text.as_str());
            without_effect(name, text, setting.is_null, role, version)
        }
        None => setting.is_null.then_some(Ignored::Null),
    }
}
