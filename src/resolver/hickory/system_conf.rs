//! What the resolver is built from: the system's configuration.

use std::borrow::Cow;
use std::collections::HashMap;
use std::time::Duration;

use foldhash::quality::RandomState;
use hickory_proto::rr::Name;

use crate::resolver::hickory::Version;
use crate::resolver::hickory::resolv_conf::{Config, Word, parse_with_errors};
use crate::resolver::reading::{Dropped, Origin, Reading, Setting};
use crate::scenario::Scenario;
use crate::text::Span;

/// The configuration in the form in which lookups use it.
#[derive(Debug)]
pub(super) struct Settings<'a> {
    /// Whose they are.
    pub(super) version: Version,
    /// What was read, for people too.
    pub(super) reading: Reading<'a>,
    /// The names of the reading's search list, the domain in front.
    pub(super) search: Vec<Name>,
    /// Whether queries have an OPT record.
    pub(super) edns0: bool,
    /// The error's text if the file is refused.
    pub(super) refused: Option<String>,
}

/// Reads `/etc/resolv.conf`. No environment variable counts.
///
/// Source: hickory-resolver `src/system_conf/unix.rs: read_system_conf`.
pub(super) fn read_system_conf(scenario: &Scenario, version: Version) -> Settings<'_> {
    let Some(file) = &scenario.resolv_conf else {
        let mut settings = Settings::new(version);
        settings.refuse(Span::default(), "No such file or directory (os error 2)");
        return settings;
    };
    // Read as a text, as a whole, before 0.26.
    if version.is_before_26
        && let Err(error) = std::str::from_utf8(&file.source.bytes)
    {
        let mut settings = Settings::new(version);
        let at = error.valid_up_to();
        settings.refuse(Span::new(at, at + 1), "stream did not contain valid UTF-8");
        return settings;
    }
    let mut settings = into_resolver_config(parse_with_errors(file), scenario, version);
    settings.reading.dropped.sort();
    settings
}

/// Source: hickory-resolver `src/system_conf/unix.rs: into_resolver_config`.
fn into_resolver_config<'a>(
    mut config: Config<'a>,
    scenario: &'a Scenario,
    version: Version,
) -> Settings<'a> {
    let domain = system_domain(&mut config, scenario);
    let edns0 = config.edns0.filter(|_| !version.is_before_25);
    let mut settings = Settings {
        edns0: edns0.is_some(),
        reading: Reading {
            ndots: Some(config.ndots),
            timeout: Setting {
                value: Duration::from_secs(config.timeout.value.into()).max(version.shortest()),
                origin: config.timeout.origin,
            },
            attempts: config.attempts,
            flags: edns0
                .map(|span| Setting::file("edns0", span))
                .into_iter()
                .collect(),
            ..Reading::default()
        },
        ..Settings::new(version)
    };
    // The reason is told beside the words that it is about.
    if let Some((span, _)) = config.error.filter(|_| version.is_before_26) {
        settings.refuse(span, "Error parsing resolv.conf");
    }
    settings.reading.servers = std::mem::take(&mut config.nameservers);
    if settings.reading.servers.is_empty() && !version.is_before_25 {
        settings.refuse(Span::default(), "no nameservers found in config");
    }
    let list = last_search_or_domain(&mut config);
    settings.reading.dropped = config.dropped;
    settings.read_search(domain, list);
    settings
}

/// The domain that stands in front of the search list, whatever that is: the
/// `domain` line's, else that of the host name.
///
/// Source: resolv-conf `src/lib.rs: Config::get_system_domain`.
fn system_domain<'a>(
    config: &mut Config<'a>,
    scenario: &'a Scenario,
) -> Option<(Name, Setting<Cow<'a, [u8]>>)> {
    if let Some(word) = config.domain {
        let name = word.text.parse().ok();
        if name.is_none() && !config.domain_is_last {
            config.drop(word.span, "not a domain name");
        }
        return Some((name?, setting(word)));
    }
    let (_, domain) = scenario.hostname.split_once('.')?;
    if domain.is_empty() {
        return None;
    }
    let origin = Setting {
        value: Cow::Borrowed(domain.as_bytes()),
        origin: Origin::HostName,
    };
    Some((domain.parse().ok()?, origin))
}

/// Source: resolv-conf `src/lib.rs: Config::get_last_search_or_domain`.
fn last_search_or_domain<'a>(config: &mut Config<'a>) -> Vec<Word<'a>> {
    let search = std::mem::take(&mut config.search);
    if !config.domain_is_last {
        return search;
    }
    for word in search {
        config.drop(word.span, "a later `domain` line replaces it");
    }
    config.domain.into_iter().collect()
}

impl<'a> Settings<'a> {
    fn new(version: Version) -> Self {
        Self {
            version,
            reading: Reading::default(),
            search: Vec::new(),
            edns0: false,
            refused: None,
        }
    }

    /// Holds the domain and the list, of equal entries the last one.
    fn read_search(&mut self, domain: Option<(Name, Setting<Cow<'a, [u8]>>)>, list: Vec<Word<'a>>) {
        let mut names: Vec<(Name, Setting<Cow<'a, [u8]>>)> = domain.into_iter().collect();
        for word in list {
            if word.text == "--" {
                self.reading.drop(word.span, "hickory skips this word");
                continue;
            }
            match Name::from_str_relaxed(word.text) {
                Ok(name) => names.push((name, setting(word))),
                Err(error) => {
                    let text = format!("Error parsing resolv.conf: {error}");
                    self.refuse(word.span, &text);
                    return;
                }
            }
        }
        // Where the same name stands next, found from the end.
        let mut known: HashMap<Vec<Vec<u8>>, Origin, RandomState> = HashMap::default();
        let next = names.iter().rev().map(|(name, entry)| {
            let labels = name.iter().map(<[u8]>::to_ascii_lowercase);
            known.insert(labels.collect(), entry.origin)
        });
        let mut next: Vec<Option<Origin>> = next.collect();
        for (name, entry) in &names {
            if let Some(same) = next.pop().flatten() {
                self.drop_repeat(entry.origin, same);
            } else {
                self.search.push(name.clone());
                self.reading.search.push(entry.clone());
            }
        }
    }

    /// A `domain` line's word is the domain and the list at once.
    fn drop_repeat(&mut self, origin: Origin, same: Origin) {
        match origin {
            Origin::File(span) if origin != same => {
                self.reading
                    .drop(span, "the same follows later, and the last place counts");
            }
            _ => {}
        }
    }

    fn refuse(&mut self, span: Span, error: &str) {
        if self.refused.is_none() {
            self.refused = Some(format!("io error: {error}"));
            self.reading.refused = Some(Dropped {
                span,
                why: Cow::Owned(format!("hickory refuses the file: {error}")),
            });
        }
    }
}

fn setting(word: Word<'_>) -> Setting<Cow<'_, [u8]>> {
    Setting::file(Cow::Borrowed(word.text.as_bytes()), word.span)
}
