//! What others must know of a Corefile.

use crate::config::corefile::{Corefile, Directive, ServerBlock, Word, zones};
use crate::lint::document::Document;
use crate::lint::facts::{CorefileFacts, Endpoint, Forward, Probed, Text};
use crate::text::Span;

pub(super) fn facts(document: &Document, corefile: &Corefile) -> CorefileFacts {
    let mut facts = CorefileFacts {
        at: document.at(Span::default()),
        cluster_zones: Vec::new(),
        forwards: Vec::new(),
        binds: Vec::new(),
        endpoints: endpoints(corefile),
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

/// The zones of `kubernetes`: its arguments, else the keys of its block.
///
/// Source: `CoreDNS`, plugin/kubernetes/setup.go `ParseStanza`.
fn cluster_zones(document: &Document, block: &ServerBlock, directive: &Directive) -> Vec<Text> {
    let words = match directive.arguments.as_slice() {
        [] => block.keys.as_slice(),
        words => words,
    };
    let zones = words.iter().filter_map(|word| {
        let zone = zones(&word.text).into_iter().next()?;
        let at = text(document, word)?.at;
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
