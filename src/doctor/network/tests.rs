use std::net::Ipv4Addr;

use super::*;
use crate::doctor::checks;
use crate::path::{Packet, Protocol, unroutable};

/// What was seen of the way is right only where nothing was left out.
#[test]
fn what_was_not_seen_is_not_right() {
    let mut tree = unroutable(Packet::query(), "it");
    tree.verdict = Verdict::Reaches;
    let netdev = Note::OtherFamily("netdev lab".into());
    let state = |notes: Vec<Note>, skipped: Vec<String>, gaps: Vec<Gap>, verdict| {
        let mut other = tree.clone();
        (other.verdict, other.gaps) = (verdict, gaps);
        let route = Route {
            trees: vec![tree.clone(), other],
            findings: Vec::new(),
            notes,
            other_proxy: None,
            skipped,
            question: Vec::new(),
        };
        checks::path(Ok(&route)).state
    };
    let none = Vec::new;
    let reaches = Verdict::Reaches;
    assert_eq!(
        state(none(), Vec::new(), vec![Gap::Liveness], reaches),
        State::Ok
    );
    for unseen in [
        state(vec![netdev], Vec::new(), Vec::new(), reaches),
        state(
            none(),
            vec!["nft is missing".to_owned()],
            Vec::new(),
            reaches,
        ),
        state(none(), Vec::new(), vec![Gap::Routes], reaches),
        state(none(), Vec::new(), Vec::new(), Verdict::Unknown),
    ] {
        assert_eq!(unseen, State::Unknown);
    }
}

const SERVICE: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 96, 0, 10));
const POD: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 244, 0, 8));

/// Where packets to the Service end.
fn tree(protocol: Protocol, ends: &[(Kind, IpAddr)], verdict: Verdict) -> Tree {
    let packet = Packet {
        protocol,
        source: SERVICE,
        ..Packet::query()
    };
    let mut tree = unroutable(packet, "it");
    let end = tree.outcomes.remove(0);
    (tree.verdict, tree.gaps) = (verdict, Vec::new());
    let outcome = |&(kind, address): &(Kind, IpAddr)| Outcome {
        kind,
        address,
        is_translated: address != SERVICE,
        ..end.clone()
    };
    tree.outcomes.extend(ends.iter().map(outcome));
    tree
}

fn route(trees: &[&Tree]) -> Route {
    Route {
        trees: trees.iter().copied().cloned().collect(),
        findings: Vec::new(),
        notes: Vec::new(),
        other_proxy: None,
        skipped: Vec::new(),
        question: Vec::new(),
    }
}

/// Only what is proven goes past a socket: nothing that is lost, unknown, or another
/// proxy's, and no part of the packets.
#[test]
fn what_is_known_to_be_sent_on() {
    let (udp, reaches) = (Protocol::Udp, Verdict::Reaches);
    let on = tree(udp, &[(Kind::Endpoint, POD)], reaches);
    assert_eq!(route(&[&on]).sent_on(), Some(SERVICE));
    let tcp = tree(Protocol::Tcp, &[(Kind::Endpoint, POD)], reaches);
    assert_eq!(route(&[&tcp]).sent_on(), None);
    for other in [
        tree(udp, &[], reaches),
        tree(udp, &[(Kind::Local, SERVICE)], reaches),
        tree(
            udp,
            &[(Kind::Endpoint, POD), (Kind::Local, SERVICE)],
            reaches,
        ),
        tree(
            udp,
            &[(Kind::Endpoint, POD), (Kind::Reject, POD)],
            Verdict::Partly,
        ),
        tree(udp, &[(Kind::Reject, POD)], Verdict::Nothing),
        tree(udp, &[(Kind::Endpoint, POD)], Verdict::Unknown),
        tree(Protocol::Tcp, &[(Kind::Local, SERVICE)], reaches),
    ] {
        assert_eq!(route(&[&on, &other]).sent_on(), None, "{other:?}");
    }
    let mut unread = route(&[&on]);
    unread.skipped.push("nft is missing".to_owned());
    assert_eq!(unread.sent_on(), None);
    let mut with_cilium = route(&[&on]);
    with_cilium.other_proxy = Some(Proxy::Cilium);
    assert_eq!(with_cilium.sent_on(), None);
}

/// One that is not ready, or is being ended, is no endpoint of the Service.
#[test]
fn packets_to_a_service_leave_out_what_is_no_endpoint() {
    let [one, other] = [[10, 244, 0, 8], [10, 244, 0, 9]];
    let mut tree = unroutable(Packet::query(), "it");
    tree.verdict = Verdict::Reaches;
    for outcome in &mut tree.outcomes {
        (outcome.kind, outcome.address) = (Kind::Endpoint, one.into());
        outcome.is_translated = true;
    }
    let mut route = Route {
        trees: vec![tree],
        findings: Vec::new(),
        notes: Vec::new(),
        other_proxy: None,
        skipped: Vec::new(),
        question: Vec::new(),
    };
    let leaves_out = |route: &Route, it: [u8; 4]| route.leaves_out((it, 53).into());
    assert!(!leaves_out(&route, one));
    assert!(leaves_out(&route, other));
    route.trees[0].outcomes[0].kind = Kind::Reject;
    assert!(!leaves_out(&route, other));
    route.trees[0].outcomes[0].kind = Kind::Local;
    route.skipped.push("nft is missing".to_owned());
    assert!(!leaves_out(&route, other));
}

/// As a cache of the node has it that has written its NOTRACK rules.
#[test]
fn what_is_known_to_come_to_a_socket_of_the_node() {
    let own = tree(Protocol::Udp, &[(Kind::Local, SERVICE)], Verdict::Reaches);
    assert_eq!(route(&[&own]).stays(), Some(SERVICE));
    assert_eq!(route(&[&own]).sent_on(), None);
    let on = tree(Protocol::Tcp, &[(Kind::Endpoint, POD)], Verdict::Reaches);
    assert_eq!(route(&[&own, &on]).stays(), None);
    let mut unread = route(&[&own]);
    unread.skipped.push("nft is missing".to_owned());
    assert_eq!(unread.stays(), None);
}
