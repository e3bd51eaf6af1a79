//! Status codes, and what a reply means.

use std::net::IpAddr;

use crate::address::Address;
use crate::engine::machine::Outcome;
use crate::engine::message::{Rcode, Reply};

/// A status of c-ares, as far as a lookup can end with it.
///
/// Source: c-ares `include/ares.h`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Status {
    Success,
    NoData,
    FormErr,
    ServFail,
    NotFound,
    NotImp,
    Refused,
    BadName,
    BadResp,
    ConnRefused,
    Timeout,
    NoMem,
}

impl Status {
    /// The status as the header spells it.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Success => "ARES_SUCCESS",
            Self::NoData => "ARES_ENODATA",
            Self::FormErr => "ARES_EFORMERR",
            Self::ServFail => "ARES_ESERVFAIL",
            Self::NotFound => "ARES_ENOTFOUND",
            Self::NotImp => "ARES_ENOTIMP",
            Self::Refused => "ARES_EREFUSED",
            Self::BadName => "ARES_EBADNAME",
            Self::BadResp => "ARES_EBADRESP",
            Self::ConnRefused => "ARES_ECONNREFUSED",
            Self::Timeout => "ARES_ETIMEOUT",
            Self::NoMem => "ARES_ENOMEM",
        }
    }

    /// The end of a lookup that failed with this.
    pub(super) fn outcome(self) -> Outcome {
        Outcome::Failed(self.as_str())
    }
}

/// The status that a reply stands for.
///
/// Source: c-ares `src/lib/ares_query.c: qcallback` (1.18),
/// `src/lib/record/ares_dns_mapping.c: ares_dns_query_reply_tostatus` (1.34).
pub(super) fn reply_status(reply: &Reply) -> Status {
    match reply.rcode {
        Rcode::NoError if reply.answers.is_empty() => Status::NoData,
        Rcode::NoError => Status::Success,
        Rcode::FormErr => Status::FormErr,
        Rcode::ServFail => Status::ServFail,
        Rcode::NxDomain => Status::NotFound,
        Rcode::NotImp => Status::NotImp,
        Rcode::Refused => Status::Refused,
    }
}

/// The addresses in a reply, whoever owns them.
pub(super) fn addresses(reply: &Reply) -> impl Iterator<Item = IpAddr> {
    reply.answers.iter().filter_map(|it| it.data.ip())
}

/// The end of a lookup that found these addresses.
pub(super) fn found(addresses: impl IntoIterator<Item = IpAddr>) -> Outcome {
    Outcome::Found(
        addresses
            .into_iter()
            .map(|ip| Address::from(ip).in_c_text())
            .collect(),
    )
}
