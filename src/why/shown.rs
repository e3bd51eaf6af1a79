//! What listings of other programs show: lines of tcpdump and of `conntrack -S` become
//! sentences that the pages of the catalogue know.

mod answers;
mod dump;
mod statistics;

use self::answers::Answers;
use self::dump::Dump;
use self::statistics::Statistics;
use super::inside;

/// The text, with sentences in the place of such lines.
pub(super) fn told(text: &str) -> String {
    let (mut dump, mut statistics) = (Dump::default(), Statistics::default());
    let mut answers = Answers::default();
    let is_listing = inside::has_rules(text);
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        answers.see(line);
        // Of rules only what kube-proxy says in words is a message.
        let is_rule = is_listing && inside::is_rule(line) && !line.contains("has no endpoints");
        if !is_rule && !dump.takes(line) && !statistics.takes(line) {
            out.extend([line, "\n"]);
        }
    }
    out.extend(answers.sentence());
    out.extend(dump.sentence());
    out.extend(statistics.sentence());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(told(text).trim_end(), expected, "{text}");
    }

    #[test]
    fn other_text_stays() {
        check("a -> b\nc > d: e", "a -> b\nc > d: e");
        check("drop 5 of 7\nfound 3", "drop 5 of 7\nfound 3");
    }

    #[test]
    fn counters_are_added_up() {
        let line = "cpu=0 found=1 invalid=2 insert_failed=1 drop=1 early_drop=0 error=0";
        check(
            &format!("{line}\n{line}"),
            "conntrack -S counts 2 packets lost in a race",
        );
        let full = "cpu=0 found=1 insert_failed=1 drop=4 early_drop=2";
        check(
            full,
            "conntrack -S counts 5 packets or entries dropped for want of room",
        );
        let old = "entries \t90\nfound \t 3\ninsert_failed\t\t0\ndrop \t\t0\nearly_drop\t\t0";
        check(
            old,
            "entries \t90\nfound \t 3\nconntrack -S counts no packet lost",
        );
    }

    #[test]
    fn answers_of_search_domains_are_told() {
        let told_of = |text: &str| told(text).lines().last().unwrap_or_default().to_owned();
        let text = "/ # nslookup github.com\nServer: 10.96.0.10\n\nName:   github.com.example.com";
        let sentence = "an answer for github.com came from the search domain example.com";
        assert_eq!(told_of(text), sentence);
        let ping = "ping github.com\nPING github.com.example.com (192.0.2.1): 56 data bytes";
        assert_eq!(told_of(ping), sentence);
        let service = "nslookup db.prod\nName: db.prod.svc.cluster.local";
        assert_eq!(told_of(service), "Name: db.prod.svc.cluster.local");
        let whole = "nslookup github.com\nName: github.com";
        assert_eq!(told_of(whole), "Name: github.com");
    }

    #[test]
    fn entries_without_reply_are_counted() {
        let entry = "udp 17 28 src=10.1.0.7 dst=10.96.0.10 sport=4 dport=53 [UNREPLIED] src=10.2.0.6 dst=10.1.0.7 sport=53 dport=4";
        check(
            entry,
            "conntrack lists 1 of 1 entries to port 53 without a reply",
        );
        let replied = entry.replace("[UNREPLIED] ", "");
        check(&replied, "");
    }

    const ASKED: &str = "03:34:39.199625 IP 10.1.0.7.60696 > 10.64.0.10.53: 5042+ A? a.b. (46)\n";
    const AGAIN: &str = "03:34:44.199659 IP 10.1.0.7.60696 > 10.64.0.10.53: 5042+ A? a.b. (46)\n";

    #[test]
    fn queries_without_reply_are_told() {
        let all = "tcpdump shows no reply to any of 1 queries, the first to 10.64.0.10:53 for a.b";
        check(&format!("{ASKED}{AGAIN}"), all);
        // It may be on its way where the dump ends.
        check(ASKED, "");
        let other = "03:34:39.3 IP 10.1.0.7.1 > 10.64.0.10.domain: 7+ [1au] AAAA? c.d. (50)\n\
                     03:34:39.4 IP 10.64.0.10.domain > 10.1.0.7.1: 7 NXDomain*- 0/1/0 (149)\n";
        let some = "tcpdump shows no reply to 1 of 2 queries, the first to 10.64.0.10:53 for a.b";
        check(&format!("{ASKED}{other}{AGAIN}"), some);
    }

    #[test]
    fn of_pairs_one_may_be_lost() {
        let pair = "1.0 IP 10.1.0.7.60696 > 10.64.0.10.53: 5043+ AAAA? a.b. (46)\n";
        let reply = "1.2 IP 10.64.0.10.53 > 10.1.0.7.60696: 5042 1/0/0 A 192.0.2.1 (62)\n";
        let text = "tcpdump shows a reply to one of A and AAAA only, from 10.64.0.10:53 for a.b";
        let asked = "1.0 IP 10.1.0.7.60696 > 10.64.0.10.53: 5042+ A? a.b. (46)\n";
        let later = "7.0 IP 10.1.0.7.60697 > 10.64.0.10.53: 9+ A? a.b. (46)\n\
                     7.1 IP 10.64.0.10.53 > 10.1.0.7.60697: 9 1/0/0 A 192.0.2.1 (62)\n";
        check(&format!("{asked}{pair}{reply}{later}"), text);
    }

    #[test]
    fn errors_and_refusals_are_told() {
        let icmp =
            "1.0 IP 10.64.0.10 > 10.1.0.7: ICMP 10.64.0.10 udp port 53 unreachable, length 9\n";
        check(
            &format!("{ASKED}{icmp}"),
            "tcpdump shows that udp port 53 is unreachable: nobody listens, or a rule rejects",
        );
        let verbose = "12:07:26.1 IP (tos 0x0, ttl 64, proto UDP (17), length 54)\n    \
                       10.44.0.6.395 > 10.36.0.5.domain: [udp sum ok] 3+ AAAA? registry. (26)\n    \
                       10.36.0.5.domain > 10.44.0.6.395: [bad udp cksum 0x1 -> 0x2!] 3 ServFail q: AAAA? registry. 0/0/0 (26)\n";
        check(
            verbose,
            "tcpdump shows SERVFAIL from 10.36.0.5:53 for registry",
        );
    }
}
