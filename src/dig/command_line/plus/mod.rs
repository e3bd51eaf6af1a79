//! Options that begin with `+`.

mod secure;
mod value;

use super::{Current, End, Line, Parser};
use crate::dig::lookup::Lookup;

/// An option and the shortest text that dig takes for it.
struct Known {
    /// What the text must begin with, in this case.
    least: &'static str,
    /// The whole word; the text must be a beginning of it, in any case.
    word: &'static str,
}

const fn known(least: &'static str, word: &'static str) -> Known {
    Known { least, word }
}

/// Every option. dig looks at single letters first, so `+sho` is none while
/// `+shor` is `+short`.
///
/// Source: BIND bin/dig/dig.c: `plus_option`, `plus_tls_options` (9.18);
/// `inflight` and `json` are kdns's own.
const OPTIONS: &[Known] = &[
    known("aa", "aaonly"),
    known("aa", "aaflag"),
    known("add", "additional"),
    known("adf", "adflag"),
    known("al", "all"),
    known("an", "answer"),
    known("au", "authority"),
    known("ba", "badcookie"),
    known("be", "besteffort"),
    known("bu", "bufsize"),
    known("cdf", "cdflag"),
    known("cl", "class"),
    known("cm", "cmd"),
    known("cof", "coflag"),
    known("com", "comments"),
    known("coo", "cookie"),
    known("cr", "crypto"),
    known("de", "defname"),
    known("dns6", "dns64prefix"),
    known("dnss", "dnssec"),
    known("dom", "domain"),
    known("ds", "dscp"),
    known("ednsf", "ednsflags"),
    known("ednsn", "ednsnegotiation"),
    known("ednso", "ednsopt"),
    known("expa", "expandaaaa"),
    known("expi", "expire"),
    known("fa", "fail"),
    known("fu", "fuzztime"),
    known("he", "header-only"),
    known("ht", "https"),
    known("ht", "https-get"),
    known("ht", "https-post"),
    known("ht", "http-plain"),
    known("ht", "http-plain-get"),
    known("ht", "http-plain-post"),
    known("ide", "identify"),
    known("idni", "idnin"),
    known("idno", "idnout"),
    known("inf", "inflight"),
    known("js", "json"),
    known("keepa", "keepalive"),
    known("keepo", "keepopen"),
    known("ma", "mapped"),
    known("mu", "multiline"),
    known("nd", "ndots"),
    known("nsi", "nsid"),
    known("nss", "nssearch"),
    known("on", "onesoa"),
    known("op", "opcode"),
    known("p", "padding"),
    known("qi", "qid"),
    known("qr", "qr"),
    known("qu", "question"),
    known("ra", "raflag"),
    known("rd", "rdflag"),
    known("rec", "recurse"),
    known("ret", "retry"),
    known("ret", "retries"),
    known("rr", "rrcomments"),
    known("se", "search"),
    known("shor", "short"),
    known("showb", "showbadcookie"),
    known("shows", "showsearch"),
    known("si", "sigchase"),
    known("sp", "split"),
    known("st", "stats"),
    known("su", "subnet"),
    known("tcf", "tcflag"),
    known("tcp", "tcp"),
    known("ti", "timeout"),
    known("tls", "tls"),
    known("tls-ca", "tls-ca"),
    known("tls-ce", "tls-certfile"),
    known("tls-h", "tls-hostname"),
    known("tls-k", "tls-keyfile"),
    known("to", "topdown"),
    known("tra", "trace"),
    known("tri", "tries"),
    known("tru", "trusted-key"),
    known("ttl", "ttlid"),
    known("ttlu", "ttlunits"),
    known("une", "unexpected"),
    known("unk", "unknownformat"),
    known("v", "vc"),
    known("y", "yaml"),
    known("z", "zflag"),
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
    // dig takes every other word in `i` for this one.
    if text.starts_with('i') && !text.starts_with("id") && !text.starts_with("inf") {
        return is_beginning("ignore").then_some("ignore");
    }
    OPTIONS
        .iter()
        .find(|known| text.starts_with(known.least) && is_beginning(known.word))
        .map(|known| known.word)
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
    if sets_printing(parser.lookup(line), plus) || sets_query(parser.lookup(line), plus) {
        return Ok(());
    }
    if sets_all(parser, line, plus)? || secure::apply(parser, line, plus)? {
        return Ok(());
    }
    value::apply(parser, line, plus)
}

/// Options that say how replies are printed; whether this is one.
fn sets_printing(lookup: &mut Lookup, plus: &Plus<'_>) -> bool {
    let state = plus.state;
    let print = &mut lookup.print;
    match plus.word {
        "additional" => print.additional = state,
        "answer" => print.answer = state,
        "authority" => print.authority = state,
        "question" => print.question = state,
        "comments" => print.comments = state,
        "stats" => print.stats = state,
        "identify" => print.identify = state,
        "multiline" => print.multiline = state,
        "class" => print.class = state,
        "crypto" => print.crypto = state,
        "onesoa" => print.one_soa = state,
        "rrcomments" => print.record_comments = Some(state),
        "ttlid" => print.ttl = state,
        "ttlunits" => {
            print.ttl = true;
            print.ttl_units = state;
        }
        "unknownformat" => print.unknown_format = state,
        "expandaaaa" => print.expand_aaaa = state,
        "idnout" => print.idn_out = state,
        _ => return false,
    }
    true
}

/// Options that say what is sent and what follows from the reply; whether
/// this is one.
fn sets_query(lookup: &mut Lookup, plus: &Plus<'_>) -> bool {
    let state = plus.state;
    let flags = &mut lookup.flags;
    match plus.word {
        "aaonly" | "aaflag" => flags.authoritative = state,
        "adflag" => flags.authentic = state,
        "cdflag" => flags.checking_disabled = state,
        "raflag" => flags.available = state,
        "rdflag" | "recurse" => flags.recurse = state,
        "tcflag" => flags.truncated = state,
        "zflag" => flags.zero = state,
        "coflag" => lookup.edns.compact = state,
        "expire" => lookup.edns.expire = state,
        "keepalive" => lookup.edns.keepalive = state,
        "ednsnegotiation" => lookup.edns.negotiate = state,
        "badcookie" => lookup.retry_badcookie = state,
        "besteffort" => lookup.best_effort = state,
        "fail" => lookup.servfail_stops = state,
        "header-only" => lookup.header_only = state,
        "idnin" => lookup.idn_in = state,
        "ignore" => lookup.ignore_truncation = state,
        "qr" => lookup.show_query = state,
        "showbadcookie" => lookup.show_badcookie = state,
        "tcp" | "vc" => {
            lookup.tcp = state;
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
        "trace" | "nssearch" => "kdns dig asks the servers that it is told to ask, and no others",
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
