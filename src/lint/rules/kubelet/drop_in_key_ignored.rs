#![doc = include_str!("drop_in_key_ignored.md")]

use crate::config::yaml::Entry;
use crate::kubelet::configuration::{DROP_INS, GENERATED, Ignored, Role, taken};
use crate::kubelet::flags::Name;
use crate::lint::facts::KubeletForm;
use crate::lint::rules::kubelet::common::{entries, key, write_instead};
use crate::lint::rules::prelude::*;

const DOCUMENTED: &str = "resolvConf";
const INTERNAL: &str = "resolverConfig";

pub(super) fn check(text: &KubeletText<'_>, context: &Context<'_>, report: &mut Report) {
    let path = text.document.path.as_str();
    let is_read = text.form == KubeletForm::DropIn && path.strip_suffix(".conf").is_some();
    // What a distribution writes is for the kubelet that it brings.
    if !is_read || GENERATED.iter().any(|it| path.ends_with(it)) {
        return;
    }
    let last = |name: &str| entries(text).iter().rfind(|it| key(it) == name);
    // Both keys together count in every version.
    let (entry, version) = match (last(DOCUMENTED), last(INTERNAL)) {
        (Some(entry), None) | (None, Some(entry)) => (entry, context.kubelet_version()),
        _ => return,
    };
    let is_documented = key(entry) == DOCUMENTED;
    match version {
        Some(version) if version >= DROP_INS => {
            match taken(key(entry), Role::DropIn, Some(version), is_documented) {
                Some(Err(Ignored::OldDropIn)) => {
                    let message = "kubelets from 1.28 to 1.31 ignore resolvConf in a drop-in";
                    add(text, entry, (message, INTERNAL), context, report);
                }
                Some(Err(_)) => {
                    let message = "kubelets since 1.32 ignore resolverConfig in a drop-in";
                    add(text, entry, (message, DOCUMENTED), context, report);
                }
                _ => {}
            }
        }
        None if !is_documented => {
            report
                .add(
                    text.document.at(entry.key.span),
                    "kubelets since 1.32 ignore resolverConfig in a drop-in",
                )
                .severity(Severity::Info)
                .help("write resolvConf beside it: each version takes the key that it knows")
                .note("--kubelet-version tells which one counts");
        }
        _ => {}
    }
}

fn add(
    text: &KubeletText<'_>,
    entry: &Entry,
    (message, right): (&str, &str),
    context: &Context<'_>,
    report: &mut Report,
) {
    let document = text.document;
    let finding = report
        .add(document.at(entry.key.span), message)
        .note("the kubelet goes on with the path of its main file, or with /etc/resolv.conf");
    let flag = context.flag_over(document.file, Name::ResolvConf);
    write_instead(finding, right, None, flag);
    if flag.is_none() && right == INTERNAL {
        finding.help("write resolverConfig in its place, until the nodes have 1.32");
    }
}
