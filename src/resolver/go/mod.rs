//! Go's own resolver, in package `net`: what programs built without cgo use,
//! CoreDNS and the kubelet among them, and what `GODEBUG=netdns=go` forces.
//!
//! The files follow Go's: `read` is `dnsconfig_unix.go`, `order` `conf.go`,
//! `nss` `nss.go`, `hosts` `hosts.go`, `host` `lookup.go`, `client`
//! and `exchange` `dnsclient_unix.go`, `name` `dnsclient.go`, `parse` `parse.go` and `ip.go`.
//!
//! A and AAAA of a candidate are asked by two goroutines at once, so which of
//! the two is first on the wire is a race. The goroutine that was started last
//! wins it nearly always: AAAA, then A, stands for both in a prediction.

mod client;
mod exchange;
mod host;
mod hosts;
mod name;
mod nss;
mod order;
mod parse;
mod read;

use std::rc::Rc;

use crate::engine::io::Io;
use crate::engine::machine::Outcome;
use crate::resolver::reading::Reading;
use crate::scenario::Scenario;

/// What differs between versions of package `net`.
#[derive(Clone, Copy, Debug)]
pub struct Version {
    /// Whether queries have an OPT record (`dnsclient_unix.go: newRequest`).
    edns: bool,
    /// Whether `GODEBUG=netedns0=0` takes it away (`dnsclient_unix.go: netedns0`).
    knows_netedns0: bool,
    /// Whether `LookupIP` asks for both families whichever is wanted
    /// (`dnsclient_unix.go: goLookupIPCNAMEOrder`).
    asks_both_families: bool,
    /// Whether `.` is no name (`dnsclient.go: isDomainName`).
    root_is_no_name: bool,
    /// Whether the numbers of an IPv4 address may begin with zeros
    /// (`ip.go: parseIPv4`).
    leading_zeros: bool,
    /// Whether DNS comes first where nsswitch.conf names no sources
    /// (`conf.go: hostLookupOrder`).
    dns_without_sources: bool,
    /// Whether texts are addresses when `netip.ParseAddr` says so: zones are
    /// not empty and begin at the first `%`. Earlier `ip.go: parseIPv6Zone` did.
    netip: bool,
    /// Whether a group of an IPv6 address may have more than four digits, which
    /// `netip.ParseAddr` does not let it have since 1.23 (observed).
    long_groups: bool,
    /// Whether `trust-ad`, `edns0` and `no-reload` are known
    /// (`dnsconfig_unix.go: dnsReadConfig`).
    knows_trust_ad: bool,
    /// Whether `.` stays in the search list, where it makes a name that does
    /// not fit a message (`dnsconfig_unix.go: dnsReadConfig`).
    keeps_root_in_search: bool,
    /// Whether what would make a cgo build use libc makes the Go resolver read
    /// the hosts file first, whatever nsswitch.conf says (`conf.go: hostLookupOrder`).
    unusual_means_files_dns: bool,
    /// Whether every `.local` name is for libc, not only with an mdns source
    /// (`conf.go: hostLookupOrder`).
    local_is_for_libc: bool,
    /// What `conf.go: isGateway` and `isOutbound` know as names that the
    /// myhostname source answers.
    gateway_names: &'static [&'static str],
    /// Whether a name that is not in the hosts file is an empty success if
    /// that is the only source (`dnsclient_unix.go: goLookupHostOrder`).
    files_alone_find_nothing: bool,
    /// Whether `LookupIP` looks up the empty name (`lookup.go: LookupIP`).
    empty_name_has_addresses: bool,
    /// Whether `.onion` is looked for in the name that was given, not in
    /// each candidate (`dnsclient_unix.go: nameList`).
    onion_by_given_name: bool,
    /// Whether a name of 254 bytes with a final dot is never asked
    /// (`dnsclient_unix.go: nameList`).
    refuses_254_bytes: bool,
    /// Whether an additional record, OPT among them, keeps an empty answer
    /// from being a lame referral (`dnsclient_unix.go: checkHeader`).
    additional_is_not_lame: bool,
    /// Whether a truncated answer over TCP is taken as it is
    /// (`dnsclient_unix.go: exchange`).
    takes_truncated_tcp: bool,
    /// Whether a name in an answer with a dot inside a label is an error
    /// (`dnsmessage: Name.unpack`).
    refuses_dots_in_labels: bool,
}

/// Go 1.15, as in Debian 11.
pub const V1_15: Version = Version {
    edns: false,
    asks_both_families: true,
    root_is_no_name: true,
    leading_zeros: true,
    dns_without_sources: true,
    ..V1_19
};

/// Go 1.19, of August 2022.
pub const V1_19: Version = Version {
    edns: true,
    knows_netedns0: false,
    asks_both_families: false,
    root_is_no_name: false,
    leading_zeros: false,
    dns_without_sources: false,
    netip: false,
    long_groups: true,
    knows_trust_ad: false,
    keeps_root_in_search: true,
    unusual_means_files_dns: true,
    local_is_for_libc: true,
    gateway_names: &["gateway"],
    files_alone_find_nothing: true,
    empty_name_has_addresses: true,
    onion_by_given_name: true,
    refuses_254_bytes: true,
    additional_is_not_lame: false,
    takes_truncated_tcp: false,
    refuses_dots_in_labels: false,
};

/// Go 1.21, of August 2023.
pub const V1_21: Version = Version {
    onion_by_given_name: true,
    ..V1_22
};

/// Go 1.22, of February 2024.
pub const V1_22: Version = Version {
    long_groups: true,
    local_is_for_libc: true,
    additional_is_not_lame: false,
    takes_truncated_tcp: false,
    ..V1_27
};

/// Go 1.27, of August 2026; the same since 1.23.
pub const V1_27: Version = Version {
    edns: true,
    knows_netedns0: true,
    asks_both_families: false,
    root_is_no_name: false,
    leading_zeros: false,
    dns_without_sources: false,
    netip: true,
    long_groups: false,
    knows_trust_ad: true,
    keeps_root_in_search: false,
    unusual_means_files_dns: false,
    local_is_for_libc: false,
    gateway_names: &["_gateway", "_outbound"],
    files_alone_find_nothing: false,
    empty_name_has_addresses: false,
    onion_by_given_name: false,
    refuses_254_bytes: false,
    additional_is_not_lame: true,
    takes_truncated_tcp: true,
    refuses_dots_in_labels: true,
};

/// The lookup of `scenario`: `net.LookupHost`, with one family `LookupIP`, with
/// a record type `LookupMX` and its like.
pub async fn lookup(io: Rc<Io>, scenario: &Scenario, version: &'static Version) -> Outcome {
    match host::lookup(io, scenario, version).await {
        Ok(addresses) => Outcome::Found(addresses),
        Err(error) => Outcome::Failed(error),
    }
}

/// What it takes from the configuration.
pub fn reading<'a>(scenario: &'a Scenario, version: &'static Version) -> Reading<'a> {
    read::dns_read_config(scenario, version).reading
}

/// Why a program built with cgo would ask libc for the scenario's name instead;
/// `None` if it would not.
///
/// Without cgo (`CGO_ENABLED=0`, the tag `netgo`), with `GODEBUG=netdns=go` and
/// with `Resolver.PreferGo` Go's own resolver is always used.
pub fn hands_over_to_libc(scenario: &Scenario, version: &'static Version) -> Option<String> {
    order::reason_for_cgo(scenario, version)
}

#[cfg(test)]
super::mutation::neighbours!(
    Version: edns knows_netedns0 asks_both_families root_is_no_name leading_zeros dns_without_sources netip long_groups knows_trust_ad
    keeps_root_in_search unusual_means_files_dns local_is_for_libc files_alone_find_nothing
    empty_name_has_addresses onion_by_given_name refuses_254_bytes additional_is_not_lame takes_truncated_tcp
    refuses_dots_in_labels;
    gateway_names: &[]
);
