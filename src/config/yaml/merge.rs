//! Merge keys: `<<`.

use crate::config::yaml::tree::error;
use crate::config::yaml::{Entry, Node, Style, Value, YamlError};

/// Whether a key brings in the entries of its value: `<<` without quotes.
///
/// Source: kubernetes-sigs/yaml `goyaml.v2/resolve.go`: `isMerge`.
pub(super) fn is_merge(key: &Node) -> bool {
    let scalar = key.as_scalar();
    let is_plain = scalar.is_some_and(|it| it.text == "<<" && it.style == Style::Plain);
    is_plain && matches!(key.tag.as_deref(), None | Some(MERGE | "!"))
}

const MERGE: &str = "tag:yaml.org,2002:merge";

/// What is wrong with another value.
pub(super) const NO_MAPPING: &str = "a merge key (<<) needs a mapping or a list of mappings";

/// Appends the entries that a value brings in: of several mappings those of
/// the first one last, since the last of repeated keys counts.
///
/// Source: kubernetes-sigs/yaml `goyaml.v2/decode.go`: `merge`.
pub(super) fn merge(entries: &mut Vec<Entry>, value: Node) -> Result<(), YamlError> {
    let at = value.span.start as usize;
    let mappings = match value.value {
        Value::Sequence(items) => items,
        _ => vec![value],
    };
    for mapping in mappings.into_iter().rev() {
        let Value::Mapping(merged) = mapping.value else {
            return Err(error(at, NO_MAPPING));
        };
        entries.extend(merged);
    }
    Ok(())
}
