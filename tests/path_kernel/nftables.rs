//! Random rules of nftables: kube-proxy's table, and a firewall beside it.

use std::fmt::Write as _;

use crate::lab::{ENDPOINTS, NODE, NODE_PORT, VIPS};
use crate::lots::Lots;

const MATCHES: [&str; 36] = [
    "ip saddr 10.244.0.0/24",
    "ip saddr != 10.244.0.7",
    "ip daddr 10.96.0.0/12",
    "ip daddr != { 10.244.1.5, 10.244.2.0/24 }",
    "ip daddr 10.244.1.0-10.244.2.255",
    "ip daddr @near",
    "ip saddr @near udp dport 53",
    "udp dport 53",
    "udp dport != 53",
    "udp dport { 53, 5353-5355 }",
    "udp sport 53",
    "udp sport >= 1024",
    "th dport 53",
    "tcp dport 53",
    "meta l4proto udp",
    "meta l4proto { tcp, 132 }",
    "ip protocol udp",
    "meta mark & 0x4000 == 0x4000",
    "meta mark and 0x1 == 0",
    "meta mark 0x1",
    "ct mark 0x2",
    "ct state new",
    "ct state established,related",
    "ct state != established",
    "ct state { invalid, untracked }",
    "ct status dnat",
    "ct original ip daddr 10.96.0.10",
    "ct direction original",
    "fib daddr type local",
    "fib daddr type != { local, broadcast }",
    "meta length > 60",
    "ip ttl < 64",
    "ip saddr 172.31.0.10",
    "ip daddr 172.31.0.10",
    "ip saddr 10.96.0.10",
    "fib saddr type local",
];

fn condition(lots: &mut Lots) -> String {
    let mut words: Vec<&str> = Vec::new();
    for _ in 0..[0, 1, 1, 2][lots.below(4)] {
        let word = match lots.below(10) {
            0 => "iifname \"cali*\"",
            1 => "iifname != \"cali7\"",
            2 => "iifname { \"lo\", \"eth9\" }",
            _ => *lots.pick(&MATCHES),
        };
        let is_tcp = |it: &str| it.contains("tcp");
        if words.iter().all(|it| !is_tcp(it)) || !word.contains("udp") {
            words.push(word);
        }
    }
    if words.iter().any(|it| it.contains("tcp")) {
        words.retain(|it| !it.contains("udp") && !it.contains("l4proto"));
    }
    words.join(" ")
}

const VERDICTS: [&str; 14] = [
    "accept",
    "accept",
    "drop",
    "return",
    "jump own",
    "goto own",
    "meta mark set 0x1",
    "meta mark set meta mark or 0x4000",
    "ct mark set meta mark and 0xff",
    "meta mark set ct mark",
    "reject",
    "reject with icmpx admin-prohibited",
    "reject with icmp host-unreachable",
    "numgen random mod 4 vmap { 0 : drop, 1-2 : accept }",
];

/// The whole rule set.
pub(crate) fn rules(lots: &mut Lots) -> String {
    let mut text = proxy(lots);
    writeln!(text, "table inet firewall {{\n set near {{ type ipv4_addr; flags interval; elements = {{ 10.244.0.0/23, 172.31.0.10 }}; }}").unwrap();
    writeln!(text, " map verdicts {{ type ipv4_addr . inet_service : verdict; elements = {{ 10.244.1.5 . 53 : jump own, 10.244.2.6 . 53 : accept }}; }}").unwrap();
    writeln!(text, " chain own {{").unwrap();
    for _ in 0..lots.below(3) {
        let verdict = lots.pick(&["accept", "drop", "return", "counter"]);
        writeln!(text, "  {} {verdict}", condition(lots)).unwrap();
    }
    writeln!(text, " }}").unwrap();
    let hooks = ["prerouting", "input", "forward", "output", "postrouting"];
    for index in 0..=lots.below(3) {
        let hook = *lots.pick(&hooks);
        let priority = *lots.pick(&["-300", "-175", "-150", "-50", "0", "10", "150"]);
        let policy = if lots.one_in(6) { "drop" } else { "accept" };
        writeln!(
            text,
            " chain c{index} {{\n  type filter hook {hook} priority {priority}; policy {policy};"
        )
        .unwrap();
        for _ in 0..lots.below(4) {
            let verdict = match lots.below(8) {
                0 => "ct state vmap { established : accept, new : jump own }",
                1 => "ip daddr . udp dport vmap @verdicts",
                2 if priority == "-300" => "notrack",
                _ => *lots.pick(&VERDICTS),
            };
            // Errors are for hooks that have them.
            let is_late = ["input", "forward", "output"].contains(&hook);
            let verdict = if verdict.starts_with("reject") && !is_late {
                "drop"
            } else {
                verdict
            };
            let condition = condition(lots);
            let is_clear = !(condition.contains("tcp") && verdict.contains("udp"));
            writeln!(
                text,
                "  {} counter {verdict}",
                if is_clear { &condition } else { "" }
            )
            .unwrap();
        }
        writeln!(text, " }}").unwrap();
    }
    text + "}\n"
}

/// kube-proxy's table of Services, each as it is or somewhat else.
fn proxy(lots: &mut Lots) -> String {
    let mut services = Vec::new();
    let mut ports = Vec::new();
    let mut empty = Vec::new();
    let mut chains = String::new();
    for (index, vip) in VIPS.iter().enumerate() {
        let count = [0, 1, 2, 2, 3, 4][lots.below(6)];
        if count == 0 {
            empty.push(format!("{vip} . udp . 53 : goto reject-chain"));
            continue;
        }
        services.push(format!("{vip} . udp . 53 : goto service-{index}"));
        if lots.one_in(2) && ports.is_empty() {
            ports.push(format!("udp . {NODE_PORT} : goto external-{index}"));
        }
        writeln!(
            chains,
            " chain external-{index} {{ jump mark-for-masquerade; goto service-{index}; }}"
        )
        .unwrap();
        let masquerade = match lots.below(3) {
            0 => format!(
                "ip daddr {vip} udp dport 53 ip saddr != 10.244.0.0/16 jump mark-for-masquerade"
            ),
            1 => "jump mark-for-masquerade".to_owned(),
            _ => String::new(),
        };
        let modulus = count + usize::from(lots.one_in(6));
        let mode = if lots.one_in(5) { "inc" } else { "random" };
        let choice = if lots.one_in(4) {
            let all = (0..count).map(|it| format!("{it} : {}", ENDPOINTS[it]));
            let all: Vec<String> = all.collect();
            format!(
                "meta l4proto udp dnat to numgen {mode} mod {modulus} map {{ {} }}",
                all.join(", ")
            )
        } else {
            let all = (0..count).map(|it| format!("{it} : goto endpoint-{index}-{it}"));
            let all: Vec<String> = all.collect();
            format!("numgen {mode} mod {modulus} vmap {{ {} }}", all.join(", "))
        };
        writeln!(
            chains,
            " chain service-{index} {{\n  {masquerade}\n  {choice}\n }}"
        )
        .unwrap();
        for (at, ip) in ENDPOINTS.iter().take(count).enumerate() {
            writeln!(chains, " chain endpoint-{index}-{at} {{\n  ip saddr {ip} jump mark-for-masquerade\n  meta l4proto udp dnat to {ip}:53\n }}").unwrap();
        }
    }
    let check = match lots.below(3) {
        0 => "ct state new jump cluster-ips-check",
        _ => "",
    };
    table([services, ports, empty], &chains, check)
}

/// The table around its maps and chains.
fn table(maps: [Vec<String>; 3], chains: &str, check: &str) -> String {
    let elements = |all: Vec<String>| {
        if all.is_empty() {
            return String::new();
        }
        format!("elements = {{ {} }};", all.join(", "))
    };
    let [services, ports, empty] = maps.map(elements);
    let vips = VIPS.join(", ");
    format!(
        "table ip kube-proxy {{
 set cluster-ips {{ type ipv4_addr; elements = {{ {vips} }}; }}
 set nodeport-ips {{ type ipv4_addr; elements = {{ {NODE} }}; }}
 map service-ips {{ type ipv4_addr . inet_proto . inet_service : verdict; {services} }}
 map service-nodeports {{ type inet_proto . inet_service : verdict; {ports} }}
 map no-endpoint-services {{ type ipv4_addr . inet_proto . inet_service : verdict; {empty} }}
 chain reject-chain {{ reject; }}
 chain mark-for-masquerade {{ meta mark set meta mark or 0x4000; }}
 chain masquerading {{
  meta mark and 0x4000 == 0 return
  meta mark set meta mark xor 0x4000
  masquerade fully-random
 }}
 chain cluster-ips-check {{
  ip daddr @cluster-ips reject
  ip daddr 10.96.0.0/12 drop
 }}
 chain services {{
  ip daddr . meta l4proto . th dport vmap @service-ips
  ip daddr @nodeport-ips meta l4proto . th dport vmap @service-nodeports
 }}
{chains}
 chain filter-forward {{
  type filter hook forward priority 0; policy accept;
  ct state new ip daddr . meta l4proto . th dport vmap @no-endpoint-services
  {check}
 }}
 chain filter-output {{
  type filter hook output priority 0; policy accept;
  ct state new ip daddr . meta l4proto . th dport vmap @no-endpoint-services
  {check}
 }}
 chain nat-prerouting {{ type nat hook prerouting priority dstnat; policy accept; jump services; }}
 chain nat-output {{ type nat hook output priority -100; policy accept; jump services; }}
 chain nat-postrouting {{ type nat hook postrouting priority srcnat; policy accept; jump masquerading; }}
}}
"
    )
}
