//! Questions about server blocks that several rules of this group ask.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};

use crate::address::is_link_local;
use crate::config::corefile::{
    self, Directive, Key, ServerBlock, Transport, Word, split_key, zones,
};
use crate::kubelet::Version;
use crate::lint::context::{Context, Known};
use crate::lint::document::{At, Change};
use crate::lint::facts::Resolver;
use crate::lint::recognise;
use crate::lint::rules::is_own_file;
use crate::lint::subject::CorefileText;
use crate::text::Span;
use crate::topology::coredns::{CLUSTER_DNS, UPSTREAM_SERVERS};

/// The server blocks; none of a template, of which nobody knows what it
/// becomes, but for its plain parts, and none where a brace is missing, which can hide what stands
/// there.
pub(super) fn blocks<'c>(file: &CorefileText<'c>) -> &'c [ServerBlock] {
    let is_read = file.document.is_partial || !is_template(file);
    if !is_read || file.corefile.stop().is_some() {
        return &[];
    }
    &file.corefile.blocks
}

/// Whether it is a template of Go, Jinja or the like: one without their marks is what is
/// made of it.
pub(super) fn is_template(file: &CorefileText<'_>) -> bool {
    let source = &file.document.source;
    recognise::is_filled_in(&source.name) || corefile::is_template(&source.bytes)
}

/// Whether all of it was given: an import, and what a tool fills in as a
/// directive, can add what seems to be missing.
pub(super) fn is_whole(file: &CorefileText<'_>) -> bool {
    let mut directives = blocks(file).iter().flat_map(|it| &it.directives);
    file.corefile.imports.iter().all(|it| it.found > 0)
        && !directives.any(|it| it.name.has_variable())
}

/// The directives of a block with this name.
pub(super) fn named<'b>(
    block: &'b ServerBlock,
    name: &'b str,
) -> impl Iterator<Item = &'b Directive> {
    block
        .directives
        .iter()
        .filter(move |it| it.name.text == name)
}

/// Whether a block has a directive.
pub(super) fn has(block: &ServerBlock, name: &str) -> bool {
    named(block, name).next().is_some()
}

/// The directives that forward queries.
pub(super) fn forwards(block: &ServerBlock) -> impl Iterator<Item = &Directive> {
    let forwards = block.directives.iter();
    forwards.filter(|it| matches!(it.name.text.as_str(), "forward" | "proxy"))
}

/// What answers in a block behind `hosts` and `template`, as words of a
/// sentence; empty: nothing does.
///
/// Source: `CoreDNS`, plugin.cfg.
pub(super) fn others_behind(block: &ServerBlock) -> String {
    let names = ["kubernetes", "forward"];
    let there: Vec<&str> = names.into_iter().filter(|it| has(block, it)).collect();
    there.join(" or ")
}

/// What CoreDNS does when it cannot start with a Corefile.
pub(super) const KEEPS_OLD: &str = "a running CoreDNS keeps its old configuration when reload meets the error, and ends at its next start";

/// The zone that a `forward` is for.
pub(super) fn forwarded_zone(forward: &Directive) -> Option<String> {
    zones(&forward.arguments.first()?.text).into_iter().next()
}

/// The servers and files of a `forward`.
pub(super) fn targets(forward: &Directive) -> &[Word] {
    forward.arguments.get(1..).unwrap_or_default()
}

/// More keys of one server block are not looked at.
const MAX_KEYS: usize = 1000;

/// The keys that can be taken apart.
pub(super) fn keys(block: &ServerBlock) -> impl Iterator<Item = (&Word, Key)> {
    let known = block.keys.iter().filter(|it| !it.has_variable());
    let known = known.take(MAX_KEYS);
    known.filter_map(|it| Some((it, split_key(&it.text).ok()?)))
}

/// The key with which a block serves a zone over UDP and TCP.
pub(super) fn key_of<'b>(block: &'b ServerBlock, zone: &str) -> Option<(&'b Word, Key)> {
    keys(block)
        .find(|(_, key)| key.transport == Transport::Dns && key.zones.iter().any(|it| it == zone))
}

/// More words behind `bind` are not looked at.
const MAX_BINDS: usize = 100;

/// The words behind `bind`.
pub(super) fn binds(block: &ServerBlock) -> impl Iterator<Item = &Word> {
    named(block, "bind")
        .flat_map(|it| &it.arguments)
        .take(MAX_BINDS)
}

/// Whether it is the cluster's DNS: it answers names of Services.
pub(super) fn is_cluster_dns(blocks: &[ServerBlock]) -> bool {
    blocks.iter().any(|it| has(it, "kubernetes"))
}

/// Whether it runs on the node's network, as `NodeLocal` `DNSCache`: no pod of its own network
/// has a link-local address to bind.
pub(super) fn is_on_node(blocks: &[ServerBlock]) -> bool {
    let is_ours = |word: &Word| {
        word.text.contains("__PILLAR__LOCAL__DNS__") || word.text.parse().is_ok_and(is_link_local)
    };
    blocks.iter().flat_map(binds).any(is_ours)
}

/// Whether it is a cache on every node: by its address, or as a template of `NodeLocal`
/// `DNSCache`.
pub(super) fn is_node_cache(blocks: &[ServerBlock]) -> bool {
    let has_pillar = |it: &Directive| {
        let mut targets = targets(it).iter();
        targets.any(|it| it.text == UPSTREAM_SERVERS || it.text == CLUSTER_DNS)
    };
    !is_cluster_dns(blocks)
        && (is_on_node(blocks) || blocks.iter().flat_map(forwards).any(has_pillar))
}

/// The address and port that a server of `forward` has; none for a file, a
/// name, and other transports than plain DNS.
pub(super) fn address(text: &str) -> Option<SocketAddr> {
    let (transport, rest) = Transport::split(text);
    if transport != Transport::Dns {
        return None;
    }
    if let Ok(address) = rest.split('%').next()?.parse() {
        return Some(SocketAddr::new(address, transport.default_port()));
    }
    rest.parse().ok()
}

/// The address of the cluster's DNS that an address is. A link-local one is that
/// of a cache on the node.
pub(super) fn service(services: &[Known<IpAddr>], address: IpAddr) -> Option<&Known<IpAddr>> {
    let found = services
        .iter()
        .take(MAX_FINDINGS)
        .find(|it| it.value == address);
    found.filter(|_| !is_link_local(address))
}

/// The kubelet's file, if a target of `forward` is the pod's own file and that is
/// what it hands out. With several kubelets nobody knows whose it is.
pub(super) fn handed_out<'w>(context: &Context<'w>, target: &Word) -> Option<&'w Resolver> {
    let [kubelet] = context.kubelets() else {
        return None;
    };
    is_own_file(&target.text).then(|| context.kubelet_file(kubelet))?
}

/// The zones of the `kubernetes` of a block: its arguments, else the keys.
///
/// Source: `CoreDNS`, plugin/kubernetes/setup.go `ParseStanza`.
pub(super) fn cluster_zones(block: &ServerBlock, kubernetes: &Directive) -> Vec<String> {
    let words = match kubernetes.arguments.as_slice() {
        [] => &block.keys,
        words => words,
    };
    let zones = words.iter().flat_map(|it| zones(&it.text));
    zones.take(MAX_ZONES).collect()
}

/// More zones of one `kubernetes` are not looked at.
const MAX_ZONES: usize = 100;

/// The version of the program that reads the file: that which was given, else
/// that of the image of the DNS pods near it. A node's cache is another
/// program with one in it.
pub(super) fn version(file: &CorefileText<'_>, context: &Context<'_>) -> Option<Known<Version>> {
    if is_node_cache(&file.corefile.blocks) {
        let value = context.options().coredns_version?;
        return Some(Known { value, at: None });
    }
    context.coredns_version(file.document.file)
}

/// `CoreDNS 1.8.0`.
pub(super) fn shown(version: Version) -> String {
    format!("CoreDNS {version}")
}

/// A version.
pub(super) const fn release(major: u32, minor: u32, patch: u32) -> Version {
    Version::release(major, minor, patch)
}

/// More are not said about one file by one rule.
const MAX_FINDINGS: usize = 100;

/// Gives each place once: what a snippet says stands in every block that
/// imports it.
pub(super) struct Places<'f, 'c> {
    file: &'f CorefileText<'c>,
    seen: BTreeSet<At>,
}

impl<'f, 'c> Places<'f, 'c> {
    pub(super) fn new(file: &'f CorefileText<'c>) -> Self {
        let seen = BTreeSet::new();
        Self { file, seen }
    }

    /// Whether enough was said: no place is given any more.
    pub(super) fn are_full(&self) -> bool {
        self.seen.len() >= MAX_FINDINGS
    }

    /// The place of a word that was not asked for before; none of too many.
    pub(super) fn first(&mut self, word: &Word) -> Option<At> {
        self.first_at(word.at)
    }

    /// The same for something else than a word.
    pub(super) fn first_at(&mut self, at: corefile::At) -> Option<At> {
        let at = self.file.at(at)?;
        let is_new = !self.are_full() && self.seen.insert(at);
        is_new.then_some(at)
    }
}

/// Whether a word stands in the block itself: not in a snippet, which comes
/// before the blocks that import it, and not in another file.
fn stands_in(block: &ServerBlock, word: &Word) -> bool {
    let key = block.keys.first();
    word.at.source == 0
        && key.is_some_and(|it| it.at.source == 0 && it.at.span.start < word.at.span.start)
}

/// What stands before a word of the file itself on its line, if that is only blanks.
fn indentation<'d>(file: &CorefileText<'d>, word: &Word) -> Option<&'d str> {
    let start = (word.at.source == 0).then_some(word.at.span.start as usize)?;
    let before = file.document.source.bytes.get(..start)?;
    let line = before.iter().rposition(|&byte| byte == b'\n');
    let blanks = before.get(line.map_or(0, |it| it + 1)..)?;
    let is_blank = blanks.iter().all(|byte| matches!(byte, b' ' | b'\t'));
    std::str::from_utf8(blanks).ok().filter(|_| is_blank)
}

/// What stands behind a word of the file itself on its line, its newline left out.
fn behind<'d>(file: &CorefileText<'d>, word: &Word) -> Option<&'d [u8]> {
    let end = (word.at.source == 0).then_some(word.at.span.end as usize)?;
    let rest = file.document.source.bytes.get(end..)?;
    let line = rest.split(|&byte| byte == b'\n').next()?;
    Some(line.strip_suffix(b"\r").unwrap_or(line))
}

/// Whether nothing at all stands behind the name of a directive: blanks can be what a
/// template had there.
pub(super) fn is_alone(file: &CorefileText<'_>, directive: &Directive) -> bool {
    behind(file, &directive.name).is_some_and(<[u8]>::is_empty)
}

/// Whether nothing of a template is left out of a block, or of a snippet in it.
pub(super) fn is_without_gaps(file: &CorefileText<'_>, block: &ServerBlock) -> bool {
    let directives = block.directives.iter();
    let words = directives.flat_map(|it| it.arguments.iter().chain([&it.name]));
    let places = block.keys.iter().chain(words).map(|it| it.at);
    let of_others = blocks(file).iter().filter_map(|it| it.keys.first());
    let (Some(key), false) = (block.keys.first(), places.clone().any(|it| it.source != 0)) else {
        return false;
    };
    let start = places.map(|it| it.span.start).min().unwrap_or_default();
    let next = of_others.map(|it| it.at.span.start);
    let next = next.filter(|it| *it > key.at.span.start).min();
    let bytes = &file.document.source.bytes;
    let until = next.map_or(bytes.len(), |it| it as usize);
    let end = memchr::memrchr(b'}', bytes.get(..until).unwrap_or_default());
    let all = Span::new(start as usize, end.unwrap_or(until));
    let all = file.document.at(all).span;
    let mut gaps = file.document.gaps.iter();
    !gaps.any(|it| it.end > all.start && it.start < all.end)
}

/// How the line of a word ends.
fn newline(file: &CorefileText<'_>, word: &Word) -> &'static str {
    let rest = file.document.source.bytes.get(word.at.span.end as usize..);
    let line = rest.and_then(|it| it.split_inclusive(|&byte| byte == b'\n').next());
    match line {
        Some(line) if line.ends_with(b"\r\n") => "\r\n",
        _ => "\n",
    }
}

/// Puts a directive on a line of its own before another one of a block. `None`:
/// that one does not begin a line of the block.
pub(super) fn line_before(
    file: &CorefileText<'_>,
    block: &ServerBlock,
    directive: &Directive,
    text: &str,
) -> Option<Change> {
    let word = &directive.name;
    let blanks = indentation(file, word).filter(|_| stands_in(block, word))?;
    let at = word.at.span.start as usize;
    let text = format!("{text}{}{blanks}", newline(file, word));
    file.document.change(Span::new(at, at), text)
}

/// Gives a directive that has no block one with a line in it. `None`: it has a
/// block, or does not stand on a line of its own.
pub(super) fn block_behind(
    file: &CorefileText<'_>,
    directive: &Directive,
    line: &str,
) -> Option<Change> {
    if !directive.lines.is_empty() {
        return None;
    }
    let blanks = indentation(file, &directive.name)?;
    let last = directive.arguments.last().unwrap_or(&directive.name);
    let rest = behind(file, last)?.trim_ascii();
    // A `#` without a blank before it ends a word, too: nothing to risk.
    if !rest.is_empty() && !rest.starts_with(b"# ") {
        return None;
    }
    let step = step(file).unwrap_or(if blanks.starts_with('\t') {
        "\t"
    } else {
        "    "
    });
    let newline = newline(file, last);
    let text = format!(" {{{newline}{blanks}{step}{line}{newline}{blanks}}}");
    let at = last.at.span.end as usize;
    file.document.change(Span::new(at, at), text)
}

/// By what the lines of a block that is there are set in.
fn step<'d>(file: &CorefileText<'d>) -> Option<&'d str> {
    let mut directives = blocks(file).iter().flat_map(|it| &it.directives);
    directives.find_map(|it| {
        let inner = indentation(file, it.lines.first()?.first()?)?;
        let step = inner.strip_prefix(indentation(file, &it.name)?)?;
        (!step.is_empty()).then_some(step)
    })
}

/// Puts a line behind the last one of a directive's block, with its blanks.
pub(super) fn line_behind(file: &CorefileText<'_>, line: &[Word], text: &str) -> Option<Change> {
    let (first, last) = (line.first()?, line.last()?);
    let blanks = indentation(file, first)?;
    let rest = behind(file, last)?;
    let is_alone = rest.trim_ascii().is_empty() || rest.trim_ascii().starts_with(b"# ");
    let at = last.at.span.end as usize + rest.len();
    let newline = newline(file, last);
    let text = format!("{newline}{blanks}{text}");
    is_alone
        .then(|| file.document.change(Span::new(at, at), text))
        .flatten()
}

/// Takes a line of a directive's block away. `None`: something else stands on
/// it, too.
pub(super) fn without(file: &CorefileText<'_>, line: &[Word]) -> Option<Change> {
    let (first, last) = (line.first()?, line.last()?);
    if line.iter().any(|it| it.at.source != 0) {
        return None;
    }
    indentation(file, first)?;
    let rest = behind(file, last)?.trim_ascii();
    let span = Span {
        start: first.at.span.start,
        end: last.at.span.end,
    };
    let is_one_line = !file.document.bytes(span).contains(&b'\n');
    let is_alone = rest.is_empty() || rest.starts_with(b"#");
    let change = || file.document.without_line(first.at.span);
    (is_one_line && is_alone).then(change).flatten()
}
