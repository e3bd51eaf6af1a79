//! Options that begin with `+`.

mod secure;
mod value;

use super::{Current, End, Line, Parser};
use crate::dig::lookup::Lookup;

/// What an option sets.
#[derive(Clone, Copy)]
enum Sets {
    /// One bit of a lookup.
    Is(fn(&mut Lookup) -> &mut bool),
    /// Something else, or more.
    More,
}

use Sets::{Is, More};

/// Every option: what the text must begin with, in this case, and the whole word,
/// of which it must be a beginning, in any case. dig looks at single letters first, so `+sho` is none while
/// `+shor` is `+short`, and every other word in `i` is `+ignore`.
///
/// Source: BIND bin/dig/dig.c: `plus_option`, `plus_tls_options` (9.18);
/// `inflight` and `json` are kdns's own.
const OPTIONS: &[(&str, &str, Sets)] = &[
    ("aa", "aaonly", Is(|it| &mut it.flags.authoritative)),
    ("aa", "aaflag", Is(|it| &mut it.flags.authoritative)),
    ("add", "additional", Is(|it| &mut it.print.additional)),
    ("adf", "adflag", Is(|it| &mut it.flags.authentic)),
    ("al", "all", More),
    ("an", "answer", Is(|it| &mut it.print.answer)),
    ("au", "authority", Is(|it| &mut it.print.authority)),
    ("ba", "badcookie", Is(|it| &mut it.retry_badcookie)),
    ("be", "besteffort", Is(|it| &mut it.best_effort)),
    ("bu", "bufsize", More),
    ("cdf", "cdflag", Is(|it| &mut it.flags.checking_disabled)),
    ("cl", "class", Is(|it| &mut it.print.class)),
    ("cm", "cmd", More),
    ("cof", "coflag", Is(|it| &mut it.edns.compact)),
    ("com", "comments", Is(|it| &mut it.print.comments)),
    ("coo", "cookie", More),
    ("cr", "crypto", Is(|it| &mut it.print.crypto)),
    ("de", "defname", More),
    ("dns6", "dns64prefix", More),
    ("dnss", "dnssec", More),
    ("dom", "domain", More),
    ("ds", "dscp", More),
    ("ednsf", "ednsflags", More),
    ("ednsn", "ednsnegotiation", Is(|it| &mut it.edns.negotiate)),
    ("ednso", "ednsopt", More),
    ("expa", "expandaaaa", Is(|it| &mut it.print.expand_aaaa)),
    ("expi", "expire", Is(|it| &mut it.edns.expire)),
    ("fa", "fail", Is(|it| &mut it.servfail_stops)),
    ("fu", "fuzztime", More),
    ("he", "header-only", Is(|it| &mut it.header_only)),
    ("ht", "https", More),
    ("ht", "https-get", More),
    ("ht", "https-post", More),
    ("ht", "http-plain", More),
    ("ht", "http-plain-get", More),
    ("ht", "http-plain-post", More),
    ("ide", "identify", Is(|it| &mut it.print.identify)),
    ("i", "ignore", Is(|it| &mut it.ignore_truncation)),
    ("idni", "idnin", Is(|it| &mut it.idn_in)),
    ("idno", "idnout", Is(|it| &mut it.print.idn_out)),
    ("inf", "inflight", More),
    ("js", "json", More),
    ("keepa", "keepalive", Is(|it| &mut it.edns.keepalive)),
    ("keepo", "keepopen", More),
    ("ma", "mapped", More),
    ("mu", "multiline", Is(|it| &mut it.print.multiline)),
    ("nd", "ndots", More),
    ("nsi", "nsid", More),
    ("nss", "nssearch", More),
    ("on", "onesoa", Is(|it| &mut it.print.one_soa)),
    ("op", "opcode", More),
    ("p", "padding", More),
    ("qi", "qid", More),
    ("qr", "qr", Is(|it| &mut it.show_query)),
    ("qu", "question", Is(|it| &mut it.print.question)),
    ("ra", "raflag", Is(|it| &mut it.flags.available)),
    ("rd", "rdflag", Is(|it| &mut it.flags.recurse)),
    ("rec", "recurse", Is(|it| &mut it.flags.recurse)),
    ("ret", "retry", More),
    ("ret", "retries", More),
    ("rr", "rrcomments", More),
    ("se", "search", More),
    ("shor", "short", More),
    ("showb", "showbadcookie", Is(|it| &mut it.show_badcookie)),
    ("shows", "showsearch", More),
    ("si", "sigchase", More),
    ("sp", "split", More),
    ("st", "stats", Is(|it| &mut it.print.stats)),
    ("su", "subnet", More),
    ("tcf", "tcflag", Is(|it| &mut it.flags.truncated)),
    ("tcp", "tcp", More),
    ("ti", "timeout", More),
    ("tls", "tls", More),
    ("tls-ca", "tls-ca", More),
    ("tls-ce", "tls-certfile", More),
    ("tls-h", "tls-hostname", More),
    ("tls-k", "tls-keyfile", More),
    ("to", "topdown", More),
    ("tra", "trace", More),
    ("tri", "tries", More),
    ("tru", "trusted-key", More),
    ("ttl", "ttlid", Is(|it| &mut it.print.ttl)),
    ("ttlu", "ttlunits", More),
    ("une", "unexpected", More),
    (
        "unk",
        "unknownformat",
        Is(|it| &mut it.print.unknown_format),
    ),
    ("v", "vc", More),
    ("y", "yaml", More),
    ("z", "zflag", Is(|it| &mut it.flags.zero)),
];

/// Options that are whole as they are.
const SHORT_FORMS: &[(&str, &str)] = &[
    ("ad", "adflag"),
    ("cd", "cdflag"),
    ("co", "coflag"),
    ("do", "dnssec"),
    ("edns", "edns"),
];

/// Why an option does not count.
enum Trouble {
    /// "Invalid option", and the usage.
    Invalid,
    /// Said already; ends with this.
    End(End),
}

impl From<End> for Trouble {
    fn from(end: End) -> Self {
        Self::End(end)
    }
}

/// An option, as it was written.
struct Plus<'w> {
    word: &'static str,
    /// As much of the word as was written.
    text: &'w [u8],
    state: bool,
    value: Option<&'w [u8]>,
}

/// Applies `+option`.
pub(super) fn option(parser: &mut Parser, line: &mut Line<'_>, option: &[u8]) -> Result<(), End> {
    let shown = || String::from_utf8_lossy(option).into_owned();
    let start = option.iter().position(|&byte| byte != b'=');
    let Some(text) = start.and_then(|start| option.get(start..)) else {
        let said = format!(";; Invalid option {}", shown());
        parser.said.push(super::Said::Out(said));
        return Ok(());
    };
    let (word, value) = match text.iter().position(|&byte| byte == b'=') {
        Some(at) => (text.get(..at), text.get(at + 1..)),
        None => (Some(text), None),
    };
    let word = word.unwrap_or_default();
    let value = value.filter(|value| !value.is_empty());
    let (state, word) = match word.split_at_checked(2) {
        Some((no, rest)) if no.eq_ignore_ascii_case(b"no") => (false, rest),
        _ => (true, word),
    };
    let applied = match whole_word(word) {
        Some(whole) => {
            let plus = Plus {
                word: whole,
                text: word,
                state,
                value,
            };
            apply(parser, line, &plus)
        }
        None => Err(Trouble::Invalid),
    };
    applied.map_err(|trouble| match trouble {
        Trouble::End(end) => end,
        Trouble::Invalid => {
            // dig has cut the option at `=` when it names it.
            let end = start.unwrap_or_default() + text.len();
            let cut = match text.iter().position(|&byte| byte == b'=') {
                Some(at) => start.unwrap_or_default() + at,
                None => end,
            };
            let cut = String::from_utf8_lossy(option.get(..cut).unwrap_or(option));
            parser.err(format!("Invalid option: +{cut}"));
            End::Usage
        }
    })
}

/// The whole word that `text` is a beginning of.
pub(super) fn whole_word(text: &[u8]) -> Option<&'static str> {
    let text = std::str::from_utf8(text).ok()?;
    if let Some((_, word)) = SHORT_FORMS.iter().find(|(short, _)| *short == text) {
        return Some(word);
    }
    let is_beginning = |word: &str| {
        word.get(..text.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(text))
    };
    OPTIONS
        .iter()
        .find(|(least, word, _)| text.starts_with(least) && is_beginning(word))
        .map(|(_, word, _)| *word)
}

fn apply(parser: &mut Parser, line: &mut Line<'_>, plus: &Plus<'_>) -> Result<(), Trouble> {
    let is_default = matches!(line.current, Current::Default);
    match plus.word {
        "question" if is_default => parser.plus_question = plus.state,
        "comments" if is_default => parser.plus_comments = plus.state,
        "dns64prefix" => {
            if plus.state {
                dns64_prefix(parser, line);
            }
            return Ok(());
        }
        // Of a batch file's lines the first transport holds.
        "tcp" | "vc" if line.is_batch => return Ok(()),
        _ => {}
    }
    if let Some((_, _, Is(bit))) = OPTIONS.iter().find(|(_, word, _)| *word == plus.word) {
        *bit(parser.lookup(line)) = plus.state;
        return Ok(());
    }
    if sets_lookup(parser.lookup(line), plus) {
        return Ok(());
    }
    if sets_all(parser, line, plus)? || secure::apply(parser, line, plus)? {
        return Ok(());
    }
    value::apply(parser, line, plus)
}

/// Options that set several things of a lookup; whether this is one.
fn sets_lookup(lookup: &mut Lookup, plus: &Plus<'_>) -> bool {
    match plus.word {
        "rrcomments" => lookup.print.record_comments = Some(plus.state),
        "ttlunits" => {
            lookup.print.ttl = true;
            lookup.print.ttl_units = plus.state;
        }
        "tcp" | "vc" => {
            lookup.tcp = plus.state;
            lookup.tcp_set = true;
        }
        _ => return false,
    }
    true
}

/// Options that hold for more than one lookup or set several things; whether
/// this is one.
fn sets_all(parser: &mut Parser, line: &mut Line<'_>, plus: &Plus<'_>) -> Result<bool, Trouble> {
    let state = plus.state;
    match plus.word {
        "all" => {
            parser.globals.show_command = state;
            let print = &mut parser.lookup(line).print;
            print.question = state;
            print.authority = state;
            print.answer = state;
            print.additional = state;
            print.comments = state;
            print.stats = state;
        }
        "cmd" => parser.globals.show_command = state,
        "defname" => parser.globals.search = state,
        "keepopen" => parser.globals.keep_open = state,
        "showsearch" => {
            parser.globals.show_search = state;
            parser.globals.search = state;
        }
        "search" => {
            parser.globals.search = state;
            let resolver = plus.value.map(String::from_utf8_lossy);
            parser.globals.search_as = resolver.filter(|_| state).map(Into::into);
        }
        "short" => {
            parser.globals.short = state;
            if state {
                parser.globals.show_command = false;
                sections_off(parser.lookup(line));
            }
        }
        "yaml" | "json" => {
            if plus.word == "yaml" {
                parser.globals.yaml = state;
            } else {
                parser.globals.json = state;
            }
            if state {
                parser.globals.show_command = false;
                let print = &mut parser.lookup(line).print;
                print.stats = false;
                print.record_comments = Some(false);
            }
        }
        "dscp" => parser.err(";; +dscp option is obsolete and has no effect"),
        "mapped" | "sigchase" | "topdown" | "trusted-key" | "unexpected" => {
            parser.err(format!(";; +{} option is deprecated", plus.word));
        }
        "fuzztime" => {}
        _ => return unsupported(parser, plus),
    }
    Ok(true)
}

/// Options of dig that kdns does not have; whether this is one.
fn unsupported(parser: &mut Parser, plus: &Plus<'_>) -> Result<bool, Trouble> {
    let why = match plus.word {
        "trace" | "nssearch" => "kdns dig asks the servers that it is given, and no others",
        _ => return Ok(false),
    };
    if plus.state {
        parser.err(format!("kdns: +{} is not supported: {why}", plus.word));
        return Err(End::Fatal.into());
    }
    Ok(true)
}

/// What `+short` switches off.
fn sections_off(lookup: &mut Lookup) {
    let print = &mut lookup.print;
    print.additional = false;
    print.answer = true;
    print.authority = false;
    print.question = false;
    print.comments = false;
    print.stats = false;
    print.record_comments = Some(false);
}

/// A lookup of its own: which prefixes the server makes addresses with.
fn dns64_prefix(parser: &mut Parser, line: &mut Line<'_>) {
    parser.begin_lookup(line);
    parser.globals.show_command = false;
    let lookup = parser.lookup(line);
    sections_off(lookup);
    lookup.dns64_prefix = true;
    lookup.text = b"ipv4only.arpa".to_vec();
    lookup.rdtype = 28;
    lookup.rdtype_set = true;
}
