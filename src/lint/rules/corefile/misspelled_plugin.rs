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
    let plugins: Vec<Plugin> = PLUGINS.iter().copied().map(Plugin::of).collect();
    for block in blocks::blocks(file) {
        for directive in &block.directives {
            if places.are_full() {
                return;
            }
            let name = directive.name.text.as_str();
            if PLUGINS.contains(&name) || OTHERS.contains(&name) {
                continue;
            }
            let option = OPTIONS.iter().find(|it| it.0 == name);
            let letters = letters(name);
            let near = || plugins.iter().find(|it| it.is_near(name, letters));
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

/// A plugin's name, and what tells most other words from it without comparing
/// them letter by letter.
struct Plugin {
    name: &'static str,
    letters: u64,
}

impl Plugin {
    fn of(name: &'static str) -> Self {
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
        name.len().abs_diff(self.name.len()) <= most
            && only_in(letters, self.letters) <= most
            && only_in(self.letters, letters) <= most
            && distance(name.as_bytes(), self.name.as_bytes()) <= most
    }
}

/// The letters of a word, a bit for each; some share one.
fn letters(word: &str) -> u64 {
    word.bytes().fold(0, |all, it| all | (1_u64 << (it & 63)))
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
    use super::{PLUGINS, Plugin, distance, letters};

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

    #[test]
    fn letters_tell_no_near_name_away() {
        for plugin in PLUGINS.iter().copied().map(Plugin::of) {
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
                    let is_near = distance(word.as_bytes(), plugin.name.as_bytes()) <= most;
                    assert_eq!(plugin.is_near(&word, letters(&word)), is_near, "{word}");
                }
            }
        }
    }
}
