//! What versions from 1.24 on differ in.

use std::time::Duration;

/// One of these versions, by what it does. All functions are in `src/lib`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Version {
    /// Whether it is older than 1.28. Then files and variables are read as by 1.18, but a later
    /// word wins, an unknown `lookup` undoes all, and variables come last; an alias is searched
    /// for, too; `ares_search` goes on after SERVFAIL, and ends as the name alone did
    /// (`ares_sysconfig_files.c: ares__init_sysconfig_files, set_options`, `ares_getaddrinfo.c:
    /// ares_getaddrinfo_int`, `ares_search.c: search_callback`).
    pub(super) is_before_1_28: bool,
    /// The size that queries offer (`ares_private.h: EDNSPACKETSZ`).
    pub(super) edns_size: u16,
    /// When a server's datagram socket takes no new queries.
    pub(super) retires: Retires,
    /// Whether of servers that failed as often as each other the one that failed first
    /// comes first (`ares_init.c: server_sort_cb`).
    pub(super) first_failed_first: bool,
    /// Failures of a server are counted up to here (`ares_private.h:
    /// SERVER_CONSEC_FAILURES_CAP`).
    pub(super) most_failures: u32,
    /// How a server that has failed gets queries again while others have not.
    pub(super) tries_failed: TriesFailed,
    /// Whether a server is probed although the one that is asked has failed, too
    /// (`ares_process.c: ares_send_query_int`).
    pub(super) probes_beside_failures: bool,
    /// Whether a probe that is lost has ended. Before, its server was not probed again
    /// (`ares_process.c: ares_requeue_query`).
    pub(super) ends_lost_probes: bool,
    /// Whether what an answer brings is done before the next one is read: queries are sent and
    /// callbacks called. Later, both wait in a list (`ares_process.c: read_udp_packets_fd`).
    pub(super) acts_at_once: bool,
    /// Whether all that is to be sent again is put into one list first. Before, only what
    /// was answered was (`ares_process.c: ares_flush_requeue`).
    pub(super) lists_all_retries: bool,
    /// Whether `rotate` chooses among all servers, those that have failed, too
    /// (`ares_process.c: ares__random_server`).
    pub(super) rotates_to_failed: bool,
    /// Whether a query without EDNS goes to the server that refused EDNS, and a cookie is
    /// blamed for FORMERR from a server that knows EDNS (`ares_process.c: process_answer`).
    pub(super) keeps_server: bool,
    /// Whether all idle connections are closed in the end. Before, only one that was read or
    /// timed out was (`ares_process.c: processfds`).
    pub(super) closes_all_idle: bool,
    /// Whether a query that a closed connection was to answer fails for that. Before, it failed
    /// for what went wrong before that, or for its time (`ares_close_sockets.c:
    /// ares__requeue_queries`).
    pub(super) tells_refused: bool,
    /// What of a server's latency makes its time-outs.
    pub(super) measures: Measures,
    /// How long a server that knows no cookies is sent none (`ares_cookie.c:
    /// ares_cookie_apply`). `None`: no query has a cookie.
    pub(super) without_cookies: Option<Duration>,
    /// Whether an answer counts only on the connection that its query was sent on last, and
    /// so once (`ares_process.c: process_answer`).
    pub(super) checks_connection: bool,
    /// Whether an IPv4 address ends the retries of the query for IPv6, and no IPv6 address
    /// those of the query for IPv4 (`ares_getaddrinfo.c: host_callback`).
    pub(super) ipv4_ends_retries: bool,
    /// Whether the search goes on after SERVFAIL or REFUSED for a single label
    /// (`ares_getaddrinfo.c: host_callback`, `ares_search.c: search_callback`).
    pub(super) single_labels_may_fail: bool,
    /// Whether a name in the hosts file needs an address that is wanted, and whether `localhost`
    /// is known in capitals and gets those that the file does not have
    /// (`ares_getaddrinfo.c: file_lookup`).
    pub(super) hosts_by_family: bool,
    /// Whether `ndots:0` counts (`ares_sysconfig.c: ares_sysconfig_apply`).
    pub(super) ndots_can_be_0: bool,
    /// `ndots` without any option, where the files can be read (`ares_sysconfig.c:
    /// ares_init_by_sysconfig`).
    pub(super) usual_ndots: u32,
    /// Whether the root can be asked for. If not, no key can be made for the cache, which is
    /// taken for a lack of memory (`ares_qcache.c: ares_qcache_fetch`).
    pub(super) asks_root: bool,
    /// Whether a domain must be printable (`ares_strsplit.c: ares_strsplit`).
    pub(super) checks_domains: bool,
    /// Whether a link-local server needs the name of an interface (`ares_update_servers.c:
    /// ares__sconfig_append`).
    pub(super) needs_interface: bool,
    /// Whether a server can be a URI (`ares_update_servers.c: parse_nameserver_uri`).
    pub(super) takes_uris: bool,
    /// Whether a value ends at `#` or `;`, a number is digits alone, at most 255 attempts are
    /// made, and `bind4`, `bind6`, `local4` and `local6` are sources
    /// (`ares_sysconfig_files.c: process_option, config_lookup`).
    pub(super) strict_files: bool,
}

/// When a datagram socket takes no new queries (`ares_process.c: ares_fetch_connection`).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Retires {
    Never,
    /// When its server has failed.
    WithServer,
    /// When a query has timed out on it.
    WithQuery,
}

/// How a server that has failed gets queries again (`ares_process.c`).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum TriesFailed {
    Never,
    /// By lot, one query in ten goes to it (`ares__failover_server`).
    Instead,
    /// By lot, a copy of one query in ten goes to it (`ares_probe_failed_server`).
    Beside,
}

/// What is measured of latency (`ares_metrics.c`).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Measures {
    Nothing,
    /// Of each time the milliseconds of its last second, and a second counts as one.
    Rests,
    Milliseconds,
}

impl Version {
    /// 1.24 to 1.26. Source: c-ares 1.25.0.
    pub(in crate::resolver) const V1_25: Self = Self {
        edns_size: 1280,
        ..Self::V1_27
    };
    /// 1.27. Source: c-ares 1.27.0.
    pub(in crate::resolver) const V1_27: Self = Self {
        is_before_1_28: true,
        ..Self::V1_28
    };
    /// 1.28. Source: c-ares 1.28.1.
    pub(in crate::resolver) const V1_28: Self = Self {
        tries_failed: TriesFailed::Never,
        ndots_can_be_0: false,
        usual_ndots: 1,
        asks_root: true,
        needs_interface: false,
        ..Self::V1_31
    };
    /// 1.29 to 1.31; before 1.31 `ndots:0` did not count. Source: c-ares 1.31.0.
    pub(in crate::resolver) const V1_31: Self = Self {
        closes_all_idle: false,
        tells_refused: false,
        measures: Measures::Nothing,
        ..Self::V1_32
    };
    /// 1.32. Source: c-ares 1.32.3.
    pub(in crate::resolver) const V1_32: Self = Self {
        measures: Measures::Rests,
        without_cookies: None,
        single_labels_may_fail: false,
        usual_ndots: 0,
        asks_root: false,
        ..Self::V1_33
    };
    /// 1.33. Source: c-ares 1.33.1.
    pub(in crate::resolver) const V1_33: Self = Self {
        retires: Retires::Never,
        tries_failed: TriesFailed::Instead,
        acts_at_once: true,
        rotates_to_failed: true,
        keeps_server: false,
        ipv4_ends_retries: false,
        hosts_by_family: false,
        checks_domains: false,
        takes_uris: false,
        ..Self::V1_34_3
    };
    /// 1.34.3 to 1.34.6. Source: c-ares 1.34.6.
    pub(in crate::resolver) const V1_34_3: Self = Self {
        is_before_1_28: false,
        edns_size: 1232,
        retires: Retires::WithServer,
        first_failed_first: false,
        most_failures: u32::MAX,
        tries_failed: TriesFailed::Beside,
        probes_beside_failures: false,
        ends_lost_probes: false,
        acts_at_once: false,
        lists_all_retries: false,
        rotates_to_failed: false,
        keeps_server: true,
        closes_all_idle: true,
        tells_refused: true,
        measures: Measures::Milliseconds,
        without_cookies: Some(Duration::from_secs(120)),
        checks_connection: false,
        ipv4_ends_retries: true,
        single_labels_may_fail: true,
        hosts_by_family: true,
        ndots_can_be_0: true,
        usual_ndots: 1,
        asks_root: true,
        checks_domains: true,
        needs_interface: true,
        takes_uris: true,
        strict_files: false,
    };
    /// From 1.34.9 on. Source: c-ares 1.34.9.
    pub(in crate::resolver) const V1_34_9: Self = Self {
        retires: Retires::WithQuery,
        first_failed_first: true,
        most_failures: 16,
        probes_beside_failures: true,
        ends_lost_probes: true,
        lists_all_retries: true,
        without_cookies: Some(Duration::from_secs(300)),
        checks_connection: true,
        strict_files: true,
        ..Self::V1_34_3
    };
}

#[cfg(test)]
crate::resolver::mutation::neighbours!(
    Version: is_before_1_28 first_failed_first probes_beside_failures ends_lost_probes acts_at_once lists_all_retries rotates_to_failed keeps_server
    closes_all_idle tells_refused checks_connection ipv4_ends_retries single_labels_may_fail hosts_by_family
    ndots_can_be_0 asks_root checks_domains needs_interface takes_uris strict_files;
    edns_size: 600,
    retires: Retires::WithServer,
    tries_failed: TriesFailed::Never,
    measures: Measures::Rests,
    most_failures: 1,
    usual_ndots: 2,
    without_cookies: Some(Duration::ZERO)
);
