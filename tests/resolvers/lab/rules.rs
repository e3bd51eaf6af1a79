//! The servers' rules: which reply a query gets.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use serde::{Deserialize, Serialize};

/// What a server does with a query.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum Reply {
    /// The rule's records; no data for a type that it has nothing for.
    Answer,
    /// The name does not exist.
    NxDomain,
    /// No error, no records.
    NoData,
    /// Rcode 2.
    ServFail,
    /// Rcode 5.
    Refused,
    /// Rcode 1.
    FormErr,
    /// Rcode 4.
    NotImp,
    /// Nothing is sent.
    Timeout,
    /// Truncated and empty.
    Tc,
    /// The TCP connection is closed unanswered.
    Fin,
    /// The TCP connection is reset.
    #[serde(alias = "CLOSE")]
    Rst,
    /// Port unreachable.
    Icmp,
    /// There is no route to the server.
    Unreachable,
}

impl Reply {
    /// The word in the vectors.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Answer => "ANSWER",
            Self::NxDomain => "NXDOMAIN",
            Self::NoData => "NODATA",
            Self::ServFail => "SERVFAIL",
            Self::Refused => "REFUSED",
            Self::FormErr => "FORMERR",
            Self::NotImp => "NOTIMP",
            Self::Timeout => "TIMEOUT",
            Self::Tc => "TC",
            Self::Fin => "FIN",
            Self::Rst => "RST",
            Self::Icmp => "ICMP",
            Self::Unreachable => "UNREACHABLE",
        }
    }
}

/// In what a response is none for its query.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Wrong {
    /// Another id.
    Id,
    /// Another type is asked for.
    Question,
    /// It comes from another address.
    Source,
}

/// An address from which nobody expects a reply to what was sent to `server`. It leads to the sandbox, as all do.
pub(crate) fn elsewhere(server: IpAddr) -> Ipv6Addr {
    match server {
        IpAddr::V4(_) => Ipv4Addr::new(198, 51, 100, 77).to_ipv6_mapped(),
        IpAddr::V6(_) => Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0x77),
    }
}

/// One rule.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Rule {
    /// The names, `*` for any text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    /// The query's type.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub(crate) qtype: Option<String>,
    /// The server that is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) server: Option<String>,
    /// `udp` or `tcp`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) proto: Option<String>,
    /// Whether the query has EDNS.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) edns: Option<bool>,
    /// Only the n-th of the matching queries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) nth: Option<u32>,
    /// Only the first n of the matching queries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) upto: Option<u32>,
    /// What happens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reply: Option<Reply>,
    /// IPv4 addresses.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) a: Vec<Ipv4Addr>,
    /// IPv6 addresses.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) aaaa: Vec<Ipv6Addr>,
    /// The name that the name stands for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cname: Option<String>,
    /// Milliseconds before the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) delay_ms: Option<u64>,
    /// `false`: no SOA in a negative answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) soa: Option<bool>,
    /// `false`: without RA.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ra: Option<bool>,
    /// `false`: without an OPT record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) opt: Option<bool>,
    /// `true`: a response over UDP is sent twice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) dup: Option<bool>,
    /// In what a response over UDP is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) wrong: Option<Wrong>,
    /// `true`: with AD.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ad: Option<bool>,
}

impl Rule {
    /// What this rule does.
    pub(crate) fn reply(&self) -> Reply {
        self.reply.unwrap_or(Reply::NxDomain)
    }
}

/// What a rule can see of a query.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked<'a> {
    /// The name without its final dot.
    pub(crate) qname: &'a str,
    /// The type.
    pub(crate) qtype: &'a str,
    /// The server that was asked.
    pub(crate) server: &'a str,
    /// `udp` or `tcp`.
    pub(crate) proto: &'a str,
    /// Whether the query has EDNS.
    pub(crate) edns: bool,
}

/// The rules with their counts.
#[derive(Debug)]
pub(crate) struct Rules {
    rules: Vec<(Rule, u32)>,
}

impl Rules {
    /// Rules that nothing was asked of yet.
    pub(crate) fn new(rules: &[Rule]) -> Self {
        Self {
            rules: rules.iter().map(|r| (r.clone(), 0)).collect(),
        }
    }

    /// The first rule that matches; without one a name does not exist.
    pub(crate) fn pick(&mut self, asked: Asked<'_>) -> Rule {
        for (rule, seen) in &mut self.rules {
            if rule.reply() == Reply::Unreachable || !matches(rule, asked) {
                continue;
            }
            *seen += 1;
            let counts =
                rule.nth.is_none_or(|n| n == *seen) && rule.upto.is_none_or(|n| *seen <= n);
            if counts {
                return rule.clone();
            }
        }
        Rule::default()
    }
}

fn matches(rule: &Rule, asked: Asked<'_>) -> bool {
    rule.name.as_ref().is_none_or(|pattern| {
        let pattern = pattern.to_ascii_lowercase();
        wildcard(
            pattern.as_bytes(),
            asked.qname.to_ascii_lowercase().as_bytes(),
        )
    }) && rule
        .qtype
        .as_ref()
        .is_none_or(|t| t.eq_ignore_ascii_case(asked.qtype))
        && rule
            .server
            .as_ref()
            .is_none_or(|s| is_same(s, asked.server))
        && rule.proto.as_ref().is_none_or(|p| p == asked.proto)
        && rule.edns.is_none_or(|e| e == asked.edns)
}

/// Whether two texts are the same server, however its address is written.
fn is_same(one: &str, other: &str) -> bool {
    let ip = |text: &str| text.parse::<IpAddr>().ok();
    one == other || ip(one).is_some() && ip(one) == ip(other)
}

/// Whether the text is the pattern's, `*` being any text.
fn wildcard(pattern: &[u8], text: &[u8]) -> bool {
    match pattern.split_first() {
        None => text.is_empty(),
        Some((b'*', rest)) => {
            (0..=text.len()).any(|n| text.get(n..).is_some_and(|tail| wildcard(rest, tail)))
        }
        Some((first, rest)) => text
            .split_first()
            .is_some_and(|(c, tail)| c == first && wildcard(rest, tail)),
    }
}
