//! One fault each.

use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};

use crate::lab::ResolverId;
use crate::run::{Scene, codes};
use crate::trial;

/// Resolvers that differ in how they ask again.
const RESOLVERS: &[&str] = &["glibc", "musl-1.2.5", "go-1.27", "c-ares-1.34"];

#[expect(clippy::too_many_lines, reason = "a list")]
pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    let mut add = |name: &str, ids: &[&str], scene: Scene, expected: &'static str| {
        let resolvers: Vec<ResolverId> = ids.iter().map(|it| it.parse().unwrap()).collect();
        let check = move || one_finding(&scene, expected);
        trials.push(trial(&format!("scenes::{name}"), &resolvers, check));
    };
    for &id in RESOLVERS {
        let by = |names: &str, count: usize, nft: &str| scene(&[(id, names, count)], nft);
        let lossy = rule("output", "udp sport 53 numgen random mod 100 < 25 drop");
        add(
            &format!("answers are lost, {id}"),
            &[id],
            by("db", 40, &lossy),
            "unanswered",
        );
        let lossy = rule("input", "udp dport 53 numgen random mod 100 < 25 drop");
        add(
            &format!("queries are lost, {id}"),
            &[id],
            by("db", 40, &lossy),
            "unanswered",
        );
        let silent = rule("input", "udp dport 53 drop");
        add(
            &format!("a silent server, {id}"),
            &[id],
            by("db", 1, &silent),
            "server-silent",
        );
        let closed = rule("input", "udp dport 53 reject");
        add(
            &format!("a closed port, {id}"),
            &[id],
            by("db", 1, &closed),
            "server-closed",
        );
        let moved = rule("output", "udp sport 53 ip saddr set 10.96.0.77");
        add(
            &format!("another address, {id}"),
            &[id],
            by("db", 1, &moved),
            "wrong-source",
        );
        add(
            &format!("wildcard, {id}"),
            &[id],
            by("www.example", 3, ""),
            "wildcard",
        );
        add(
            &format!("failing server, {id}"),
            &[id],
            by("fail", 1, ""),
            "server-fails",
        );
        add(
            &format!("slow server, {id}"),
            &[id],
            by("slow", 6, ""),
            "slow-server",
        );
    }
    for id in ["glibc", "musl-1.2.5"] {
        let second = rule("input", "udp dport 53 ct original packets 2 drop");
        add(
            &format!("the second of a pair, {id}"),
            &[id],
            scene(&[(id, "db", 6)], &second),
            "conntrack-race",
        );
        let waste = scene(&[(id, "api.example.com", 20)], "");
        add(&format!("search waste, {id}"), &[id], waste, "search-waste");
        let twice = scene(&[(id, "twice", 5)], "");
        add(&format!("twice, {id}"), &[id], twice, "duplicates");
    }
    let udp = rule("input", "udp dport 53 drop");
    let mut tcp_only = scene(&[("glibc", "db", 1)], &udp);
    tcp_only.commands = vec![words("dig +tcp db1.default.svc.cluster.local")];
    add("TCP only", &["glibc"], tcp_only, "udp-silent");
    let reset = rule("input", "tcp dport 53 reject with tcp reset");
    add(
        "TCP refused",
        &["glibc"],
        scene(&[("glibc", "tc", 3)], &reset),
        "tcp-refused",
    );
    add(
        "nobody asks over TCP",
        &["busybox-nslookup"],
        scene(&[("busybox-nslookup", "tc", 3)], ""),
        "truncated-no-tcp",
    );
    add(
        "fragments are lost",
        &["dig"],
        fragments(),
        "large-replies-lost",
    );
    let aaaa = scene(&[("glibc", "noaaaa", 1)], "");
    add("AAAA fails", &["glibc"], aaaa, "aaaa-fails");
    add(
        "multicast names",
        &["glibc"],
        scene(&[("glibc", "printer.local", 1), ("glibc", "db", 3)], ""),
        "mdns-leak",
    );
    let again: Vec<(&str, &str, usize)> = vec![("glibc", "same", 1); 120];
    add("no cache", &["glibc"], scene(&again, ""), "no-cache");
    let truncated = scene(
        &[
            ("glibc", "tc", 4),
            ("musl-1.2.5", "tc", 4),
            ("go-1.27", "tc", 4),
            ("c-ares-1.34", "tc", 4),
        ],
        "",
    );
    let all: Vec<ResolverId> = RESOLVERS.iter().map(|it| it.parse().unwrap()).collect();
    trials.push(trial(
        "scenes::truncated and asked over TCP",
        &all,
        move || {
            let found = codes(&truncated.play()?.summary(None, true)?);
            if found.is_empty() {
                Ok(())
            } else {
                Err(format!("{found:?}").into())
            }
        },
    ));
    trials
}

fn words(line: &str) -> Vec<String> {
    line.split(' ').map(str::to_owned).collect()
}

/// A chain of the server's namespace with one rule.
fn rule(hook: &str, rule: &str) -> String {
    format!("table ip f {{\n chain c {{\n type filter hook {hook} priority 0;\n {rule}\n }}\n}}\n")
}

/// Names with a number before their first dot, looked up by resolvers.
fn scene(lookups: &[(&str, &str, usize)], nft: &str) -> Scene {
    let named = |name: &str, number: usize| match name.split_once('.') {
        // Those of multicast DNS and names that are asked for again are one.
        Some((first, "local")) => format!("{first}.local"),
        Some((first, rest)) if rest == "example" => format!(
            "{first}{number}.{rest}.{}",
            ["com", "org", "net"][number % 3]
        ),
        Some((first, rest)) => format!("{first}{number}.{rest}"),
        None if name == "same" => name.to_owned(),
        None => format!("{name}{number}"),
    };
    let all = lookups.iter().map(|(id, name, count)| {
        let list = (0..*count).map(|number| named(name, number)).collect();
        ((*id).to_owned(), list)
    });
    Scene {
        answers: answers(),
        nft: nft.to_owned(),
        lookups: all.collect(),
        ..Scene::default()
    }
}

/// What the server says.
fn answers() -> Value {
    let many: Vec<String> = (1..=100).map(|it| format!("10.100.1.{it}")).collect();
    let full = |name: &str| format!("{name}*.default.svc.cluster.local");
    json!([
        {"name": full("db"), "reply": "ANSWER", "a": ["10.100.0.1"], "aaaa": ["fd00::1"]},
        {"name": full("same"), "reply": "ANSWER", "a": ["10.100.0.1"], "aaaa": ["fd00::1"]},
        {"name": full("twice"), "reply": "ANSWER", "a": ["10.100.0.1"], "aaaa": ["fd00::1"], "dup": true},
        {"name": full("slow"), "reply": "ANSWER", "a": ["10.100.0.1"], "aaaa": ["fd00::1"], "delay_ms": 300},
        {"name": full("noaaaa"), "type": "AAAA", "reply": "SERVFAIL"},
        {"name": full("noaaaa"), "reply": "ANSWER", "a": ["10.100.0.1"]},
        {"name": full("tc"), "proto": "udp", "reply": "TC"},
        {"name": full("tc"), "reply": "ANSWER", "a": ["10.100.0.1"], "aaaa": ["fd00::1"]},
        {"name": full("big"), "reply": "ANSWER", "a": many},
        {"name": full("fail"), "reply": "SERVFAIL"},
        {"name": "www*.example.*.default.svc.cluster.local", "reply": "ANSWER", "a": ["10.100.0.9"], "aaaa": ["fd00::9"]},
        {"name": "api*.example.com", "reply": "ANSWER", "a": ["192.0.2.1"], "aaaa": ["2001:db8::1"]},
    ])
}

fn fragments() -> Scene {
    let nft = "table netdev f {\n chain c {\n type filter hook egress device \"veth0\" priority 0;\n ip frag-off & 0x1fff != 0 drop\n }\n}\n";
    let dig = |name: &str| {
        words(&format!(
            "dig +bufsize=4096 +time=1 +tries=3 {name}.default.svc.cluster.local"
        ))
    };
    Scene {
        answers: answers(),
        nft: nft.to_owned(),
        commands: ["db1", "big1", "db2", "big2", "db3"].map(dig).into(),
        ..Scene::default()
    }
}

/// The scene has this finding and no other, with and without the resolver's file.
fn one_finding(scene: &Scene, expected: &str) -> Result<(), Failed> {
    let captured = scene.play()?;
    let given = scene.lookups.first().map(|it| it.0.as_str());
    for (resolver, has_file) in [(given, true), (None, true)] {
        let summary = captured.summary(resolver, has_file)?;
        let found = codes(&summary);
        if found.iter().any(|it| it != expected) || found.is_empty() {
            return Err(format!("{resolver:?}: {found:?}: {}", summary["findings"]).into());
        }
    }
    Ok(())
}
