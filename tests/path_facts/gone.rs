//! Endpoints that are no more.

use kdns::path::{Address, Host, Link, LinkKind, Route, RouteKind, Stage, Verdict};

use super::{ENDPOINT, NAT, POD, from_pod, host, ip};

/// A link of a node, behind a bridge or not.
fn link(index: u32, name: &str, kind: &str, master: Option<u32>) -> Link {
    Link {
        index,
        name: name.into(),
        kind: LinkKind::Named(kind.into()),
        is_up: true,
        mtu: 1500,
        master,
        hairpin: None,
    }
}

/// Behind a bridge whose every port leads to a pod there is nobody else.
#[test]
fn endpoints_that_are_gone() {
    let nat = NAT.replace(ENDPOINT, "10.244.0.9");
    let mut host = host(&[&nat]);
    host.routes = Some(vec![Route {
        table: 254,
        kind: RouteKind::Unicast,
        destination: ip("10.244.0.0"),
        prefix: 24,
        gateway: None,
        link: Some("cni0".into()),
        source: None,
        metric: 0,
    }]);
    host.links = Some(vec![
        link(3, "cni0", "bridge", None),
        link(4, "veth7", "veth", Some(3)),
        link(5, "veth8", "veth", Some(3)),
    ]);
    host.pods = [(ip(POD), "default/web".to_owned())].into();
    let ends = |host: &Host| {
        let tree = from_pod(host);
        (
            tree.verdict,
            tree.lost().map(|it| it.last().unwrap().stage.clone()),
        )
    };
    // A port leads to somebody who was not seen.
    assert_eq!(ends(&host), (Verdict::Reaches, None));
    host.pods.insert(ip("10.244.0.8"), "default/db".to_owned());
    assert_eq!(ends(&host), (Verdict::Nothing, Some(Stage::Neighbour)));
    let last = from_pod(&host)
        .lost()
        .unwrap()
        .last()
        .unwrap()
        .rule
        .to_string();
    assert_eq!(
        last,
        "no pod of this node has 10.244.0.9, and cni0 leads to nobody else"
    );
    // One of three has ended, and a port can be another's.
    host.pods.insert(ip("10.244.0.6"), "default/old".to_owned());
    assert_eq!(ends(&host), (Verdict::Reaches, None));
    host.pods.remove(&ip("10.244.0.6"));
    // A port of another kind leads out of the node.
    host.links
        .as_mut()
        .unwrap()
        .push(link(6, "eth1", "vlan", Some(3)));
    assert_eq!(ends(&host), (Verdict::Reaches, None));
    host.links.as_mut().unwrap().pop();
    // A pod on the node's network is behind no port.
    host.addresses.as_mut().unwrap().push(Address {
        ip: ip("10.244.0.8"),
        prefix: 24,
        link: "cni0".into(),
    });
    assert_eq!(ends(&host), (Verdict::Reaches, None));
}
