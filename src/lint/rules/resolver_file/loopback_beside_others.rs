#![doc = include_str!("loopback_beside_others.md")]

use crate::kubelet::choice::UPLINK_FILE;
use crate::lint::rules::node::look::is_own;
use crate::lint::rules::prelude::*;
use crate::lint::rules::resolver_file::common::{handed_out, handed_out_count, point_to_setting};
use crate::loopback::owners::DOCKER;
use crate::loopback::{self, Evidence};

pub(super) fn check(file: &ResolverFile<'_>, context: &Context<'_>, report: &mut Report) {
    let own = handed_out(file, context)
        .filter(|(it, _)| is_own(*it))
        .count();
    if file.role != Role::Kubelet || own == handed_out_count(file, context) {
        return;
    }
    for (address, server) in handed_out(file, context) {
        if !address.to_canonical().is_loopback() || address == DOCKER {
            continue;
        }
        let message = format!(
            "{address} is a loopback address beside other servers, and in a pod it is the pod itself"
        );
        let lead = loopback::lead(address, file.conf, &Evidence::default());
        let owner = lead.map(|it| it.owner);
        let finding = report
            .add(server.at, message)
            .label(owner.map_or_else(String::new, |it| format!("this is {}", it.who)))
            .note(
                "CoreDNS asks its servers at random: what it sends here comes back to it, so that \
                 some of its starts end with a FATAL message and others lose queries",
            );
        let is_resolved = owner.is_some_and(|it| it.upstream_files.contains(&UPLINK_FILE));
        if is_resolved {
            finding.help(format!(
                "give the kubelet the file with the real servers: resolvConf: {UPLINK_FILE}"
            ));
        } else {
            finding.help("give the kubelet a file without this line, and name it in resolvConf");
        }
        point_to_setting(finding, file);
    }
}
