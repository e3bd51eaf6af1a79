#![doc = include_str!("windows_value.md")]

use crate::kubelet::flags::Name;
use crate::lint::rules::kubelet::common::{counting, is_for_windows, is_windows_path};
use crate::lint::rules::prelude::*;

pub(super) fn check(text: &KubeletText<'_>, context: &Context<'_>, report: &mut Report) {
    let Some(setting) = counting(text, Name::ResolvConf, context) else {
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
