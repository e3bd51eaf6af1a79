//! What does something to a packet, in words.

use crate::path::What;

/// What does something to a packet: a rule as it is written, or a clause.
pub(in crate::render) fn what(what: &What) -> String {
    match what {
        What::Rule(rule) => rule.to_string(),
        What::Silent(ip) => format!("nobody answers for {ip} on its link"),
        What::NoPod(ip, bridge) => {
            format!("no pod of this node has {ip}, and {bridge} leads to nobody else")
        }
        What::LinkDown(link) => format!("the link {link} is down"),
        What::NoCarrier(link) => format!("the link {link} is up and has no carrier"),
        What::InPod(inner) => format!("in the pod's own network, {}", self::what(inner)),
        What::PodRule(rule) => {
            format!("a rule of the pod's own network namespace refuses it: {rule}")
        }
        What::NobodyListens(ip, port, protocol) => {
            format!("nobody listens on {ip}:{port}/{}", protocol.word())
        }
        What::NoForwarding(setting) => format!("{setting} = 0: the node forwards nothing"),
        What::NoRoute(ip) => format!("there is no route to {ip}"),
        What::RouteRefuses(ip, kind) => format!("a route refuses {ip} ({kind})"),
        What::PolicyRefuses(ip, kind) => format!("a rule of ip rule refuses {ip} ({kind})"),
        What::SenderElsewhere(link, source) => {
            format!("rp_filter of {link} is 1, and the route to {source} leads out elsewhere")
        }
        What::SenderUnrouted(link, source) => {
            format!("rp_filter of {link} is on, and there is no route to {source}")
        }
        What::TableFull => "the table is full of entries that are kept".to_owned(),
        What::NotSent(reason) => reason.to_string(),
        What::Elsewhere => "it leaves through a link whose other end is not in the node's network \
                            namespace"
            .to_owned(),
        What::Loopback => {
            "a loopback address is the asker itself: it never comes to the node".to_owned()
        }
    }
}
