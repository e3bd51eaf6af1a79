//! Rules that somebody pasted, whatever is in them: the way of a packet ends,
//! shares add up, and what is written about it steers no terminal.

use std::collections::BTreeSet;
use std::net::IpAddr;

use kdns::path::findings::Around;
use kdns::path::{Host, RulesKnown, Site, Start, Tree};
use kdns::render::Style;
use kdns::render::path::{self, Shown};
use kdns::rules::{Rules, Text};

use super::{printable_lines, source, texts};

/// Who asks which server.
const ASKED: [(&str, &str); 2] = [("10.244.0.7", "10.96.0.10"), ("fd00::7", "fd00:96::a")];

/// Texts of any of the formats, as with several `--rules`.
pub(crate) fn run(data: &[u8]) {
    let given = || {
        let named = texts(data).map(|it| source("rules.txt", it));
        named.map(|it| Box::new(it) as Box<dyn Text + Send>)
    };
    for (known, start) in [
        (RulesKnown::Chosen, Start::Link { name: None }),
        (RulesKnown::All, Start::Host),
    ] {
        let Ok(rules) = Rules::parse(given().collect()) else {
            return;
        };
        let node = Host {
            known,
            rules,
            ..Host::default()
        };
        let site = Site { node, own: None };
        let mut trees = Vec::new();
        for (from, to) in ASKED {
            let [from, to] = [from, to].map(|it| it.parse::<IpAddr>().unwrap());
            trees.extend(site.to_servers(&[to], from, &start));
        }
        for tree in &trees {
            adds_up(tree);
        }
        written(&site, &trees);
    }
}

/// Every packet ends somewhere; where nothing is assumed, once.
fn adds_up(tree: &Tree) {
    let shares = tree.outcomes.iter().map(|it| it.share.as_f64());
    assert!(
        shares.clone().all(|it| (0.0..=1.0).contains(&it)),
        "{tree:#?}"
    );
    let conditions = tree.outcomes.iter().flat_map(|it| &it.depends_on);
    let conditions: BTreeSet<_> = conditions.map(|it| &it.condition).collect();
    if conditions.is_empty() && !tree.outcomes.is_empty() {
        let sum: f64 = shares.sum();
        assert!((sum - 1.0).abs() < 1e-6, "{sum} of {tree:#?}");
    }
}

fn written(site: &Site, trees: &[Tree]) {
    let findings = site.findings(trees, Around::default());
    let shown = Shown {
        rules: &site.node.rules,
        trees,
        findings: &findings,
        skipped: &[],
        probe: None,
    };
    let style = Style {
        colors: false,
        verbose: true,
        links: false,
        columns: 80,
    };
    let mut text = Vec::new();
    path::write(&shown, style, &mut text).unwrap();
    path::concise::write(&shown, &mut text).unwrap();
    path::svg::write(&shown, &mut text).unwrap();
    printable_lines(&text);
    text.clear();
    path::json::write(&shown, &mut text).unwrap();
    let document: serde_json::Value = serde_json::from_slice(&text).unwrap();
    assert!(
        document
            .pointer("/verdict")
            .is_some_and(serde_json::Value::is_string)
    );
}
