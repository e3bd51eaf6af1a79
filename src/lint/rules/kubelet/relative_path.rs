#![doc = include_str!("relative_path.md")]

use crate::kubelet::flags::Name;
use crate::lint::facts::KubeletForm;
use crate::lint::rules::kubelet::common::{counting, is_for_windows, is_windows_path};
use crate::lint::rules::prelude::*;

pub(super) fn check(text: &KubeletText<'_>, context: &Context<'_>, report: &mut Report) {
    let Some(setting) = counting(text, Name::ResolvConf, context) else {
        return;
    };
    let path = setting.value().map_or("", |it| it.text.as_str());
    // A swallowed flag and what Windows has are other rules'.
    let is_other = path.is_empty()
        || path.starts_with(['/', '-'])
        || path == "Host"
        || is_windows_path(path)
        || has_placeholder(path);
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
