//! What dumps of packets, counters of cgroups and files of pods show.

use super::{check, told};

#[test]
fn servers_that_answer_differently_are_told() {
    let asked = "1.1 IP 10.1.0.7.6069 > 10.0.4.1.53: 34+ A? git.corp. (35)\n\
        1.1 IP 10.1.0.7.6069 > 8.8.8.8.53: 34+ A? git.corp. (35)\n";
    let none = "1.2 IP 8.8.8.8.53 > 10.1.0.7.6069: 34 NXDomain 0/1/0 (119)\n";
    let one = "1.3 IP 10.0.4.1.53 > 10.1.0.7.6069: 34* 1/0/0 A 10.0.4.77 (51)\n";
    let told =
        "tcpdump shows no answer of 8.8.8.8:53 for git.corp, for which another server has one";
    check(&format!("{asked}{none}{one}"), told);
    check(&format!("{asked}{one}{none}"), told);
    // Before a Service the same packet has the pod's address.
    let pod = "1.3 IP 10.244.0.9.53 > 10.1.0.7.6069: 34* 1/0/0 A 10.0.4.77 (51)\n";
    check(&format!("{asked}{pod}{one}"), "");
    // Nor is it one that nobody asked for this name, or one that cuts its reply.
    let first = asked.lines().next().unwrap_or_default();
    check(&format!("{first}\n{none}{one}"), "");
    let other = "9.1 IP 10.1.0.9.6069 > 8.8.8.8.53: 34+ A? none.example. (35)\n\
        9.2 IP 8.8.8.8.53 > 10.1.0.9.6069: 34 NXDomain 0/1/0 (119)\n";
    check(&format!("{first}\n{one}{other}"), "");
    check(
        &format!(
            "{asked}{}{one}",
            none.replace("34 NXDomain 0/1/0", "34| 0/0/0")
        ),
        "",
    );
    // DNS64 asks with the client's id.
    let upstream = "1.1 IP 10.244.0.9.1053 > 8.8.8.8.53: 34+ A? git.corp. (35)\n\
        1.2 IP 8.8.8.8.53 > 10.244.0.9.1053: 34 0/1/0 (119)\n";
    check(&format!("{first}\n{upstream}{one}"), "");
}

#[test]
fn a_refused_connection_is_told() {
    let asked = "1.1 IP 127.0.0.2.41822 > 127.0.0.2.53: Flags [S], seq 44, win 65495, length 0\n";
    let refused = "1.2 IP 127.0.0.2.53 > 127.0.0.2.41822: Flags [R.], seq 0, ack 44, length 0\n";
    let taken = "1.2 IP 127.0.0.2.53 > 127.0.0.2.41822: Flags [S.], seq 0, ack 44, length 0\n";
    let told = "tcpdump shows that tcp port 53 is refused: nobody listens, or a rule rejects";
    check(&format!("{asked}{refused}"), told);
    check(&format!("{asked}{taken}{refused}"), "");
    check(asked, "");
    // Of a connection that is older than the dump.
    let old = "1.1 IP 127.0.0.2.41822 > 127.0.0.2.53: Flags [.], ack 44, length 0\n";
    let reset = refused.replace("[R.]", "[R]");
    check(&format!("{old}{refused}"), "");
    check(&format!("{asked}{old}{refused}"), "");
    check(&format!("{asked}{reset}"), "");
    // What UDP loses comes first.
    let lost = "1.0 IP 10.1.0.7.6 > 10.64.0.10.53: 5+ A? a.b. (46)\n";
    let again = lost.replace("1.0", "6.0");
    let none = "tcpdump shows no reply to any of 1 queries, the first to 10.64.0.10:53 for a.b";
    check(&format!("{lost}{again}{asked}{refused}"), none);
    let cut = "1.1 IP 10.64.0.10.53 > 10.1.0.7.6: 5| 0/0/0 (46)\n";
    check(&format!("{lost}{cut}{again}{asked}{refused}"), told);
}

#[test]
fn rows_of_tshark_are_read() {
    let query = |at: &str, kind: &str, id: &str| {
        format!("5 {at} 172.17.0.65 -> 172.17.42.1 DNS 72 Standard query {id} {kind} db.prod\n")
    };
    let reply = |what: &str| {
        format!("7 20.9 172.17.42.1   172.17.0.65   DNS  100 Standard query response {what}\n")
    };
    let both = query("20.97", "A", "0xb7ce") + &query("20.97", "AAAA", "0x11aa");
    let again = query("25.98", "AAAA", "0x11aa");
    check(
        &(both + &reply("0xb7ce A 10.9.134.94") + &again),
        "tcpdump shows a reply to one of A and AAAA only, from 172.17.42.1:53 for db.prod",
    );
    check(
        &(query("1.0", "A", "0x0001") + &reply("0x0001 Server failure A db.prod")),
        "tcpdump shows SERVFAIL from 172.17.42.1:53 for db.prod",
    );
    check(
        &(query("1.0", "A", "0x0001") + &reply("0x0001 No such name A db.prod SOA ns.prod")),
        "",
    );
    let asked = query("1.0", "A", "0x0001");
    let asked = asked.clone() + &asked.replace("172.17.42.1", "8.8.8.8");
    let answer = reply("0x0001 A db.prod CNAME e.example A 10.0.0.1");
    let with = |other: &str| {
        format!(
            "{asked}{answer}{}",
            reply(other).replace("172.17.42.1", "8.8.8.8")
        )
    };
    let unlike =
        "tcpdump shows no answer of 8.8.8.8:53 for db.prod, for which another server has one";
    for (other, expected) in [
        ("0x0001 A db.prod CNAME e1.a.akamaiedge...", ""),
        ("0x0001 A db.prod CNAME e1.a.example", ""),
        ("0x0001 A db.prod NS ns.example", ""),
        ("0x0001 A db.prod A 10.0.0.2", ""),
        ("0x0001 A db.prod", unlike),
        ("0x0001 A db.prod SOA ns.example", unlike),
        ("0x0001 A db.prod CNAME e.example SOA ns.example", unlike),
    ] {
        check(&with(other), expected);
    }
}

#[test]
fn cpu_that_is_held_back_is_told() {
    let of = |container: &str, throttled: &str| {
        let labels = format!("{{container=\"{container}\",pod=\"dns-7\"}}");
        format!(
            "container_cpu_cfs_periods_total{labels} 100 1700000000000\n\
             container_cpu_cfs_throttled_periods_total{labels} {throttled}"
        )
    };
    let sentence = "cpu throttled by its limit in 25 of 100 periods of the dns pods";
    let last = |text: &str| told(text).lines().last().unwrap_or_default().to_owned();
    assert_eq!(last(&of("coredns", "25")), sentence);
    assert_eq!(last(&of("coredns", "25 1700000000000")), sentence);
    for text in [
        of("coredns", "24"),
        of("coredns", "0 1700000000000"),
        of("coredns", "0") + "\n" + &of("web", "80"),
        "nr_periods 100\nnr_throttled 80".to_owned(),
    ] {
        check(&text, &text);
    }
    let both = of("coredns", "25") + "\ninsert_failed\t\t5123\ndrop \t\t5123";
    let both = told(&both);
    assert!(
        both.contains(sentence) && both.contains("conntrack -S counts 5123"),
        "{both}"
    );
}

#[test]
fn whom_pods_ask_is_told_by_their_file_and_the_kubelet() {
    let service = "kube-dns 10.3.0.10 <none> 53/UDP,53/TCP 9d";
    let last = |text: &str| told(text).lines().last().unwrap_or_default().to_owned();
    let sentence = "pods ask 10.3.0.1, and the DNS Service is 10.3.0.10";
    let search = "search default.svc.cluster.local svc.cluster.local";
    for text in [
        format!("{search}\nnameserver 10.3.0.1\n{service}"),
        format!("nameserver 10.3.0.1\n{search}\n{service}"),
        format!("{service}\nARGS=\"--cluster-dns=10.3.0.1 --cluster-domain=cluster.local\""),
        format!("{service}\nkubelet --cluster-dns=10.3.0.1:53"),
    ] {
        assert_eq!(last(&text), sentence, "{text}");
    }
    // Others behind the Service stand in for it, and it can have an address of each family.
    for servers in [
        "10.3.0.10",
        "169.254.20.10",
        "10.3.0.10\nnameserver 8.8.8.8",
        "8.8.8.8\nnameserver 10.3.0.10",
        "fd00:10:96::a",
    ] {
        let text = format!("{search}\nnameserver {servers}\n{service}");
        assert!(!last(&text).contains("pods ask"), "{text}");
        let text = format!("nameserver {servers}\n{search}\n{service}");
        assert!(!last(&text).contains("pods ask"), "{text}");
    }
    // The node's own file has no search list of pods.
    let node = format!("search corp\nnameserver 192.168.1.1\n{service}");
    assert!(!last(&node).contains("pods ask"), "{node}");
}
