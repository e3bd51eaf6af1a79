//! The files that resolvers read, by every resolver, in every format.

use std::collections::BTreeSet;
use std::io;

use kdns::explain::transition::Detail;
use kdns::explain::{Context, explain};
use kdns::render::Style;
use kdns::render::explanation::{self, json};
use kdns::render::timeline;
use kdns::resolver;
use kdns::scenario::{Scenario, file};

use crate::shapes::{Shape, shapes};
use crate::{none, offenders};

const RESOLV_CONF: &str = "\
search default.svc.cluster.local svc.cluster.local cluster.local
domain example.com
nameserver 127.0.0.53
nameserver fe80::1%eth0
nameserver dns.example
sortlist 10.0.0.0/255.0.0.0
lookup file bind
options ndots:5 rotate
";
const HOSTS: &str = "127.0.0.1 localhost\n10.0.0.1 target Target.example target\n::1 target\n";
const NSSWITCH: &str =
    "passwd: files\nhosts: files resolve [!UNAVAIL=return] dns [NOTFOUND=continue] x\n";
const ALIASES: &str = "target alias.example\nother x\n";

/// A question about `target` with ordinary files, and one of them replaced.
fn scenario(change: impl FnOnce(&mut Scenario)) -> Scenario {
    let mut scenario = Scenario::new("hostile", "target");
    scenario.resolv_conf = Some(file(
        "/etc/resolv.conf",
        "nameserver 10.0.0.1\nsearch a b\n",
    ));
    scenario.env.insert("HOSTALIASES".into(), "/aliases".into());
    change(&mut scenario);
    scenario
}

/// What every resolver takes from the files.
fn read(scenario: &Scenario) {
    for resolver in resolver::ALL {
        resolver.reading(scenario);
    }
}

/// What the first of each family takes: the others are versions of it.
fn read_by_families(scenario: &Scenario) {
    let mut families = BTreeSet::new();
    for resolver in resolver::ALL {
        if families.insert(resolver.family) {
            resolver.reading(scenario);
        }
    }
}

/// What every resolver asks.
fn play(scenario: &Scenario) {
    for resolver in resolver::ALL {
        resolver.predict(scenario);
    }
}

/// What is said of the resolvers that are explained without `--resolver`.
fn say(scenario: &Scenario) {
    let resolvers = ["glibc", "musl", "go"].map(|id| resolver::find(id).unwrap());
    let explained = explain(scenario, Context::default(), &resolvers, Detail::Full);
    let style = Style {
        colors: false,
        links: false,
        verbose: true,
        columns: 80,
    };
    let nowhere = &mut io::sink();
    explanation::write(&explained, style, nowhere).unwrap();
    json::write(&explained, nowhere).unwrap();
    timeline::write("explain", &[timeline::explained(&explained)], 0, nowhere).unwrap();
}

fn check(what: &str, shapes: &[Shape], step: fn(&Scenario), change: impl Fn(&mut Scenario, &[u8])) {
    let step = |text: &[u8]| step(&scenario(|it| change(it, text)));
    none(&offenders(what, shapes, step));
}

fn resolv_conf(scenario: &mut Scenario, text: &[u8]) {
    scenario.resolv_conf = Some(file("/etc/resolv.conf", text));
}

/// Lines and words again and again, without odd bytes between them.
fn plain() -> Vec<Shape> {
    let mut shapes = shapes(RESOLV_CONF.as_bytes());
    shapes.retain(Shape::is_plain);
    shapes
}

#[test]
fn resolv_conf_costs_its_bytes() {
    let shapes = shapes(RESOLV_CONF.as_bytes());
    check(
        "reading resolv.conf",
        &shapes,
        read_by_families,
        resolv_conf,
    );
    check("every version reading it", &plain(), read, resolv_conf);
}

#[test]
fn what_is_asked_costs_its_bytes() {
    check("playing resolv.conf", &plain(), play, resolv_conf);
}

#[test]
fn what_is_said_costs_its_bytes() {
    check("explaining resolv.conf", &plain(), say, resolv_conf);
}

#[test]
fn hosts_cost_their_bytes() {
    let mut shapes = shapes(HOSTS.as_bytes());
    shapes.retain(Shape::is_plain);
    check("hosts", &shapes, play, |it, text| {
        it.hosts = Some(file("/etc/hosts", text));
    });
}

#[test]
fn nsswitch_conf_costs_its_bytes() {
    let mut shapes = shapes(NSSWITCH.as_bytes());
    shapes.retain(Shape::is_plain);
    check("nsswitch.conf", &shapes, play, |it, text| {
        it.nsswitch = Some(file("/etc/nsswitch.conf", text));
    });
}

#[test]
fn other_files_cost_their_bytes() {
    let files = [
        ("/aliases", ALIASES),
        ("/etc/host.conf", "order hosts,bind\nmulti on\n"),
        ("/etc/svc.conf", "hosts=local,bind\n"),
    ];
    for (path, seed) in files {
        let mut shapes = shapes(seed.as_bytes());
        shapes.retain(Shape::is_plain);
        check(path, &shapes, play, |it, text| {
            it.files.insert(path.to_owned(), text.to_vec());
        });
    }
}

/// What is read of a search list has an end: that of what is played of it.
#[test]
fn a_search_list_is_read_as_far_as_it_is_played() {
    let lists = [
        "a ".repeat(30_000),
        (0..30_000)
            .map(|it| format!("d{it}"))
            .collect::<Vec<_>>()
            .join(" "),
    ];
    for list in lists {
        let scenario = scenario(|it| resolv_conf(it, format!("search {list}\n").as_bytes()));
        for resolver in [
            "glibc",
            "go",
            "c-ares-1.18",
            "hickory",
            "resolved",
            "systemd-resolved-stub",
        ] {
            let reading = resolver::find(resolver).unwrap().reading(&scenario);
            let kept = (
                reading.search.len(),
                reading.dropped.first().len() + reading.dropped.more(),
            );
            assert!(kept.0 <= 2000 && kept.1 <= 2001, "{resolver}: {kept:?}");
        }
    }
}

/// What JSON says of a file has an end, also where one resolver takes all of it
/// for one word, again and again.
#[test]
fn json_repeats_no_long_word() {
    let all: Vec<_> = resolver::ALL.iter().filter(|it| it.is_usual).collect();
    let lines = [&b"nameserver 10.0.0.1\0\n"[..], b"search \xff\n", b"\x1b"];
    for line in lines {
        let text = line.repeat((256 << 10) / line.len());
        let scenario = scenario(|it| resolv_conf(it, &text));
        let explained = explain(&scenario, Context::default(), &all, Detail::Full);
        let mut said = Vec::new();
        json::write(&explained, &mut said).unwrap();
        assert!(said.len() < 8 << 20, "{} bytes", said.len());
    }
}
