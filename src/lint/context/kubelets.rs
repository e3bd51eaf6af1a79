//! Kubelets, put together from configurations, drop-ins and flags.
//!
//! A unit's command names the configuration, and what it names is looked for
//! in the same tree. A configuration that nothing names is a kubelet of its
//! own, and so are flags without one.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use crate::config::traced::Traced;
use crate::kubelet::Version;
use crate::kubelet::configuration::{Ignored, Role, Said, all_taken};
use crate::kubelet::flags::Name;
use crate::kubelet::start::{self, Start};
use crate::lint::context::Context;
use crate::lint::context::paths::tree_of;
use crate::lint::context::texts::{Texts, path_of};
use crate::lint::document::{At, FileId};
use crate::lint::facts::{KubeletFacts, KubeletForm, Setting};
use crate::lint::subject::Kubelet;
use crate::order::Order as _;
use crate::text::ordered;

/// A text of the workspace and its file.
type Part<'w> = (FileId, &'w KubeletFacts);

/// All kubelets, in the order of their files.
pub(super) fn put_together<'w>(context: &Context<'w>) -> Vec<Kubelet<'w>> {
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
    // The group of each configuration that can have a folder `.d` beside it.
    let mut main_of = BTreeMap::new();
    let is_main = |form| matches!(form, Configuration | Kubeadm | Rancher | Cluster);
    for &(file, facts) in parts.iter().filter(|it| is_main(it.1.form)) {
        let main = facts.path.rsplit_once(".d/").map_or("", |it| it.0);
        let main = main_of.get(main).copied().filter(|_| facts.form == Rancher);
        if let Some(group) = main.and_then(|it: usize| groups.get_mut(it)) {
            group.push((file, facts));
            continue;
        }
        main_of.insert(facts.path.as_str(), groups.len());
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
    let named = facts.settings.iter().filter(|it| it.key == Name::Config);
    let paths = named.filter_map(Setting::value);
    paths
        .filter_map(|it| context.resolve(file, &it.text))
        .collect()
}

/// Whether a text says anything of a kubelet; a command without settings says
/// only how others count.
fn is_telling(facts: &KubeletFacts) -> bool {
    !is_command(facts.form) || !facts.settings.is_empty()
}

fn is_command(form: KubeletForm) -> bool {
    matches!(form, KubeletForm::Unit | KubeletForm::Environment)
}

/// What the parts of a kubelet come to.
fn kubelet<'w>(context: &Context<'w>, group: &[Part<'w>]) -> Kubelet<'w> {
    let mut parts = group.to_vec();
    parts.order_by(|(file, it), (other_file, other)| {
        let folders = it.path.split('/').cmp(other.path.split('/'));
        let place = (file, it.at).cmp(&(other_file, other.at));
        it.form.cmp(&other.form).then(folders).then(place)
    });
    let mut kubelet = Kubelet::default();
    if let Some((_, first)) = parts.first() {
        kubelet.at = Some(first.at);
        kubelet.path = &first.path;
        let form = first.form;
        kubelet.has_configuration =
            matches!(form, KubeletForm::Configuration | KubeletForm::Rancher);
    }
    let mut texts = Texts::from_parts(parts.iter().map(|it| it.1));
    let start = start::of_files(&mut texts);
    // A program can take its flags from anywhere.
    let start = start.filter(|it| it.rancher.is_some() || !it.arguments.is_empty());
    let flags = start.as_ref().map(|it| flags(&texts, it));
    let used: BTreeSet<At> = ordered(flags.iter().flatten().map(|it| it.at));
    let folder = flags.iter().flatten().rfind(|it| it.key == Name::ConfigDir);
    let folder = folder.and_then(Setting::value).map(|it| it.text.clone());
    for (file, facts) in parts {
        kubelet.files.push(file);
        let is_merged = is_command(facts.form) || facts.form == KubeletForm::Rancher;
        let is_elsewhere = facts.form == KubeletForm::DropIn
            && folder
                .as_ref()
                .is_some_and(|it| !is_below(&path_of(facts), it));
        for (setting, ignored) in taken_of(facts, context.kubelet_version()) {
            let is_of_start = is_merged && flags.is_some();
            match ignored {
                _ if is_of_start => {
                    let is_unused = !used.contains(&setting.at);
                    let unused = is_unused.then_some((setting, Ignored::Unused));
                    kubelet.ignored.extend(unused);
                }
                _ if is_elsewhere => kubelet.ignored.push((setting, Ignored::Unused)),
                Some(reason) => kubelet.ignored.push((setting, reason)),
                None => kubelet.set(Cow::Borrowed(setting)),
            }
        }
    }
    kubelet.has_drop_in_gate = start.and_then(|it| it.has_drop_in_gate()) == Some(true);
    kubelet.files.dedup();
    let flags = flags.into_iter().flatten();
    flags.for_each(|it| kubelet.set(Cow::Owned(it)));
    kubelet
}

/// The flags that a kubelet is started with. Of k3s and rke2 that have written
/// their own options down for it, those too.
fn flags(texts: &Texts<'_>, start: &Start) -> Vec<Setting> {
    let given = start.rancher.as_ref().map(|it| &it.1);
    let written = given.filter(|it| it.generated.is_some());
    let mut flags = written.map_or(Vec::new(), |it| it.options.flags(true));
    let is_own = |it: &Traced| it.spot("--".len()).is_none();
    flags.retain(is_own);
    flags.extend(start.arguments.iter().cloned());
    texts.settings(&flags)
}

/// Whether a file of the node lies below a folder that a flag names.
fn is_below(path: &str, folder: &str) -> bool {
    let folder = folder.trim_end_matches('/');
    folder.contains('$')
        || path
            .strip_prefix(folder)
            .is_some_and(|it| it.starts_with('/'))
}

/// What a text sets, in order, and why some of it is not taken.
fn taken_of(
    facts: &KubeletFacts,
    version: Option<Version>,
) -> impl Iterator<Item = (&Setting, Option<Ignored>)> {
    let is_drop_in = facts.form == KubeletForm::DropIn;
    let is_skipped = is_drop_in && facts.path.strip_suffix(".conf").is_none();
    let role = if is_drop_in { Role::DropIn } else { Role::Main };
    let said = facts.settings.iter().filter(|it| !it.is_flag);
    let said: Vec<Said<'_>> = said
        .map(|it| Said {
            key: &it.written.text,
            text: it.value().map(|it| it.text.as_str()),
            is_null: it.is_null,
        })
        .collect();
    let mut all = all_taken(&said, role, version).into_iter();
    facts.settings.iter().map(move |setting| {
        let taken = if setting.is_flag { None } else { all.next() };
        let ignored = taken.and_then(|taken| match taken {
            _ if is_skipped => Some(Ignored::Suffix),
            Some(taken) => taken.err(),
            // The key of a tool.
            None => setting.is_null.then_some(Ignored::Null),
        });
        (setting, ignored)
    })
}
