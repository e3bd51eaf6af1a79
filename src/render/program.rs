//! Why a process uses a resolver, in words.

use super::resolver;
use crate::program::elf::{Family, Libc};
use crate::program::{Beside, ByGo, Certainty, Choice, Why};

/// Which resolver a target has, and why, without a full stop.
pub fn choice(choice: &Choice) -> String {
    let mut why = reason(&choice.why);
    if choice.has_grpc {
        why += "; gRPC in it asks the same for its channels, and TXT for _grpc_config and the name, with the search list, unless the program turns that off";
    }
    if let Some(likeness) = choice.likeness {
        why.extend(["; ", resolver::likeness(likeness)]);
    }
    match (choice.resolver, choice.certainty) {
        (Some(id), Certainty::Sure) => format!("its resolver is {id}: {why}"),
        (Some(id), Certainty::Guess) => format!("its resolver is probably {id}: {why}"),
        (None, _) => format!("its resolver cannot be told: {why}"),
    }
}

fn reason(why: &Why) -> String {
    match why {
        Why::Bind { name, is_old } => {
            let old = if *is_old {
                "; it is of 9.11 or older"
            } else {
                ""
            };
            format!("{name} is a tool of BIND, which reads resolv.conf itself{old}")
        }
        Why::Busybox(version) => format!("nslookup of BusyBox {version}"),
        Why::Envoy(place) => {
            let so = match place {
                Some(place) => format!("as the cluster at {place} has it"),
                None => "unless its configuration says otherwise".to_owned(),
            };
            format!("Envoy asks its own c-ares, {so}; read in Envoy's source, not observed")
        }
        Why::Hickory(version) => {
            format!("hickory-resolver {version} is in it; the program can also ask libc")
        }
        Why::Go { version, by } => by_go(version, by),
        Why::Libc {
            name,
            libc,
            is_linked,
            beside,
        } => {
            let name = if name.is_empty() { "the program" } else { name };
            let how = if *is_linked { "linked in" } else { "mapped" };
            self::beside(name, &self::libc(libc), how, beside)
        }
        Why::Static => {
            "a static program that reads resolv.conf; most of these have musl".to_owned()
        }
        Why::OtherLibc(libc) => format!("its C library is {libc}, of which there is no model"),
        Why::Unread(reason) => reason.clone(),
        Why::NoResolver => "no resolver that is known here is in its program".to_owned(),
        Why::NoProgram => "its program is not known".to_owned(),
    }
}

fn by_go(version: &str, by: &ByGo) -> String {
    let name = if version.is_empty() { "Go" } else { version };
    let by = match by {
        ByGo::Netgo => "the tag netgo leaves out libc",
        ByGo::NoCgo => "without cgo there is only Go's resolver",
        ByGo::NoLibc => "no libc is linked in, so there is only Go's resolver",
        ByGo::Godebug(whom) => &format!("GODEBUG has netdns={whom}"),
        ByGo::Netcgo => "the tag netcgo asks libc",
        ByGo::Nothing => "it could ask libc, but nothing here tells it to",
        ByGo::LeftToLibc(reason) => {
            return format!("built with {name} and cgo, which leaves this to libc: {reason}");
        }
    };
    format!("built with {name}: {by}")
}

fn libc(libc: &Libc) -> String {
    let name = match libc.family {
        Family::Glibc => "glibc",
        Family::Musl => "musl",
    };
    let version = libc.version.as_ref();
    version.map_or_else(|| name.to_owned(), |it| format!("{name} {it}"))
}

fn beside(name: &str, libc: &str, how: &str, beside: &Beside) -> String {
    let jvm = format!("the JVM looks names up with {libc}");
    match beside {
        Beside::Nothing => format!("{name} has {libc} {how}"),
        Beside::Jvm => format!("{jvm}; Netty's own resolver does not"),
        Beside::JvmGrpc => format!(
            "{jvm}; gRPC's channels ask it as well, and TXT by JNDI only where the property io.grpc.internal.DnsNameResolverProvider.enable_service_config is true"
        ),
        Beside::JvmNetty(version) => {
            let version = version.as_ref().map(|it| format!("-{it}"));
            format!(
                "{jvm}; it has Netty, whose DnsNameResolver asks by itself where a program uses it: --resolver netty{}",
                version.unwrap_or_default()
            )
        }
        Beside::Grpc { is_native: true } => {
            format!("{libc} is asked, also by gRPC: GRPC_DNS_RESOLVER was native at its start")
        }
        Beside::Grpc { is_native: false } => format!(
            "{libc} is asked, but gRPC is in it, which asks its own c-ares for the names of its channels where it was built with that: --resolver c-ares is its nearest model, without the SRV and TXT queries that service configurations add"
        ),
        Beside::Runtime(runtime) => {
            let (asks, other) = of_runtime(runtime);
            format!("{asks} {libc}; {other}")
        }
        Beside::Daemon(daemon) => {
            let (title, setting) = match *daemon {
                "haproxy" => ("HAProxy", "a `resolvers` section"),
                title => (title, "a `resolver` directive"),
            };
            format!(
                "{title} asks {libc} for the names that its configuration has as they are; with {setting} it asks by itself: --resolver {name}"
            )
        }
        Beside::Cluster { daemon, place } => {
            format!("{} asks {libc} for the cluster at {place}", daemon.title())
        }
        Beside::Resolver {
            daemon,
            place,
            libc: model,
        } => format!(
            "{} has a resolver at {place}; names that it does not give to that go to {libc} when it starts: --resolver {model}",
            daemon.title()
        ),
        Beside::NoResolver(daemon) => format!(
            "{} has no resolver in its configuration, and asks {libc} when it starts",
            daemon.title()
        ),
        Beside::Own(own) => format!("{name} has {libc} {how}, but {}", of_own(own)),
        Beside::Libraries(others) => format!(
            "{name} has {libc} {how}, but also {}, which asks by itself",
            others.join(" and ")
        ),
    }
}

/// What of a language asks the C library, and what does not.
#[rustfmt::skip]
fn of_runtime(runtime: &str) -> (&'static str, &'static str) {
    match runtime {
        "node" => ("Node's dns.lookup asks", "its dns.resolve asks c-ares, which never searches: so does gRPC for TXT, and with GRPC_NODE_USE_ALTERNATIVE_RESOLVER=true for addresses"),
        "bun" => ("what connects in Bun asks", "a c-ares of its own is asked by dns.lookup before 1.4, and by dns.resolve, which never searches: --resolver c-ares and node-resolve are their nearest models"),
        "deno" => ("what connects in Deno asks", "its Deno.resolveDns and dns.resolve ask by themselves, with the search list: --resolver hickory is their nearest model"),
        "ruby" => ("Ruby's sockets ask", "its Resolv asks by itself: --resolver ruby-resolv"),
        "beam.smp" => ("what connects in Erlang asks", "its inet_res asks by itself: --resolver erlang-getbyname"),
        _ => ("this program of Erlang asks", "inet_res asks by itself: --resolver erlang-getbyname"),
    }
}

fn of_own(program: &str) -> &'static str {
    match program {
        "squid" => {
            "asks the servers of resolv.conf by itself, with the search list only where dns_defnames is on"
        }
        "fluent-bit" => {
            "its outputs ask a c-ares of its own, unless net.dns.resolver is LEGACY: --resolver c-ares is its nearest model"
        }
        _ => "is a DNS server: what it sends on goes where its configuration says (kdns upstream)",
    }
}
