//! What the words and lines of a directive must be together, which a table of
//! single words cannot say.
//!
//! Source: `CoreDNS` v1.14.7, plugin/NAME/setup.go, and the tags that are named.

use std::collections::BTreeSet;

use crate::config::corefile::{Directive, ServerBlock, Transport, Word, seconds, zones};
use crate::kubelet::Version;
use crate::lint::rules::corefile::blocks;
use crate::lint::rules::corefile::plugins::grammar::Refusal;
use crate::lint::rules::corefile::plugins::kind::Kind;
use crate::text::has_placeholder;

/// A property, or the directive's name, and why it is refused.
type Found<'d> = Option<(&'d Word, Refusal<'d>)>;

/// What is refused in a directive of a server block, in words that are known to be right
/// one by one.
pub(super) fn refusal<'d>(
    block: &ServerBlock,
    directive: &'d Directive,
    version: Option<Version>,
) -> Found<'d> {
    match directive.name.text.as_str() {
        "acl" => acl(directive),
        "autopath" => autopath(directive),
        "azure" | "clouddns" | "route53" => twice(directive),
        "cache" => needs(directive, "serve_stale_policy", "serve_stale"),
        "dnstap" => dnstap(directive, version),
        "forward" => forward(directive, version),
        "grpc" => zone(directive, version).or_else(|| named(directive)),
        "hosts" => needs(directive, "fallthrough_unsupported", "fallthrough"),
        "kubernetes" => kubernetes(block, directive),
        "trace" => trace(directive),
        _ => None,
    }
}

/// The line of a directive's block with this name that counts, the last: it, and the words
/// behind it.
fn property<'d>(directive: &'d Directive, name: &str) -> Option<(&'d Word, &'d [Word])> {
    let mut lines = directive.lines.iter().filter_map(|it| it.split_first());
    lines.rfind(|it| it.0.text == name)
}

/// A property that is refused without another one.
fn needs<'d>(directive: &'d Directive, name: &str, other: &str) -> Found<'d> {
    let (word, _) = property(directive, name)?;
    let is_alone = property(directive, other).is_none();
    is_alone.then(|| (word, Refusal::Missing(other.to_owned())))
}

/// A property that is refused beside another one.
fn beside<'d>(directive: &'d Directive, name: &str, other: &str) -> Found<'d> {
    let (word, _) = property(directive, name)?;
    let (other, _) = property(directive, other)?;
    Some((word, Refusal::Beside(word, &other.text)))
}

/// Sections with `type` and `net`, each with words, up to one that means all.
fn acl(directive: &Directive) -> Found<'_> {
    let lines = directive.lines.iter().filter_map(|it| it.split_first());
    let mut lines = lines.filter(|(_, words)| !words.iter().any(Word::has_variable));
    lines.find_map(|(action, words)| Some((action, policy(words)?)))
}

fn policy(words: &[Word]) -> Option<Refusal<'_>> {
    let section = |it: &Word| {
        let kinds = [("type", "type"), ("net", "cidr|address")];
        let found = kinds
            .into_iter()
            .find(|kind| it.text.eq_ignore_ascii_case(kind.0));
        found.map(|it| it.1)
    };
    let mut rest = words;
    while let Some((name, behind)) = rest.split_first() {
        let Some(kinds) = section(name) else {
            return Some(Refusal::Wrong(name, "type or net".to_owned()));
        };
        let end = behind.iter().position(|it| section(it).is_some());
        let (words, more) = behind.split_at(end.unwrap_or(behind.len()));
        if words.is_empty() {
            return Some(Refusal::Missing(format!("a word behind {}", name.text)));
        }
        let kinds: Vec<Kind> = kinds.split('|').map(Kind::named).collect();
        let mut known = words.iter().take_while(|it| it.text != "*");
        let is_known = |it: &Word| kinds.iter().any(|kind| kind.is_met(&it.text));
        if let (Some(wrong), Some(kind)) = (known.find(|it| !is_known(it)), kinds.first()) {
            return Some(Refusal::Wrong(wrong, kind.wanted()));
        }
        rest = more;
    }
    None
}

/// The last word is a plugin behind `@`, or a file.
fn autopath(directive: &Directive) -> Found<'_> {
    let last = directive.arguments.last()?;
    let is_right = last.text.contains(['@', '/', '.']) || last.has_variable();
    let wanted = || Refusal::Wrong(last, "@ with a plugin, or a file".to_owned());
    (!is_right).then(|| (&directive.name, wanted()))
}

/// A zone of a cloud that stands there a second time.
fn twice(directive: &Directive) -> Found<'_> {
    let mut seen = BTreeSet::new();
    let mut words = directive.arguments.iter();
    let word = words.find(|it| !seen.insert(it.text.as_str()))?;
    Some((&directive.name, Refusal::Repeated(word)))
}

/// How much may wait for whom `dnstap` tells: two numbers behind `full`.
fn dnstap(directive: &Directive, version: Option<Version>) -> Found<'_> {
    let is_since = |minor, patch| version.is_some_and(|it| it >= blocks::release(1, minor, patch));
    let (first, behind) = directive.arguments.split_first()?;
    let is_listening = first.text == "listen" && is_since(14, 4);
    let words = if is_listening {
        behind
    } else {
        &directive.arguments
    };
    if words.is_empty() {
        let missing = Refusal::Missing("an endpoint behind listen".to_owned());
        return Some((&directive.name, missing));
    }
    let kinds = ["int:1..1024", "int:1..4096"].map(Kind::named);
    let mut numbers = words.iter().skip(2).zip(&kinds);
    let (word, kind) = numbers.find(|(it, kind)| !it.has_variable() && !kind.is_met(&it.text))?;
    is_since(13, 0).then(|| (&directive.name, Refusal::Wrong(word, kind.wanted())))
}

/// The first version that speaks DNS over HTTPS to servers.
const HTTPS: Version = blocks::release(1, 14, 5);
/// The first version with names of its own for servers over TLS.
const NAMED_SERVERS: Version = blocks::release(1, 13, 2);
/// Seconds after which a connection that nobody uses is closed, where `expire` does not
/// say it.
///
/// Source: `CoreDNS`, plugin/pkg/proxy/persistent.go: `defaultExpire`.
const EXPIRE: f64 = 10.0;

fn forward(directive: &Directive, version: Option<Version>) -> Found<'_> {
    let targets = directive.arguments.get(1..).unwrap_or_default();
    let targets = || targets.iter().filter(|it| !it.has_variable());
    let wrong = targets().find_map(|it| Some(Refusal::Wrong(it, transport(it, version)?)));
    let named = || {
        let is_named = |it: &&Word| it.text.starts_with("tls://") && it.text.contains('%');
        let (word, _) = property(directive, "tls_servername")?;
        let server = targets().find(is_named)?;
        let is_refused = version.is_some_and(|it| it >= NAMED_SERVERS);
        is_refused.then_some((word, Refusal::Beside(word, &server.text)))
    };
    let time = |name: &str| {
        let (word, words) = property(directive, name)?;
        let value = words.first()?;
        Some((word, value, seconds(&value.text)?))
    };
    let aged = || {
        let (word, value, age) = time("max_age")?;
        let least = time("expire").map_or(EXPIRE, |it| it.2);
        let is_refused = age > 0.0 && age < least;
        let wanted = || format!("a time of {least}s or more, as expire has");
        is_refused.then(|| (word, Refusal::Wrong(value, wanted())))
    };
    let wrong = wrong.map(|it| (&directive.name, it));
    wrong
        .or_else(|| zone(directive, version))
        .or_else(named)
        .or_else(aged)
        .or_else(|| checked(directive))
}

/// What a server must be, if its transport is refused.
fn transport(server: &Word, version: Option<Version>) -> Option<String> {
    let (transport, rest) = Transport::split(&server.text);
    let wanted = match transport {
        Transport::Https if rest.contains('/') => "a server without a path",
        Transport::Https if version.is_some_and(|it| it < HTTPS) => {
            "no https:// before 1.14.5, but tls://"
        }
        Transport::Grpc | Transport::Https3 | Transport::Quic => "a server of dns:// or tls://",
        _ => return None,
    };
    Some(wanted.to_owned())
}

/// The zone of a directive, which no version since 1.9.1 takes where it is no name.
fn zone(directive: &Directive, version: Option<Version>) -> Found<'_> {
    let zone = directive.arguments.first()?;
    let is_checked = version.is_some_and(|it| it >= blocks::release(1, 9, 1));
    let is_long = zone.text.len() > 255 || zone.text.split('.').any(|it| it.len() > 63);
    let is_refused = is_checked && is_long && !zone.has_variable() && !zone.text.contains('/');
    let wanted = || Refusal::Wrong(zone, "a zone".to_owned());
    is_refused.then(|| (&directive.name, wanted()))
}

/// A server of `grpc` that is no address, and no file.
fn named(directive: &Directive) -> Found<'_> {
    let kind = Kind::named("server");
    let can_be_file = |it: &Word| {
        let ending = it.text.rsplit_once('.').map(|it| it.1);
        it.text.contains('/') || ending == Some("conf")
    };
    let is_right =
        |it: &&Word| kind.is_met(&it.text) || can_be_file(it) || has_placeholder(&it.text);
    let mut servers = directive.arguments.iter().skip(1);
    let wrong = servers.find(|it| !is_right(it))?;
    Some((&directive.name, Refusal::Wrong(wrong, kind.wanted())))
}

/// The name that is looked up to check servers, which must be one.
fn checked(directive: &Directive) -> Found<'_> {
    let (word, words) = property(directive, "health_check")?;
    let at = words.iter().position(|it| it.text == "domain")?;
    let name = words.get(at + 1).filter(|it| !it.has_variable())?;
    let bare = name.text.strip_suffix('.').unwrap_or(&name.text);
    let is_name = bare.is_empty() || bare.split('.').all(|it| (1..=63).contains(&it.len()));
    let wanted = || Refusal::Wrong(name, "a name".to_owned());
    (!is_name).then(|| (word, wanted()))
}

fn kubernetes<'d>(block: &ServerBlock, directive: &'d Directive) -> Found<'d> {
    beside(directive, "namespace_labels", "namespaces")
        .or_else(|| beside(directive, "noendpoints", "zonal"))
        .or_else(|| selector(directive, "labels"))
        .or_else(|| selector(directive, "namespace_labels"))
        .or_else(|| elsewhere(block, directive))
}

/// A selector of labels, whose brackets must have their ends.
fn selector<'d>(directive: &'d Directive, name: &str) -> Found<'d> {
    let (word, words) = property(directive, name)?;
    let count = |bracket: char| {
        let texts = words.iter().map(|it| it.text.matches(bracket).count());
        texts.sum::<usize>()
    };
    let is_refused = count('(') != count(')') && !words.iter().any(Word::has_variable);
    let wanted = || Refusal::Wrong(word, "a selector with as many ) as (".to_owned());
    is_refused.then(|| (word, wanted()))
}

/// A zone of several clusters, which must be one that the directive answers.
fn elsewhere<'d>(block: &ServerBlock, directive: &'d Directive) -> Found<'d> {
    let (word, words) = property(directive, "multicluster")?;
    let own = blocks::cluster_zones(block, directive);
    let all = directive.arguments.iter().chain(&block.keys).chain(words);
    let is_plain = |it: &Word| !it.has_variable() && !it.text.contains('/');
    let is_own = |it: &&Word| zones(&it.text).iter().any(|zone| own.contains(zone));
    let wrong = words.iter().find(|it| !is_own(it))?;
    let wanted = || Refusal::Wrong(wrong, "a zone of the directive".to_owned());
    all.into_iter().all(is_plain).then(|| (word, wanted()))
}

/// The first of two words is whom traces are sent to.
fn trace(directive: &Directive) -> Found<'_> {
    let [kind, _] = directive.arguments.as_slice() else {
        return None;
    };
    let lower = kind.text.to_ascii_lowercase();
    let is_known = matches!(lower.as_str(), "zipkin" | "datadog") || kind.has_variable();
    let wanted = || Refusal::Wrong(kind, "zipkin or datadog".to_owned());
    (!is_known).then(|| (&directive.name, wanted()))
}
