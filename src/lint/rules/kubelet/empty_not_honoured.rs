#![doc = include_str!("empty_not_honoured.md")]

use crate::config::yaml::Kind;
use crate::kubelet::configuration::honours_empty;
use crate::kubelet::flags::Name;
use crate::lint::facts::KubeletForm;
use crate::lint::rules::kubelet::common::{entries, key};
use crate::lint::rules::prelude::*;

pub(super) fn check(text: &KubeletText<'_>, context: &Context<'_>, report: &mut Report) {
    let is_old = !honours_empty(context.kubelet_version());
    let file = text.document.file;
    if text.form != KubeletForm::Configuration
        || !is_old
        || context.flag_over(file, Name::ResolvConf).is_some()
    {
        return;
    }
    let last = entries(text).iter().rfind(|it| key(it) == "resolvConf");
    let is_empty = |it: &&crate::config::yaml::Entry| {
        it.value.kind() == Some(Kind::Text)
            && it.value.as_scalar().is_some_and(|it| it.text.is_empty())
    };
    let Some(entry) = last.filter(is_empty) else {
        return;
    };
    report
        .add(
            text.document.at(entry.value.span),
            "up to 1.22 an empty resolvConf means the default, /etc/resolv.conf",
        )
        .help("give the kubelet the flag --resolv-conf= in its place")
        .note("pods inherit the node's servers and search domains, which the line was to prevent");
}
