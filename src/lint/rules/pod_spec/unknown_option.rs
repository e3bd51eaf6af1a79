#![doc = include_str!("unknown_option.md")]

use super::spec::options;
use crate::lint::rules::prelude::*;

pub(super) fn check(workload: &Workload<'_>, _: &Context<'_>, report: &mut Report) {
    for option in options(workload) {
        let name = option.name();
        let plain = name.split(':').next().unwrap_or_default();
        if plain.is_empty() || has_placeholder(name) || KNOWN.contains(&plain) {
            continue;
        }
        let finding = report.add(
            workload.at(option.name.unwrap_or(option.node)),
            format!("no resolver knows the option {name}"),
        );
        finding.note("it stands in the pod's file and has no effect");
        let shape = |it: &str| it.replace(['-', '_'], "").to_ascii_lowercase();
        let meant = KNOWN.iter().find(|it| {
            let (known, own) = (shape(it), shape(plain));
            known == own || known.strip_suffix('s') == Some(own.as_str())
        });
        match meant {
            Some(meant) => finding.help(format!("write {meant}")),
            None => finding.help("remove it, or look it up in resolv.conf(5)"),
        };
    }
}

/// The options of glibc, of Go, of BIND's older resolvers and of the BSDs.
///
/// Source: glibc `resolv/res_init.c: res_setoptions`; Go
/// `src/net/dnsconfig_unix.go: dnsReadConfig`; resolv.conf(5) of FreeBSD and OpenBSD.
const KNOWN: [&str; 26] = [
    "ndots",
    "timeout",
    "attempts",
    "rotate",
    "debug",
    "no-check-names",
    "inet6",
    "ip6-bytestring",
    "ip6-dotint",
    "no-ip6-dotint",
    "edns0",
    "single-request",
    "single-request-reopen",
    "no-tld-query",
    "no_tld_query",
    "use-vc",
    "no-reload",
    "trust-ad",
    "no-aaaa",
    "usevc",
    "tcp",
    "insecure1",
    "insecure2",
    "reload-period",
    "retrans",
    "retry",
];
