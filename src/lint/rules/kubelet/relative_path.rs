#![doc = include_str!("relative_path.md")]

use crate::finding::Severity;
use crate::lint::context::Context;
use crate::lint::facts::{Key, KubeletForm};
use crate::lint::report::Report;
use crate::lint::rules::kubelet::common::{
    counts, is_for_windows, is_placeholder, is_windows_path,
};
use crate::lint::subject::KubeletText;
use crate::lint::{Check, Rule};

/// KK022.
pub static RULE: Rule = Rule {
    code: "KK022",
    name: "relative-path",
    severity: Severity::Warning,
    summary: "resolvConf is a relative path",
    page: include_str!("relative_path.md"),
    check: Check::KubeletText(check),
};

fn check(text: &KubeletText<'_>, context: &Context<'_>, report: &mut Report) {
    let is_it = |it: &&crate::lint::facts::Setting| {
        it.key == Key::ResolvConf && it.written.text != "resolverConfig"
    };
    let last = text.settings.iter().rfind(is_it);
    let Some(setting) = last.filter(|it| counts(it, text.document.file, context)) else {
        return;
    };
    let path = setting.value().map_or("", |it| it.text.as_str());
    // A swallowed flag and what Windows has are other rules'.
    let is_other = path.is_empty()
        || path.starts_with(['/', '-'])
        || path == "Host"
        || is_windows_path(path)
        || is_placeholder(path);
    if is_other || is_for_windows(text.document) {
        return;
    }
    let directory = match text.form {
        KubeletForm::Configuration => "the directory of its configuration",
        _ => "its working directory, which is / for a service",
    };
    report
        .add(
            setting.at,
            format!("{path} is a relative path: the kubelet looks for it in {directory}"),
        )
        .help("write the whole path, beginning with /")
        .note("where the file is not there, no pod starts, whatever its policy");
}
