//! What else a report says orders the causes of its message.

use std::fs;

use kdns::why::{Catalogue, recognise};

use crate::{expect_none, root};

/// The codes of the causes, the first ones first.
fn codes(text: &str) -> Vec<&'static str> {
    let catalogue = Catalogue::built_in();
    let found = recognise(&catalogue, text, None).unwrap();
    let codes = found.causes.iter().map(|it| it.1.code);
    codes.collect()
}

const MESSAGE: &str = "curl: (6) Could not resolve host: db.example.net";

#[test]
fn what_the_text_speaks_for_comes_first_and_what_it_speaks_against_last() {
    assert_ne!(codes(MESSAGE).first(), Some(&"java-cache"));
    for (beside, first) in [
        (
            "The namespace has a NetworkPolicy that denies egress, DNS too.",
            "network-policy",
        ),
        ("It is an alpine image.", "resolver-differs"),
        (
            "The pod has dnsPolicy: None in its spec",
            "asks-node-servers",
        ),
        (
            "CIDR of the pods and the subnet of the office overlap",
            "address-overlap",
        ),
        (
            "The DNS pods run on another node, port 8472 between them is closed",
            "overlay-blocked",
        ),
    ] {
        assert_eq!(
            codes(&format!("{MESSAGE} in a pod. {beside}")).first(),
            Some(&first)
        );
    }
    let text = "10.96.0.10 does not answer pods on another node: nslookup db.example.net: \
                ;; connection timed out; no servers could be reached";
    let place = |text: &str| codes(text).iter().position(|it| *it == "overlay-blocked");
    assert_eq!(place(text), Some(0));
    let alone = codes(&format!("{text}. It is a single node."));
    let last = &alone[alone.len() - 3..];
    assert!(last.contains(&"overlay-blocked") && last.contains(&"overlay-checksum"));
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
