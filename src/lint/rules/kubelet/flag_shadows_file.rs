#![doc = include_str!("flag_shadows_file.md")]

use crate::kubelet::flags::Name;
use crate::lint::facts::{KubeletForm, Setting};
use crate::lint::rules::kubelet::common::{has_form, names, shown};
use crate::lint::rules::prelude::*;

pub(super) fn check(kubelet: &Kubelet<'_>, context: &Context<'_>, report: &mut Report) {
    for key in [Name::ResolvConf, Name::ClusterDns, Name::ClusterDomain] {
        let Some(file) = kubelet
            .settings(key)
            .rfind(|it| !it.is_flag || is_ranchers(it, context))
        else {
            continue;
        };
        let flag = kubelet.setting(key);
        let flag = flag.filter(|it| it.is_flag && !is_ranchers(it, context));
        let Some(flag) = flag.or_else(|| of_kubeadm(file, key, context)) else {
            continue;
        };
        let is_open = |it: &Setting| it.values.iter().any(|it| has_placeholder(&it.text));
        let texts = |it: &Setting| {
            it.values
                .iter()
                .map(|it| it.text.clone())
                .collect::<Vec<_>>()
        };
        if texts(file) == texts(flag) || is_open(file) || is_open(flag) {
            continue;
        }
        let (flag_name, mut name) = names(key);
        if is_ranchers(file, context) {
            name = flag_name.trim_start_matches('-');
        }
        report
            .add(
                file.at,
                format!("{name} has no effect here: the flag {flag_name} beats it"),
            )
            .also(flag.at, "this counts")
            .help(format!(
                "remove the flag, or write what it says: {name}: {}",
                written(flag)
            ))
            .note("whoever edits the file will find that nothing changes");
    }
}

/// Whether it is an option in the file of k3s or rke2, which one in the command
/// beats; not `kubelet-arg`, which beats both.
fn is_ranchers(setting: &Setting, context: &Context<'_>) -> bool {
    let is_option = setting.is_flag && !setting.written.text.starts_with('-');
    is_option && has_form(setting.at.file, KubeletForm::Rancher, context)
}

/// The flag that kubeadm's part of the same file gives the kubelet.
fn of_kubeadm<'c>(file: &Setting, key: Name, context: &'c Context<'_>) -> Option<&'c Setting> {
    let facts = context.workspace().facts(file.at.file)?;
    let texts = facts.kubelets.iter();
    let kubeadm = texts.filter(|it| it.form == KubeletForm::Kubeadm);
    let mut flags = kubeadm.flat_map(|it| &it.settings);
    flags.find(|it| it.is_flag && it.key == key)
}

fn written(setting: &Setting) -> String {
    match setting.key {
        Name::ClusterDns => {
            let texts: Vec<&str> = setting.values.iter().map(|it| it.text.as_str()).collect();
            format!("[{}]", texts.join(", "))
        }
        _ if setting.value().is_some_and(|it| it.text.is_empty()) => "\"\"".to_owned(),
        _ => shown(setting),
    }
}
