//! The names in a configuration of nginx, and when it looks them up.

use std::collections::{BTreeMap, BTreeSet};

use crate::config::statements::Statement;
use crate::lint::rules::prelude::*;
use crate::text::Span;

/// Words and groups deeper than nginx' grammar needs are not looked at.
const MAX_DEPTH: usize = 32;
/// More are not said about one file by one rule.
pub(in crate::lint::rules) const MAX_FINDINGS: usize = 100;

/// Every directive of a file, those in blocks behind their own.
pub(super) fn directives<'d>(file: &DaemonText<'d>) -> Vec<&'d Statement> {
    let mut found = Vec::new();
    let mut open: Vec<(&Statement, usize)> =
        file.statements.iter().rev().map(|it| (it, 0)).collect();
    while let Some((statement, depth)) = open.pop() {
        found.push(statement);
        if depth < MAX_DEPTH {
            let inner = statement.block.iter().flatten().rev();
            open.extend(inner.map(|it| (it, depth + 1)));
        }
    }
    found
}

/// The words behind each `resolver`, in order.
pub(super) fn resolvers<'d>(file: &'d DaemonText<'d>) -> impl Iterator<Item = (Span, &'d str)> {
    let resolvers = directives(file).into_iter();
    let resolvers = resolvers.filter(|it| file.word(it, 0) == "resolver" && it.block.is_none());
    resolvers.flat_map(move |it| {
        let words = it.words.iter().enumerate().skip(1);
        words.map(move |(at, span)| (*span, file.word(it, at)))
    })
}

/// The values of variables that `set` gives one value only.
fn variables<'d>(
    file: &DaemonText<'d>,
    directives: &[&'d Statement],
) -> BTreeMap<&'d [u8], Option<(&'d str, Span)>> {
    let mut found: BTreeMap<&[u8], Option<(&str, Span)>> = BTreeMap::new();
    for it in directives {
        if file.word(it, 0) == "set" && it.words.len() == 3 {
            let value = it.words.get(2).map(|span| (file.word(it, 2), *span));
            let name = file.word(it, 1).as_bytes();
            let known = found.entry(name).or_insert(value);
            if known.map(|it| it.0) != value.map(|it| it.0) {
                *known = None;
            }
        }
    }
    found
}

/// The names of groups of servers, which are no names of hosts.
pub(super) fn groups<'d>(file: &DaemonText<'d>, directives: &[&'d Statement]) -> BTreeSet<&'d str> {
    let own = directives
        .iter()
        .filter(|it| file.word(it, 0) == "upstream");
    own.map(|it| file.word(it, 1)).collect()
}

/// What tells which names nginx asks its own resolver for.
pub(super) struct Asked<'d> {
    variables: BTreeMap<&'d [u8], Option<(&'d str, Span)>>,
    groups: BTreeSet<&'d str>,
}

impl<'d> Asked<'d> {
    pub(super) fn new(file: &DaemonText<'d>, directives: &[&'d Statement]) -> Self {
        Self {
            variables: variables(file, directives),
            groups: groups(file, directives),
        }
    }

    /// The name in a `proxy_pass` with a variable, and where it stands. Without one the C
    /// library is asked.
    pub(super) fn name(
        &self,
        file: &DaemonText<'d>,
        directive: &'d Statement,
    ) -> Option<(Span, &'d str)> {
        let url = file.word(directive, 1);
        if file.word(directive, 0) != "proxy_pass" || !url.contains('$') {
            return None;
        }
        let own = host(url);
        let (name, span) = match self.variables.get(own.as_bytes()) {
            Some(value) => value.map(|it| (host(it.0), it.1))?,
            None => (own, *directive.words.get(1)?),
        };
        (!self.groups.contains(name)).then_some((span, name))
    }
}

/// The host of `SCHEME://HOST:PORT/PATH` or `HOST:PORT`.
pub(super) fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |it| it.1);
    let end = rest.find(['/', '?', ':']).unwrap_or(rest.len());
    rest.get(..end).unwrap_or_default()
}

/// Whether a name is one of a Service that has its whole path but for the domain of the
/// cluster: `web.default.svc`. There is no top-level domain `svc`.
pub(in crate::lint::rules) fn lacks_domain(host: &str) -> bool {
    let is_path = |it: &str| it.contains('.') && it.split('.').all(|label| !label.is_empty());
    is_name(host) && host.strip_suffix(".svc").is_some_and(is_path)
}

/// Whether a name is one of a Service, with or without the domain of the cluster.
pub(in crate::lint::rules) fn is_service(host: &str) -> bool {
    is_name(host) && (lacks_domain(host) || host.contains(".svc."))
}

fn is_name(host: &str) -> bool {
    let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    host.bytes().all(is_of_name)
}
