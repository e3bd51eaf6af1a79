#![doc = include_str!("zero_address.md")]

use crate::lint::rules::prelude::*;
use crate::lint::rules::resolver_file::common::{handed_out, point_to_setting};

pub(super) fn check(file: &ResolverFile<'_>, context: &Context<'_>, report: &mut Report) {
    if file.role == Role::Node {
        return;
    }
    for (address, server) in handed_out(file, context) {
        if !address.to_canonical().is_unspecified() {
            continue;
        }
        let message =
            format!("{address} reaches the host that asks, and in a pod that is the pod itself");
        let finding = report
            .add(server.at, message)
            .help("write the address of a server, or remove the line")
            .note(
                "CoreDNS forwards to itself and ends with a FATAL message; other pods are refused",
            );
        point_to_setting(finding, file);
    }
}
