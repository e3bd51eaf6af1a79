//! `kdns.toml`: what the options of `kdns lint` say, for everyone who works
//! on a repository.

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde::Deserialize;
use toml::Spanned;

use crate::finding::Severity;
use crate::kubelet::Version;
use crate::lint::options::{Assume, Options, Role};
use crate::lint::select::{self, Selection};
use crate::lint::{pattern, rules};
use crate::text::{self, Source, escaped};

/// What a `kdns.toml` says. Empty: it does not say it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Settings {
    /// `select`.
    pub select: Option<Vec<String>>,
    /// `ignore`.
    pub ignore: Option<Vec<String>>,
    /// `fail-on`.
    pub fail_on: Option<Severity>,
    /// `assume`, `kubelet-version` and the others about the cluster.
    pub options: Options,
    /// `per-file-ignores`: patterns as in a `.gitignore`, with what is ignored
    /// in the files that fit.
    pub per_file_ignores: Vec<(String, Vec<String>)>,
}

/// What is wrong with it, and where.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{place}: {message}")]
pub struct SettingsError {
    /// `FILE:LINE:COLUMN`.
    pub place: String,
    /// What is wrong, without a full stop; safe to print.
    pub message: String,
}

/// The keys as they stand in the file.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Keys {
    select: Option<Vec<Spanned<String>>>,
    ignore: Option<Vec<Spanned<String>>>,
    fail_on: Option<Spanned<String>>,
    assume: Option<Spanned<String>>,
    role: Option<Spanned<String>>,
    kubelet_version: Option<Spanned<String>>,
    coredns_version: Option<Spanned<String>>,
    #[serde(default)]
    cluster_dns: Vec<Spanned<String>>,
    cluster_domain: Option<String>,
    #[serde(default)]
    pod_cidr: Vec<Spanned<String>>,
    #[serde(default)]
    per_file_ignores: BTreeMap<Spanned<String>, Vec<Spanned<String>>>,
}

/// Reads a `kdns.toml`.
///
/// # Errors
///
/// It is no TOML, has a key that there is not, or a value that says nothing.
pub fn parse(source: &Source) -> Result<Settings, SettingsError> {
    let at = |offset: usize, message: &str| SettingsError {
        place: source.place(text::offset(offset)),
        message: escaped(message.as_bytes()),
    };
    let text = std::str::from_utf8(&source.bytes)
        .map_err(|error| at(error.valid_up_to(), "the text is not UTF-8"))?;
    let keys: Keys = toml::from_str(text).map_err(|error| {
        let start = error.span().map_or(0, |span| span.start);
        at(start, error.message())
    })?;
    let reader = Reader { at: &at };
    let per_file_ignores = keys.per_file_ignores.into_iter();
    Ok(Settings {
        select: keys.select.map(|it| reader.rules(&it)).transpose()?,
        ignore: keys.ignore.map(|it| reader.rules(&it)).transpose()?,
        fail_on: reader.value(keys.fail_on, severity)?,
        options: Options {
            kubelet_version: reader.value(keys.kubelet_version, version)?,
            coredns_version: reader.value(keys.coredns_version, version)?,
            cluster_dns: reader.values(&keys.cluster_dns, address)?,
            cluster_domain: keys.cluster_domain.map(|it| domain(&it)),
            pod_cidr: reader.values(&keys.pod_cidr, network)?,
            assume: reader.value(keys.assume, assume)?,
            role: reader.value(keys.role, role)?,
        },
        per_file_ignores: per_file_ignores
            .map(|(key, words)| Ok((reader.one(&key, pattern::checked)?, reader.rules(&words)?)))
            .collect::<Result<_, _>>()?,
    })
}

/// A word of the user's to a value; the error says what it has to be.
type Parse<T> = fn(&str) -> Result<T, String>;

struct Reader<'r> {
    at: &'r dyn Fn(usize, &str) -> SettingsError,
}

impl Reader<'_> {
    fn value<T>(
        &self,
        word: Option<Spanned<String>>,
        parse: Parse<T>,
    ) -> Result<Option<T>, SettingsError> {
        word.map(|word| self.one(&word, parse)).transpose()
    }

    fn values<T>(
        &self,
        words: &[Spanned<String>],
        parse: Parse<T>,
    ) -> Result<Vec<T>, SettingsError> {
        words.iter().map(|word| self.one(word, parse)).collect()
    }

    fn one<T>(&self, word: &Spanned<String>, parse: Parse<T>) -> Result<T, SettingsError> {
        parse(word.get_ref()).map_err(|message| (self.at)(word.span().start, &message))
    }

    fn rules(&self, words: &[Spanned<String>]) -> Result<Vec<String>, SettingsError> {
        self.values(words, rule_word)
    }
}

/// The code, the beginning of a code, or the name of a rule.
///
/// # Errors
///
/// No rule has it.
pub fn rule_word(word: &str) -> Result<String, String> {
    if select::is_known(word) {
        return Ok(word.to_owned());
    }
    Err(rules::unknown(word))
}

/// `error`, `warning` or `info`.
///
/// # Errors
///
/// It is none of these.
pub fn severity(word: &str) -> Result<Severity, String> {
    let all = [Severity::Error, Severity::Warning, Severity::Info];
    let found = all.into_iter().find(|it| it.word() == word);
    found.ok_or_else(|| format!("{word} is none of error, warning and info"))
}

/// `systemd-resolved` or `none`.
///
/// # Errors
///
/// It is none of these.
pub fn assume(word: &str) -> Result<Assume, String> {
    let all = [Assume::SystemdResolved, Assume::None];
    let found = all.into_iter().find(|it| it.word() == word);
    found.ok_or_else(|| format!("{word} is none of systemd-resolved and none"))
}

/// `node`, `kubelet` or `pod`.
///
/// # Errors
///
/// It is none of these.
pub fn role(word: &str) -> Result<Role, String> {
    let all = [Role::Node, Role::Kubelet, Role::Pod];
    let found = all.into_iter().find(|it| it.word() == word);
    found.ok_or_else(|| format!("{word} is none of node, kubelet and pod"))
}

/// A version such as `1.29` or `v1.29.3`.
///
/// # Errors
///
/// It is none.
pub fn version(word: &str) -> Result<Version, String> {
    word.parse()
        .map_err(|()| format!("{word} is no version such as 1.29 or v1.29.3"))
}

/// An address.
///
/// # Errors
///
/// It is none.
pub fn address(word: &str) -> Result<IpAddr, String> {
    word.parse().map_err(|_| format!("{word} is no IP address"))
}

/// A network: `10.244.0.0/16`.
///
/// # Errors
///
/// It is none.
pub fn network(word: &str) -> Result<(IpAddr, u8), String> {
    let wrong = || format!("{word} is no network such as 10.244.0.0/16");
    let (address, length) = word.split_once('/').ok_or_else(wrong)?;
    let address: IpAddr = address.parse().map_err(|_| wrong())?;
    let length: u8 = length.parse().map_err(|_| wrong())?;
    let longest = if address.is_ipv4() { 32 } else { 128 };
    (length <= longest)
        .then_some((address, length))
        .ok_or_else(wrong)
}

/// A domain without its final dot.
pub fn domain(word: &str) -> String {
    word.trim_end_matches('.').to_owned()
}

/// What the command line says, and what it does not say from `kdns.toml`.
#[must_use]
pub fn over(options: Options, settings: &Options) -> Options {
    Options {
        kubelet_version: options.kubelet_version.or(settings.kubelet_version),
        coredns_version: options.coredns_version.or(settings.coredns_version),
        cluster_dns: or(options.cluster_dns, &settings.cluster_dns),
        cluster_domain: options
            .cluster_domain
            .or_else(|| settings.cluster_domain.clone()),
        pod_cidr: or(options.pod_cidr, &settings.pod_cidr),
        assume: options.assume.or(settings.assume),
        role: options.role.or(settings.role),
    }
}

/// What was given; nothing: the other.
fn or<T: Clone>(given: Vec<T>, other: &[T]) -> Vec<T> {
    if given.is_empty() {
        return other.to_vec();
    }
    given
}

impl Settings {
    /// What it selects, where the command line does not say it.
    pub fn selection(&self, select: &[String], ignore: &[String]) -> Selection {
        let of = |given: &[String], own: &Option<Vec<String>>| {
            or(given.to_vec(), own.as_deref().unwrap_or_default())
        };
        Selection {
            select: of(select, &self.select),
            ignore: of(ignore, &self.ignore),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<&str, &str>) {
        let source = Source::new("kdns.toml", text);
        let found = parse(&source).map(|it| format!("{:?} {:?}", it.select, it.options.assume));
        let found = found.map_err(|error| error.to_string());
        match expected {
            Ok(expected) => assert_eq!(found.as_deref(), Ok(expected)),
            Err(expected) => {
                let error = found.unwrap_err();
                assert!(error.starts_with(expected), "{error}");
            }
        }
    }

    #[test]
    fn what_is_wrong_has_its_place() {
        check(
            "select = [\"KR\"]\nassume = \"none\"\n",
            Ok("Some([\"KR\"]) Some(None)"),
        );
        check("", Ok("None None"));
        check(
            "select = [\n  \"KR\",\n  \"KX\"]",
            Err("kdns.toml:3:3: no rule has the code or name KX; kdns rule lists them"),
        );
        check(
            "# x\nselct = []\n",
            Err("kdns.toml:2:1: unknown field `selct`"),
        );
        check(
            "assume = \"dnsmasq\"",
            Err("kdns.toml:1:10: dnsmasq is none of"),
        );
        check(
            "kubelet-version = \"new\"",
            Err("kdns.toml:1:19: new is no version"),
        );
        check(
            "pod-cidr = [\"10.0.0.0/33\"]",
            Err("kdns.toml:1:13: 10.0.0.0/33 is no network"),
        );
        check("a = [", Err("kdns.toml:1:"));
        check(
            "[per-file-ignores]\n\"x\" = [\"nope\"]",
            Err("kdns.toml:2:8: no rule has"),
        );
        check(
            "select = [\"magicdns\"]",
            Err("kdns.toml:1:11: no rule has the code or name magicdns; the nearest: KR"),
        );
        check(
            "[per-file-ignores]\n\"x\" = [\"KR\"]\n \"a[b/*.yaml\" = [\"KR\"]",
            Err("kdns.toml:3:2: no file fits the pattern"),
        );
    }
}
