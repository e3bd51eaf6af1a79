//! Conditions of iptables that hold or do not, by the packet alone.

use crate::lots::Lots;

/// What a match may look at depends on where it stands.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(crate) enum Place {
    In,
    Through,
    Out,
    Any,
}

/// Conditions that hold or do not, by the packet alone.
const MATCHES: [&str; 49] = [
    "-p udp",
    "! -p tcp",
    "-p tcp",
    "-s 10.244.0.0/24",
    "! -s 10.244.0.7/32",
    "-s 10.244.0.0/255.255.0.255",
    "-d 10.96.0.0/12",
    "! -d 10.96.0.0/12",
    "-d 10.244.1.5/32",
    "-d 10.244.0.0/16 -p udp",
    "-p udp -m udp --dport 53",
    "-p udp -m udp ! --dport 53",
    "-p udp -m udp --dport 50:60",
    "-p udp -m udp --sport 53",
    "-p udp -m udp --sport 1024:65535",
    "-p udp -m multiport --dports 53,80,5353:5355",
    "-p udp -m multiport ! --dports 53",
    "-p udp -m multiport --ports 53",
    "-p udp -m multiport --sports 53,5353",
    "-m iprange --src-range 10.244.0.1-10.244.0.9",
    "-m iprange ! --dst-range 10.244.1.0-10.244.2.255",
    "-m mark --mark 0x4000/0x4000",
    "-m mark ! --mark 0x4000/0x4000",
    "-m mark --mark 0x4001/0x4000",
    "-m mark --mark 0x1/0x1",
    "-m mark --mark 0x0",
    "-m connmark --mark 0x2/0xff",
    "-m conntrack --ctstate NEW",
    "-m conntrack --ctstate RELATED,ESTABLISHED",
    "-m conntrack ! --ctstate NEW",
    "-m conntrack --ctstate INVALID,UNTRACKED",
    "-m conntrack --ctstate DNAT",
    "-m conntrack --ctstate NEW --ctorigdst 10.96.0.10",
    "-m conntrack --ctorigdstport 53",
    "-m state --state ESTABLISHED",
    "-m addrtype --dst-type LOCAL",
    "-m addrtype ! --dst-type LOCAL",
    "-m addrtype --src-type LOCAL",
    "-m length --length 0:60",
    "-m length --length 61:1500",
    "-m ttl --ttl-lt 64",
    "-m set --match-set S-SVC dst,dst",
    "-m set ! --match-set S-NET src",
    "-m set --match-set S-LOOP dst,dst,src",
    // What a masqueraded packet, and the answer to it, have before and behind
    // translation.
    "-s 172.31.0.10/32",
    "-d 172.31.0.10/32",
    "-s 10.96.0.10/32",
    "-m conntrack --ctrepldst 172.31.0.10",
    "-m conntrack --ctreplsrc 10.244.1.5",
];

const INWARD: [&str; 4] = ["-i cali7", "! -i cali7", "-i cali+", "-i eth9"];
const OUTWARD: [&str; 4] = ["-o eth9", "! -o eth9", "-o cali+", "-o lo"];

/// Up to two conditions that can stand here.
pub(crate) fn condition(lots: &mut Lots, place: Place) -> String {
    let mut words = Vec::new();
    let count = [0, 1, 1, 1, 2][lots.below(5)];
    for _ in 0..count {
        let word = match lots.below(12) {
            0 if matches!(place, Place::In | Place::Through) => *lots.pick(&INWARD),
            1 if matches!(place, Place::Out | Place::Through) => *lots.pick(&OUTWARD),
            2 => "-m comment --comment \"a rule of \\\"ours\\\"\"",
            3 => "-m set --match-set S-POD src",
            _ => *lots.pick(&MATCHES),
        };
        // One option stands once only; of two comments a listing does not say where they end.
        let is_free = |it: &str| !words.iter().any(|other: &&str| other.contains(it));
        let options = [
            "-p ",
            "-s ",
            "-d ",
            "-i ",
            "-o ",
            "-m comment",
            "-m set",
            "-m mark",
            "-m conntrack",
        ];
        if options.iter().all(|it| !word.contains(it) || is_free(it)) {
            words.push(word);
        }
    }
    words.join(" ")
}

/// A lot, or none.
pub(crate) fn chance(lots: &mut Lots) -> &'static str {
    match lots.below(8) {
        0 => "-m statistic --mode random --probability 0.5",
        1 => "-m statistic --mode random --probability 0.33333333349",
        2 => "-m statistic --mode random ! --probability 0.25",
        _ => "",
    }
}
