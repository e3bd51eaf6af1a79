use super::rule::{parse, split};
use crate::rules::rule::{Action, Addresses, Masked, Match, Part, Rule, Side, Test, Translation};
use crate::rules::{Family, Rules, Share, Text, View};
use crate::text::Source;

fn rule(line: &str) -> Rule {
    let view = View {
        text: 0,
        start: 0,
        end: 0,
        line: 1,
    };
    parse(&split(line).expect("a rule"), view)
}

fn tests(line: &str) -> Vec<(bool, Match)> {
    let test = |it: &Part| match it {
        Part::If(Test { is_negated, what }) => Some((*is_negated, what.clone())),
        Part::Do(_) => None,
    };
    rule(line).parts.iter().filter_map(test).collect()
}

fn action(line: &str) -> Action {
    match rule(line).parts.last() {
        Some(Part::Do(action)) => action.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_rule_of_kube_proxy_is_its_conditions_and_its_target() {
    let line = "[105:3045] -A KUBE-SVC-A ! -s 10.244.0.0/16 -p udp -m comment --comment \"ns/dns:dns -> \\\"x\\\" -j DROP\" -m udp --dport 53 -j KUBE-MARK-MASQ";
    let network = Addresses::network("10.244.0.0/16").unwrap();
    let port = Match::Ports(vec![Side::Destination], vec![(53, 53)]);
    let expected = vec![
        (true, Match::Address(Side::Source, vec![network])),
        (false, Match::Protocol(17)),
        (false, port),
    ];
    assert_eq!(tests(line), expected);
    assert_eq!(action(line), Action::Jump("KUBE-MARK-MASQ".into()));
    let rule = rule(line);
    assert_eq!(rule.packets, Some(105));
    assert_eq!(rule.comment.as_deref(), Some("ns/dns:dns -> \"x\" -j DROP"));
}

#[test]
fn what_is_not_known_keeps_its_words() {
    let unknown = |words: &str| vec![(false, Match::Unknown(words.into()))];
    let line = "-A F -m u32 --u32 \"0x0>>0x16&0x3c@0x8=0x1\" -j DROP";
    assert_eq!(tests(line), unknown("-m u32 --u32 0x0>>0x16&0x3c@0x8=0x1"));
    let line = "-A F -m limit --limit 5/sec -j ACCEPT";
    assert_eq!(tests(line), unknown("-m limit --limit 5/sec"));
    let line = "-A F -m conntrack --ctexpire 1:2 -j ACCEPT";
    assert_eq!(tests(line), unknown("-m conntrack --ctexpire 1:2"));
    let words = Action::Unknown("-j NETMAP --to 10.0.0.0/8".into());
    assert_eq!(action("-A F -j NETMAP --to 10.0.0.0/8"), words);
}

#[test]
fn targets_are_what_the_kernel_does() {
    let mark = |clear, flip| Action::Mark { clear, flip };
    let check = |words: &str, expected: Action| {
        assert_eq!(action(&format!("-A C {words}")), expected, "{words}");
    };
    check("-j MARK --set-xmark 0x4000/0x0", mark(0, 0x4000));
    check("-j MARK --set-mark 0x1/0x2", mark(0x3, 0x1));
    check("-j MARK --and-mark 0xf", mark(!0xf, 0));
    check("-j MARK --or-mark 0x4", mark(4, 4));
    check("-j NFLOG --nflog-prefix x", Action::Nothing);
    check("-j CT --notrack", Action::NoTrack);
    check("-g OTHER", Action::Goto("OTHER".into()));
    check("-j REJECT", Action::Reject("".into()));
    check(
        "-j REJECT --reject-with tcp-reset",
        Action::Reject("tcp-reset".into()),
    );
    let to = |first: &str, last: &str, ports| {
        Action::Dnat(Translation {
            addresses: Some((first.parse().unwrap(), last.parse().unwrap())),
            ports,
        })
    };
    check(
        "-j DNAT --to-destination 10.1.1.1:53",
        to("10.1.1.1", "10.1.1.1", Some((53, 53))),
    );
    check(
        "-j DNAT --to-destination 10.1.1.1-10.1.1.3",
        to("10.1.1.1", "10.1.1.3", None),
    );
    check(
        "-j DNAT --to-destination [fd00::a]:53",
        to("fd00::a", "fd00::a", Some((53, 53))),
    );
    check(
        "-j DNAT --to-destination fd00::a",
        to("fd00::a", "fd00::a", None),
    );
}

#[test]
fn conditions_are_read_with_all_their_options() {
    let one = |words: &str| tests(&format!("-A C {words} -j ACCEPT")).remove(0);
    let masked = Masked {
        value: 0x4001,
        mask: 0x4000,
    };
    assert_eq!(
        one("-m mark ! --mark 0x4001/0x4000"),
        (true, Match::Mark(masked))
    );
    let flags = Match::TcpFlags {
        mask: 0x17,
        set: 0x02,
    };
    assert_eq!(
        one("-m tcp --tcp-flags FIN,SYN,RST,ACK SYN"),
        (false, flags)
    );
    let sides = vec![Side::Destination, Side::Destination, Side::Source];
    let set = Match::Set("KUBE-LOOP-BACK".into(), sides);
    assert_eq!(
        one("-m set --match-set KUBE-LOOP-BACK dst,dst,src"),
        (false, set)
    );
    let third = Match::Chance(Share::new(1, 3));
    let words = "-m statistic --mode random --probability 0.33333333349";
    assert_eq!(one(words), (false, third.clone()));
    assert_eq!(
        one("-m statistic --mode nth --every 3 --packet 1"),
        (false, third)
    );
    let words =
        "-m recent --rcheck --seconds 10800 --reap --name A --mask 255.255.255.255 --rsource";
    assert_eq!(one(words), (false, Match::Recent("A".into())));
    assert_eq!(
        one("-m recent --set --name A --rsource"),
        (false, Match::Always)
    );
}

#[test]
fn shares_are_those_that_were_meant() {
    let share = |text: &str| Share::of_probability(text).unwrap().to_string();
    assert_eq!(share("0.50000000000"), "1/2");
    assert_eq!(share("0.33333333349"), "1/3");
    assert_eq!(share("0.33332999982"), "1/3");
    assert_eq!(share("0.25000000000"), "1/4");
    assert_eq!(share("0.10000000009"), "1/10");
    assert_eq!(share("0.00009999983"), "1/10000");
    assert_eq!(share("0.75000000000"), "3/4");
    assert_eq!(share("0.39999999991"), "0.4");
    assert_eq!(share("0.00000000093"), "0.000001");
    assert_eq!(share("0.99999999953"), "0.999999");
    assert_eq!(share("1"), "1");
    assert_eq!(Share::of_probability("2"), None);
    for n in 1..2000_u32 {
        let text = format!("{:.10}", 1.0 / f64::from(n));
        assert_eq!(
            Share::of_probability(&text),
            Some(Share::new(1, n.into())),
            "{n}"
        );
    }
}

fn read(text: &str) -> Rules {
    let source = Source::new("rules", text);
    Rules::parse(vec![Box::new(source) as Box<dyn Text + Send>]).unwrap()
}

#[test]
fn rules_are_found_in_whatever_they_were_pasted_into() {
    let texts = [
        "*nat\n:PREROUTING ACCEPT [0:0]\n:A - [0:0]\n-A PREROUTING -j A\n-A A -j ACCEPT\nCOMMIT\n",
        "> *nat\n> :PREROUTING ACCEPT [0:0]\n> :A - [0:0]\n> -A PREROUTING -j A\n> -A A -j ACCEPT\n> COMMIT\n",
        "    *nat\r\n    :PREROUTING ACCEPT [0:0]\r\n    :A - [0:0]\r\n    -A PREROUTING -j A\r\n    -A A -j ACCEPT\r\n    COMMIT\r\n",
        "10:00:01 node-a sh[1]: *nat\n10:00:01 node-a sh[1]: :PREROUTING ACCEPT [0:0]\n10:00:01 node-a sh[1]: :A - [0:0]\n10:00:01 node-a sh[1]: [1:2] -A PREROUTING -j A\n10:00:01 node-a sh[1]: [1:2] -A A -j ACCEPT\n10:00:01 node-a sh[1]: COMMIT\n",
        "# iptables -t nat -S\n-P PREROUTING ACCEPT\n-N A\n-A PREROUTING -j A\n-A A -j ACCEPT\n",
    ];
    for text in texts {
        let rules = read(text);
        let names: Vec<&str> = rules.tables.iter().map(|it| &*it.name).collect();
        assert_eq!(names, ["nat"], "{text}");
        let bases: Vec<&str> = rules.tables[0].bases.iter().map(|it| &*it.chain).collect();
        assert_eq!(bases, ["PREROUTING"], "{text}");
        assert_eq!(rules.rules(0, "PREROUTING").unwrap().len(), 1, "{text}");
        assert_eq!(rules.rules(0, "A").unwrap().len(), 1, "{text}");
        assert_eq!(rules.rules(0, "B"), None, "{text}");
    }
}

#[test]
fn lines_of_a_chain_may_stand_apart() {
    let rules = read("*filter\n:A - [0:0]\n-A A -j LOG\n-A B -j LOG\n-A A -j ACCEPT\nCOMMIT\n");
    let lines = |chain| -> Vec<u32> {
        let rules = rules.rules(0, chain).unwrap();
        rules.iter().map(|it| it.view.line).collect()
    };
    assert_eq!(lines("A"), [3, 5]);
    assert_eq!(lines("B"), [4]);
}

#[test]
fn of_a_table_that_is_cut_no_chain_is_empty() {
    let rules = read("*filter\n:A - [0:0]\n:B - [0:0]\n-A A -j LOG\n");
    assert!(rules.rules(0, "A").is_some());
    assert_eq!(rules.rules(0, "B"), None);
    assert_eq!(rules.notes.len(), 1);
}

#[test]
fn addresses_tell_the_family_of_a_paste_without_it() {
    for (rule, expected) in [
        ("-A A -d 10.96.0.10/32 -j ACCEPT", Some(Family::V4)),
        ("-A A -d fd00::a/128 -j ACCEPT", Some(Family::V6)),
        ("-A A -d fd00::/64 -j ACCEPT", Some(Family::V6)),
        ("-A A -p udp -j ACCEPT", None),
    ] {
        let rules = read(&format!("*nat\n:A - [0:0]\n{rule}\nCOMMIT\n"));
        assert_eq!(rules.tables[0].family, expected, "{rule}");
    }
}
