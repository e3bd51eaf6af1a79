//! The catalogue of `kdns why`: every page is whole, every example is recognised
//! as what it is an example of, and no near miss is.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may stop at the first surprise"
)]

mod idle;
mod incidents;
mod innocent;
mod page;
mod reports;
mod rows;
mod signs;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use kdns::lint::rules;
use kdns::why::asked::Kind;
use kdns::why::{Catalogue, Message, recognise, speaker};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn expect_none(wrong: &[String]) {
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The page of a message.
fn file(message: &Message) -> String {
    let name = message.id.strip_prefix(message.speaker.id);
    let name = name.and_then(|it| it.strip_prefix('-'));
    let name = name.unwrap_or_default();
    format!("src/why/messages/{}/{name}.md", message.speaker.id)
}

/// The texts below a heading of its page that only tests read.
fn texts(message: &Message, heading: &str) -> Vec<String> {
    let page = fs::read_to_string(root().join(file(message))).unwrap_or_default();
    let mut sections = page.split("\n## ").skip(1);
    let section = sections.find_map(|it| it.strip_prefix(heading));
    let lines = section.unwrap_or_default().lines();
    lines
        .filter_map(|it| it.strip_prefix("    ").map(str::to_owned))
        .collect()
}

#[test]
fn every_page_is_in_the_catalogue_and_whole() {
    let catalogue = Catalogue::built_in();
    let mut wrong = Vec::new();
    for message in &catalogue.messages {
        let id = message.id;
        let speaker = message.speaker.id;
        let file = file(message);
        let is_whole = id.starts_with(speaker)
            && root().join(&file).is_file()
            && message.meaning.ends_with('.')
            && !message.patterns.is_empty()
            && !message.proves.is_empty()
            && !message.rules_out.is_empty()
            && !texts(message, "Examples").is_empty()
            && !texts(message, "Near misses").is_empty()
            && !message.sources.is_empty();
        if !is_whole {
            wrong.push(format!("{file}: something is missing in the page of {id}"));
        }
        for code in message.codes() {
            let is_known = catalogue.cause(code).is_some() || catalogue.message(code).is_some();
            if !is_known {
                wrong.push(format!("{id}: there is no cause {code}"));
            }
        }
        if message.is_dns() == message.meaning.starts_with("This is no DNS error") {
            wrong.push(format!(
                "{id}: what is no DNS error says so, and has no causes"
            ));
        }
    }
    let pages = pages(&root().join("src/why/messages"));
    assert_eq!(catalogue.messages.len(), pages, "a page without a speaker");
    assert!(catalogue.messages.len() >= 150);
    expect_none(&wrong);
}

/// How many files there are in the folders of a folder.
fn pages(folder: &Path) -> usize {
    let folders = fs::read_dir(folder).unwrap().flatten();
    folders
        .map(|it| fs::read_dir(it.path()).unwrap().count())
        .sum()
}

#[test]
fn ids_are_given_once_and_every_speaker_has_messages() {
    let catalogue = Catalogue::built_in();
    let ids: BTreeSet<&str> = catalogue.messages.iter().map(|it| it.id).collect();
    assert_eq!(ids.len(), catalogue.messages.len());
    for speaker in &speaker::ALL {
        let mut messages = catalogue.messages.iter();
        assert!(messages.any(|it| it.speaker == speaker), "{}", speaker.id);
    }
}

#[test]
fn causes_are_whole_and_each_is_used() {
    let catalogue = Catalogue::built_in();
    let used: BTreeSet<&str> = catalogue.messages.iter().flat_map(Message::codes).collect();
    let mut wrong = Vec::new();
    for cause in &catalogue.causes {
        let code = cause.code;
        let is_whole = root().join(format!("src/why/causes/{code}.md")).is_file()
            && cause.what.ends_with('.')
            && cause.fix.ends_with('.')
            && !cause.command.is_empty()
            && !cause.shows.is_empty()
            && !cause.sources.is_empty();
        if !is_whole {
            wrong.push(format!("{code}: something is missing in its page"));
        }
        if !used.contains(code) {
            wrong.push(format!("{code}: no message has this cause"));
        }
        let unknown = cause
            .rules
            .iter()
            .chain(&cause.quoted)
            .filter(|it| rules::find(it).is_none());
        wrong.extend(unknown.map(|it| format!("{code}: there is no rule {it}")));
    }
    expect_none(&wrong);
}

#[test]
fn a_note_that_is_seldom_the_cause_stands_behind_what_else_is_said() {
    let catalogue = Catalogue::built_in();
    let note = "Nameserver limits were exceeded, some nameservers have been omitted, \
                the applied nameserver line is: 192.0.2.1 192.0.2.2 192.0.2.3";
    for (beside, id) in [
        (
            "[ERROR] plugin/errors: 2 a.b. A: read udp 10.244.0.7:39509->192.0.2.1:53: i/o timeout",
            "coredns-udp-timeout",
        ),
        (
            "Pods on another node than CoreDNS cannot resolve",
            "symptom-other-node",
        ),
        ("DNS does not work", "symptom-broken"),
        ("", "kubelet-nameserver-limit"),
    ] {
        let text = format!("{note}\n{beside}");
        let found = recognise(catalogue, &text, None);
        assert_eq!(found.map(|it| it.message.id).ok(), Some(id), "{text}");
    }
}

#[test]
fn a_broken_reply_beside_no_such_host_is_a_rewrite_that_does_not_turn_back() {
    let catalogue = Catalogue::built_in();
    let text = "lookup web.shop on 10.96.0.10:53: cannot unmarshal DNS message\n\
                lookup web.shop on 10.96.0.10:53: no such host";
    let found = recognise(catalogue, text, None).ok();
    let first = found.and_then(|it| it.causes.first().map(|it| it.1.code));
    assert_eq!(first, Some("rewrite-one-way"));
}

/// Their keys are no words of a sentence: `terminating: false`, `kind: Pod`, `name:`.
#[test]
fn a_slice_without_a_ready_endpoint_beside_a_time_out_comes_first() {
    let catalogue = Catalogue::built_in();
    let text = "dial tcp: lookup web.default.svc.cluster.local on 10.96.0.10:53: read udp \
                10.1.1.1:3333->10.96.0.10:53: i/o timeout\naddressType: IPv4\nendpoints:\n\
                - addresses:\n  - 10.244.0.2\n  conditions:\n    ready: false\n    \
                serving: false\n    terminating: false\n  nodeName: cp\n  targetRef:\n    \
                kind: Pod\n    name: coredns-abc\n    namespace: kube-system\n\
                kind: EndpointSlice\nmetadata:\n  generateName: kube-dns-\n  labels:\n    \
                k8s-app: kube-dns\n    kubernetes.io/name: CoreDNS\n    \
                kubernetes.io/service-name: kube-dns\n  name: kube-dns-8bvjp\n  \
                namespace: kube-system\nports:\n- name: dns\n  port: 53\n  protocol: UDP";
    let found = recognise(catalogue, text, None).unwrap();
    let codes: Vec<&str> = found.causes.iter().map(|it| it.1.code).collect();
    assert_eq!(codes.first(), Some(&"no-dns-endpoints"), "{codes:?}");
    let first = codes.iter().take(4);
    assert!(
        first.into_iter().all(|it| *it != "name-does-not-exist"),
        "{codes:?}"
    );
}

#[test]
fn examples_are_recognised_as_what_they_are() {
    let catalogue = Catalogue::built_in();
    let mut wrong = Vec::new();
    for message in &catalogue.messages {
        for example in texts(message, "Examples") {
            let found = recognise(catalogue, &example, None).map(|it| it.message.id);
            if found.as_ref().ok() != Some(&message.id) {
                let found = found.unwrap_or("nothing");
                wrong.push(format!("{}: {found} instead: {example}", message.id));
            }
        }
    }
    expect_none(&wrong);
}

#[test]
fn near_misses_are_something_else() {
    let catalogue = Catalogue::built_in();
    let mut wrong = Vec::new();
    for message in &catalogue.messages {
        for text in texts(message, "Near misses") {
            let found = recognise(catalogue, &text, None).map(|it| it.message.id);
            if found.is_ok_and(|it| it == message.id) {
                wrong.push(format!("{}: it is not this: {text}", message.id));
            }
        }
    }
    expect_none(&wrong);
}

/// Hypotheses beside it would say that it is one after all: those of what is seen besides.
#[test]
fn what_is_no_dns_error_has_no_causes() {
    let catalogue = Catalogue::built_in();
    let mut wrong = Vec::new();
    let denied = catalogue.messages.iter().filter(|it| !it.is_dns());
    let examples = denied.flat_map(|it| texts(it, "Examples"));
    for example in examples {
        let text = format!("kubernetes: failed to resolve image: {example}");
        let found = recognise(catalogue, &text, None);
        if found.is_ok_and(|it| !it.message.is_dns() && !it.causes.is_empty()) {
            wrong.push(text);
        }
    }
    expect_none(&wrong);
}

/// A pattern of a few letters would be found in any text.
#[test]
fn patterns_say_something() {
    let catalogue = Catalogue::built_in();
    for message in &catalogue.messages {
        for pattern in &message.patterns {
            let is_whole = pattern.text.starts_with('=');
            assert!(
                is_whole || pattern.weight >= 8,
                "{}: {}",
                message.id,
                pattern.text
            );
        }
    }
}

/// What a cause says to type is a command of kdns, if it begins like one.
#[test]
fn commands_of_causes_are_commands() {
    let catalogue = Catalogue::built_in();
    let mut wrong = Vec::new();
    for cause in &catalogue.causes {
        let line = cause
            .command
            .replace("{name}", "db")
            .replace("{server}", "10.96.0.10");
        for command in line
            .split([';', '|'])
            .map(str::trim)
            .filter(|it| it.starts_with("kdns "))
        {
            let known = kdns::cli::command().try_get_matches_from(command.split(' '));
            wrong.extend(
                known
                    .err()
                    .map(|it| format!("{}: {command}: {it}", cause.code)),
            );
        }
    }
    expect_none(&wrong);
}

#[test]
fn servers_without_a_port_are_told() {
    let catalogue = Catalogue::built_in();
    let asked = |text: &str| {
        let found = recognise(catalogue, text, None);
        let asked = found.map_or_else(|it| it.asked, |it| it.asked);
        asked.map(|it| it.address.ip().to_string())
    };
    for (text, expected) in [
        (
            "DNS lookups through 10.96.0.10 time out",
            Some("10.96.0.10"),
        ),
        (
            "pods cannot reach kube-dns at 10.233.0.3.",
            Some("10.233.0.3"),
        ),
        (
            "Server: 192.168.7.1\nAddress 1: 192.168.7.1\n\nnslookup: can't resolve 'db.prod'",
            Some("192.168.7.1"),
        ),
        (
            "connect to server: 192.168.7.1: Name or service not known",
            None,
        ),
        ("DNS fails at 10.96.0.10 and at 10.43.0.10", None),
        ("the DNS pod 10.96.0.1 does not resolve names", None),
    ] {
        assert_eq!(asked(text).as_deref(), expected, "{text}");
    }
}

/// A text from a stranger costs no more than its bytes, whatever it repeats.
#[test]
fn long_texts_are_read_in_time() {
    let catalogue = Catalogue::built_in();
    for piece in [
        "lookup a on ",
        "query",
        "<>",
        "a.",
        "\\u003e",
        "UnknownHostException: ",
        "é",
        "\\",
        "cannot resolve module node ",
        "no dns fails node ",
    ] {
        let text = piece.repeat(200_000);
        let begun = std::time::Instant::now();
        let _ = recognise(catalogue, &text, None);
        let took = begun.elapsed();
        // Unoptimised; about a fiftieth of it in a release.
        assert!(took.as_secs() < 20, "{piece}: {took:?}");
    }
}

/// A misspelled condition would mean that no server is named.
#[test]
fn conditions_are_kinds_of_servers() {
    let folders = fs::read_dir(root().join("src/why/messages")).unwrap();
    for folder in folders.flatten() {
        for page in fs::read_dir(folder.path()).unwrap().flatten() {
            let text = fs::read_to_string(page.path()).unwrap();
            let causes = text.split("\n## Causes\n").nth(1).unwrap_or_default();
            let causes = causes.split("\n## ").next().unwrap();
            for line in causes.lines().filter(|it| !it.is_empty()) {
                let item = line.strip_prefix("- ").unwrap();
                let (head, only) = item.split_once(" if ").unwrap_or((item, ""));
                let mut kinds = only.split_whitespace();
                let is_kind = |it| it == "unknown" || Kind::of_word(it).is_some();
                let likely = head.split(' ').nth(1).unwrap_or_default();
                let is_likely =
                    head.starts_with("as ") || ["high", "medium", "low"].contains(&likely);
                assert!(
                    is_likely && kinds.all(is_kind),
                    "{}: {line}",
                    page.path().display()
                );
            }
        }
    }
}
