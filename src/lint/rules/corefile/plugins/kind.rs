//! What a word behind a plugin or property can be.

use std::borrow::Cow;
use std::net::IpAddr;

use crate::config::corefile::seconds;
use crate::dig::mnemonic;

/// What a word must be.
#[derive(Debug)]
pub(super) enum Kind {
    /// Anything.
    Word,
    /// An integer between two.
    Number(Range),
    /// A number with a fraction.
    Fraction(Range),
    /// A duration in Go's writing, with its bounds in seconds.
    Duration(Range),
    /// The same, in whole seconds.
    Seconds(Range),
    /// The same, or a number of seconds.
    Interval(Range),
    /// What `reload` varies its interval by: nothing, or a second at least.
    Jitter,
    /// A number with `%`.
    Percent(Range),
    /// An IP address.
    Address,
    /// An address with a length.
    Network,
    /// The beginning of the addresses that stand for those of IPv4.
    Translated,
    /// A host and a port with a colon between.
    Endpoint,
    /// An IP address, with a port or without.
    Server,
    /// A regular expression.
    Regexp,
    /// The same with a group, and behind it what becomes of it.
    Capture,
    /// So many words with colons between, the last with any.
    Parts(usize),
    /// A class of DNS.
    Class,
    /// A type of record.
    Type,
    /// A response code.
    Code,
    /// `true`, `f`, `1` and their like.
    Bool,
    /// A word as it is.
    Literal(&'static str),
    /// The same, letters large or small.
    AnyCase(&'static str),
    /// A word as it is with any other behind it.
    WithValue(&'static str),
}

/// Bounds, both included, but for a least one that must be passed.
#[derive(Debug)]
pub(super) struct Range {
    is_above: bool,
    least: Option<f64>,
    most: Option<f64>,
}

impl Kind {
    /// The kind that a word of the table names.
    pub(super) fn named(word: &'static str) -> Self {
        let (name, range) = word.split_once(':').unwrap_or((word, ""));
        let range = Range::parse(range);
        match name {
            "word" | "zone" => Self::Word,
            "int" => Self::Number(range),
            "float" => Self::Fraction(range),
            "duration" => Self::Duration(range),
            "seconds" => Self::Seconds(range),
            "interval" => Self::Interval(range),
            "jitter" => Self::Jitter,
            "percent" => Self::Percent(range),
            "address" => Self::Address,
            "cidr" => Self::Network,
            "prefix64" => Self::Translated,
            "endpoint" => Self::Endpoint,
            "server" => Self::Server,
            "regexp" => Self::Regexp,
            "capture" => Self::Capture,
            "pair" => Self::Parts(2),
            "triple" => Self::Parts(3),
            "class" => Self::Class,
            "type" => Self::Type,
            "rcode" => Self::Code,
            "bool" => Self::Bool,
            _ => match (word.strip_prefix('~'), word.split_once('=')) {
                (Some(word), _) => Self::AnyCase(word),
                (None, Some((word, _))) => Self::WithValue(word),
                (None, None) => Self::Literal(word),
            },
        }
    }

    /// Whether another word belongs to it.
    pub(super) fn has_value(&self) -> bool {
        matches!(self, Self::WithValue(_) | Self::Capture)
    }

    /// Whether a word is of this kind.
    pub(super) fn is_met(&self, word: &str) -> bool {
        match self {
            Self::Word => true,
            Self::Number(range) => integer(word).is_some_and(|it| range.has(it)),
            Self::Fraction(range) => word.parse().is_ok_and(|it| range.has(it)),
            Self::Duration(range) => seconds(word).is_some_and(|it| range.has(it)),
            Self::Seconds(range) => {
                seconds(word).is_some_and(|it| it.fract() == 0.0 && range.has(it))
            }
            Self::Interval(range) => {
                let time = integer(word).or_else(|| seconds(word));
                time.is_some_and(|it| range.has(it))
            }
            Self::Jitter => seconds(word).is_some_and(|it| it == 0.0 || it >= 1.0),
            Self::Percent(range) => {
                let number = word.strip_suffix('%').and_then(integer);
                number.is_some_and(|it| range.has(it))
            }
            Self::Address => word.parse::<IpAddr>().is_ok(),
            Self::Network => is_network(word),
            Self::Translated => is_network(word) && is_translated(word),
            Self::Endpoint => is_endpoint(word),
            Self::Server => is_server(word),
            Self::Regexp => can_be_regexp(word),
            Self::Capture => can_be_regexp(word) && word.contains('('),
            Self::Parts(count) => {
                let mut parts = word.splitn(*count, ':');
                parts.clone().count() == *count && parts.all(|it| !it.is_empty())
            }
            Self::Class => matches!(word, "IN" | "CS" | "CH" | "HS" | "NONE" | "ANY"),
            Self::Type => is_type(word),
            Self::Code => is_code(word),
            Self::Bool => BOOLEANS.contains(&word),
            Self::Literal(literal) | Self::WithValue(literal) => word == *literal,
            Self::AnyCase(literal) => word.eq_ignore_ascii_case(literal),
        }
    }

    /// What it is, for people.
    pub(super) fn wanted(&self) -> String {
        match self {
            Self::Word => "a word".to_owned(),
            Self::Number(range) => range.shown("a whole number"),
            Self::Fraction(range) => range.shown("a number"),
            Self::Duration(range) => range.shown_in_seconds("a time with its unit, as 5s"),
            Self::Seconds(range) => range.shown_in_seconds("a time in whole seconds, as 5s"),
            Self::Interval(range) => range.shown_in_seconds("a time, as 5s"),
            Self::Jitter => "0s, or a time of 1s or more".to_owned(),
            Self::Percent(range) => range.shown("a share, as 10%"),
            Self::Address => "an IP address".to_owned(),
            Self::Network => "a network, as 10.0.0.0/8".to_owned(),
            Self::Translated => "an IPv6 network of 32 to 96 bits, whole bytes".to_owned(),
            Self::Endpoint => "an address with its port, as :8080".to_owned(),
            Self::Server => "an IP address, with a port or without".to_owned(),
            Self::Regexp => "a regular expression".to_owned(),
            Self::Capture => "a regular expression with a group, and a word behind it".to_owned(),
            Self::Parts(count) => format!("{count} words with colons between"),
            Self::Class => "a class, as IN or ANY".to_owned(),
            Self::Type => "a type of record in capitals, as A or ANY".to_owned(),
            Self::Code => "a response code, as NXDOMAIN".to_owned(),
            Self::Bool => "true or false".to_owned(),
            Self::Literal(word) | Self::AnyCase(word) => (*word).to_owned(),
            Self::WithValue(word) => format!("{word} with a word behind it"),
        }
    }
}

impl Range {
    /// `1..5`, `1..`, `>0..`; nothing: without bounds.
    fn parse(text: &str) -> Self {
        let above = text.strip_prefix('>');
        let text = above.unwrap_or(text);
        let (least, most) = text.split_once("..").unwrap_or((text, ""));
        Self {
            is_above: above.is_some(),
            least: least.parse().ok(),
            most: most.parse().ok(),
        }
    }

    fn has(&self, number: f64) -> bool {
        let is_enough = |it| number > it || !self.is_above && number >= it;
        self.least.is_none_or(is_enough) && self.most.is_none_or(|it| number <= it)
    }

    fn shown(&self, what: &str) -> String {
        self.shown_with(what, "")
    }

    fn shown_in_seconds(&self, what: &str) -> String {
        self.shown_with(what, "s")
    }

    fn shown_with(&self, what: &str, unit: &str) -> String {
        match (self.least, self.most) {
            (Some(least), Some(most)) => format!("{what}, from {least}{unit} to {most}{unit}"),
            (Some(least), None) if self.is_above => format!("{what}, above {least}{unit}"),
            (Some(0.0), None) => format!("{what}, not below zero"),
            (Some(least), None) => format!("{what}, {least}{unit} or more"),
            (None, Some(most)) => format!("{what}, {most}{unit} at most"),
            (None, None) => what.to_owned(),
        }
    }
}

/// An integer as Go's `strconv.Atoi` reads it.
fn integer(word: &str) -> Option<f64> {
    let digits = word.strip_prefix(['+', '-']).unwrap_or(word);
    let is_number = !digits.is_empty() && digits.bytes().all(|it| it.is_ascii_digit());
    let fits = is_number && word.parse::<i64>().is_ok();
    fits.then(|| word.parse().ok()).flatten()
}

fn is_network(word: &str) -> bool {
    let Some((address, length)) = word.split_once('/') else {
        return false;
    };
    let most = match address.parse::<IpAddr>() {
        Ok(IpAddr::V4(_)) => 32,
        Ok(IpAddr::V6(_)) => 128,
        Err(_) => return false,
    };
    length.parse::<u8>().is_ok_and(|it| it <= most)
}

/// Source: `CoreDNS`, plugin/dns64/setup.go: `parsePrefix`.
fn is_translated(network: &str) -> bool {
    let length = network.split_once('/').map_or("", |it| it.1);
    let is_allowed = |it: u8| (32..=96).contains(&it) && it.is_multiple_of(8);
    network.contains(':') && length.parse().is_ok_and(is_allowed)
}

/// Source: Go, `src/net/ipsock.go: SplitHostPort`.
fn is_endpoint(word: &str) -> bool {
    let Some((host, port)) = word.rsplit_once(':') else {
        return false;
    };
    // Go asks for one that is larger, and the program ends when it is to listen.
    if port.parse().is_ok_and(|it: u64| it > 65_535) {
        return false;
    }
    let inside = host.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
    let has_more = |it: &str| it.contains(['[', ']']);
    match inside {
        Some(inside) => !has_more(inside),
        None => !host.contains(':') && !has_more(host),
    }
}

fn is_server(word: &str) -> bool {
    let bare = word.strip_prefix('[').and_then(|it| it.split_once(']'));
    let host = match (bare, word.rsplit_once(':')) {
        (Some((host, _)), _) => host,
        (None, Some((host, _))) if !host.contains(':') => host,
        _ => word,
    };
    // Of a link-local one the interface stands behind it.
    let address = host.split('%').next().unwrap_or_default();
    address.parse::<IpAddr>().is_ok()
}

/// Whether Go can compile it, as far as brackets and a repetition of nothing tell.
///
/// Source: Go, `src/regexp/syntax/parse.go: parse`.
pub(super) fn can_be_regexp(word: &str) -> bool {
    let mut rest = word.as_bytes();
    let mut open = 0_u32;
    if word.starts_with(['*', '+', '?']) {
        return false;
    }
    while let Some((first, behind)) = rest.split_first() {
        rest = behind;
        match first {
            b'\\' if rest.starts_with(b"Q") => return true,
            b'\\' if rest.is_empty() => return false,
            b'\\' => rest = rest.get(1..).unwrap_or_default(),
            b'(' => open += 1,
            b')' if open == 0 => return false,
            b')' => open -= 1,
            b'[' => match behind_class(rest) {
                Some(behind) => rest = behind,
                None => return false,
            },
            _ => {}
        }
    }
    open == 0
}

/// What stands behind a class of characters, of which `rest` is behind its `[`.
fn behind_class(rest: &[u8]) -> Option<&[u8]> {
    let rest = rest.strip_prefix(b"^").unwrap_or(rest);
    // A bracket that is the first belongs to the class.
    let mut rest = rest.strip_prefix(b"]").unwrap_or(rest);
    loop {
        let (first, behind) = rest.split_first()?;
        rest = match first {
            b']' => return Some(behind),
            b'\\' => behind.get(1..)?,
            b'[' if behind.starts_with(b":") => {
                let end = memchr::memmem::find(behind.get(1..)?, b":]");
                end.and_then(|it| behind.get(it + 3..)).unwrap_or(behind)
            }
            _ => behind,
        };
    }
}

/// Types that `github.com/miekg/dns` has a name for, or BIND: it has one more.
fn is_type(word: &str) -> bool {
    let is_known = || mnemonic::type_of(word.as_bytes()).is_some();
    let has_small = word.bytes().any(|it| it.is_ascii_lowercase());
    matches!(word, "None" | "Reserved" | "NXNAME") || !has_small && is_known()
}

/// Source: `github.com/miekg/dns`, msg.go: `RcodeToString`.
fn is_code(word: &str) -> bool {
    /// Beside the codes up to 10 and 16, which BIND has, too.
    const OTHERS: [&str; 9] = [
        "DSOTYPENI",
        "BADSIG",
        "BADKEY",
        "BADTIME",
        "BADMODE",
        "BADNAME",
        "BADALG",
        "BADTRUNC",
        "BADCOOKIE",
    ];
    let shared = (0..=10).chain([16]).map(mnemonic::rcode_text);
    let mut all = shared.chain(OTHERS.map(Cow::from));
    all.any(|it| it.eq_ignore_ascii_case(word))
}

/// Source: Go, `src/strconv/atob.go: ParseBool`.
const BOOLEANS: [&str; 12] = [
    "1", "t", "T", "TRUE", "true", "True", "0", "f", "F", "FALSE", "false", "False",
];
