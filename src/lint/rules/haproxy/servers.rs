//! The servers in a configuration of `HAProxy` whose address is a name.

use std::collections::BTreeMap;

use crate::config::statements::Statement;
use crate::lint::rules::nginx::names::is_service;
use crate::lint::rules::prelude::*;
use crate::text::Span;

/// A line `server` or `server-template`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Server<'d> {
    /// The host of its address, and where that stands.
    pub(super) host: &'d str,
    pub(super) span: Span,
    /// How many servers a template makes; a server, and a template with a range, is one.
    pub(super) count: u32,
    /// The `resolvers` section that looks the name up while `HAProxy` runs.
    pub(super) resolvers: Option<&'d str>,
    /// Whether the C library is asked for it at the start, before anything else.
    pub(super) is_asked_at_start: bool,
}

impl Server<'_> {
    /// Whether its addresses are those of a Service: an SRV record has others in it.
    pub(super) fn is_service(&self) -> bool {
        is_service(self.host) && !self.host.starts_with('_')
    }
}

/// What a line `default-server` sets for the servers behind it.
#[derive(Clone, Copy, Debug, Default)]
struct Settings<'d> {
    resolvers: Option<&'d str>,
    init_addr: Option<&'d str>,
}

impl<'d> Settings<'d> {
    /// The same with what the words of a line say, from the `start`-th on.
    fn with(self, file: &DaemonText<'d>, line: &'d Statement, start: usize) -> Self {
        let behind = |name: &str| {
            let at = (start..line.words.len()).find(|at| file.word(line, *at) == name)?;
            Some(file.word(line, at + 1))
        };
        Self {
            resolvers: behind("resolvers").or(self.resolvers),
            init_addr: behind("init-addr").or(self.init_addr),
        }
    }
}

/// Every server of a file's backends, in order. A section has the settings of the `defaults`
/// that it names, else of the last one above it; one that is not in the file is left out.
///
/// Source: HAProxy `src/cfgparse-listen.c: cfg_parse_listen` (2.6)
pub(super) fn servers<'d>(file: &DaemonText<'d>) -> Vec<Server<'d>> {
    let mut found = Vec::new();
    let mut named: BTreeMap<&str, Settings<'d>> = BTreeMap::new();
    let mut last = Some(Settings::default());
    for section in file.statements {
        let kind = file.word(section, 0);
        let is_defaults = kind == "defaults";
        if !is_defaults && !matches!(kind, "backend" | "listen") {
            continue;
        }
        let from = (1..3).find(|at| file.word(section, *at) == "from");
        let mut settings = match from {
            Some(at) => named.get(file.word(section, at + 1)).copied(),
            None if is_defaults => Some(Settings::default()),
            None => last,
        };
        let lines = || section.block.iter().flatten();
        let is_disabled = lines().any(|it| file.word(it, 0) == "disabled");
        for line in lines() {
            let (at, count) = match file.word(line, 0) {
                "default-server" => {
                    settings = settings.map(|it| it.with(file, line, 1));
                    continue;
                }
                "server" => (2, 1),
                "server-template" => (3, file.word(line, 2).parse().unwrap_or(1)),
                _ => continue,
            };
            let Some((&span, settings)) = line.words.get(at).zip(settings) else {
                continue;
            };
            let Settings {
                resolvers,
                init_addr,
            } = settings.with(file, line, at + 1);
            let first = |it: &'d str| it.split(',').find(|it| *it != "last");
            found.extend((!is_disabled).then(|| Server {
                host: host(file.word(line, at)),
                span,
                count,
                resolvers,
                is_asked_at_start: init_addr.is_none_or(|it| first(it) == Some("libc")),
            }));
        }
        if is_defaults {
            last = settings;
            named.extend(settings.map(|it| (file.word(section, 1), it)));
        }
    }
    found
}

/// The host of `ipv4@HOST:PORT`.
fn host(address: &str) -> &str {
    let bare = address.split_once('@').map_or(address, |it| it.1);
    bare.split(':').next().unwrap_or(bare)
}
