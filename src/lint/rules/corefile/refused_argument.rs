#![doc = include_str!("refused_argument.md")]

use crate::lint::rules::corefile::blocks;
use crate::lint::rules::corefile::plugins::{self, Line, Refusal};
use crate::lint::rules::prelude::*;

pub(super) fn check(file: &CorefileText<'_>, context: &Context<'_>, report: &mut Report) {
    let version = blocks::version(file, context).map(|it| it.value);
    let mut places = blocks::Places::new(file);
    for block in blocks::blocks(file) {
        for directive in &block.directives {
            let name = &directive.name;
            let mut refused = Vec::new();
            // Other rules speak of a forward without servers.
            let arguments = plugins::refused_arguments(directive, version);
            let is_said = name.text == "forward" && directive.arguments.len() < 2;
            refused.extend(arguments.filter(|_| !is_said).map(|it| (name, None, it)));
            let missing = plugins::missing_property(directive, version);
            let missing = missing.map(|it| Refusal::Missing(format!("{it} in its block")));
            refused.extend(missing.map(|it| (name, None, it)));
            for line in plugins::wrong_lines(directive, version) {
                if let Line::Refused(property, refusal) = line {
                    refused.push((property, Some(&name.text), refusal));
                }
            }
            let together = plugins::refused_together(block, directive, version);
            refused.extend(together.filter(|_| !is_said).map(|(it, why)| {
                let is_property = it.at != name.at;
                (it, is_property.then_some(&name.text), why)
            }));
            for (named, plugin, refusal) in refused {
                let what = match plugin {
                    Some(plugin) => format!("{} of {plugin}", named.text),
                    None => named.text.clone(),
                };
                let (word, said) = match refusal {
                    Refusal::Missing(wanted) => (named, format!("needs {wanted}")),
                    Refusal::Wrong(word, wanted) => {
                        (word, format!("takes {wanted}, not {}", word.text))
                    }
                    Refusal::TooMuch(word) => (word, format!("takes no {} there", word.text)),
                    Refusal::Twice(word) => (word, "can be set once".to_owned()),
                    Refusal::Repeated(word) => (word, format!("has {} twice", word.text)),
                    Refusal::Beside(word, other) => (word, format!("cannot stand beside {other}")),
                };
                if let Some(at) = places.first(word) {
                    report
                        .add(at, format!("CoreDNS does not start: {what} {said}"))
                        .note(blocks::KEEPS_OLD);
                }
            }
        }
    }
}
