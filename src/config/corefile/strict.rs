//! Plugins that refuse what their braces let in by mistake.

use super::{At, Directive};
use crate::text::WordList;

/// Plugins that end with an error when their name, or any word in its place,
/// comes again behind their block, and at a line of it that they do not know.
///
/// Source: CoreDNS, the `setup.go` of each: `plugin.ErrOnce`, `c.ArgErr`,
/// `unknown property`.
const STRICT: [&str; 4] = ["cache", "errors", "forward", "kubernetes"];
/// Plugins whose name is no option of those.
const PLUGINS: WordList = WordList(
    "any auto autopath bind cache dns64 dnssec errors file forward health hosts kubernetes \
     loadbalance log loop prometheus ready reload rewrite",
);

/// Whether a directive is one of these plugins.
pub(super) fn is(directive: &Directive) -> bool {
    STRICT.contains(&directive.name.text.as_str())
}

/// Where a plugin stands in the block of one of these, and what that means: a
/// brace is missing before it.
pub(super) fn plugin_inside(directive: &Directive) -> Option<(At, String)> {
    let mut first = directive.lines.iter().filter_map(|it| it.first());
    let plugin = first
        .find(|it| PLUGINS.has(&it.text))
        .filter(|_| is(directive))?;
    let (name, option) = (&directive.name.text, &plugin.text);
    let message = format!("{name} has no option {option}: a }} is missing before it");
    Some((plugin.at, message))
}
