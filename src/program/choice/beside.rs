//! What a program has that asks by itself, beside the C library.

use crate::program::daemon::Names;
use crate::program::{Beside, Certainty, Program};

/// The resolver that is asked, how sure that is, and what the program has.
type Found = (&'static str, Certainty, Beside);

/// Whom a program asks for the name `asked` that has the C library `libc` and something that
/// asks by itself; `None`: the latter is not known.
pub(super) fn found(program: &Program, asked: &str, libc: &'static str) -> Option<Found> {
    let name = program.name();
    if program.maps("libjvm.") {
        let jvm = of_jvm(program);
        let is_sure = jvm == Beside::Jvm;
        let certainty = if is_sure {
            Certainty::Sure
        } else {
            Certainty::Guess
        };
        return Some((libc, certainty, jvm));
    }
    let guess = |it| Some((libc, Certainty::Guess, it));
    if let Some(grpc) = of_grpc(program) {
        return guess(grpc);
    }
    let runtime = RUNTIMES.iter().find(|own| is_version_of(own, name));
    if let Some(runtime) = runtime {
        return Some((libc, Certainty::Sure, Beside::Runtime(runtime)));
    }
    if let Some(names) = &program.daemon
        && let Some(found) = of_daemon(names, asked, libc)
    {
        return Some(found);
    }
    if let Some(daemon) = DAEMONS.iter().find(|it| **it == name) {
        return guess(Beside::Daemon(daemon));
    }
    if let Some(own) = OWN.iter().find(|it| **it == name) {
        return guess(Beside::Own(own));
    }
    let linked = program.executable.as_ref().filter(|it| it.has_c_ares);
    let mapped = OTHERS.iter().filter(|(file, _)| program.maps(file));
    let mapped = mapped.map(|(_, name)| *name);
    let mut others: Vec<&str> = linked.map(|_| "c-ares").into_iter().chain(mapped).collect();
    others.dedup();
    if others.is_empty() {
        return None;
    }
    guess(Beside::Libraries(others))
}

/// Libraries that ask by themselves, and how it comes that a program has them.
const OTHERS: &[(&str, &str)] = &[
    ("libcares.", "c-ares"),
    // pycares, which aiodns and so aiohttp's asynchronous resolver use, brings its own.
    ("_cares.", "c-ares"),
    ("libunbound.", "libunbound"),
    ("libldns.", "ldns"),
    ("libgetdns.", "getdns"),
    ("libudns.", "udns"),
    ("libadns.", "adns"),
    ("libdns-", "libdns of BIND"),
];

/// Programs that ask by themselves, with nothing that could be seen in them.
///
/// Source: Squid `src/dns_internal.cc: idnsParseResolvConf` and its directive `dns_defnames`
/// (6); Fluent Bit's documentation of `net.dns.resolver` (3)
const OWN: [&str; 7] = [
    "squid",
    "fluent-bit",
    "dnsmasq",
    "named",
    "unbound",
    "pdns_recursor",
    "kresd",
];

/// Daemons with a resolver of their own, which a setting brings into use.
const DAEMONS: [&str; 2] = ["nginx", "haproxy"];

/// Languages of which a part asks by itself: how their programs begin.
///
/// Source of gRPC's: grpc-node `packages/grpc-js/src/resolver-dns.ts: lookup` (1.12). Observed were
/// Bun 1.1.45, 1.3.0, 1.3.14, 1.4.0 and 1.4.5, and Deno 2.9.6.
const RUNTIMES: [&str; 6] = ["node", "bun", "deno", "ruby", "beam.smp", "inet_gethost"];

/// Whether a program is called so, or so with a version: `ruby3.1`. `nodejs` is
/// Debian's name, and `node_exporter` another program.
fn is_version_of(own: &str, name: &str) -> bool {
    let is_version = |it: &str| it.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    name.strip_prefix(own)
        .is_some_and(|rest| rest == "js" || is_version(rest))
}

/// The JVM asks the C library, also for gRPC; what Netty gives a program is told by its files.
///
/// Source: grpc-java `core/src/main/java/io/grpc/internal/DnsNameResolver.java`
/// (`JdkAddressResolver`, `JNDI_TXT_PROPERTY`)
fn of_jvm(program: &Program) -> Beside {
    let is_grpc = |it: &String| it.contains("grpc-core") || it.contains("grpc-netty");
    if program.maps("libio_grpc_netty_shaded_") || program.arguments.iter().any(is_grpc) {
        return Beside::JvmGrpc;
    }
    let is_named = |it: &String| it.contains("netty");
    if program.maps("libnetty_") || program.arguments.iter().any(is_named) {
        let version = program.arguments.iter().find_map(|it| netty_version(it));
        return Beside::JvmNetty(version.map(str::to_owned));
    }
    Beside::Jvm
}

/// Of a class path: `/app/netty-resolver-dns-4.1.100.Final.jar`.
fn netty_version(words: &str) -> Option<&str> {
    let names = ["netty-resolver-dns-", "netty-all-"];
    let (_, rest) = names.iter().find_map(|it| words.split_once(it))?;
    let end = rest.find(|it: char| !it.is_ascii_digit() && it != '.')?;
    let version = rest.get(..end)?.trim_end_matches('.');
    (!version.is_empty()).then_some(version)
}

/// gRPC's core, which languages but Go, Java and Node share, asks by a c-ares of
/// its own.
///
/// Source: gRPC `src/core/resolver/dns/dns_resolver_plugin.cc`, `doc/environment_variables.md`
fn of_grpc(program: &Program) -> Option<Beside> {
    let is_linked = program.executable.as_ref().is_some_and(|it| it.has_grpc);
    let libraries = ["libgrpc.", "libgrpc_unsecure.", "cygrpc.", "grpc_c."];
    if !is_linked && !libraries.iter().any(|it| program.maps(it)) {
        return None;
    }
    let resolver = program.env.get("GRPC_DNS_RESOLVER");
    let is_native = resolver.is_some_and(|it| it == "native");
    Some(Beside::Grpc { is_native })
}

/// What the configuration of a daemon tells: with a resolver it asks that for
/// some names and the C library for others, without one only the latter.
fn of_daemon(names: &Names, asked: &str, libc: &'static str) -> Option<Found> {
    let daemon = names.daemon;
    if let Some(section) = names.counting(asked) {
        let place = section.place.clone();
        return Some(if section.is_libc {
            let cluster = Beside::Cluster { daemon, place };
            (libc, Certainty::Guess, cluster)
        } else {
            let resolver = Beside::Resolver {
                daemon,
                place,
                libc,
            };
            (daemon.id(), Certainty::Guess, resolver)
        });
    }
    let is_all = names.is_whole() && names.scripts.is_none();
    is_all.then_some((libc, Certainty::Sure, Beside::NoResolver(daemon)))
}
