//! Endpoints that are no more.

use kdns::path::findings::{self, Around, Fact, LinkFinding};
use kdns::path::{
    Address, Host, Link, LinkKind, Policy, Protocol, Route, RouteKind, Site, Stage, Start, Verdict,
    What,
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
    let last = from_pod(&host).lost().unwrap().last().unwrap().what.clone();
    let no_pod = What::NoPod(ip("10.244.0.9"), "cni0".into());
    assert_eq!(last, no_pod);
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
            .and_then(|it| it.last().map(|it| it.what.clone()));
        (tree.verdict, last)
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
    assert_eq!(
        of(&[plain.clone(), hole], all, true, true),
        (
            Verdict::Nothing,
            Some(What::RouteRefuses(ip(ENDPOINT), "blackhole"))
        )
    );
    let prohibit = Policy {
        priority: 1,
        to: Some((ip(ENDPOINT), 32)),
        table: 0,
        refuses: Some(RouteKind::Prohibit),
        ..main.clone()
    };
    let of_both = of(
        std::slice::from_ref(&plain),
        &[prohibit, main.clone()],
        true,
        true,
    );
    let refuses = What::PolicyRefuses(ip(ENDPOINT), "prohibit");
    assert_eq!(of_both, (Verdict::Nothing, Some(refuses)));
    for (is_up, said) in [
        (true, What::NoCarrier("cni0".into())),
        (false, What::LinkDown("cni0".into())),
    ] {
        let down = of(std::slice::from_ref(&plain), all, is_up, false);
        assert_eq!(down, (Verdict::Nothing, Some(said)));
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

/// What links of pods and ports of their bridge take: the DNS pod's own link and its port, and
/// likewise the client's; and what is found of it.
fn found_of(server: (u32, u32), client: (u32, u32), change: impl Fn(&mut Host)) -> Vec<String> {
    let pod = |address: &str, mtu, peer| {
        let mut inside = host(&["*filter\n:INPUT ACCEPT [0:0]\nCOMMIT\n"]);
        inside.addresses.as_mut().unwrap().first_mut().unwrap().ip = ip(address);
        let mut eth0 = link(2, "eth0", "veth", None);
        (eth0.mtu, eth0.peer) = (mtu, Some(peer));
        inside.links = Some(vec![eth0]);
        inside
    };
    let port = |index, name, mtu| {
        let mut port = link(index, name, "veth", Some(3));
        (port.mtu, port.peer) = (mtu, Some(2));
        port
    };
    let mut node = host(&[NAT]);
    node.routes = Some(vec![plain_route()]);
    node.policies = Some(vec![main_table()]);
    node.links = Some(vec![
        link(3, "cni0", "bridge", None),
        port(4, "veth-dns", server.1),
        port(5, "veth-client", client.1),
    ]);
    let setting = "net.bridge.bridge-nf-call-iptables".to_owned();
    node.sysctls.insert(setting, "1".to_owned());
    node.inside = vec![pod(ENDPOINT, server.0, 4)];
    change(&mut node);
    let (site, client) = (Site { node, own: None }, pod(POD, client.0, 5));
    let trees = site.to_servers(&[ip(SERVICE)], ip(POD), &Start::Link { name: None });
    let around = Around {
        client: Some(&client),
        ..Around::default()
    };
    let said = findings::find(&site.node, &trees, around)
        .into_iter()
        .map(|it| match it.fact {
            Fact::Link(LinkFinding::Narrow {
                from,
                from_mtu,
                to,
                to_mtu,
                ..
            }) => {
                format!("{from} {from_mtu} > {to} {to_mtu}")
            }
            Fact::Link(LinkFinding::Small { link, mtu, .. }) => format!("{link} {mtu}"),
            other => format!("{other:?}"),
        });
    said.collect()
}

/// A port of a bridge that takes less than the pod behind it sends loses long packets of that pod,
/// and those for it; where both take the same, that pod's long answers come in fragments that fit.
/// Seen so in network namespaces with answers of 1,232 bytes.
#[test]
fn ports_that_take_less() {
    let of = |server, client| found_of(server, client, |_| ());
    let all = (1500, 1500);
    assert!(of(all, all).is_empty());
    // Both ends of the DNS pod's link: answers come.
    assert!(of((600, 600), all).is_empty());
    // Its own end: answers come in fragments, too.
    assert!(of((600, 1500), all).is_empty());
    // The node's end: answers are lost, and none comes in fragments.
    assert_eq!(of((1500, 600), all), ["eth0 1500 > veth-dns 600"]);
    // The node's end of the client's link: answers are lost, unless they are sent in fragments.
    assert_eq!(of(all, (1500, 600)), ["eth0 1500 > veth-client 600"]);
    assert!(of((600, 600), (1500, 600)).is_empty());
    assert_eq!(of(all, (600, 600)), ["eth0 600"]);
}

/// The number of the other end is that of another network namespace: it alone tells no port.
#[test]
fn ports_that_are_anothers() {
    let of = |change: fn(&mut Link)| {
        found_of((1500, 600), (1500, 1500), |node| {
            change(node.links.as_mut().unwrap().get_mut(1).unwrap());
        })
    };
    assert_eq!(of(|_| ()).len(), 1);
    assert_eq!(of(|it| it.peer = None).len(), 1);
    assert!(of(|it| it.peer = Some(9)).is_empty());
    assert!(of(|it| it.kind = LinkKind::Named("vlan".into())).is_empty());
    assert!(of(|it| it.mtu = 0).is_empty());
    let of_pod = |kind: &str| {
        found_of((1500, 600), (1500, 1500), |node| {
            let links = node.inside.first_mut().unwrap().links.as_mut().unwrap();
            links.first_mut().unwrap().kind = LinkKind::Named(kind.into());
        })
    };
    assert_eq!((of_pod("veth").len(), of_pod("macvlan").len()), (1, 0));
}
