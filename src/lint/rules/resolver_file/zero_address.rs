#![doc = include_str!("zero_address.md")]

use crate::finding::Severity;
use crate::lint::context::Context;
use crate::lint::options::Role;
use crate::lint::report::Report;
use crate::lint::rules::resolver_file::common::{handed_out, point_to_setting};
use crate::lint::subject::ResolverFile;
use crate::lint::{Check, Rule};

/// KR003.
pub static RULE: Rule = Rule {
    code: "KR003",
    name: "zero-address",
    severity: Severity::Error,
    summary: "a name server of a pod is 0.0.0.0 or ::, which is the pod itself",
    page: include_str!("zero_address.md"),
    check: Check::Resolver(check),
};

fn check(file: &ResolverFile<'_>, context: &Context<'_>, report: &mut Report) {
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
