//! What else a report says orders the causes of its message.

use std::fs;

use kdns::why::{Catalogue, recognise};

use crate::{expect_none, root};

/// The codes of the causes, the first ones first.
pub(crate) fn codes(text: &str) -> Vec<&'static str> {
    let catalogue = Catalogue::built_in();
    let found = recognise(catalogue, text, None).unwrap();
    let codes = found.causes.iter().map(|it| it.1.code);
    codes.collect()
}

pub(crate) const MESSAGE: &str = "curl: (6) Could not resolve host: db.example.net";

#[test]
fn what_the_text_speaks_for_comes_first_and_what_it_speaks_against_last() {
    for (message, beside, code) in [
        (
            MESSAGE,
            "The namespace has a NetworkPolicy that denies egress, DNS too.",
            "network-policy",
        ),
        (
            MESSAGE,
            "It works in Debian and not in an alpine image.",
            "resolver-differs",
        ),
        (NO_SUCH_HOST, "Consul DNS is used", "mesh-dns-proxy"),
        (
            MESSAGE,
            "CIDR of the pods and the subnet of the office overlap",
            "address-overlap",
        ),
        (
            MESSAGE,
            "The DNS pods run on another node, port 8472 between them is closed",
            "overlay-blocked",
        ),
    ] {
        let place = |text: &str| codes(text).iter().position(|it| *it == code);
        let place_beside = place(&format!("{message} in a pod. {beside}"));
        assert!(
            place_beside.is_some_and(|it| it < 2),
            "{code}: {place_beside:?}"
        );
        assert!(place(message) != Some(0), "{code}");
    }
    let text = "10.96.0.10 does not answer pods on another node: nslookup db.example.net: \
                ;; connection timed out; no servers could be reached";
    let place = |text: &str| codes(text).iter().position(|it| *it == "overlay-blocked");
    assert_eq!(place(text), Some(0));
    let alone = codes(&format!("{text}. It is a single node."));
    let last = &alone[alone.len() - 3..];
    assert!(last.contains(&"overlay-blocked") && last.contains(&"overlay-checksum"));
}

pub(crate) const NO_SUCH_HOST: &str =
    "lookup db.shop.svc.cluster.local on 10.96.0.10:53: no such host";
pub(crate) const TIMEOUT: &str = "lookup db.shop.svc.cluster.local on 10.96.0.10:53: i/o timeout";

#[test]
fn what_is_only_denied_is_not_known() {
    let catalogue = Catalogue::built_in();
    for text in [
        "Tailscale is not installed, DNS is fine",
        "There is no sidecar",
    ] {
        assert!(recognise(catalogue, text, None).is_err(), "{text}");
    }
    // What is not done is complained of.
    assert_eq!(
        codes("DNS proxy does not truncate UDP responses")[0],
        "truncation"
    );
}

#[test]
fn a_program_comes_before_what_people_ask_by_hand() {
    let catalogue = Catalogue::built_in();
    let program = "dial tcp: lookup charts.example.net on 10.96.0.10:53: no such host";
    let by_hand = "Server: 8.8.8.8\nAddress: 8.8.8.8#53\n\n\
                   ** server can't find charts.example.net: NXDOMAIN";
    let found = recognise(catalogue, &format!("{program}\n{by_hand}"), None).unwrap();
    assert_eq!(found.message.id, "go-no-such-host");
}

#[test]
fn a_port_behind_a_name_is_no_part_of_it() {
    let catalogue = Catalogue::built_in();
    let text = "wget: bad address 'registry.shop:5000'";
    let found = recognise(catalogue, text, None).unwrap();
    assert_eq!(found.name.as_deref(), Some("registry.shop"));
    assert!(!codes(text).contains(&"not-a-host-name"));
}

#[test]
fn a_cause_that_a_message_does_not_name_stands_behind_its_first() {
    let found = codes(&format!("{NO_SUCH_HOST}\nConsul DNS is used"));
    assert_eq!(found[..2], [codes(NO_SUCH_HOST)[0], "mesh-dns-proxy"]);
    // Nor one that the kind of name makes unlikely.
    let found = codes(&format!("{TIMEOUT}. We are behind a proxy"));
    assert!(!found[..3].contains(&"proxy-needed"), "{found:?}");
}

#[test]
fn a_message_with_one_cause_keeps_it() {
    let text = "plugin/loop: Loop (127.0.0.1:55953 -> :53) detected for zone \".\"";
    let beside = format!("{text}. The image is alpine, and there is a NetworkPolicy for DNS");
    assert_eq!(codes(text), ["dns-loop"]);
    assert_eq!(codes(&beside), ["dns-loop"]);
}

#[test]
fn a_sign_speaks_for_a_cause_or_against_it() {
    let mut wrong = Vec::new();
    for cause in &Catalogue::built_in().causes {
        let code = cause.code;
        let page = fs::read_to_string(root().join(format!("src/why/causes/{code}.md"))).unwrap();
        let Some((_, behind)) = page.split_once("\n## Signs\n\n") else {
            continue;
        };
        let signs = behind.lines().take_while(|it| !it.is_empty());
        let is_one = |it: &&str| it.starts_with("- for: ") || it.starts_with("- against: ");
        wrong.extend(
            signs
                .filter(|it| !is_one(it))
                .map(|it| format!("{code}: {it}")),
        );
    }
    expect_none(&wrong);
}

/// A name in which such words stand is as it was written.
#[test]
fn words_in_names_are_not_replaced() {
    let catalogue = Catalogue::built_in();
    for (text, name) in [
        (
            "dig time-out.shop.svc works, the app gets no such host",
            "time-out.shop.svc",
        ),
        (
            "dig failed-jobs.shop.svc works, the app gets no such host",
            "failed-jobs.shop.svc",
        ),
    ] {
        let found = recognise(catalogue, text, None).unwrap();
        assert_eq!(found.name.as_deref(), Some(name));
    }
}

/// What one program says in a text is not what another one looked up, nor whom it asked.
#[test]
fn what_other_programs_say_is_theirs() {
    let catalogue = Catalogue::built_in();
    let text = "curl: (6) Could not resolve host: shop.example.com\n\
                dial tcp: lookup cart.shop on 10.96.0.10:53: no such host\n\
                Error: getaddrinfo EAI_AGAIN db";
    let found = recognise(catalogue, text, None).unwrap();
    let named: Vec<&str> = found.besides.iter().map(|it| it.0.id).collect();
    let mut ids = vec![found.message.id];
    ids.extend(named);
    ids.sort_unstable();
    assert_eq!(
        ids,
        [
            "curl-could-not-resolve",
            "go-no-such-host",
            "node-eai-again"
        ]
    );
    let is_go = found.message.id == "go-no-such-host";
    assert_eq!(found.asked.is_some(), is_go, "{:?}", found.asked);
    assert!(found.besides.iter().all(|it| !it.1.is_empty()));
}

/// A word with which a sentence goes on is no name.
#[test]
fn words_of_sentences_are_no_names() {
    let catalogue = Catalogue::built_in();
    let found = recognise(
        catalogue,
        "EAI_AGAIN error when looking up the mail server",
        None,
    );
    assert_eq!(found.unwrap().name, None);
    let text = "dial tcp: lookup error on 10.96.0.10:53: no such host";
    let found = recognise(catalogue, text, None).unwrap();
    assert_eq!(found.name.as_deref(), Some("error"));
}

/// Texts that name where it happens, a cause, and whether it is among the first three.
const PLACES: [(&str, &str, bool); 14] = [
    (
        "AKS: getaddrinfo EAI_AGAIN db.prod ; docker build was fine",
        "service-path",
        true,
    ),
    (
        "AKS: getaddrinfo EAI_AGAIN db.prod ; docker build was fine",
        "docker-dns",
        false,
    ),
    (
        "Minikube; docker run works; getaddrinfo EAI_AGAIN db.prod",
        "service-path",
        true,
    ),
    (
        "Rancher deployment; docker exec works; getaddrinfo EAI_AGAIN db.prod",
        "service-path",
        true,
    ),
    (
        "k3d cluster: getaddrinfo EAI_AGAIN db.prod, asked 127.0.0.11:53",
        "docker-dns",
        true,
    ),
    (
        "Dockerfile of our pod: getaddrinfo EAI_AGAIN db.prod",
        "service-path",
        true,
    ),
    (
        "Dockerfile of our pod: getaddrinfo EAI_AGAIN db.prod",
        "docker-dns",
        false,
    ),
    (
        "Error: getaddrinfo ENOTFOUND db (network namespace of my container, compose)",
        "docker-network",
        true,
    ),
    (
        "We overwhelm Redis. docker: getaddrinfo ENOTFOUND redis",
        "docker-network",
        true,
    ),
    (
        "in docker-compose: getaddrinfo ENOTFOUND redis",
        "docker-network",
        true,
    ),
    (
        "in docker-compose: getaddrinfo ENOTFOUND redis",
        "other-namespace",
        false,
    ),
    (
        "in pods of k8s: getaddrinfo ENOTFOUND redis",
        "docker-network",
        false,
    ),
    (
        "in pods of k8s: getaddrinfo ENOTFOUND redis",
        "other-namespace",
        true,
    ),
    (
        "docker-compose up: getaddrinfo EAI_AGAIN db on 127.0.0.11:53",
        "service-path",
        false,
    ),
];

#[test]
fn what_only_the_other_place_can_cause_is_not_among_the_first() {
    let wrong = PLACES.iter().filter_map(|&(text, code, is_first)| {
        let found = codes(text);
        let first = &found[..3];
        (first.contains(&code) != is_first).then(|| format!("{text}: {code}, {found:?}"))
    });
    expect_none(&wrong.collect::<Vec<String>>());
}

/// What a terminal wrapped between two words is no word that it cut.
#[test]
fn a_line_as_wide_as_a_screen_may_end_with_its_word() {
    let catalogue = Catalogue::built_in();
    for (line, next) in [
        ("psql: Temporary failure in name", "resolution"),
        ("psql: Temporary failure in na", "me resolution"),
    ] {
        let text = format!("{}{line}\n{next}", "-".repeat(80 - line.len()));
        let found = recognise(catalogue, &text, None).unwrap();
        assert_eq!(found.message.id, "glibc-temporary-failure", "{text}");
    }
}
