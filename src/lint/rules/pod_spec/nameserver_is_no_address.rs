#![doc = include_str!("nameserver_is_no_address.md")]

use crate::kubelet::address::parse_address;
use crate::lint::rules::prelude::*;

pub(super) fn check(workload: &Workload<'_>, _: &Context<'_>, report: &mut Report) {
    for server in workload.dns_config("nameservers") {
        let text = &server.text;
        if parse_address(text).is_some() || has_placeholder(text) {
            continue;
        }
        let finding = report.add(server.at, format!("{text} is no IP address"));
        finding.note("the API server refuses the pod: must be valid IP address");
        let bare = without_port(text);
        if let Some(bare) = bare {
            finding.help(format!(
                "write {bare}: servers are asked on port 53, another one cannot be told"
            ));
        } else if text.contains('%') {
            finding.help("write the address without its scope");
        } else {
            finding.help("write the server's address: nobody looks up the name of a name server");
        }
    }
}

/// The address of `192.0.2.1:53` and `[2001:db8::1]:53`.
fn without_port(text: &str) -> Option<std::net::IpAddr> {
    let with_port = text.parse::<std::net::SocketAddr>().ok().map(|it| it.ip());
    with_port.or_else(|| text.strip_prefix('[')?.strip_suffix(']')?.parse().ok())
}
