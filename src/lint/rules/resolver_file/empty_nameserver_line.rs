#![doc = include_str!("empty_nameserver_line.md")]

use crate::lint::rules::prelude::*;
use crate::lint::rules::resolver_file::common::point_to_setting;

pub(super) fn check(file: &ResolverFile<'_>, _: &Context<'_>, report: &mut Report) {
    for entry in file.lines("nameserver") {
        if entry.values().next().is_some() {
            continue;
        }
        let at = file.document.at(entry.keyword.span);
        let finding = if file.role == Role::Kubelet {
            report
                .add(at, "no address follows, and the kubelet refuses the whole file")
                .note("no pod of the node starts, whatever its policy: the kubelet reads the file for each of them")
        } else {
            report
                .add(at, "no address follows, and resolvers pass the line over")
                .severity(Severity::Info)
        };
        finding
            .help("write an address behind it, or remove the line")
            .fix(
                "remove the line",
                [file.document.without_line(entry.line.span())],
            );
        point_to_setting(finding, file);
    }
}
