//! Random rules of iptables, of what kube-proxy, kube-router, Calico, NodeLocal
//! DNSCache and firewalls write, in the form of `iptables-save`.

use std::fmt::Write as _;

use crate::conditions::{Place, chance, condition};
use crate::lab::{ENDPOINTS, NODE, NODE_PORT, VIPS};
use crate::lots::Lots;
use crate::policies;

/// Sets that rules can look into, as `ipset restore` takes them.
pub(crate) const SETS: &str = "\
create S-SVC hash:ip,port
add S-SVC 10.96.0.10,udp:53
add S-SVC 10.244.1.5,udp:53
create S-NET hash:net
add S-NET 10.244.0.0/24
add S-NET 10.244.0.7/32 nomatch
create S-POD hash:ip
add S-POD 10.244.0.7
add S-POD 10.244.2.6
create S-LOOP hash:ip,port,ip
add S-LOOP 10.244.1.5,udp:53,10.244.0.7
create S-PORT bitmap:port range 0-65535
add S-PORT 53
";

/// Rules of one table, and the chains that they are in.
pub(crate) struct Table {
    name: &'static str,
    policies: String,
    rules: Vec<String>,
    chains: Vec<String>,
}

impl Table {
    fn new(name: &'static str, bases: &[&str]) -> Self {
        let policies = bases.iter().map(|it| format!(":{it} ACCEPT [0:0]\n"));
        Self {
            name,
            policies: policies.collect(),
            rules: Vec::new(),
            chains: Vec::new(),
        }
    }

    pub(crate) fn chain(&mut self, name: &str) {
        self.chains.push(name.to_owned());
    }

    pub(crate) fn rule(&mut self, chain: &str, rest: &str) {
        let words: Vec<&str> = rest.split_whitespace().collect();
        // Spaces within quotes do not matter to anybody.
        self.rules.push(format!("-A {chain} {}", words.join(" ")));
    }

    fn text(&self) -> String {
        let mut text = format!("*{}\n{}", self.name, self.policies);
        for chain in &self.chains {
            writeln!(text, ":{chain} - [0:0]").unwrap();
        }
        for rule in &self.rules {
            writeln!(text, "{rule}").unwrap();
        }
        text + "COMMIT\n"
    }
}

/// A whole set of tables.
pub(crate) fn rules(lots: &mut Lots) -> String {
    let raw = raw(lots);
    let mangle = mangle(lots);
    let nat = nat(lots);
    let filter = filter(lots);
    [raw, mangle, nat, filter].map(|it| it.text()).concat()
}

fn raw(lots: &mut Lots) -> Table {
    let mut table = Table::new("raw", &["PREROUTING", "OUTPUT"]);
    if lots.one_in(6) {
        for ip in [VIPS[0], "10.244.1.5"] {
            table.rule("PREROUTING", &format!("-d {ip}/32 -p udp -m udp --dport 53 -m comment --comment \"NodeLocal DNS Cache: skip conntrack\" -j NOTRACK"));
            table.rule(
                "OUTPUT",
                &format!("-s {ip}/32 -p udp -m udp --sport 53 -j CT --notrack"),
            );
        }
    }
    if lots.one_in(6) {
        let target = [
            "-j NOTRACK",
            "-j DROP",
            "-j ACCEPT",
            "-j MARK --set-xmark 0x1/0x1",
        ];
        let target = lots.pick(&target);
        let rest = format!("{} {target}", condition(lots, Place::In));
        // The table raw comes before connection tracking.
        table.rule("PREROUTING", &rest);
    }
    table
}

fn mangle(lots: &mut Lots) -> Table {
    let bases = ["PREROUTING", "INPUT", "FORWARD", "OUTPUT", "POSTROUTING"];
    let mut table = Table::new("mangle", &bases);
    for _ in 0..lots.below(4) {
        let (chain, place) = *lots.pick(&[
            ("PREROUTING", Place::In),
            ("FORWARD", Place::Through),
            ("OUTPUT", Place::Out),
            ("POSTROUTING", Place::Out),
        ]);
        let target = *lots.pick(&[
            "-j MARK --set-xmark 0x4000/0x4000",
            "-j MARK --set-xmark 0x1/0xffffffff",
            "-j MARK --and-mark 0xffffbfff",
            "-j MARK --or-mark 0x1",
            "-j MARK --xor-mark 0x4001",
            "-j CONNMARK --set-xmark 0x2/0xff",
            "-j CONNMARK --save-mark --nfmask 0xffff --ctmask 0xffff",
            "-j CONNMARK --restore-mark --nfmask 0xffff --ctmask 0xffff",
            "-j RETURN",
            "-j ACCEPT",
            "-j DROP",
        ]);
        let target = if target == "-j DROP" && !lots.one_in(4) {
            "-j ACCEPT"
        } else {
            target
        };
        table.rule(chain, &format!("{} {target}", condition(lots, place)));
    }
    table
}

fn nat(lots: &mut Lots) -> Table {
    let mut table = Table::new("nat", &["PREROUTING", "INPUT", "OUTPUT", "POSTROUTING"]);
    for chain in [
        "KUBE-SERVICES",
        "KUBE-NODEPORTS",
        "KUBE-MARK-MASQ",
        "KUBE-POSTROUTING",
    ] {
        table.chain(chain);
    }
    for (chain, place) in [("PREROUTING", Place::In), ("OUTPUT", Place::Out)] {
        if lots.one_in(4) {
            table.rule(chain, &translating(lots, place));
        }
        table.rule(
            chain,
            "-m comment --comment \"kubernetes service portals\" -j KUBE-SERVICES",
        );
        if lots.one_in(4) {
            table.rule(chain, &translating(lots, place));
        }
    }
    table.rule("POSTROUTING", "-j KUBE-POSTROUTING");
    if lots.one_in(3) {
        let target = *lots.pick(&[
            "-j MASQUERADE",
            "-j SNAT --to-source 172.31.0.10",
            "-j ACCEPT",
            "-j RETURN",
        ]);
        table.rule(
            "POSTROUTING",
            &format!("{} {target}", condition(lots, Place::Out)),
        );
    }
    table.rule("KUBE-MARK-MASQ", "-j MARK --set-xmark 0x4000/0x4000");
    table.rule(
        "KUBE-POSTROUTING",
        "-m mark ! --mark 0x4000/0x4000 -j RETURN",
    );
    table.rule("KUBE-POSTROUTING", "-j MARK --set-xmark 0x4000/0x0");
    table.rule("KUBE-POSTROUTING", "-j MASQUERADE --random-fully");
    for (index, vip) in VIPS.iter().enumerate() {
        service(lots, &mut table, index, vip);
    }
    table.rule(
        "KUBE-SERVICES",
        "-m addrtype --dst-type LOCAL -j KUBE-NODEPORTS",
    );
    table
}

/// A condition and a target, of which only one names the protocol.
fn translating(lots: &mut Lots, place: Place) -> String {
    let target = target(lots);
    loop {
        let condition = condition(lots, place);
        if !target.starts_with("-p ") || !condition.contains("-p ") {
            return format!("{condition} {} {target}", chance(lots));
        }
    }
}

fn target(lots: &mut Lots) -> String {
    match lots.below(7) {
        0 => format!(
            "-p udp -j DNAT --to-destination {}:53",
            lots.pick(&ENDPOINTS)
        ),
        1 => "-p udp -j REDIRECT --to-ports 5353".to_owned(),
        2 => "-j RETURN".to_owned(),
        3 => "-j ACCEPT".to_owned(),
        4 => format!("-j DNAT --to-destination {NODE}"),
        5 => "-g KUBE-MARK-MASQ".to_owned(),
        _ => "-j MARK --set-xmark 0x4000/0x4000".to_owned(),
    }
}

/// A Service as kube-proxy writes it, or somewhat else.
fn service(lots: &mut Lots, table: &mut Table, index: usize, vip: &str) {
    let count = [0, 1, 2, 2, 3, 4][lots.below(6)];
    let (svc, name) = (format!("KUBE-SVC-{index}"), format!("ns/dns{index}:dns"));
    if count == 0 {
        return;
    }
    table.chain(&svc);
    let comment = format!("-m comment --comment \"{name} cluster IP\"");
    let to = format!("-d {vip}/32 -p udp {comment} -m udp --dport 53");
    match lots.below(4) {
        0 => table.rule(&svc, &format!("! -s 10.244.0.0/16 {to} -j KUBE-MARK-MASQ")),
        1 => table.rule(&svc, &format!("{to} -j KUBE-MARK-MASQ")),
        _ => {}
    }
    table.rule("KUBE-SERVICES", &format!("{to} -j {svc}"));
    if lots.one_in(2) {
        table.rule(
            "KUBE-NODEPORTS",
            &format!("-p udp -m udp --dport {NODE_PORT} -j KUBE-EXT-{index}"),
        );
        table.chain(&format!("KUBE-EXT-{index}"));
        table.rule(&format!("KUBE-EXT-{index}"), "-j KUBE-MARK-MASQ");
        table.rule(&format!("KUBE-EXT-{index}"), &format!("-j {svc}"));
    }
    let by_turns = lots.one_in(6);
    for (at, ip) in ENDPOINTS.iter().take(count).enumerate() {
        let sep = format!("KUBE-SEP-{index}-{at}");
        table.chain(&sep);
        let left = count - at;
        let lot = match left {
            1 => String::new(),
            _ if by_turns => format!("-m statistic --mode nth --every {left} --packet 0"),
            _ => format!(
                "-m statistic --mode random --probability {:.11}",
                1.0 / left as f64
            ),
        };
        table.rule(
            &svc,
            &format!("-m comment --comment \"{name} -> {ip}:53\" {lot} -j {sep}"),
        );
        table.rule(
            &sep,
            &format!("-s {ip}/32 -m comment --comment \"{name}\" -j KUBE-MARK-MASQ"),
        );
        table.rule(
            &sep,
            &format!(
                "-p udp -m comment --comment \"{name}\" -m udp -j DNAT --to-destination {ip}:53"
            ),
        );
    }
}

#[expect(clippy::too_many_lines, reason = "one case after the other")]
fn filter(lots: &mut Lots) -> Table {
    let mut table = Table::new("filter", &["INPUT", "FORWARD", "OUTPUT"]);
    if lots.one_in(4) {
        table.policies = table.policies.replace(":FORWARD ACCEPT", ":FORWARD DROP");
    }
    table.chain("KUBE-FORWARD");
    table.chain("KUBE-SERVICES");
    table.chain("OWN");
    if lots.one_in(2) {
        table.rule(
            "FORWARD",
            "-m comment --comment \"kubernetes forwarding rules\" -j KUBE-FORWARD",
        );
    }
    for chain in ["FORWARD", "OUTPUT"] {
        table.rule(chain, "-m conntrack --ctstate NEW -j KUBE-SERVICES");
    }
    table.rule("KUBE-FORWARD", "-m conntrack --ctstate INVALID -j DROP");
    table.rule("KUBE-FORWARD", "-m mark --mark 0x4000/0x4000 -j ACCEPT");
    table.rule(
        "KUBE-FORWARD",
        "-m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT",
    );
    for vip in VIPS {
        if lots.one_in(2) {
            table.rule("KUBE-SERVICES", &format!("-d {vip}/32 -p udp -m comment --comment \"ns/dns:dns has no endpoints\" -m udp --dport 53 -j REJECT --reject-with icmp-port-unreachable"));
        }
    }
    if lots.one_in(3) {
        if lots.one_in(2) {
            policies::kube_router(lots, &mut table);
        } else {
            policies::calico(lots, &mut table);
        }
    }
    for _ in 0..lots.below(4) {
        let (chain, place) = *lots.pick(&[
            ("FORWARD", Place::Through),
            ("INPUT", Place::In),
            ("OUTPUT", Place::Out),
            ("OWN", Place::Any),
        ]);
        let target = *lots.pick(&[
            "-j ACCEPT",
            "-j ACCEPT",
            "-j DROP",
            "-j REJECT",
            "-j REJECT --reject-with icmp-host-unreachable",
            "-j REJECT --reject-with icmp-admin-prohibited",
            "-j RETURN",
            "-j OWN",
            "-g OWN",
        ]);
        let target = if chain == "OWN" && target.ends_with("OWN") {
            "-j RETURN"
        } else {
            target
        };
        let lot = if lots.one_in(4) { chance(lots) } else { "" };
        table.rule(chain, &format!("{} {lot} {target}", condition(lots, place)));
    }
    table
}
