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
}

#[test]
fn cpu_that_is_held_back_is_told() {
    let of = |throttled: u32| format!("nr_periods 100\nnr_throttled {throttled}");
    let sentence = "cpu throttled by its limit in 25 of 100 periods";
    let last = |text: &str| told(text).lines().last().unwrap_or_default().to_owned();
    assert_eq!(last(&of(25)), sentence);
    check(&of(24), &of(24));
    check("nr_throttled 24", "nr_throttled 24");
    let metrics = "container_cpu_cfs_periods_total{container=\"coredns\"} 100\n\
        container_cpu_cfs_throttled_periods_total{container=\"coredns\"} 25";
    assert_eq!(last(metrics), sentence);
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
    for server in ["10.3.0.10", "169.254.20.10"] {
        let text = format!("{search}\nnameserver {server}\n{service}");
        assert!(!last(&text).contains("pods ask"), "{text}");
    }
    // The node's own file has no search list of pods.
    let node = format!("search corp\nnameserver 192.168.1.1\n{service}");
    assert!(!last(&node).contains("pods ask"), "{node}");
}
