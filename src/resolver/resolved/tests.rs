//! What versions differ in that was read in the source, not observed.

use crate::engine::message::Question;
use crate::resolver::find;
use crate::scenario::json;
use crate::simulation::Run;

/// The lookup by a resolver, and the names of its queries.
fn run(id: &str, text: &str) -> (Run, Vec<String>) {
    let scenario = json::parse(text.as_bytes(), "1").unwrap();
    let run = find(id).unwrap().predict(&scenario);
    let mut names: Vec<String> = Vec::new();
    for sent in &run.sent {
        let Question::Asked(name, _) = &sent.query.question else {
            continue;
        };
        let name = name.to_string();
        if names.last() != Some(&name) {
            names.push(name);
        }
    }
    (run, names)
}

fn check(id: &str, text: &str, expected: &[&str]) {
    assert_eq!(run(id, text).1, expected, "{id}");
}

#[test]
fn before_247_programs_see_six_domains_and_no_root() {
    let many = r#"{"name": "db.x", "hostname": "pod-1.own.test", "env": {"RES_OPTIONS": "ndots:5"},
        "resolv_conf": "nameserver 10.96.0.10\nsearch a b c d e f g h\n", "answers": []}"#;
    let (_, old) = run("systemd-resolved-stub-245", many);
    let (_, new) = run("systemd-resolved-stub-247", many);
    assert_eq!((old.len(), new.len()), (7, 9));
    let scenario = json::parse(many.as_bytes(), "1").unwrap();
    for (id, cut) in [("245", 2), ("247", 0)] {
        let id = format!("systemd-resolved-stub-{id}");
        let reading = find(&id).unwrap().reading(&scenario);
        assert_eq!(reading.dropped.first().len(), cut, "{id}");
    }
    let none = r#"{"name": "db.x", "hostname": "pod-1.own.test",
        "resolv_conf": "nameserver 10.96.0.10\n", "answers": []}"#;
    check(
        "systemd-resolved-stub-245",
        none,
        &["db.x", "db.x.own.test"],
    );
    check("systemd-resolved-stub-247", none, &["db.x"]);
    let long = format!("{0}.{0}.{0} {1}", "x".repeat(60), "y".repeat(63));
    let long = format!(
        r#"{{"name": "db.x", "resolv_conf": "nameserver 10.96.0.10\nsearch {long} {}.z\n", "answers": []}}"#,
        "w".repeat(20)
    );
    assert_eq!(run("systemd-resolved-stub-245", &long).1.len(), 3);
    assert_eq!(run("systemd-resolved-stub-247", &long).1.len(), 4);
}

#[test]
fn before_247_a_server_has_no_port() {
    let text = r#"{"name": "db.x", "resolv_conf": "nameserver 10.96.0.10:5353\n", "answers": []}"#;
    let scenario = json::parse(text.as_bytes(), "1").unwrap();
    for (version, servers) in [("245", 0), ("247", 1)] {
        for door in ["", "-stub"] {
            let id = format!("systemd-resolved{door}-{version}");
            let reading = find(&id).unwrap().reading(&scenario);
            assert_eq!(reading.servers.len(), servers, "{id}");
        }
    }
}

#[test]
fn before_247_single_labels_are_searched_whatever_they_are() {
    for name in ["_gateway", "db."] {
        let text = format!(
            r#"{{"name": "{name}", "resolv_conf": "nameserver 10.96.0.10\nsearch b.test\n", "answers": []}}"#
        );
        let expected = format!("{}.b.test", name.trim_end_matches('.'));
        check("systemd-resolved-245", &text, &[&expected]);
        check("systemd-resolved-247", &text, &[]);
    }
}

#[test]
fn ubuntu_20_04_asks_again_after_nxdomain() {
    let text = r#"{"name": "db.x", "family": "inet", "resolv_conf": "nameserver 10.96.0.10\n", "answers": []}"#;
    for (id, queries) in [("systemd-resolved-245", 2), ("systemd-resolved-247", 1)] {
        assert_eq!(run(id, text).0.sent.len(), queries, "{id}");
    }
}
