//! What CoreDNS's plugins take: their arguments and properties by version, as
//! data (`table.txt`).

mod grammar;
mod kind;
mod rewrite;
mod together;

use std::collections::BTreeSet;
use std::sync::LazyLock;

use crate::config::corefile::{Directive, ServerBlock, Word};
use crate::kubelet::Version;
use crate::lint::rules::corefile::plugins::grammar::Plugin;

pub(super) use grammar::{Property, Refusal};

static TABLE: LazyLock<Vec<Plugin>> = LazyLock::new(|| grammar::plugins(include_str!("table.txt")));

/// What a plugin takes; none of one that is not in the table.
fn plugin(name: &str) -> Option<&'static Plugin> {
    TABLE.iter().find(|it| it.name == name)
}

/// Why the arguments of a directive are refused.
pub(super) fn refused_arguments(
    directive: &Directive,
    version: Option<Version>,
) -> Option<Refusal<'_>> {
    match directive.name.text.as_str() {
        "rewrite" => rewrite::refusal(directive, version),
        "cache" => refused_time(directive.arguments.first()?),
        name => plugin(name)?.arguments.refusal(&directive.arguments),
    }
}

/// Whether a word is a time with its unit.
pub(super) fn is_time(word: &str) -> bool {
    kind::Kind::named("duration").is_met(word) && !word.bytes().all(|it| it.is_ascii_digit())
}

/// The first word of `cache` is the longest time that answers are kept, if it is
/// a number, else a zone.
///
/// Source: `CoreDNS`, plugin/cache/setup.go: `cacheParse`.
fn refused_time(word: &Word) -> Option<Refusal<'_>> {
    let is_refused = word.text.parse().is_ok_and(|it: i64| it <= 0);
    is_refused.then(|| Refusal::Wrong(word, "a number of seconds, 1 or more".to_owned()))
}

/// What is wrong with a line of a directive's block.
pub(super) enum Line<'w> {
    /// There is no such property in any version.
    Unknown(&'w Word),
    /// Versions before, or since, do not know it.
    Other(&'w Word, &'static Property),
    /// What stands behind it is refused.
    Refused(&'w Word, Refusal<'w>),
}

/// What is wrong with the lines of a directive's block, one after the other; of
/// a version if it is known.
pub(super) fn wrong_lines(directive: &Directive, version: Option<Version>) -> Vec<Line<'_>> {
    let Some(plugin) = plugin(&directive.name.text) else {
        return Vec::new();
    };
    if plugin.properties.is_empty() && !plugin.has_no_block {
        return Vec::new();
    }
    let mut seen = BTreeSet::new();
    let is_open = plugin.is_open && !has_fallthrough_first(plugin, directive);
    let wrong = directive.lines.iter().filter_map(|line| {
        let (name, arguments) = line.split_first()?;
        if matches!(name.text.as_str(), "{" | "}") || line.iter().any(Word::has_variable) {
            return None;
        }
        let forms = || plugin.properties_named(&name.text);
        let Some(last) = forms().last() else {
            return (!is_open).then_some(Line::Unknown(name));
        };
        let known: Vec<&Property> = forms().filter(|it| it.is_known(version)).collect();
        let Some(form) = known.last() else {
            return Some(Line::Other(name, last));
        };
        let is_twice = form.is_single && !seen.insert(name.text.as_str());
        let twice = is_twice.then_some(Refusal::Twice(name));
        let refusals = known.iter().map(|it| it.arguments.refusal(arguments));
        // One form that takes it is enough.
        let refused = || {
            let all: Option<Vec<Refusal<'_>>> = refusals.collect();
            all?.into_iter().reduce(Refusal::farther)
        };
        Some(Line::Refused(name, twice.or_else(refused)?))
    });
    wrong.collect()
}

/// Whether a line of the directive's block can be meant for the plugin `name`, or it has
/// no lines.
pub(super) fn can_be(directive: &Directive, name: &str) -> bool {
    let Some(plugin) = plugin(name).filter(|it| !it.is_open && !directive.lines.is_empty()) else {
        return true;
    };
    let mut words = directive.lines.iter().filter_map(|it| it.first());
    words.any(|it| {
        plugin
            .properties
            .iter()
            .any(|known| known.is_near(&it.text))
    })
}

/// Whether the block of `hosts` begins with `fallthrough`: what is no property
/// is refused behind it, and is a line of hosts before.
///
/// Source: `CoreDNS`, plugin/hosts/setup.go: `hostsParse`.
fn has_fallthrough_first(plugin: &Plugin, directive: &Directive) -> bool {
    let first = directive.lines.first().and_then(|it| it.first());
    plugin.name == "hosts" && first.is_some_and(|it| it.text == "fallthrough")
}

/// What is refused in a directive of a server block, whose words are right one by one: the property
/// or the directive's name, and why.
pub(super) fn refused_together<'d>(
    block: &ServerBlock,
    directive: &'d Directive,
    version: Option<Version>,
) -> Option<(&'d Word, Refusal<'d>)> {
    together::refusal(block, directive, version)
}

/// The property without which a directive is refused, if it is not there.
///
/// Source: `CoreDNS`, plugin/secondary/setup.go, which asks for it since v1.12.2,
/// plugin/transfer/setup.go.
pub(super) fn missing_property(
    directive: &Directive,
    version: Option<Version>,
) -> Option<&'static str> {
    let is_asked = version.is_some_and(|it| it >= Version::release(1, 12, 2));
    let needed = match directive.name.text.as_str() {
        "secondary" if is_asked => "transfer",
        "transfer" => "to",
        // One of three, of which this is the first.
        "timeouts" if directive.lines.is_empty() => "read",
        _ => return None,
    };
    directive.options(needed).next().is_none().then_some(needed)
}

#[cfg(test)]
mod tests;
