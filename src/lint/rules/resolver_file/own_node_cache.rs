#![doc = include_str!("own_node_cache.md")]

use std::net::{IpAddr, Ipv4Addr};

use crate::address::is_link_local;
use crate::lint::facts::{CorefileFacts, Text};
use crate::lint::rules::is_own_file;
use crate::lint::rules::prelude::*;
use crate::lint::rules::resolver_file::common::{handed_out, point_to_setting};

/// The addresses of NodeLocal DNSCache in Kubernetes's manifest and in
/// kubespray.
const USUAL: [IpAddr; 2] = [
    IpAddr::V4(Ipv4Addr::new(169, 254, 20, 10)),
    IpAddr::V4(Ipv4Addr::new(169, 254, 25, 10)),
];
/// What the manifest has in place of the cache's own address.
const OWN_ADDRESS: &str = "__PILLAR__LOCAL__DNS__";

pub(super) fn check(file: &ResolverFile<'_>, context: &Context<'_>, report: &mut Report) {
    let servers = handed_out(file, context).filter(|(it, _)| is_link_local(*it));
    let servers: Vec<(IpAddr, &Text)> = servers.collect();
    if file.role != Role::Kubelet || servers.is_empty() {
        return;
    }
    let corefiles = context.corefiles(file.read.file);
    for (address, server) in servers {
        let has_it = |it: &&&CorefileFacts| binds(it, address);
        let cache = corefiles.iter().find(has_it);
        match cache.map(|it| file_upstream(it)) {
            Some(Some(upstream)) => {
                let message = format!(
                    "{address} is the node's DNS cache itself, which forwards to the servers of this file"
                );
                let finding = report
                    .add(server.at, message)
                    .help("name the real servers in the cache's forward, or give the kubelet a file without this line")
                    .note("the cache ends with a FATAL message at its next start, and no pod of the node resolves a name");
                finding.also(upstream.at, "the cache reads the file here");
                point_to_setting(finding, file);
            }
            None if USUAL.contains(&address) => {
                let message = format!(
                    "{address} is NodeLocal DNSCache, which loops if it forwards to /etc/resolv.conf"
                );
                let finding = report
                    .add(server.at, message)
                    .severity(Severity::Info)
                    .help("give kdns the cache's Corefile, too: it tells")
                    .note("the cache's pod gets this file as its /etc/resolv.conf, and forwards to it unless its Corefile names servers");
                point_to_setting(finding, file);
            }
            _ => {}
        }
    }
}

fn binds(corefile: &CorefileFacts, address: IpAddr) -> bool {
    let is_it = |it: &Text| {
        it.address() == Some(address) || it.text == OWN_ADDRESS && USUAL.contains(&address)
    };
    corefile.binds.iter().any(is_it)
}

/// What makes the server read its `/etc/resolv.conf`.
fn file_upstream(corefile: &CorefileFacts) -> Option<&Text> {
    let all = corefile.forwards.iter().filter(|it| it.from == ".");
    let mut targets = all.flat_map(|it| &it.to);
    targets.find(|it| is_own_file(&it.text))
}
