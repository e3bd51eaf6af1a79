//! From what a program says about itself to the resolver that it uses.

mod beside;

use super::elf::{Executable, Family, Libc};
use super::go::{self, Build};
use super::{Beside, ByGo, Certainty, Choice, Program, Why, maps};
use crate::resolver::go::{V1_15, V1_19, V1_21, V1_22, V1_27, Version, hands_over_to_libc};
use crate::resolver::{self, Likeness};
use crate::scenario::Scenario;
use crate::scenario::own::Daemon;

/// Which resolver the program asks for the scenario's name. The first rule
/// that fits counts.
///
/// A cgo program of Go decides by the name and the files, hence the scenario.
pub fn choose(program: &Program, scenario: &Scenario) -> Choice {
    let rules = [of_tool, of_busybox];
    let by_rule = rules.iter().find_map(|rule| rule(program));
    let by_rule = by_rule.or_else(|| of_envoy(program, &scenario.name));
    let executable = program.executable.as_ref();
    let mut choice = by_rule
        .or_else(|| Some(of_go(program, executable?.go.as_ref()?, scenario)))
        .or_else(|| of_hickory(executable?))
        .unwrap_or_else(|| of_libc(program, &scenario.name));
    let chosen = choice.resolver.and_then(resolver::find);
    if let Some((chosen, version)) = chosen.and_then(|it| Some((it, version(program, it.family)?)))
        && let likeness = resolver::likeness(chosen, &version)
        && likeness != Likeness::Observed
    {
        choice.likeness = Some(likeness);
    }
    choice
}

/// The version of this family that the program has: as many of its numbers as lookups
/// can differ by.
fn version(program: &Program, family: &str) -> Option<String> {
    let executable = program.executable.as_ref();
    match family {
        "glibc" | "musl" => libc_of(program)?.version,
        "go" => Some(format!("1.{}", executable?.go.as_ref()?.minor()?)),
        "hickory" => executable?.hickory.clone(),
        "busybox-nslookup" => executable?.busybox.clone(),
        "dig" | "dig-search" | "host" | "nslookup" => bind_version(program),
        _ => None,
    }
}

/// The resolvers that are in the program or mapped by it, whichever it asks:
/// each is of the version that it has.
pub fn versions(program: &Program) -> Vec<&'static str> {
    let build = program.executable.as_ref().and_then(|it| it.go.as_ref());
    let libc = libc_of(program).filter(|it| it.version.is_some());
    let of_libc = libc.as_ref().map(libc_id);
    let of_tool = of_tool(program).and_then(|it| it.resolver);
    of_libc
        .into_iter()
        .chain(of_tool)
        .chain(build.map(|it| model(it).0))
        .chain(of_c_ares(program))
        .collect()
}

/// The c-ares that is mapped, as `ares_getaddrinfo` and as `ares_search`: the
/// nearest one of the versions that are known, or the newest.
fn of_c_ares(program: &Program) -> impl Iterator<Item = &'static str> {
    let version = program.libraries.iter().find_map(|it| c_ares_version(it));
    let version = version.unwrap_or_default();
    let calls = ["", "-search"].into_iter();
    calls.filter_map(move |call| Some(resolver::find(&format!("c-ares{version}{call}"))?.id))
}

/// `-1.34.5`: which c-ares it is. The number of its interface and its correction are in the
/// name of its file.
///
/// Source: c-ares, `CMakeLists.txt` `CARES_LIB_VERSIONINFO`: 1.18.1 is `libcares.so.2.5.1`,
/// 1.27.0 is `libcares.so.2.12.0`, 1.34.5 is `libcares.so.2.19.4`; 1.34.1 and 1.34.2 have
/// the same number.
fn c_ares_version(path: &str) -> Option<String> {
    let name = path.rsplit('/').next()?.strip_prefix("libcares.so.2.")?;
    let mut numbers = name.split(['.', ' ']).map(str::parse::<u8>);
    let interface = u32::from(numbers.next()?.ok()?);
    let correction = u32::from(numbers.next().and_then(Result::ok).unwrap_or_default());
    let minor = match interface {
        ..=6 => 18,
        7 => 20,
        8..=10 => interface + 14,
        _ => interface + 15,
    };
    let patch = correction + u32::from(minor == 34);
    Some(format!("-1.{minor}.{patch}"))
}

fn sure(resolver: &'static str, why: Why) -> Choice {
    Choice {
        resolver: Some(resolver),
        certainty: Certainty::Sure,
        why,
        has_grpc: false,
        likeness: None,
    }
}

fn guess(resolver: &'static str, why: Why) -> Choice {
    Choice {
        certainty: Certainty::Guess,
        ..sure(resolver, why)
    }
}

/// The tools of BIND read resolv.conf for themselves.
fn of_tool(program: &Program) -> Option<Choice> {
    let tools = ["dig", "host", "nslookup"];
    let name = program.name();
    let tool = tools.into_iter().find(|it| *it == name)?;
    let has_search = program.arguments.iter().any(|it| it == "+search");
    let family = if has_search && tool == "dig" {
        "dig-search"
    } else {
        tool
    };
    let version = bind_version(program);
    let found = version.and_then(|version| resolver::of_version(family, &version));
    let id = found.map_or(family, |it| it.id);
    let is_old = found.is_some_and(|it| it.id.ends_with("-9.11"));
    let name = name.to_owned();
    let choice = if is_old { guess } else { sure };
    Some(choice(id, Why::Bind { name, is_old }))
}

/// The first two numbers of BIND's version. Debian's libraries have it in their names:
/// `libdns-9.20.9-1-Debian.so`. liblwres was left out in 9.12.
fn bind_version(program: &Program) -> Option<String> {
    program.libraries.iter().find_map(|path| {
        let file = path.rsplit('/').next()?;
        if file.starts_with("liblwres.so") {
            return Some("9.11".to_owned());
        }
        let rest = file.strip_prefix("libdns-9.")?;
        Some(format!("9.{}", rest.split(['.', '-']).next()?))
    })
}

/// Only nslookup has a resolver of its own; the other applets ask libc.
///
/// Source: busybox `networking/nslookup.c`, `libbb/xconnect.c` `str2sockaddr`.
fn of_busybox(program: &Program) -> Option<Choice> {
    let version = program.executable.as_ref()?.busybox.as_ref()?;
    let mut words = program
        .arguments
        .iter()
        .map(|it| it.rsplit('/').next().unwrap_or_default());
    let called = words.next().unwrap_or_default();
    let applet = if called == "busybox" {
        words.next().unwrap_or_default()
    } else {
        called
    };
    let found = resolver::of_version("busybox-nslookup", version)?;
    // Older ones ask libc, too.
    let has_own = resolver::likeness(found, version) != Likeness::Older;
    let is_it = applet == "nslookup" && has_own;
    is_it.then(|| sure(found.id, Why::Busybox(version.clone())))
}

/// Envoy asks its own c-ares, unless a cluster's configuration says otherwise.
///
/// Source: Envoy `source/extensions/network/dns_resolver/cares/dns_impl.cc` (1.36)
fn of_envoy(program: &Program, asked: &str) -> Option<Choice> {
    if Daemon::of_program(program.name()) != Some(Daemon::Envoy) {
        return None;
    }
    let section = program.daemon.as_ref().and_then(|it| it.counting(asked));
    if section.is_some_and(|it| it.is_libc) {
        return None;
    }
    let place = section.map(|it| it.place.clone());
    Some(guess("envoy", Why::Envoy(place)))
}

fn of_hickory(executable: &Executable) -> Option<Choice> {
    let version = executable.hickory.as_ref()?;
    let found = resolver::of_version("hickory", version);
    let id = found.map_or("hickory", |it| it.id);
    Some(guess(id, Why::Hickory(version.clone())))
}

/// What Go's own rules say, and that gRPC in it asks the same, and more.
///
/// Source: grpc-go `internal/resolver/dns/dns_resolver.go: lookupHost, lookupTXT` (1.60)
fn of_go(program: &Program, build: &Build, scenario: &Scenario) -> Choice {
    Choice {
        has_grpc: build.has_grpc,
        ..of_net(program, build, scenario)
    }
}

/// Go asks libc only where cgo is linked in and something tells it to.
///
/// Source: Go `src/net/conf.go: mustUseGoResolver, lookupOrder`.
fn of_net(program: &Program, build: &Build, scenario: &Scenario) -> Choice {
    let (id, version) = model(build);
    let why = |by| Why::Go {
        version: build.version.clone(),
        by,
    };
    let own = |by| sure(id, why(by));
    let libc = libc_of(program);
    if build.has_tag("netgo") {
        return own(ByGo::Netgo);
    }
    if build.cgo == Some(false) {
        return own(ByGo::NoCgo);
    }
    let is_dynamic = program
        .executable
        .as_ref()
        .is_some_and(|it| it.interpreter.is_some());
    if libc.is_none() && !is_dynamic {
        return own(ByGo::NoLibc);
    }
    let other = libc.as_ref().map_or("glibc", libc_id);
    let env = program.env.get("GODEBUG").map(String::as_str);
    match env
        .and_then(go::netdns)
        .or_else(|| go::netdns(&build.godebug))
    {
        Some("go") => return own(ByGo::Godebug("go")),
        Some(_) => return sure(other, why(ByGo::Godebug("cgo"))),
        None if build.has_tag("netcgo") => return sure(other, why(ByGo::Netcgo)),
        None => {}
    }
    match hands_over_to_libc(scenario, version) {
        // `Resolver.PreferGo` is not to be seen from outside.
        Some(reason) => guess(other, why(ByGo::LeftToLibc(reason))),
        None => own(ByGo::Nothing),
    }
}

/// The version that does as this one.
fn model(build: &Build) -> (&'static str, &'static Version) {
    match build.minor() {
        Some(..19) => ("go-1.15", &V1_15),
        Some(19 | 20) => ("go-1.19", &V1_19),
        Some(21) => ("go-1.21", &V1_21),
        Some(22) => ("go-1.22", &V1_22),
        _ => ("go-1.27", &V1_27),
    }
}

/// What is left asks the C library.
fn of_libc(program: &Program, asked: &str) -> Choice {
    let Some(libc) = libc_of(program) else {
        return unknown(program);
    };
    let id = libc_id(&libc);
    let is_linked = program
        .executable
        .as_ref()
        .is_some_and(|it| it.interpreter.is_none());
    let is_unsure = libc.family == Family::Musl && libc.version.is_none();
    let (resolver, certainty, beside) = match beside::found(program, asked, id) {
        Some(found) => found,
        None if is_unsure => (id, Certainty::Guess, Beside::Nothing),
        None => (id, Certainty::Sure, Beside::Nothing),
    };
    let why = Why::Libc {
        name: program.name().to_owned(),
        libc,
        is_linked,
        beside,
    };
    Choice {
        certainty,
        ..sure(resolver, why)
    }
}

/// The C library: as its own file says, else by the names of files.
fn libc_of(program: &Program) -> Option<Libc> {
    let by_name = || program.libraries.iter().find_map(|it| maps::libc_of(it));
    let executable = program.executable.as_ref();
    let of_loader = || {
        let loader = executable?.interpreter.as_deref()?;
        maps::libc_of(loader).or_else(|| loader.contains("/ld-linux").then_some(Family::Glibc))
    };
    let family = |family| Libc {
        family,
        version: None,
    };
    program
        .libc
        .clone()
        .or_else(|| by_name().map(family))
        .or_else(|| of_loader().map(family))
        .or_else(|| executable?.libc.clone())
}

/// The one whose versions it is among, or the one that most have.
fn libc_id(libc: &Libc) -> &'static str {
    let (family, usual) = match libc.family {
        Family::Glibc => ("glibc", "glibc"),
        Family::Musl => ("musl", "musl-1.2.5"),
    };
    let version = libc.version.as_deref();
    let found = version.and_then(|version| resolver::of_version(family, version));
    found.map_or(usual, |it| it.id)
}

fn unknown(program: &Program) -> Choice {
    let executable = program.executable.as_ref();
    if executable.is_some_and(|it| it.interpreter.is_none() && it.names_resolv_conf) {
        return guess("musl-1.2.5", Why::Static);
    }
    let loader = executable.and_then(|it| it.interpreter.as_ref());
    let mut files = program.libraries.iter().chain(loader);
    let why = match (
        files.find_map(|it| maps::other_libc(it)),
        program.skipped.first(),
    ) {
        (Some(other), _) => Why::OtherLibc(other),
        (None, Some(reason)) => Why::Unread(reason.clone()),
        (None, None) if executable.is_some() => Why::NoResolver,
        (None, None) => Why::NoProgram,
    };
    Choice {
        resolver: None,
        ..guess("", why)
    }
}

#[cfg(test)]
mod tests;
