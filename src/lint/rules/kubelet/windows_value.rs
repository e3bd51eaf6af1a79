#![doc = include_str!("windows_value.md")]

use crate::finding::Severity;
use crate::lint::context::Context;
use crate::lint::facts::{Key, Setting};
use crate::lint::report::Report;
use crate::lint::rules::kubelet::common::{counts, is_for_windows, is_windows_path};
use crate::lint::subject::KubeletText;
use crate::lint::{Check, Rule};

/// KK023.
pub static RULE: Rule = Rule {
    code: "KK023",
    name: "windows-value",
    severity: Severity::Error,
    summary: "on Windows resolvConf can be empty or Host, and no path",
    page: include_str!("windows_value.md"),
    check: Check::KubeletText(check),
};

fn check(text: &KubeletText<'_>, context: &Context<'_>, report: &mut Report) {
    let is_it = |it: &&Setting| it.key == Key::ResolvConf && it.written.text != "resolverConfig";
    let last = text.settings.iter().rfind(is_it);
    let Some(setting) = last.filter(|it| counts(it, text.document.file, context)) else {
        return;
    };
    let path = setting.value().map_or("", |it| it.text.as_str());
    let is_for_windows =
        is_windows_path(path) || path.starts_with('/') && is_for_windows(text.document);
    if !is_for_windows {
        return;
    }
    report
        .add(setting.at, format!("a kubelet on Windows takes no path, and {path} is one"))
        .help("write resolvConf: \"\", or give the kubelet the flag --resolv-conf=Host for the node's own servers")
        .note("no pod starts: the kubelet ends each try with \"Unexpected resolver config value\"");
}
