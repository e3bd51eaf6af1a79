//! What a program has that asks by itself, beside the C library.

use super::{guess, sure};
use crate::program::daemon::Names;
use crate::program::{Choice, Program};

/// Whom a program asks for the name `asked` that has the C library `id`, in `words`, and something
/// that asks by itself; `None`: the latter is not known.
pub(super) fn choice(
    program: &Program,
    asked: &str,
    id: &'static str,
    (words, how): (&str, &str),
) -> Option<Choice> {
    let name = program.name();
    let name = if name.is_empty() { "the program" } else { name };
    if program.maps("libjvm.") {
        return Some(of_jvm(program, id, words));
    }
    if let Some(choice) = of_grpc(program, id, words) {
        return Some(choice);
    }
    let runtime = RUNTIMES.iter().find(|(own, ..)| is_version_of(own, name));
    if let Some((_, asks, other)) = runtime {
        return Some(sure(id, format!("{asks} {words}; {other}")));
    }
    if let Some(names) = &program.daemon
        && let Some(choice) = of_daemon(names, asked, id, words)
    {
        return Some(choice);
    }
    let daemon = DAEMONS.iter().find(|(program, ..)| *program == name);
    if let Some((_, title, setting)) = daemon {
        let why = format!(
            "{title} asks {words} for the names that its configuration has as they are; with {setting} it asks by itself: --resolver {name}"
        );
        return Some(guess(id, why));
    }
    if let Some((_, asks)) = OWN.iter().find(|(own, _)| *own == name) {
        return Some(guess(id, format!("{name} has {words} {how}, but {asks}")));
    }
    let linked = program.executable.as_ref().filter(|it| it.has_c_ares);
    let mapped = OTHERS.iter().filter(|(file, _)| program.maps(file));
    let mapped = mapped.map(|(_, name)| *name);
    let mut others: Vec<&str> = linked.map(|_| "c-ares").into_iter().chain(mapped).collect();
    others.dedup();
    if !others.is_empty() {
        let others = others.join(" and ");
        let why = format!("{name} has {words} {how}, but also {others}, which asks by itself");
        return Some(guess(id, why));
    }
    None
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
#[rustfmt::skip]
const OWN: &[(&str, &str)] = &[
    ("squid", "asks the servers of resolv.conf by itself, with the search list only where dns_defnames is on"),
    ("fluent-bit", "its outputs ask a c-ares of its own, unless net.dns.resolver is LEGACY: --resolver c-ares is its nearest model"),
    ("dnsmasq", SERVER),
    ("named", SERVER),
    ("unbound", SERVER),
    ("pdns_recursor", SERVER),
    ("kresd", SERVER),
];

const SERVER: &str =
    "is a DNS server: what it sends on goes where its configuration says (kdns upstream)";

/// Daemons with a resolver of their own, which a setting brings into use.
const DAEMONS: &[(&str, &str, &str)] = &[
    ("nginx", "nginx", "a `resolver` directive"),
    ("haproxy", "HAProxy", "a `resolvers` section"),
];

/// Languages of which a part asks by itself: how their programs begin, what asks
/// the C library, and what does not.
///
/// Source of gRPC's: grpc-node `packages/grpc-js/src/resolver-dns.ts: lookup` (1.12). Observed were
/// Bun 1.1.45, 1.3.0, 1.3.14, 1.4.0 and 1.4.5, and Deno 2.9.6.
#[rustfmt::skip]
const RUNTIMES: &[(&str, &str, &str)] = &[
    ("node", "Node's dns.lookup asks", "its dns.resolve asks c-ares, which never searches: so does gRPC for TXT, and with GRPC_NODE_USE_ALTERNATIVE_RESOLVER=true for addresses"),
    ("bun", "what connects in Bun asks", "a c-ares of its own is asked by dns.lookup before 1.4, and by dns.resolve, which never searches: --resolver c-ares and node-resolve are their nearest models"),
    ("deno", "what connects in Deno asks", "its Deno.resolveDns and dns.resolve ask by themselves, with the search list: --resolver hickory is their nearest model"),
    ("ruby", "Ruby's sockets ask", "its Resolv asks by itself: --resolver ruby-resolv"),
    ("beam.smp", "what connects in Erlang asks", "its inet_res asks by itself: --resolver erlang-getbyname"),
    ("inet_gethost", "this program of Erlang asks", "inet_res asks by itself: --resolver erlang-getbyname"),
];

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
fn of_jvm(program: &Program, id: &'static str, words: &str) -> Choice {
    let jvm = format!("the JVM looks names up with {words}");
    let is_grpc = |it: &String| it.contains("grpc-core") || it.contains("grpc-netty");
    if program.maps("libio_grpc_netty_shaded_") || program.arguments.iter().any(is_grpc) {
        let grpc = "gRPC's channels ask it as well, and TXT by JNDI only where the property io.grpc.internal.DnsNameResolverProvider.enable_service_config is true";
        return guess(id, format!("{jvm}; {grpc}"));
    }
    let is_named = |it: &String| it.contains("netty");
    if program.maps("libnetty_") || program.arguments.iter().any(is_named) {
        let version = program.arguments.iter().find_map(|it| netty_version(it));
        let version = version.map(|it| format!("-{it}")).unwrap_or_default();
        let netty = "it has Netty, whose DnsNameResolver asks by itself where a program uses it";
        return guess(id, format!("{jvm}; {netty}: --resolver netty{version}"));
    }
    sure(id, format!("{jvm}; Netty's own resolver does not"))
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
fn of_grpc(program: &Program, id: &'static str, words: &str) -> Option<Choice> {
    let is_linked = program.executable.as_ref().is_some_and(|it| it.has_grpc);
    let libraries = ["libgrpc.", "libgrpc_unsecure.", "cygrpc.", "grpc_c."];
    if !is_linked && !libraries.iter().any(|it| program.maps(it)) {
        return None;
    }
    let resolver = program.env.get("GRPC_DNS_RESOLVER");
    let why = match resolver.map(String::as_str) {
        Some("native") => {
            format!("{words} is asked, also by gRPC: GRPC_DNS_RESOLVER was native at its start")
        }
        _ => format!(
            "{words} is asked, but gRPC is in it, which asks its own c-ares for the names of its channels where it was built with that: --resolver c-ares is its nearest model, without the SRV and TXT queries that service configurations add"
        ),
    };
    Some(guess(id, why))
}

/// What the configuration of a daemon tells: with a resolver it asks that for
/// some names and the C library for others, without one only the latter.
fn of_daemon(names: &Names, asked: &str, libc: &'static str, words: &str) -> Option<Choice> {
    let title = names.daemon.title();
    if let Some(section) = names.counting(asked) {
        let place = &section.place;
        if section.is_libc {
            let why = format!("{title} asks {words} for the cluster at {place}");
            return Some(guess(libc, why));
        }
        let why = format!(
            "{title} has a resolver at {place}; names that it does not give to that go to {words} when it starts: --resolver {libc}"
        );
        return Some(guess(names.daemon.id(), why));
    }
    let is_all = names.is_whole() && names.scripts.is_none();
    let why =
        format!("{title} has no resolver in its configuration, and asks {words} when it starts");
    is_all.then(|| sure(libc, why))
}
