//! Endpoints that are no more.

use kdns::path::findings::{Around, Fact, LinkFinding};
use kdns::path::{
    Address, Host, Link, LinkKind, Policy, Protocol, Route, RouteKind, Site, Stage, Start, Verdict,
};

use super::{ENDPOINT, NAT, POD, SERVICE, from_pod, host, ip};

/// A link of a node, behind a bridge or not.
fn link(index: u32, name: &str, kind: &str, master: Option<u32>) -> Link {
    Link {
        index,
        name: name.into(),
        kind: LinkKind::Named(kind.into()),
        is_up: true,
        has_carrier: true,
        mtu: 1500,
        master,
        peer: None,
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

/// The route to the pods of another node.
fn plain_route() -> Route {
    Route {
        table: 254,
        kind: RouteKind::Unicast,
        destination: ip("10.244.0.0"),
        prefix: 16,
        gateway: None,
        link: Some("cni0".into()),
        source: None,
        metric: 0,
    }
}

/// The rule of `ip rule` that leads to the main table.
fn main_table() -> Policy {
    Policy {
        priority: 32766,
        from: None,
        to: None,
        mark: None,
        in_link: None,
        table: 254,
        refuses: None,
        is_odd: false,
    }
}

/// A route, or a rule of `ip rule`, refuses the endpoint; or its link is down.
#[test]
fn endpoints_that_are_refused() {
    let (plain, main) = (plain_route(), main_table());
    let of = |routes: &[Route], policies: &[Policy], is_up, has_carrier| {
        let mut host = host(&[NAT]);
        host.routes = Some(routes.to_vec());
        host.policies = Some(policies.to_vec());
        let mut cni = link(3, "cni0", "veth", None);
        (cni.is_up, cni.has_carrier) = (is_up, has_carrier);
        host.links = Some(vec![cni]);
        let tree = from_pod(&host);
        let last = tree
            .lost()
            .and_then(|it| it.last().map(|it| it.rule.to_string()));
        (tree.verdict, last.unwrap_or_default())
    };
    let all = std::slice::from_ref(&main);
    assert_eq!(
        of(std::slice::from_ref(&plain), all, true, true).0,
        Verdict::Reaches
    );
    let hole = Route {
        kind: RouteKind::Blackhole,
        prefix: 32,
        destination: ip(ENDPOINT),
        ..plain.clone()
    };
    let said = format!("a route refuses {ENDPOINT} (blackhole)");
    assert_eq!(
        of(&[plain.clone(), hole], all, true, true),
        (Verdict::Nothing, said)
    );
    let prohibit = Policy {
        priority: 1,
        to: Some((ip(ENDPOINT), 32)),
        table: 0,
        refuses: Some(RouteKind::Prohibit),
        ..main.clone()
    };
    let said = format!("a rule of ip rule refuses {ENDPOINT} (prohibit)");
    let of_both = of(
        std::slice::from_ref(&plain),
        &[prohibit, main.clone()],
        true,
        true,
    );
    assert_eq!(of_both, (Verdict::Nothing, said));
    for (is_up, said) in [
        (true, "the link cni0 is up and has no carrier"),
        (false, "the link cni0 is down"),
    ] {
        let down = of(std::slice::from_ref(&plain), all, is_up, false);
        assert_eq!(down, (Verdict::Nothing, said.to_owned()));
    }
}

/// A DNS pod whose link is down, or that listens at another port.
#[test]
fn endpoints_that_do_not_hear() {
    let own = |port, has_carrier| {
        let mut inside = host(&["*filter\n:INPUT ACCEPT [0:0]\nCOMMIT\n"]);
        inside.addresses.as_mut().unwrap().first_mut().unwrap().ip = ip(ENDPOINT);
        let mut eth0 = link(2, "eth0", "veth", None);
        eth0.has_carrier = has_carrier;
        inside.links = Some(vec![eth0]);
        inside.listeners = Some(vec![(ip("0.0.0.0"), port, Protocol::Udp)]);
        let mut node = host(&[NAT]);
        node.inside = vec![inside];
        let tree = from_pod(&node);
        let stage = tree.lost().map(|it| it.last().unwrap().stage.clone());
        (tree.verdict, stage)
    };
    assert_eq!(own(53, true), (Verdict::Reaches, None));
    assert_eq!(own(5353, true), (Verdict::Nothing, Some(Stage::Socket)));
    assert_eq!(own(53, false), (Verdict::Nothing, Some(Stage::Link)));
}

/// A port of a bridge that takes less than the bridge: long answers to that pod are lost.
#[test]
fn ports_that_take_less() {
    let of = |mtu, peer| {
        let mut inside = host(&["*filter\n:INPUT ACCEPT [0:0]\nCOMMIT\n"]);
        inside.addresses.as_mut().unwrap().first_mut().unwrap().ip = ip(ENDPOINT);
        let mut eth0 = link(2, "eth0", "veth", None);
        eth0.peer = Some(peer);
        inside.links = Some(vec![eth0]);
        let mut node = host(&[NAT]);
        node.routes = Some(vec![plain_route()]);
        node.policies = Some(vec![main_table()]);
        let mut port = link(4, "veth7", "veth", Some(3));
        port.mtu = mtu;
        node.links = Some(vec![link(3, "cni0", "bridge", None), port]);
        node.sysctls.insert(
            "net.bridge.bridge-nf-call-iptables".to_owned(),
            "1".to_owned(),
        );
        node.inside = vec![inside];
        let site = Site { node, own: None };
        let trees = site.to_servers(&[ip(SERVICE)], ip(POD), &Start::Link { name: None });
        let found = site.findings(&trees, Around::default()).into_iter();
        let links = found.filter_map(|it| match it.fact {
            Fact::Link(LinkFinding::Small { link, mtu, .. }) => Some((link, mtu)),
            _ => None,
        });
        links.collect::<Vec<_>>()
    };
    assert_eq!(of(600, 4), [("veth7".into(), 600)]);
    assert!(of(600, 5).is_empty());
    assert!(of(1500, 4).is_empty());
}
