//! Situations besides the rows: drift, loops of servers on the node, what is
//! missing.

use super::*;

const UNKNOWN: (Verdict, State, State) = (Verdict::Unknown, State::Unknown, State::Unknown);
const GOOD: (Verdict, State, State) = (Verdict::NoLoop, State::NoLoop, State::NoLoop);

#[test]
fn nothing_is_unknown() {
    let report = check("empty", &Node::default(), UNKNOWN);
    assert_eq!(report.missing, [Missing::Node]);
}

#[test]
fn a_want_of_privilege_is_named_first() {
    let corefile = corefile("/etc/resolv.conf");
    let mut node = with_coredns("172.31.0.53", &corefile);
    let denied = "cannot read /x: permission denied (needs root)".to_owned();
    node.denied = Some(denied.clone());
    // What was seen decides.
    assert!(check("known", &node, GOOD).missing.is_empty());
    node.pods[0].corefiles.clear();
    let report = check("no Corefile", &node, UNKNOWN);
    assert_eq!(report.missing[0], Missing::Privilege(denied));
}

#[test]
fn drift_is_told_from_what_runs() {
    let will = (Verdict::WillLoop, State::NoLoop, State::Loop);
    let mut node = with_coredns("172.31.0.53", &corefile("/etc/resolv.conf"));
    let stub = host_file(
        "/etc/resolv.conf",
        &["/run/systemd/resolve/stub-resolv.conf"],
        "127.0.0.53",
    );
    node.kubelet_file = Some(stub.clone());
    node.node_file = Some(stub);
    let report = check("will loop", &node, will);
    assert_eq!(report.chains[0].when, When::NextStart);
    let fixed = (Verdict::Loop, State::Loop, State::NoLoop);
    let mut node = with_coredns("172.31.0.53", &corefile("/etc/resolv.conf"));
    node.pods[0].resolv_conf = Some(resolv_conf("/s/resolv.conf", "127.0.0.53"));
    let report = check("old pods", &node, fixed);
    let fix = report.fix.unwrap();
    assert_eq!(fix.edit.old.as_deref(), Some(fix.edit.new.as_str()));
    assert_eq!(fix.then, [recreate(&["coredns-a"])]);
}

#[test]
fn without_a_corefile_the_usual_one_is_supposed() {
    let will = (Verdict::WillLoop, State::Unknown, State::Loop);
    let report = check("stub", &node("127.0.0.53"), will);
    assert!(report.remarks.contains(&Remark::Supposed(Supposed::Usual)));
    let report = check("clean", &node("172.31.0.53"), UNKNOWN);
    assert_eq!(report.missing, [Missing::Corefile]);
}

#[test]
fn a_corefile_without_a_pod_is_about_the_next_start() {
    let mut node = node("172.31.0.53");
    node.corefiles = vec![source("Corefile", &corefile("/etc/resolv.conf"))];
    check(
        "clean",
        &node,
        (Verdict::NoLoop, State::Unknown, State::NoLoop),
    );
    node.corefiles = vec![source("Corefile", &corefile("127.0.0.1"))];
    check(
        "literal",
        &node,
        (Verdict::WillLoop, State::Unknown, State::Loop),
    );
    node.kubelet_file = None;
    node.corefiles = vec![source("Corefile", &corefile("/etc/resolv.conf"))];
    check("no file", &node, UNKNOWN);
    node.corefiles = vec![source("Corefile", &corefile("172.31.0.53"))];
    check("no file, explicit", &node, UNKNOWN);
}

#[test]
fn servers_of_the_node_that_ask_each_other() {
    let two = |first: Program, second: Program| {
        let mut node = with_coredns("172.31.0.53", &corefile("/etc/resolv.conf"));
        node.servers.push(server(first, "127.0.0.1", "127.0.0.2"));
        node.servers.push(server(second, "127.0.0.2", "127.0.0.1"));
        node
    };
    let looping = (Verdict::Loop, State::Loop, State::Loop);
    for first in [Program::Dnsmasq, Program::Unbound, Program::Named] {
        for second in [Program::Dnsmasq, Program::Unbound, Program::Named] {
            check("two", &two(first, second), looping);
        }
    }
    let mut three = two(Program::Dnsmasq, Program::Unbound);
    three.servers[1] = server(Program::Unbound, "127.0.0.2", "127.0.0.3");
    three
        .servers
        .push(server(Program::Named, "127.0.0.3", "127.0.0.1"));
    check("three", &three, looping);
    three.servers[2] = server(Program::Named, "127.0.0.3", "172.31.0.53");
    let fine = (Verdict::NoLoop, State::NoLoop, State::NoLoop);
    check("no cycle", &three, fine);
    let mut one = with_coredns("172.31.0.53", &corefile("/etc/resolv.conf"));
    one.servers
        .push(server(Program::Dnsmasq, "127.0.1.1", "127.0.1.1"));
    check("self", &one, looping);
    // dnsmasq leaves out an address that it listens on and an interface has.
    one.servers[0] = server(Program::Dnsmasq, "127.0.0.1", "127.0.0.1");
    check("left out", &one, fine);
}

#[test]
fn a_mesh_ends() {
    let mut node = with_coredns("172.31.0.10", &corefile("/etc/resolv.conf"));
    let all: Vec<String> = (1..16).map(|it| format!("127.0.1.{it}")).collect();
    let everyone = all.join(" ");
    for address in &all {
        node.servers.push(server(
            Program::Unbound,
            &format!("{address} 172.31.0.10"),
            &everyone,
        ));
    }
    let report = judge(&node);
    assert_eq!(report.verdict, Verdict::Loop);
}
