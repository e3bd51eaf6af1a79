#![doc = include_str!("misspelled_plugin.md")]

use crate::finding::Severity;
use crate::lint::context::Context;
use crate::lint::report::Report;
use crate::lint::rules::corefile::blocks;
use crate::lint::subject::CorefileText;
use crate::lint::{Check, Rule};
use crate::topology::coredns::PLUGINS;

/// KC026.
pub static RULE: Rule = Rule {
    code: "KC026",
    name: "misspelled-plugin",
    severity: Severity::Error,
    summary: "a directive is no plugin, but nearly the name of one",
    page: include_str!("misspelled_plugin.md"),
    check: Check::Corefile(check),
};

fn check(file: &CorefileText<'_>, _: &Context<'_>, report: &mut Report) {
    let mut places = blocks::Places::of(file);
    for block in blocks::blocks(file) {
        for directive in &block.directives {
            let name = directive.name.text.as_str();
            if PLUGINS.contains(&name) || OTHERS.contains(&name) {
                continue;
            }
            let option = OPTIONS.iter().find(|it| it.0 == name);
            let near = PLUGINS.iter().find(|it| is_near(name, it));
            let help = match (option, near) {
                (Some((_, plugin)), _) => format!("put it into the block of {plugin}"),
                (None, Some(plugin)) => format!("write {plugin}"),
                (None, None) => continue,
            };
            let Some(at) = places.first(&directive.name) else {
                continue;
            };
            report
                .add(at, format!("CoreDNS does not start: there is no plugin {name}"))
                .help(help)
                .note("a running CoreDNS keeps its old configuration when reload meets the error, and ends at its next start");
        }
    }
}

/// Options of plugins that are written where a plugin must stand.
const OPTIONS: [(&str, &str); 14] = [
    ("lameduck", "health"),
    ("pods", "kubernetes"),
    ("endpoint_pod_names", "kubernetes"),
    ("fallthrough", "kubernetes, hosts or file"),
    ("ttl", "kubernetes"),
    ("max_concurrent", "forward"),
    ("max_fails", "forward"),
    ("health_check", "forward"),
    ("force_tcp", "forward"),
    ("prefer_udp", "forward"),
    ("policy", "forward"),
    ("prefetch", "cache"),
    ("serve_stale", "cache"),
    ("consolidate", "errors"),
];

/// Plugins that are built in by others, with names near those of CoreDNS.
///
/// Source: <https://coredns.io/explugins/>.
const OTHERS: [&str; 12] = [
    "kubernetai",
    "idetcd",
    "redis",
    "mdns",
    "alias",
    "git",
    "ens",
    "rrl",
    "split",
    "docker",
    "ads",
    "dump",
];

/// Whether one letter is wrong, missing, too much or changed with its neighbour; in
/// long names two.
fn is_near(name: &str, plugin: &str) -> bool {
    let most = match plugin.len() {
        0..=3 => return false,
        4..=7 => 1,
        _ => 2,
    };
    name.len().abs_diff(plugin.len()) <= most
        && distance(name.as_bytes(), plugin.as_bytes()) <= most
}

/// How many letters must be changed, added, removed or exchanged with their
/// neighbours to make one word of the other.
fn distance(one: &[u8], other: &[u8]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut current: Vec<usize> = (0..=other.len()).collect();
    let mut letter_before = None;
    for (index, letter) in one.iter().enumerate() {
        let mut next = vec![index + 1];
        let mut left = None;
        for (at, wanted) in other.iter().enumerate() {
            let of =
                |counts: &[usize], at: usize| counts.get(at).copied().unwrap_or(usize::MAX / 2);
            let changed = of(&current, at) + usize::from(letter != wanted);
            let mut least = changed.min(of(&current, at + 1) + 1).min(of(&next, at) + 1);
            if at > 0 && letter_before == Some(wanted) && left == Some(letter) {
                least = least.min(of(&before, at - 1) + 1);
            }
            next.push(least);
            left = Some(wanted);
        }
        before = std::mem::replace(&mut current, next);
        letter_before = Some(letter);
    }
    current.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::distance;

    #[test]
    fn letters_are_counted() {
        for (one, other, expected) in [
            ("forward", "forward", 0),
            ("fowrard", "forward", 1),
            ("forwrd", "forward", 1),
            ("forwards", "forward", 1),
            ("kuberentes", "kubernetes", 1),
            ("", "loop", 4),
            ("loop", "log", 2),
        ] {
            assert_eq!(
                distance(one.as_bytes(), other.as_bytes()),
                expected,
                "{one} {other}"
            );
        }
    }
}
