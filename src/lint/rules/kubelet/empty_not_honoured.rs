#![doc = include_str!("empty_not_honoured.md")]

use crate::config::yaml::Kind;
use crate::finding::Severity;
use crate::kubelet::configuration::honours_empty;
use crate::lint::context::Context;
use crate::lint::facts::{Key, KubeletForm};
use crate::lint::report::Report;
use crate::lint::rules::kubelet::common::{entries, key};
use crate::lint::subject::KubeletText;
use crate::lint::{Check, Rule};

/// KK010.
pub static RULE: Rule = Rule {
    code: "KK010",
    name: "empty-not-honoured",
    severity: Severity::Warning,
    summary: "up to 1.22 an empty resolvConf in the file means /etc/resolv.conf",
    page: include_str!("empty_not_honoured.md"),
    check: Check::KubeletText(check),
};

fn check(text: &KubeletText<'_>, context: &Context<'_>, report: &mut Report) {
    let is_old = !honours_empty(context.kubelet_version());
    let file = text.document.file;
    if text.form != KubeletForm::Configuration
        || !is_old
        || context.flag_over(file, Key::ResolvConf).is_some()
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
