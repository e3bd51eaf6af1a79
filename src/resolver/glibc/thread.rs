//! What a thread of the program keeps between calls.

use std::rc::Rc;

use crate::address::Address;
use crate::engine::io::Io;
use crate::engine::machine::Outcome;
use crate::engine::message::{Rcode, SocketId};
use crate::resolver::glibc::Version;
use crate::resolver::glibc::options::MAX_SERVERS;
use crate::resolver::reading::Reading;
use crate::scenario::{Family, Scenario};

/// A thread that calls the resolver for the first time: `_res` with the
/// configuration it is made from, `errno` and `h_errno`.
///
/// Source: glibc `resolv/bits/types/res_state.h: struct __res_state` (2.36).
#[derive(Debug)]
pub(super) struct Thread<'a> {
    pub(super) io: Rc<Io>,
    pub(super) scenario: &'a Scenario,
    pub(super) version: &'static Version,
    /// The configuration (`_res` and `struct resolv_conf`).
    pub(super) conf: Rc<Reading<'a>>,
    /// `errno`: some decisions look at one that an earlier call left behind.
    pub(super) errno: Errno,
    pub(super) h_errno: HostError,
    /// What the hosts file has for the name, by family: it can be long, and
    /// `files` can stand on the hosts line many times.
    pub(super) in_files: Vec<(Family, Vec<Address>)>,
    /// `_u._ext.nssocks`: the UDP socket of each server.
    pub(super) sockets: [Option<SocketId>; MAX_SERVERS],
    /// `RES_F_SNGLKUP` of `_flags`: A and AAAA are asked one after the other
    /// from now on, because a server was seen to answer only one of both.
    pub(super) single_request: bool,
    /// `RES_F_SNGLKUPREOP` of `_flags`: and each from a socket of its own.
    pub(super) single_request_reopen: bool,
    /// `global_offset` of `nameserver_offset`, for `rotate`.
    pub(super) rotation: Option<usize>,
    /// The rcode in the caller's answer buffer, where the reply lands that
    /// comes first; replies that were given up for the next server stay there.
    pub(super) buffer_rcode: Rcode,
    /// Whether a reply has landed there since it was last cleared.
    pub(super) buffer_filled: bool,
}

/// The values of `errno` that decide something.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Errno {
    /// 0
    Clear,
    /// `ENOENT`
    NoEntry,
    /// `EAGAIN`
    Again,
    /// `EACCES`
    Access,
    /// `EBUSY`
    Busy,
    /// `EINVAL`
    Invalid,
    /// `EMSGSIZE`
    MessageSize,
    /// `ECONNRESET`
    Reset,
    /// `ETIMEDOUT`
    TimedOut,
    /// `ECONNREFUSED`
    Refused,
    /// `EHOSTUNREACH` or `ENETUNREACH`
    Unreachable,
}

/// The values of `h_errno`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum HostError {
    /// `NETDB_SUCCESS`
    Success,
    /// `NETDB_INTERNAL`: see `errno`
    Internal,
    /// `HOST_NOT_FOUND`
    NotFound,
    /// `TRY_AGAIN`
    TryAgain,
    /// `NO_RECOVERY`
    NoRecovery,
    /// `NO_DATA`
    NoData,
}

/// The program was killed: an assertion of glibc does not hold.
#[derive(Clone, Copy, Debug)]
pub(super) struct Killed;

impl<'a> Thread<'a> {
    pub(super) fn new(
        io: Rc<Io>,
        scenario: &'a Scenario,
        conf: Rc<Reading<'a>>,
        version: &'static Version,
    ) -> Self {
        Self {
            io,
            scenario,
            version,
            conf,
            errno: Errno::Clear,
            h_errno: HostError::Success,
            in_files: Vec::new(),
            sockets: [None; MAX_SERVERS],
            single_request: false,
            single_request_reopen: false,
            rotation: None,
            buffer_rcode: Rcode::NoError,
            buffer_filled: false,
        }
    }

    /// The first use of `_res`: the file is read, which can end the program.
    ///
    /// Source: glibc `resolv/resolv_context.c: __resolv_context_get` (2.36).
    pub(super) fn context_get(&mut self) -> Result<(), Killed> {
        if self.scenario.resolv_conf.is_none() {
            self.errno = Errno::NoEntry;
        }
        match self.conf.refused {
            Some(_) => Err(Killed),
            None => Ok(()),
        }
    }

    /// The end that [`Killed`] means.
    pub(super) fn crash(&self) -> Outcome {
        self.io.note(
            "killed by signal 6 (SIGABRT): resolv_conf.c: update_from_conf: \
             Assertion `resolv_conf_matches (resp, conf)' failed",
        );
        Outcome::Crashed
    }

    /// Whether this option of `resolv.conf` or `RES_OPTIONS` is set.
    pub(super) fn option(&self, name: &str) -> bool {
        self.conf.flags.iter().any(|flag| flag.value == name)
    }
}

impl HostError {
    /// The name of the constant in `netdb.h`.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Success | Self::Internal => "NETDB_INTERNAL",
            Self::NotFound => "HOST_NOT_FOUND",
            Self::TryAgain => "TRY_AGAIN",
            Self::NoRecovery => "NO_RECOVERY",
            Self::NoData => "NO_DATA",
        }
    }
}
