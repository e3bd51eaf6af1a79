#![doc = include_str!("docker_nameserver.md")]

use crate::lint::rules::prelude::*;
use crate::lint::rules::resolver_file::common::{handed_out, point_to_setting};
use crate::loopback::owners::DOCKER;

pub(super) fn check(file: &ResolverFile<'_>, context: &Context<'_>, report: &mut Report) {
    if file.role != Role::Kubelet {
        return;
    }
    let found = handed_out(file, context).find(|(it, _)| it.to_canonical() == DOCKER);
    let Some((address, server)) = found else {
        return;
    };
    let message = format!(
        "{address} is Docker's resolver in the node's container, and in a pod it is the pod itself"
    );
    let finding = report
        .add(server.at, message)
        .help("start the node's container with --dns ADDRESS on the default bridge, or rewrite the file at its start as kind does")
        .note("CoreDNS forwards to itself and ends with a FATAL message; other pods with the policy Default are refused");
    point_to_setting(finding, file);
}
