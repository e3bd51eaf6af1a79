#![doc = include_str!("drop_in_suffix.md")]

use crate::kubelet::flags::Name;
use crate::lint::document::FileId;
use crate::lint::facts::{KubeletForm, Setting};
use crate::lint::rules::kubelet::common::kind_at;
use crate::lint::rules::prelude::*;

pub(super) fn check(text: &KubeletText<'_>, context: &Context<'_>, report: &mut Report) {
    let path = text.document.path.as_str();
    let Some((folder, name)) = path.rsplit_once('/') else {
        return;
    };
    let (stem, ending) = name.rsplit_once('.').unwrap_or((name, ""));
    // Other endings switch a file off on purpose: .bak, .disabled, .rpmsave.
    let is_meant = matches!(ending, "yaml" | "yml" | "json" | "");
    if text.form != KubeletForm::DropIn || !is_meant || stem.is_empty() {
        return;
    }
    if is_main(text.document.file, context) || !is_folder_of_drop_ins(folder, context) {
        return;
    }
    report
        .add(
            kind_at(text.document),
            "the kubelet skips this file: its name does not end in .conf",
        )
        .help(format!("rename it to {stem}.conf"))
        .note("nothing in the kubelet's log says so; what the file sets does not count");
}

/// Whether a flag names the file with `--config`.
fn is_main(file: FileId, context: &Context<'_>) -> bool {
    let mut flags = flags(Name::Config, context);
    flags.any(|it| {
        let path = it.value();
        path.and_then(|path| context.resolve(it.at.file, &path.text)) == Some(file)
    })
}

/// Whether kubelets read drop-ins from a folder: it is called so, a flag names
/// it, or there is a drop-in in it.
fn is_folder_of_drop_ins(folder: &str, context: &Context<'_>) -> bool {
    let name = folder.rsplit('/').next().unwrap_or(folder);
    let is_called_so = name.contains("kubelet") && name.strip_suffix(".d").is_some();
    let is_named = || {
        flags(Name::ConfigDir, context).any(|it| {
            let path = it.value().map_or("", |it| it.text.trim_matches('/'));
            !path.is_empty()
                && folder
                    .strip_suffix(path)
                    .is_some_and(|it| it.is_empty() || it.ends_with('/'))
        })
    };
    let has_other = || {
        let files = context.workspace().all_facts();
        let mut texts = files.flat_map(|(_, it)| &it.kubelets);
        texts.any(|it| {
            let rest = it
                .path
                .strip_prefix(folder)
                .and_then(|it| it.strip_prefix('/'));
            let is_beside = rest.is_some_and(|it| !it.contains('/'));
            it.form == KubeletForm::DropIn && is_beside && it.path.strip_suffix(".conf").is_some()
        })
    };
    is_called_so || is_named() || has_other()
}

fn flags<'c>(key: Name, context: &'c Context<'_>) -> impl Iterator<Item = &'c Setting> {
    context
        .kubelets()
        .iter()
        .flat_map(move |it| it.settings(key))
}
