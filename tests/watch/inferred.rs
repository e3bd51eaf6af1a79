//! Search lists that nobody gave: what the queries tell of them, and what not.

use kdns::watch::{Report, Setup};
use kdns::world::{Effect, Rule};

use crate::lab::{Lab, denied, found, rule};
use crate::{POD, codes, is_followed, watched};

const ENTRIES: [&str; 3] = [
    "default.svc.cluster.local",
    "svc.cluster.local",
    "cluster.local",
];

fn entries(report: &Report) -> Vec<String> {
    report
        .search
        .entries
        .iter()
        .map(ToString::to_string)
        .collect()
}

/// Names that nobody has, with so many dots.
fn searched(lab: &mut Lab, count: usize, dots: usize) {
    for number in 0..count {
        let name = format!("nobody{number}{}", ".x".repeat(dots));
        lab.lookup(&name, &[denied()]);
    }
}

/// A program that tries names on its own, one after the other.
fn on_its_own(lab: &mut Lab, names: &[&str]) {
    let id = std::mem::replace(&mut lab.id, "dig");
    for name in names {
        lab.lookup(name, &[denied()]);
        lab.start -= 90_000_000;
    }
    lab.start += 1_000_000_000;
    lab.id = id;
}

#[test]
fn odd_queries_do_not_hide_the_list() {
    let all = [
        "www.one.test",
        "www.two.test",
        "www.three.test",
        "www.four.test",
        "www.five.test",
    ];
    for odd in [&all[..], &all[..2]] {
        for is_first in [true, false] {
            let mut lab = Lab::new("glibc", POD);
            if is_first {
                on_its_own(&mut lab, odd);
            }
            searched(&mut lab, 4, 0);
            if !is_first {
                on_its_own(&mut lab, odd);
            }
            let report = lab.end_without_file();
            assert_eq!(entries(&report), ENTRIES, "{odd:?} {is_first}");
            let evidence = report.evidence.unwrap();
            assert_eq!((evidence.names, evidence.against), (4, 1));
        }
    }
}

#[test]
fn one_chance_does_not_lengthen_the_list() {
    let mut lab = Lab::new("glibc", POD);
    searched(&mut lab, 5, 0);
    let mut longer = Lab::new(
        "glibc",
        "nameserver 10.96.0.10\nsearch default.svc.cluster.local svc.cluster.local cluster.local odd.test\noptions ndots:5\n",
    );
    longer.start = lab.start;
    longer.lookup("strange", &[denied()]);
    lab.packets.extend(longer.packets);
    assert_eq!(entries(&lab.end_without_file()), ENTRIES);
}

/// A name of another lookup that shares its first label, at once.
#[test]
fn names_after_each_other_are_two_lookups() {
    let mut lab = Lab::new("glibc", POD);
    for name in ["db.one", "db.two", "db.three"] {
        lab.lookup(name, &[denied()]);
        lab.start -= 90_000_000;
    }
    assert_eq!(entries(&lab.end_without_file()), ENTRIES);
}

/// A frame whose time is damaged comes first.
#[test]
fn a_damaged_time_ends_nothing() {
    let mut lab = Lab::new("glibc", POD);
    searched(&mut lab, 5, 0);
    let mut odd = lab.packets[0].clone();
    odd.time = 0;
    odd.from.set_port(7);
    odd.from.set_ip([10, 9, 9, 9].into());
    lab.packets.push(odd);
    assert_eq!(entries(&lab.end_without_file()), ENTRIES);
}

#[test]
fn many_clients_of_answers_do_not_push_out_searches() {
    let mut lab = Lab::new("glibc", POD);
    searched(&mut lab, 3, 0);
    lab.healthy(400);
    assert_eq!(entries(&lab.end_without_file()), ENTRIES);
}

#[test]
fn ndots_is_what_is_known_of_it() {
    const HOST: &str = "nameserver 10.96.0.10\nsearch corp.test lab.test\noptions ndots:3\n";
    let mut lab = Lab::new("glibc", HOST);
    searched(&mut lab, 3, 0);
    let report = lab.end_without_file();
    assert_eq!(entries(&report), ["corp.test", "lab.test"]);
    assert_eq!(report.evidence.unwrap().ndots, (1, None));
    searched(&mut lab, 3, 2);
    assert_eq!(lab.end_without_file().evidence.unwrap().ndots, (3, None));
    searched(&mut lab, 3, 1);
    searched(&mut lab, 3, 3);
    assert_eq!(lab.end_without_file().evidence.unwrap().ndots, (2, Some(3)));
    let mut pod = Lab::new("glibc", POD);
    searched(&mut pod, 3, 1);
    let report = pod.end_without_file();
    // What is not known is taken to be what pods have.
    assert_eq!(
        (report.search.ndots, report.evidence.unwrap().ndots),
        (5, (2, None))
    );
}

fn wildcard(suffix: &str) -> Rule {
    rule(Some(&format!("*{suffix}")), found(9))
}

const NAMES: [&str; 3] = ["www.example.com", "api.example.org", "cdn.example.net"];

#[test]
fn a_wildcard_is_found_by_the_queries() {
    // The first entry, the last one, and one of a host, whose names go out as they are first.
    const CORP: &str = "nameserver 10.96.0.10\nsearch default.svc.cluster.local svc.cluster.local cluster.local corp.test\noptions ndots:5\n";
    const HOST: &str = "nameserver 10.96.0.10\nsearch corp.test\n";
    for (file, rules) in [
        (POD, [wildcard(".default.svc.cluster.local"), denied()]),
        (CORP, [wildcard(".corp.test"), denied()]),
        (HOST, [wildcard(".corp.test"), denied()]),
    ] {
        for id in ["glibc", "musl", "go", "c-ares"] {
            if (id, file) == ("musl", HOST) {
                // It does not search for names with a dot.
                continue;
            }
            let mut lab = Lab::new(id, file);
            for name in NAMES {
                lab.lookup(name, &rules);
            }
            let report = lab.end_without_file();
            assert_eq!(codes(&report), ["wildcard"], "{id} {file}");
            assert!(report.evidence.is_some());
        }
    }
}

/// What has the same address below one domain is not therefore a search list.
#[test]
fn hosts_of_one_ingress_are_no_wildcard() {
    let mut lab = Lab::new("glibc", "nameserver 10.96.0.10\n");
    for name in [
        "a.shop.apps.test",
        "b.shop.apps.test",
        "c.d.shop.apps.test",
        "x.apps.test",
    ] {
        lab.lookup(name, &[wildcard(".apps.test")]);
    }
    assert_eq!(codes(&lab.end_without_file()), [""; 0]);
    // Pods of a StatefulSet, too.
    for name in ["web-0.web", "web-1.web", "web-2.web"] {
        let full = format!("{name}.default.svc.cluster.local");
        lab.lookup(&full, &[wildcard(".default.svc.cluster.local")]);
    }
    assert_eq!(codes(&lab.end_without_file()), [""; 0]);
}

/// It is asked when the first one is silent, long after the list was found out.
#[test]
fn a_second_server_that_comes_late() {
    let mut lab = Lab::new("glibc", "nameserver 10.96.0.10\nnameserver 10.96.0.11\n");
    for number in 0..60 {
        lab.lookup(&format!("db{number}.test."), &[rule(None, found(1))]);
        lab.start += 500_000_000;
    }
    let silent = Rule {
        server: Some("10.96.0.10".parse().unwrap()),
        ..rule(None, Effect::Timeout)
    };
    lab.lookup("late.test.", &[silent, rule(None, found(1))]);
    let packets = std::mem::take(&mut lab.packets);
    let (judged, report) = watched(packets, Setup::default(), None);
    assert_eq!(codes(&report), ["unanswered"]);
    let plan = &judged.last().unwrap().plan.as_ref().unwrap().1;
    assert!(is_followed(plan), "{plan:#?}");
}

/// dig asks for the name as it is, and then a program searches for it.
#[test]
fn dig_says_nothing_of_ndots() {
    let mut lab = Lab::new("glibc", POD);
    for number in 0..3 {
        let name = format!("nobody{number}");
        on_its_own(&mut lab, &[&name]);
        lab.start -= 980_000_000;
        lab.lookup(&name, &[denied()]);
    }
    let report = lab.end_without_file();
    assert_eq!(entries(&report), ENTRIES);
    assert_eq!(report.evidence.unwrap().ndots, (1, None));
}
