#![doc = include_str!("misspelled_plugin.md")]

use crate::lint::rules::corefile::blocks;
use crate::lint::rules::corefile::plugins;
use crate::lint::rules::is_near;
use crate::lint::rules::prelude::*;
use crate::topology::coredns::PLUGINS;

pub(super) fn check(file: &CorefileText<'_>, _: &Context<'_>, report: &mut Report) {
    let mut places = blocks::Places::new(file);
    let known: Vec<Plugin> = PLUGINS.iter().map(Plugin::new).collect();
    for block in blocks::blocks(file) {
        for directive in &block.directives {
            if places.are_full() {
                return;
            }
            let name = directive.name.text.as_str();
            if PLUGINS.has(name) || OTHERS.contains(&name) {
                continue;
            }
            let option = OPTIONS.iter().find(|it| it.0 == name);
            let letters = letters(name);
            let near = || {
                let mut near = known.iter().filter(|it| it.is_near(name, letters));
                near.find(|it| plugins::can_be(directive, it.name))
            };
            let help = match option {
                Some((_, plugin)) => Some(format!("put it into the block of {plugin}")),
                None => near().map(|it| format!("write {}", it.name)),
            };
            let Some(help) = help else {
                continue;
            };
            let Some(at) = places.first(&directive.name) else {
                continue;
            };
            report
                .add(
                    at,
                    format!("CoreDNS does not start: there is no plugin {name}"),
                )
                .help(help)
                .note(blocks::KEEPS_OLD);
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

/// A plugin's name, and what tells most other words from it without comparing
/// them letter by letter.
struct Plugin {
    name: &'static str,
    letters: u64,
}

impl Plugin {
    fn new(name: &'static str) -> Self {
        let letters = letters(name);
        Self { name, letters }
    }

    /// Whether one letter is wrong, missing, too much or changed with its
    /// neighbour; in long names two.
    fn is_near(&self, name: &str, letters: u64) -> bool {
        let most = match self.name.len() {
            0..=3 => return false,
            4..=7 => 1,
            _ => 2,
        };
        // One change brings at most one letter that the other has not, and
        // takes at most one away.
        let only_in = |one: u64, other: u64| (one & !other).count_ones() as usize;
        only_in(letters, self.letters) <= most
            && only_in(self.letters, letters) <= most
            && is_near(name, self.name, most)
    }
}

/// The letters of a word, a bit for each; some share one.
fn letters(word: &str) -> u64 {
    word.bytes().fold(0, |all, it| all | (1_u64 << (it & 63)))
}

#[cfg(test)]
mod tests {
    use super::{PLUGINS, Plugin, letters};
    use crate::lint::rules::is_near;

    #[test]
    fn letters_tell_no_near_name_away() {
        for plugin in PLUGINS.iter().map(Plugin::new) {
            let most = match plugin.name.len() {
                0..=3 => continue,
                4..=7 => 1,
                _ => 2,
            };
            for at in 0..plugin.name.len() {
                let (before, after) = plugin.name.split_at(at);
                for word in [
                    format!("{before}{}", after.get(1..).unwrap_or_default()),
                    format!("{before}?{}", after.get(1..).unwrap_or_default()),
                    format!("{before}?{after}"),
                    format!("{before}??{after}"),
                ] {
                    let is_near = is_near(&word, plugin.name, most);
                    assert_eq!(plugin.is_near(&word, letters(&word)), is_near, "{word}");
                }
            }
        }
    }
}
