//! The errors that decide what hickory does next, and the codes they end in.

use crate::engine::message::{Rcode, Reply};
use crate::resolver::hickory::Version;

/// Why a request or a lookup failed.
///
/// Source: hickory-net `src/error.rs: NetError`, with `DnsError` in it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum NetError {
    /// NXDOMAIN, or NOERROR without a record that was asked for.
    NoRecords {
        /// `NxDomain` or `NoError`; any before 0.26.
        rcode: Rcode,
        /// With an SOA record the answer can be kept.
        soa: bool,
    },
    /// Any other reply code.
    ResponseCode(Rcode),
    /// Nothing came in time.
    Timeout,
    /// No server is left; also what a missing route comes to, see [`most_specific`].
    NoConnections,
    /// A socket failed. `closed`: the other side closed the connection.
    Io {
        /// Source: `NetError::is_connection_closed`.
        closed: bool,
    },
    /// Truncated over TCP too, or no TCP to be had.
    Truncated,
}

impl NetError {
    /// The code of the outcome.
    pub(super) fn code(self) -> &'static str {
        match self {
            Self::NoRecords {
                rcode: Rcode::NoError,
                ..
            } => "NODATA",
            Self::NoRecords { rcode, .. } | Self::ResponseCode(rcode) => rcode.as_str(),
            Self::Timeout => "TIMEOUT",
            Self::NoConnections => "NO_CONNECTIONS",
            Self::Io { .. } => "IO",
            Self::Truncated => "TRUNCATED",
        }
    }
}

/// Tells a usable reply from an error.
///
/// Source: hickory-net `src/error.rs: DnsError::from_response`.
pub(super) fn from_response(reply: Reply, version: Version) -> Result<Reply, NetError> {
    let rcode = reply.rcode;
    let is_usual = matches!(rcode, Rcode::NoError | Rcode::NxDomain);
    if is_usual && (!reply.answers.is_empty() || reply.truncated) {
        return Ok(reply);
    }
    Err(if is_usual || version.is_before_26 {
        let soa = reply.soa;
        NetError::NoRecords { rcode, soa }
    } else {
        NetError::ResponseCode(rcode)
    })
}

/// Which of two servers' errors a request ends with.
///
/// A socket error never displaces another one, not even the `NoConnections`
/// that a request begins with; before 0.26 it displaces all but a negative answer.
///
/// Source: hickory-resolver `src/name_server_pool.rs: most_specific`, and before 0.26
/// `cmp_specificity`.
pub(super) fn most_specific(previous: NetError, current: NetError, version: Version) -> NetError {
    use NetError::{Io, NoConnections, NoRecords, Timeout};
    match (previous, current) {
        (NoConnections, _) | (Timeout, Io { .. }) if version.is_before_26 => current,
        (Io { .. }, Timeout) if version.is_before_26 => previous,
        (NoRecords { .. }, _) | (Io { .. }, Io { .. }) => previous,
        (_, NoRecords { .. }) | (Io { .. }, _) => current,
        (_, Io { .. }) | (Timeout, _) => previous,
        (_, Timeout) => current,
        _ => previous,
    }
}
