//! A node, and who asks there: all that decides about a packet, in one value.

use std::net::IpAddr;

use super::findings::{self, Around, Finding};
use super::own::evaluate_from;
use super::{Host, Packet, Protocol, Start, Tree, evaluate};
use crate::address::DNS_PORT;

/// What was read of a node, and of the network namespace of whoever asks there.
///
/// [`Site::to_servers`] says where queries to name servers go, which pods the
/// Service of the cluster's DNS really is, and [`Site::findings`] what is wrong
/// on the way. `host::network` reads a live node; texts that somebody pasted
/// become a site by [`crate::rules::Rules::parse`].
///
/// ```
/// use kdns::path::{Host, Kind, Site, Start, Verdict};
/// use kdns::rules::Rules;
/// use kdns::text::Source;
///
/// let pasted = Source {
///     name: "ticket.txt".into(),
///     bytes: b"*nat\n:PREROUTING ACCEPT [0:0]\n\
///         -A PREROUTING -d 10.96.0.10 -p udp --dport 53 -j DNAT --to-destination 10.244.1.5\n\
///         COMMIT\n"
///         .to_vec(),
/// };
/// let rules = Rules::parse(vec![Box::new(pasted)])?;
/// let node = Host { rules, ..Host::default() };
/// let site = Site { node, ..Site::default() };
/// let start = Start::Link { name: None };
/// let trees = site.to_servers(&["10.96.0.10".parse()?], "10.244.0.7".parse()?, &start);
/// assert_eq!(trees[0].verdict, Verdict::Reaches); // over UDP
/// assert_eq!(trees[0].outcomes[0].kind, Kind::Endpoint);
/// assert_eq!(trees[1].verdict, Verdict::NoRule); // over TCP
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct Site {
    /// The node.
    pub node: Host,
    /// The network namespace of whoever asks, where it is another one.
    pub own: Option<Host>,
}

/// Over what DNS is asked.
const PROTOCOLS: [Protocol; 2] = [Protocol::Udp, Protocol::Tcp];

impl Site {
    /// Where a packet goes: through the asker's own rules, which a service mesh
    /// writes, and then the node's.
    pub fn send(&self, packet: &Packet) -> Tree {
        match &self.own {
            Some(own) => evaluate_from(own, &self.node, packet, &packet.start),
            None => evaluate(&self.node, packet),
        }
    }

    /// Where queries to these name servers go, over UDP and then over TCP for
    /// each of those that are of the source's family.
    pub fn to_servers(&self, servers: &[IpAddr], source: IpAddr, start: &Start) -> Vec<Tree> {
        let packet = |destination: IpAddr, protocol| Packet {
            protocol,
            source,
            source_port: None,
            destination,
            port: DNS_PORT,
            start: start.clone(),
            length: None,
        };
        let same = servers.iter().filter(|it| it.is_ipv4() == source.is_ipv4());
        same.flat_map(|ip| PROTOCOLS.map(|it| packet(*ip, it)))
            .map(|it| self.send(&it))
            .collect()
    }

    /// What is wrong on these ways, the worst first; `around` is what is known
    /// beside the site.
    pub fn findings<'s>(&'s self, trees: &[Tree], around: Around<'s>) -> Vec<Finding> {
        let client = self.own.as_ref();
        findings::find(&self.node, trees, Around { client, ..around })
    }
}
