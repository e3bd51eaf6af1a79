//! What versions from 1.34.3 on differ in.

use std::time::Duration;

/// One of these versions, by what it does. All functions are in `src/lib`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Version {
    /// Whether a connection takes no new queries once one timed out on it. Before, no
    /// datagram socket did whose server has failed (`ares_process.c: ares_fetch_connection`).
    pub(super) retires_connections: bool,
    /// Whether of servers that failed as often as each other the one that failed first
    /// comes first (`ares_init.c: server_sort_cb`).
    pub(super) first_failed_first: bool,
    /// Failures of a server are counted up to here (`ares_private.h:
    /// SERVER_CONSEC_FAILURES_CAP`).
    pub(super) most_failures: u32,
    /// Whether a server is probed although the one that is asked has failed, too
    /// (`ares_process.c: ares_send_query_int`).
    pub(super) probes_beside_failures: bool,
    /// Whether a probe that is lost has ended. Before, its server was not probed again
    /// (`ares_process.c: ares_requeue_query`).
    pub(super) ends_lost_probes: bool,
    /// Whether all that is to be sent again is put into one list first. Before, only what
    /// was answered was (`ares_process.c: ares_flush_requeue`).
    pub(super) lists_all_retries: bool,
    /// How long a server that knows no cookies is sent none (`ares_cookie.c:
    /// ares_cookie_apply`).
    pub(super) without_cookies: Duration,
    /// Whether an answer counts only on the connection that its query was sent on last, and
    /// so once (`ares_process.c: process_answer`).
    pub(super) checks_connection: bool,
    /// Whether a value ends at `#` or `;`, a number is digits alone, at most 255 attempts are
    /// made, and `bind4`, `bind6`, `local4` and `local6` are sources
    /// (`ares_sysconfig_files.c: process_option, config_lookup`).
    pub(super) strict_files: bool,
}

impl Version {
    /// 1.34.3 to 1.34.6. Source: c-ares 1.34.6.
    pub(in crate::resolver) const V1_34_3: Self = Self {
        retires_connections: false,
        first_failed_first: false,
        most_failures: u32::MAX,
        probes_beside_failures: false,
        ends_lost_probes: false,
        lists_all_retries: false,
        without_cookies: Duration::from_secs(120),
        checks_connection: false,
        strict_files: false,
    };
    /// From 1.34.9 on. Source: c-ares 1.34.9.
    pub(in crate::resolver) const V1_34_9: Self = Self {
        retires_connections: true,
        first_failed_first: true,
        most_failures: 16,
        probes_beside_failures: true,
        ends_lost_probes: true,
        lists_all_retries: true,
        without_cookies: Duration::from_secs(300),
        checks_connection: true,
        strict_files: true,
    };
}

#[cfg(test)]
crate::resolver::mutation::neighbours!(
    retires_connections first_failed_first probes_beside_failures ends_lost_probes lists_all_retries checks_connection strict_files;
    most_failures: 1,
    without_cookies: Duration::ZERO
);
