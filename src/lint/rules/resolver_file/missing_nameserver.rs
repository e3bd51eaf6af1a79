#![doc = include_str!("missing_nameserver.md")]

use crate::lint::rules::prelude::*;
use crate::lint::rules::resolver_file::common::point_to_setting;
use crate::lint::rules::resolver_file::uplink_file_empty;

pub(super) fn check(file: &ResolverFile<'_>, _: &Context<'_>, report: &mut Report) {
    if file.role == Role::Node || !file.read.servers.is_empty() {
        return;
    }
    // What systemd-resolved says of it is KR026's.
    if file.role == Role::Kubelet && uplink_file_empty::none_known(file).is_some() {
        return;
    }
    // A line without a value is what KR009 is about.
    let mut keywords = file.conf.lines().filter_map(|line| line.words().next());
    if keywords.any(|it| it.bytes == b"nameserver") {
        return;
    }
    let finding = report
        .add(file.at(), "the file has no name server")
        .help("write a line: nameserver ADDRESS")
        .note("CoreDNS does not start with it, and resolvers ask 127.0.0.1, which in a pod is the pod itself");
    point_to_setting(finding, file);
}
