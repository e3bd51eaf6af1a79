//! Packets that do not come to the rules of the Service that has their address.

use kdns::finding::Severity;
use kdns::path::findings::{Around, Bypass, Fact, ServiceFinding};
use kdns::path::{Site, Start};

use super::{POD, SERVICE, host, ip};

const RULES: &str = include_str!("../../testdata/path/cluster-2/rules.txt");

/// What is found out about these rules, with the first line that shows it.
fn found(rules: &str, pods: &[(&str, &str)]) -> Option<(ServiceFinding, Severity, String)> {
    let mut node = host(&[rules]);
    let named = pods
        .iter()
        .map(|(ip, name)| (super::ip(ip), (*name).to_owned()));
    node.pods.extend(named);
    let site = Site { node, own: None };
    let start = Start::Link { name: None };
    let trees = site.to_servers(&[ip(SERVICE)], ip(POD), &start);
    let findings = site.findings(&trees, Around::default());
    findings.into_iter().find_map(|it| match it.fact {
        Fact::Service(fact) => {
            let first = it.evidence.first().map(|it| it.words.clone());
            Some((fact, it.severity, first.unwrap_or_default()))
        }
        _ => None,
    })
}

/// The rules without lines that have these words.
fn without(words: &str) -> String {
    let kept = RULES.split_inclusive('\n');
    kept.filter(|it| !it.contains(words)).collect()
}

fn led_to(to: &str) -> (String, String) {
    let rule = format!("-A PREROUTING -p udp -m udp --dport 53 -j DNAT --to-destination {to}");
    let first = "-A PREROUTING -m comment";
    (RULES.replacen(first, &format!("{rule}\n{first}"), 1), rule)
}

#[test]
fn packets_are_led_elsewhere() {
    assert_eq!(found(RULES, &[]), None);
    let (rules, rule) = led_to("172.31.0.53");
    let (fact, severity, shown) = found(&rules, &[]).unwrap();
    let ServiceFinding::PassedBy { service, why } = fact else {
        panic!("{fact:?}");
    };
    assert_eq!(service.name, "kube-system/kube-dns:dns");
    assert_eq!(why, Bypass::Led(ip("172.31.0.53"), 53));
    assert_eq!((severity, shown), (Severity::Error, rule));
    // Whether the asker is on a list was not seen.
    let listed = rules.replace(
        "--dport 53 -j DNAT",
        "--dport 53 -m recent --rcheck --name KEPT --rsource -j DNAT",
    );
    assert_eq!(found(&listed, &[]), None);
    // A pod can be meant.
    let (rules, _) = led_to("10.244.0.99");
    let found = found(&rules, &[("10.244.0.99", "dns/cache")]);
    assert_eq!(found.unwrap().1, Severity::Warning);
}

#[test]
fn packets_are_not_tracked() {
    let rule = "-A PREROUTING -d 10.96.0.10/32 -j NOTRACK";
    let raw = format!("*raw\n:PREROUTING ACCEPT [0:0]\n{rule}\nCOMMIT\n{RULES}");
    let (fact, _, shown) = found(&raw, &[]).unwrap();
    let is_it = matches!(
        &fact,
        ServiceFinding::PassedBy {
            why: Bypass::Untracked,
            ..
        }
    );
    assert!(is_it && shown == rule, "{fact:?} {shown}");
}

#[test]
fn no_rule_leads_to_those_of_the_service_or_these_are_flushed() {
    for (flushed, expected) in [
        ("-A PREROUTING", Bypass::Unled),
        ("-A KUBE-SVC-", Bypass::Emptied),
        ("-A KUBE-SEP-", Bypass::Emptied),
    ] {
        let (fact, severity, shown) = found(&without(flushed), &[]).unwrap();
        let ServiceFinding::PassedBy { service, why } = fact else {
            panic!("{flushed}: {fact:?}");
        };
        assert_eq!((why, severity), (expected.clone(), Severity::Error));
        assert_eq!(service.name, "kube-system/kube-dns:dns");
        assert_eq!(shown.contains("-j KUBE-SVC-"), expected == Bypass::Emptied);
    }
}

#[test]
fn the_service_has_other_ports_or_is_gone() {
    let (fact, ..) = found(&without("kube-dns:dns cluster IP"), &[]).unwrap();
    let ServiceFinding::WithoutPort { others, .. } = fact else {
        panic!("{fact:?}");
    };
    assert!(others.iter().all(|it| !it.is_udp), "{others:?}");
    let (fact, ..) = found(&without("kube-dns"), &[]).unwrap();
    let is_it = matches!(&fact, ServiceFinding::Elsewhere { others, .. } if others.is_empty());
    assert!(is_it, "{fact:?}");
    // A Service that has DNS over TCP alone is one of DNS, too.
    let elsewhere = without("kube-dns:dns cluster IP").replace("10.96.0.10", "10.96.0.53");
    let (fact, ..) = found(&elsewhere, &[]).unwrap();
    let is_it = matches!(
        &fact,
        ServiceFinding::Elsewhere { others, .. }
            if others.iter().any(|it| it.name == "kube-system/kube-dns:dns-tcp")
    );
    assert!(is_it, "{fact:?}");
}

/// That the rules know no Service of one family says nothing of the other one.
#[test]
fn each_family_is_looked_at() {
    let site = Site {
        node: host(&[&without("kube-dns")]),
        own: None,
    };
    let start = Start::Link { name: None };
    let mut trees = site.to_servers(&[ip("fd00:10:96::a")], ip("fd00:10:244::7"), &start);
    trees.extend(site.to_servers(&[ip(SERVICE)], ip(POD), &start));
    let findings = site.findings(&trees, Around::default());
    let mut facts = findings.iter().map(|it| &it.fact);
    let is_it = |it: &Fact| matches!(it, Fact::Service(ServiceFinding::Elsewhere { asked, .. }) if *asked == ip(SERVICE));
    assert!(facts.any(is_it), "{findings:?}");
    // It does not say why packets to another address are lost.
    let explained = |to: &str| {
        let mut lost = trees.iter().filter(|it| it.packet.destination == ip(to));
        lost.all(|tree| tree.fails() && findings.iter().any(|it| it.explains(tree)))
    };
    assert!(explained(SERVICE) && !explained("fd00:10:96::a"));
}

/// Somebody's queries alone, another port of the same server, or a Service of IPVS are none
/// that rules lead to another server.
#[test]
fn rules_lead_queries_over_udp_alone() {
    let led = |rule: &str| {
        let rules = format!("*nat\n:PREROUTING ACCEPT [0:0]\n-A PREROUTING {rule}\nCOMMIT\n");
        found(&rules, &[])
    };
    let (fact, _, shown) =
        led("-p udp -m udp --dport 53 -j DNAT --to-destination 172.31.0.53:53").unwrap();
    let is_it = matches!(fact, ServiceFinding::UdpAlone { to, .. } if to.ip() == ip("172.31.0.53"));
    assert!(is_it && shown.contains("DNAT"), "{fact:?}");
    for rule in [
        "-p udp -m udp --dport 53 -m u32 --u32 0x0 -j DNAT --to-destination 172.31.0.53:53",
        "-p udp -m udp --dport 53 -m statistic --mode random --probability 0.5 -j DNAT --to-destination 172.31.0.53:53",
        "-p udp -m udp --dport 53 -j DNAT --to-destination 10.96.0.10:5353",
        "-p udp -m udp --dport 53 -j DNAT --to-destination 172.31.0.53:53\n\
         -A PREROUTING -p tcp -m tcp --dport 53 -j DNAT --to-destination 172.31.0.53:53",
    ] {
        assert_eq!(led(rule), None, "{rule}");
    }
    let ipvs = "-A -u 10.96.0.10:53 -s rr\n-a -u 10.96.0.10:53 -r 10.244.0.2:53 -m -w 1\n";
    assert_eq!(found(ipvs, &[]), None);
}

/// Packets that a cache of the node takes, or that another rule drops, do not leave.
#[test]
fn packets_do_not_come_to_the_rule_that_refuses_them() {
    let with = |raw: &str, forward: &str| {
        let rules = format!(
            "*raw\n:PREROUTING ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\n{raw}COMMIT\n\
             *filter\n:INPUT ACCEPT [0:0]\n:FORWARD ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\n\
             :KUBE-SERVICES - [0:0]\n{forward}-A OUTPUT -j KUBE-SERVICES\n\
             -A KUBE-SERVICES -d 10.96.0.10/32 -p udp -m comment --comment \
             \"kube-system/kube-dns:dns has no endpoints\" -m udp --dport 53 -j REJECT\nCOMMIT\n"
        );
        let found = found(&rules, &[]);
        found.is_some_and(|it| matches!(it.0, ServiceFinding::Empty { .. }))
    };
    assert!(with("", ""));
    let cached = "-A PREROUTING -d 10.96.0.10/32 -p udp -m udp --dport 53 -j NOTRACK\n";
    assert!(!with(cached, ""));
    assert!(!with("", "-A FORWARD -p udp -j DROP\n"));
}
