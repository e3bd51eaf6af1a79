//! What others must know of a Corefile.

use crate::config::corefile::{Corefile, Directive, ServerBlock, Word, zones};
use crate::lint::document::{At, Document};
use crate::lint::facts::{CorefileFacts, Endpoint, Forward, Probed, Text};
use crate::text::{Span, has_placeholder};

pub(super) fn facts(document: &Document, corefile: &Corefile) -> CorefileFacts {
    let mut facts = CorefileFacts {
        at: document.at(Span::default()),
        cluster_zones: Vec::new(),
        forwards: Vec::new(),
        binds: Vec::new(),
        endpoints: endpoints(corefile),
        negative: corefile.blocks.iter().find_map(|it| negative(document, it)),
    };
    for block in &corefile.blocks {
        let mut keys = block.keys.iter().flat_map(|it| zones(&it.text));
        let of_root = keys.any(|it| it == ".");
        for directive in &block.directives {
            match directive.name.text.as_str() {
                "kubernetes" => facts
                    .cluster_zones
                    .extend(cluster_zones(document, block, directive)),
                "forward" => facts.forwards.extend(forward(document, of_root, directive)),
                "bind" => {
                    let words = directive.arguments.iter();
                    facts
                        .binds
                        .extend(words.filter_map(|it| text(document, it)));
                }
                _ => {}
            }
        }
    }
    facts
}

/// The ports at which `health` and `ready` answer.
///
/// Source: `CoreDNS`, plugin/health/setup.go, plugin/ready/setup.go.
fn endpoints(corefile: &Corefile) -> Option<Vec<Endpoint>> {
    if corefile.stop().is_some() || corefile.imports.iter().any(|it| it.found == 0) {
        return None;
    }
    let directives = corefile.blocks.iter().flat_map(|it| &it.directives);
    let endpoints = directives.filter_map(|directive| {
        let (plugin, usual) = match directive.name.text.as_str() {
            "health" => (Probed::Health, "8080"),
            "ready" => (Probed::Ready, "8181"),
            _ => return None,
        };
        let address = directive.arguments.first().map(|it| it.text.as_str());
        let (_, port) = address
            .unwrap_or_default()
            .rsplit_once(':')
            .unwrap_or(("", usual));
        Some(port.parse().ok().map(|port| Endpoint { plugin, port }))
    });
    // A word that is to be replaced is no port.
    endpoints.collect()
}

/// What [`CorefileFacts::negative`] is in a block: as long as `kubernetes` says, and no
/// longer than `cache` keeps it.
///
/// Source: `CoreDNS`, `plugin/backend_lookup.go: SOA`, `plugin/kubernetes/kubernetes.go: defaultTTL`,
/// `plugin/cache/cache.go: maxNTTL`, `plugin/cache/setup.go`.
fn negative(document: &Document, block: &ServerBlock) -> Option<(u32, At)> {
    const SHORTEST: u32 = 5;
    const LONGEST: u32 = 1800;
    let of = |name: &str| block.directives.iter().find(|it| it.name.text == name);
    let (kubernetes, cache) = (of("kubernetes")?, of("cache")?);
    let is =
        |line: &[Word], index: usize, word: &str| line.get(index).is_some_and(|it| it.text == word);
    let number = |word: Option<&Word>, usual: u32| match word {
        Some(it) => it.text.parse().ok(),
        None => Some(usual),
    };
    let is_off = |it: &Vec<Word>| is(it, 0, "disable") && is(it, 1, "denial");
    if cache.lines.iter().any(is_off) {
        return None;
    }
    let ttl = kubernetes.lines.iter().find(|it| is(it, 0, "ttl"));
    let lifetime: u32 = number(ttl.and_then(|it| it.get(1)), SHORTEST)?;
    // `cache [TTL] [ZONES…]`, `denial CAPACITY [TTL]`.
    let denial = cache.lines.iter().find(|it| is(it, 0, "denial"));
    let most = match denial.and_then(|it| it.get(2)) {
        Some(it) => it.text.parse().ok()?,
        None => {
            let first = cache.arguments.first();
            let is_number = |it: &&Word| it.text.bytes().all(|it| it.is_ascii_digit());
            number(first.filter(is_number), LONGEST)?
        }
    };
    let said = ttl.and_then(|it| it.first()).unwrap_or(&kubernetes.name);
    Some((lifetime.min(most), text(document, said)?.at))
}

/// The zones of `kubernetes`: its arguments, else the keys of its block.
///
/// Source: `CoreDNS`, plugin/kubernetes/setup.go `ParseStanza`.
fn cluster_zones(document: &Document, block: &ServerBlock, directive: &Directive) -> Vec<Text> {
    let words = match directive.arguments.as_slice() {
        [] => block.keys.as_slice(),
        words => words,
    };
    let zones = words.iter().filter_map(|word| {
        let mut zone = zones(&word.text).into_iter().next()?;
        let Text { text, at } = text(document, word)?;
        if has_placeholder(&text) {
            zone = text;
        }
        (zone != "." && !zone.ends_with(".arpa.")).then_some(Text { text: zone, at })
    });
    zones.collect()
}

fn forward(document: &Document, of_root: bool, directive: &Directive) -> Option<Forward> {
    let (from, to) = directive.arguments.split_first()?;
    Some(Forward {
        of_root,
        from: zones(&from.text).into_iter().next()?,
        to: to.iter().filter_map(|it| text(document, it)).collect(),
    })
}

/// A word of the Corefile itself.
fn text(document: &Document, word: &Word) -> Option<Text> {
    (word.at.source == 0).then(|| Text {
        text: word.text.clone(),
        at: document.at(word.at.span),
    })
}
