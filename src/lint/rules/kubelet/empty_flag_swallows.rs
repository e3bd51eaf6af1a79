#![doc = include_str!("empty_flag_swallows.md")]

use crate::config::traced::Traced;
use crate::lint::document::Document;
use crate::lint::extract;
use crate::lint::rules::kubelet::common::span;
use crate::lint::rules::prelude::*;

/// The flag that can be empty.
const RESOLV_CONF: [&str; 2] = ["--resolv-conf", "--resolv_conf"];
/// Those that cannot.
const OTHERS: [&str; 6] = [
    "--cluster-dns",
    "--cluster_dns",
    "--cluster-domain",
    "--cluster_domain",
    "--config",
    "--config-dir",
];

pub(super) fn check(text: &KubeletText<'_>, _: &Context<'_>, report: &mut Report) {
    let document = text.document;
    for (list, is_command) in extract::arguments(document) {
        let mut arguments = list.iter();
        while let Some(argument) = arguments.next() {
            let name = argument.text();
            let can_be_empty = RESOLV_CONF.contains(&name.as_ref());
            if argument.bytes() == b"--" {
                break;
            }
            if !can_be_empty && !OTHERS.contains(&name.as_ref()) {
                continue;
            }
            match arguments.next() {
                Some(next) if next.bytes().starts_with(b"-") => {
                    swallows(document, argument, next, can_be_empty, report);
                }
                // Variables can follow in any list but that of the command.
                None if is_command => {
                    let message = format!("the kubelet does not start: {name} has no value");
                    let finding = report.add(document.at(span(argument)), message);
                    finding.help(if can_be_empty {
                        format!("write {name}=PATH")
                    } else {
                        format!("write {name}=VALUE")
                    });
                }
                _ => {}
            }
        }
    }
}

fn swallows(
    document: &Document,
    argument: &Traced,
    next: &Traced,
    can_be_empty: bool,
    report: &mut Report,
) {
    let (name, value) = (argument.text(), next.text());
    let at = span(argument);
    let message = format!("{name} has no value and takes {value} for it");
    let finding = report.add(document.at(at), message).also(
        document.at(span(next)),
        "this is the value, and no flag any more",
    );
    if !can_be_empty {
        finding
            .help(format!("write {name}=VALUE, or remove {name}"))
            .note(format!(
                "{value} does not count, and {name} has a value that is none"
            ));
        return;
    }
    finding
        .help(format!("write {name}=, if it is to be empty"))
        .note(format!(
            "no pod starts: the kubelet looks for a file called {value}"
        ));
}
