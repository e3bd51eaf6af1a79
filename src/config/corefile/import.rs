//! Which files an `import` names.

use crate::config::glob;
use crate::order::Order as _;
use crate::text::Source;

/// The pattern of an import in the file `importing`: relative ones begin in
/// its directory.
pub(super) fn absolute(importing: &str, pattern: &str) -> String {
    if pattern.starts_with('/') {
        return pattern.to_owned();
    }
    let mut path = match importing.rsplit_once('/') {
        Some((directory, _)) => format!("{directory}/"),
        None => String::new(),
    };
    let mut rest = pattern;
    loop {
        if let Some(behind) = rest.strip_prefix("./") {
            rest = behind;
        } else if let Some(behind) = rest.strip_prefix("../") {
            rest = behind;
            let kept = path.trim_end_matches('/').rfind('/').map_or(0, |at| at + 1);
            path.truncate(kept);
        } else {
            return path + rest;
        }
    }
}

/// Whether CoreDNS refuses the pattern.
///
/// Source: github.com/coredns/caddy, caddyfile/parse.go `doImport`.
pub(super) fn is_refused(pattern: &str) -> bool {
    let count = |wildcard| pattern.matches(wildcard).count();
    count('*') > 1 || count('?') > 1 || (count('[') > 0 && count(']') > 0)
}

/// Whether the pattern can name no file or several.
pub(super) fn is_glob(pattern: &str) -> bool {
    pattern.contains(['*', '?', '[', ']'])
}

fn matches_glob(pattern: &str, name: &str) -> bool {
    glob::matches(pattern.as_bytes(), name.as_bytes())
}

/// The files that `pattern` names, as indexes into `sources`, sorted by name.
/// The first of `sources` is the Corefile itself: nobody imports it.
pub(super) fn matches(pattern: &str, sources: &[Source]) -> Vec<usize> {
    let others = || sources.iter().enumerate().skip(1);
    let named = |is_it: &dyn Fn(&str) -> bool| {
        let found = others().filter(|(_, source)| is_it(&source.name));
        let mut found: Vec<usize> = found.map(|(index, _)| index).collect();
        found.order_by_key(|&index| sources.get(index).map(|source| &source.name));
        found
    };
    let exact = named(&|name| matches_glob(pattern, name));
    if !exact.is_empty() {
        return exact;
    }
    let last = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    let pattern = last(pattern);
    named(&|name| matches_glob(&pattern, &last(name)))
}
