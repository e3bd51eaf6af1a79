//! What was seen in the kernel, fact by fact; random rule sets are held against
//! it by `tests/path_kernel`.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod gone;
mod services;

use std::net::IpAddr;

use kdns::path::{
    Address, Condition, Conntrack, Host, Kind, Link, LinkKind, Packet, Protocol, Reply, Route,
    RouteKind, RulesKnown, Stage, Start, Tree, Verdict, What, evaluate,
};
use kdns::rules::conntrack::{Entry, Tuple};
use kdns::rules::{Rules, Text};
use kdns::text::Source;

const SERVICE: &str = "10.96.0.10";
const POD: &str = "10.244.0.7";
const NODE: &str = "172.31.0.10";
const ENDPOINT: &str = "10.244.1.5";

/// The Service, led to one endpoint.
const NAT: &str = "*nat
:PREROUTING ACCEPT [0:0]
:OUTPUT ACCEPT [0:0]
:POSTROUTING ACCEPT [0:0]
-A PREROUTING -d 10.96.0.10/32 -p udp -m udp --dport 53 -j DNAT --to-destination 10.244.1.5:53
-A OUTPUT -d 10.96.0.10/32 -p udp -m udp --dport 53 -j DNAT --to-destination 10.244.1.5:53
COMMIT
";

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

/// A node with these texts as all of its rules.
fn host(texts: &[&str]) -> Host {
    let text = |(index, it): (usize, &&str)| {
        let source = Source::new(format!("{index}"), *it);
        Box::new(source) as Box<dyn Text + Send>
    };
    let rules = Rules::parse(texts.iter().enumerate().map(text).collect()).unwrap();
    let address = Address {
        ip: ip(NODE),
        prefix: 24,
        link: "eth0".into(),
    };
    Host {
        known: RulesKnown::All,
        rules,
        addresses: Some(vec![address]),
        ..Host::default()
    }
}

/// NAT, and these rules of the table filter below FORWARD's policy.
fn filtered(policy: &str, rules: &str) -> Host {
    let filter =
        format!("*filter\n:FORWARD {policy} [0:0]\n:OUTPUT ACCEPT [0:0]\n{rules}\nCOMMIT\n");
    host(&[&format!("{NAT}{filter}")])
}

fn packet(to: &str, port: u16) -> Packet {
    Packet {
        protocol: Protocol::Udp,
        source: ip(POD),
        source_port: None,
        destination: ip(to),
        port,
        start: Start::Link {
            name: Some("cali7".into()),
        },
        length: Some(60),
    }
}

fn from_pod(host: &Host) -> Tree {
    evaluate(host, &packet(SERVICE, 53))
}

fn from_node(host: &Host) -> Tree {
    let packet = Packet {
        source: ip(NODE),
        start: Start::Host,
        ..packet(SERVICE, 53)
    };
    evaluate(host, &packet)
}

fn kinds(tree: &Tree) -> Vec<(Kind, String)> {
    let outcomes = tree.outcomes.iter();
    outcomes
        .map(|it| (it.kind, it.address.to_string()))
        .collect()
}

#[test]
fn accept_ends_one_table_only() {
    let mangle = "*mangle\n:FORWARD ACCEPT [0:0]\n-A FORWARD -j ACCEPT\nCOMMIT\n";
    let filter = "*filter\n:FORWARD ACCEPT [0:0]\n-A FORWARD -j DROP\nCOMMIT\n";
    let tree = from_pod(&host(&[&format!("{mangle}{NAT}{filter}")]));
    assert_eq!(tree.verdict, Verdict::Nothing);
}

#[test]
fn under_forward_drop_pods_fail_and_the_node_does_not() {
    let host = filtered("DROP", "-A FORWARD -m mark --mark 0x4000/0x4000 -j ACCEPT");
    assert_eq!(kinds(&from_pod(&host)), [(Kind::Drop, ENDPOINT.into())]);
    assert_eq!(from_node(&host).verdict, Verdict::Reaches);
}

#[test]
fn filters_see_the_endpoint_and_the_connection_the_service() {
    for (rule, verdict) in [
        ("-A FORWARD -d 10.96.0.10/32 -j DROP", Verdict::Reaches),
        ("-A FORWARD -d 10.244.1.5/32 -j DROP", Verdict::Nothing),
        (
            "-A FORWARD -m conntrack --ctorigdst 10.96.0.10 -j DROP",
            Verdict::Nothing,
        ),
    ] {
        assert_eq!(
            from_pod(&filtered("ACCEPT", rule)).verdict,
            verdict,
            "{rule}"
        );
    }
    let output = filtered("ACCEPT", "-A OUTPUT -d 10.244.1.5/32 -j DROP");
    assert_eq!(from_node(&output).verdict, Verdict::Nothing);
}

#[test]
fn a_value_outside_of_its_mask_never_matches() {
    let rule = "-A FORWARD -m mark --mark 0x4001/0x4000 -j DROP";
    assert_eq!(
        from_pod(&filtered("ACCEPT", rule)).verdict,
        Verdict::Reaches
    );
}

#[test]
fn goto_and_return_in_a_base_chain_mean_its_policy() {
    for rules in [
        "-A FORWARD -p udp -j RETURN\n-A FORWARD -j ACCEPT",
        "-A FORWARD -g OWN\n-A FORWARD -j ACCEPT\n-A OWN -p tcp -j ACCEPT",
    ] {
        assert_eq!(from_pod(&filtered("DROP", rules)).verdict, Verdict::Nothing);
    }
}

#[test]
fn length_is_of_the_whole_packet_and_ttl_at_forward_one_lower() {
    for (rule, verdict) in [
        (
            "-A FORWARD -m length --length 60:60 -j DROP",
            Verdict::Nothing,
        ),
        (
            "-A FORWARD -m length --length 0:59 -j DROP",
            Verdict::Reaches,
        ),
        ("-A FORWARD -m ttl --ttl-eq 63 -j DROP", Verdict::Nothing),
        ("-A FORWARD -m ttl --ttl-eq 64 -j DROP", Verdict::Reaches),
    ] {
        assert_eq!(
            from_pod(&filtered("ACCEPT", rule)).verdict,
            verdict,
            "{rule}"
        );
    }
}

#[test]
fn output_rejects_with_an_error_and_drops_without() {
    let reject = from_node(&filtered("ACCEPT", "-A OUTPUT -p udp -j REJECT"));
    let error = reject.outcomes[0].error.as_deref();
    assert_eq!(error, Some("icmp-port-unreachable"));
    let drop = from_node(&filtered("ACCEPT", "-A OUTPUT -p udp -j DROP"));
    assert_eq!(
        (drop.outcomes[0].kind, &drop.outcomes[0].error),
        (Kind::Drop, &None)
    );
}

#[test]
fn two_nat_tables_of_one_priority_cannot_be_told_apart() {
    let legacy = format!("# Generated by iptables-save v1.8.9 (legacy) on Sat\n{NAT}");
    let nft = format!("# Generated by iptables-save v1.8.9 (nf_tables) on Sat\n{NAT}")
        .replace(ENDPOINT, "10.244.9.9");
    let tree = from_pod(&host(&[&legacy, &nft]));
    assert_eq!(tree.verdict, Verdict::Unknown);
    let mut assumed = tree.outcomes.iter().flat_map(|it| &it.depends_on);
    assert!(assumed.all(|it| matches!(it.condition, Condition::Before { .. })));
}

const TABLE: &str = r#"{"table": {"family": "ip", "name": "nat", "handle": 1}}"#;
const CHAIN: &str = r#"{"chain": {"family": "ip", "table": "nat", "name": "PREROUTING", "handle": 2, "type": "nat", "hook": "prerouting", "prio": -100, "policy": "accept"}}"#;

/// What `nft -j` shows of the rule of NAT: its match and target by name alone.
fn hollow() -> String {
    let rule = r#"{"rule": {"family": "ip", "table": "nat", "chain": "PREROUTING", "handle": 3, "expr": [{"xt": {"type": "match", "name": "statistic"}}, {"xt": {"type": "target", "name": "DNAT"}}]}}"#;
    format!(r#"{{"nftables": [{TABLE}, {CHAIN}, {rule}]}}"#)
}

#[test]
fn hollow_rules_of_nft_are_taken_from_iptables_save_and_count_once() {
    let saved = format!("# Generated by iptables-save v1.8.9 (nf_tables) on Sat\n{NAT}").replace(
        "-j DNAT",
        "-m statistic --mode random --probability 0.5 -j DNAT",
    );
    let both = from_pod(&host(&[&saved, &hollow()]));
    assert_eq!(both.outcomes, from_pod(&host(&[&saved])).outcomes);
    assert_eq!(both.outcomes.len(), 2);
    assert_eq!(from_pod(&host(&[&hollow()])).verdict, Verdict::Unknown);
}

#[test]
fn a_value_that_the_map_of_numgen_lacks_falls_through() {
    let numgen = r#"{"numgen": {"mode": "random", "mod": 2, "offset": 0}}"#;
    let map = format!(r#"{{"map": {{"key": {numgen}, "data": {{"set": [[0, "{ENDPOINT}"]]}}}}}}"#);
    let rule = format!(
        r#"{{"rule": {{"family": "ip", "table": "nat", "chain": "PREROUTING", "handle": 3, "expr": [{{"dnat": {{"addr": {map}}}}}]}}}}"#
    );
    let text = format!(r#"{{"nftables": [{TABLE}, {CHAIN}, {rule}]}}"#);
    let tree = from_pod(&host(&[&text]));
    let mut found: Vec<String> = tree
        .outcomes
        .iter()
        .map(|it| format!("{} {}", it.share, it.address))
        .collect();
    found.sort();
    assert_eq!(found, ["1/2 10.244.1.5", "1/2 10.96.0.10"]);
}

#[test]
fn node_ports_are_at_every_address_or_at_those_of_the_set() {
    let iptables = "*nat\n:PREROUTING ACCEPT [0:0]\n-A PREROUTING -p udp -m addrtype --dst-type LOCAL -m udp --dport 30053 -j DNAT --to-destination 10.244.1.5:53\nCOMMIT\n";
    let set = r#"{"set": {"family": "ip", "name": "nodeport-ips", "table": "nat", "type": "ipv4_addr", "handle": 4, "elem": ["172.31.0.99"]}}"#;
    let daddr = r#"{"match": {"op": "==", "left": {"payload": {"protocol": "ip", "field": "daddr"}}, "right": "@nodeport-ips"}}"#;
    let rule = format!(
        r#"{{"rule": {{"family": "ip", "table": "nat", "chain": "PREROUTING", "handle": 3, "expr": [{daddr}, {{"dnat": {{"addr": "{ENDPOINT}"}}}}]}}}}"#
    );
    let nftables = format!(r#"{{"nftables": [{TABLE}, {CHAIN}, {set}, {rule}]}}"#);
    let ends = |text: &str| kinds(&evaluate(&host(&[text]), &packet(NODE, 30053)));
    assert_eq!(ends(iptables), [(Kind::Endpoint, ENDPOINT.to_owned())]);
    assert_eq!(ends(&nftables), [(Kind::Local, NODE.to_owned())]);
}

fn full(is_assured: bool) -> Conntrack {
    let side = Tuple {
        source: ip("10.244.0.8"),
        destination: ip("10.244.0.9"),
        source_port: 1,
        destination_port: 2,
    };
    let entry = Entry {
        protocol: 6,
        timeout: None,
        state: None,
        original: side,
        reply: side,
        is_unreplied: !is_assured,
        is_assured,
        mark: 0,
        zone: 0,
        line: 0,
    };
    Conntrack {
        count: Some(1),
        max: Some(1),
        entries: vec![entry],
        ..Conntrack::default()
    }
}

#[test]
fn a_full_table_drops_what_it_would_track() {
    let with = |is_assured, raw: &str| {
        let mut host = host(&[&format!("{raw}{NAT}")]);
        host.conntrack = Some(full(is_assured));
        from_pod(&host)
    };
    let full = with(true, "");
    assert_eq!(kinds(&full), [(Kind::Drop, SERVICE.into())]);
    let last = full.outcomes[0].steps.last().unwrap();
    assert_eq!(last.stage, Stage::Conntrack); // before mangle, nat and filter
    assert_eq!(with(false, "").verdict, Verdict::Reaches); // it makes room
    let raw = "*raw\n:PREROUTING ACCEPT [0:0]\n-A PREROUTING -j NOTRACK\nCOMMIT\n";
    assert_eq!(kinds(&with(true, raw)), [(Kind::Endpoint, SERVICE.into())]);
}

#[test]
fn a_cache_that_does_not_listen_refuses_and_rules_left_behind_lead_astray() {
    let raw = "*raw\n:PREROUTING ACCEPT [0:0]\n-A PREROUTING -d 10.96.0.10/32 -p udp -m udp --dport 53 -j NOTRACK\nCOMMIT\n";
    let mut host = host(&[&format!("{raw}{NAT}")]);
    assert_eq!(kinds(&from_pod(&host)), [(Kind::Endpoint, SERVICE.into())]);
    let own = Address {
        ip: ip(SERVICE),
        prefix: 32,
        link: "nodelocaldns".into(),
    };
    host.addresses.get_or_insert_default().push(own);
    host.listeners = Some(Vec::new());
    let tree = from_pod(&host);
    assert_eq!(kinds(&tree), [(Kind::Reject, SERVICE.into())]);
    let error = tree.outcomes[0].error.as_deref();
    assert_eq!(error, Some("icmp-port-unreachable"));
}

#[test]
fn the_answer_to_an_untracked_connection_is_invalid() {
    let raw = "*raw\n:PREROUTING ACCEPT [0:0]\n-A PREROUTING -d 10.244.1.5/32 -j NOTRACK\nCOMMIT\n";
    let drop = "-A FORWARD -m conntrack --ctstate INVALID -j DROP";
    let filter = format!("{raw}{NAT}*filter\n:FORWARD ACCEPT [0:0]\n{drop}\nCOMMIT\n");
    let verdict = |protocol| {
        let packet = Packet {
            protocol,
            ..packet(ENDPOINT, 53)
        };
        evaluate(&host(&[&filter]), &packet).verdict
    };
    assert_eq!(verdict(Protocol::Udp), Verdict::Reaches);
    assert_eq!(verdict(Protocol::Tcp), Verdict::Nothing);
}

#[test]
fn rp_filter_drops_what_would_be_answered_elsewhere() {
    let route = |destination: &str, prefix, link: &str| Route {
        table: 254,
        kind: RouteKind::Unicast,
        destination: ip(destination),
        prefix,
        gateway: None,
        link: Some(link.into()),
        source: None,
        metric: 0,
    };
    let link = Link {
        index: 7,
        name: "cali7".into(),
        kind: LinkKind::Device,
        is_up: true,
        has_carrier: true,
        mtu: 1500,
        master: None,
        peer: None,
        hairpin: None,
    };
    let with = |filter: &str, to_pod: &str| {
        let mut host = host(&[NAT]);
        host.links = Some(vec![link.clone()]);
        host.routes = Some(vec![
            route("10.244.0.7", 32, to_pod),
            route("0.0.0.0", 0, "eth0"),
        ]);
        let name = "net.ipv4.conf.cali7.rp_filter".to_owned();
        host.sysctls.insert(name, filter.to_owned());
        from_pod(&host)
    };
    assert_eq!(with("1", "cali7").verdict, Verdict::Reaches);
    assert_eq!(with("0", "eth0").verdict, Verdict::Reaches);
    assert_eq!(with("2", "eth0").verdict, Verdict::Reaches);
    let tree = with("1", "eth0");
    assert_eq!(tree.verdict, Verdict::Nothing);
    assert_eq!(
        tree.outcomes[0].steps.last().unwrap().what,
        What::SenderElsewhere("cali7".into(), ip("10.244.0.7"))
    );
}

#[test]
fn an_answer_that_is_dropped_is_no_answer() {
    let host = filtered("ACCEPT", "-A FORWARD -s 10.244.1.5/32 -j DROP");
    let tree = from_pod(&host);
    assert_eq!(tree.verdict, Verdict::Nothing);
    assert!(matches!(tree.outcomes[0].reply, Some(Reply::Dropped(_))));
}

#[test]
fn whoever_is_not_on_the_list_is_not_kept_at_an_endpoint() {
    let kept = "-A PREROUTING -d 10.96.0.10/32 -m recent --rcheck --seconds 10800 --reap --name A --mask 255.255.255.255 --rsource -j DNAT --to-destination 10.244.9.9\n-A PREROUTING";
    let rules = NAT.replacen("-A PREROUTING", kept, 1);
    let with = |list: Option<&str>| {
        let mut host = host(&[&rules]);
        if let Some(address) = list {
            host.recent.insert("A".into(), vec![ip(address)]);
        }
        from_pod(&host)
    };
    assert_eq!(with(None).verdict, Verdict::Unknown);
    assert_eq!(with(Some(POD)).verdict, Verdict::Unknown);
    let other = with(Some("10.244.0.8"));
    assert_eq!(kinds(&other), [(Kind::Endpoint, ENDPOINT.into())]);
}
