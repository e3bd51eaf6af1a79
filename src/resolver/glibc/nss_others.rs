//! The modules of nsswitch.conf that are not part of glibc: what each says of a name.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::rc::Rc;

use hickory_proto::rr::RecordType;

use crate::address::Address;
use crate::config::resolv_conf::ResolvConf;
use crate::engine::machine::Outcome;
use crate::engine::message::{Because, Data};
use crate::resolver::glibc::V2_36;
use crate::resolver::glibc::nss_dns::Found;
use crate::resolver::glibc::nsswitch::{Service, Status, hosts_database};
use crate::resolver::glibc::res_query::{Kind, context_query};
use crate::resolver::glibc::res_send::iclose;
use crate::resolver::glibc::thread::{Errno, HostError, Thread};
use crate::resolver::resolved::{self, Door, LOCAL_ADDRESSES};
use crate::scenario::{Family, Lookup, MDNS_ALLOW, NssModule, Scenario};

/// So many modules of a line are looked for.
const MAX_NAMED: usize = 16;

/// Longest name of a module that is looked for.
const MAX_NAME: usize = 64;

/// The modules on the hosts line of a file that are not part of glibc, and can be
/// part of a file's name: those to look for.
pub fn named(file: &ResolvConf) -> Vec<String> {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-".contains(byte);
    let services = hosts_database(Some(file), &V2_36).unwrap_or_default();
    let others = services.iter().filter(|it| !is_own(it.module));
    let others = others.map(|it| it.module);
    others
        .filter(|it| it.len() <= MAX_NAME && it.iter().all(is_plain))
        .take(MAX_NAMED)
        .map(|it| String::from_utf8_lossy(it).into_owned())
        .collect()
}

/// What a module asks.
#[derive(Clone, Copy, Debug)]
pub struct Daemon {
    /// Where it listens: any of these.
    pub sockets: &'static [&'static str],
    /// What older releases of the module ask, and others besides: it is not known whether this
    /// one does.
    pub perhaps: &'static [&'static str],
}

/// The daemon that a module asks; `None`: none, or it is not known which.
///
/// Source: nss-mdns `src/avahi.c: open_socket` (0.15.1), systemd `src/nss-resolve/nss-resolve.c:
/// connect_to_resolved` (252), over D-Bus before 247, `src/libsystemd/sd-login/sd-login.c:
/// sd_machine_get_class`.
pub fn daemon_of(module: &str) -> Option<Daemon> {
    let (sockets, perhaps): (&[_], &[_]) = match Module::from_name(module.as_bytes())? {
        Module::MyHostname => return None,
        Module::MyMachines => (&["/run/systemd/machines"], &[]),
        Module::Resolve => (
            &["/run/systemd/resolve/io.systemd.Resolve"],
            &["/run/dbus/system_bus_socket"],
        ),
        Module::Mdns(..) => (
            &["/run/avahi-daemon/socket", "/var/run/avahi-daemon/socket"],
            &[],
        ),
    };
    Some(Daemon { sockets, perhaps })
}

/// The modules that are part of glibc.
fn is_own(module: &[u8]) -> bool {
    matches!(module, b"files" | b"dns")
}

/// Whether the module is there, and what it says of the name is modelled.
pub(super) fn is_asked(scenario: &Scenario, service: &Service<'_>) -> bool {
    let module = Module::from_name(service.module);
    let has = || match state(scenario, service.module) {
        None | Some(NssModule::Missing) => false,
        // It asks nobody, and of the host name alone it is not known what it says.
        Some(NssModule::Found) => {
            let name = scenario.name.strip_suffix('.').unwrap_or(&scenario.name);
            matches!(module, Some(Module::MyHostname)) && name != scenario.hostname
        }
        Some(NssModule::Installed | NssModule::Served) => module.is_some(),
    };
    is_own(service.module) || has()
}

/// What is known of a module; `None`: nothing.
pub(super) fn state(scenario: &Scenario, module: &[u8]) -> Option<NssModule> {
    let name = std::str::from_utf8(module).ok()?;
    scenario.nss_modules.get(name).copied()
}

/// A module whose answers are known.
#[derive(Clone, Copy, Debug)]
enum Module {
    MyHostname,
    MyMachines,
    Resolve,
    /// One of nss-mdns: whether it is a minimal one, and the only family that it has.
    Mdns(bool, Option<Family>),
}

impl Module {
    fn from_name(name: &[u8]) -> Option<Self> {
        Some(match name {
            b"myhostname" => Self::MyHostname,
            b"mymachines" => Self::MyMachines,
            b"resolve" => Self::Resolve,
            b"mdns" => Self::Mdns(false, None),
            b"mdns4" => Self::Mdns(false, Some(Family::Inet)),
            b"mdns6" => Self::Mdns(false, Some(Family::Inet6)),
            b"mdns_minimal" => Self::Mdns(true, None),
            b"mdns4_minimal" => Self::Mdns(true, Some(Family::Inet)),
            b"mdns6_minimal" => Self::Mdns(true, Some(Family::Inet6)),
            _ => return None,
        })
    }
}

/// Asks a module for which [`is_asked`] holds.
pub(super) async fn gethostbyname(
    thread: &mut Thread<'_>,
    service: &Service<'_>,
    name: &[u8],
    family: Family,
) -> Found {
    let is_served = state(thread.scenario, service.module) == Some(NssModule::Served);
    match Module::from_name(service.module) {
        Some(Module::MyHostname) => myhostname(thread, name, family),
        Some(Module::Mdns(is_minimal, own)) => {
            mdns(thread, name, family, (is_minimal, own, is_served)).await
        }
        Some(Module::Resolve) if is_served => resolve(thread, family).await,
        Some(Module::MyMachines) if is_served => {
            thread
                .io
                .limit("`mymachines` of nsswitch.conf has the machines that run here");
            failed(
                thread,
                Status::Unavail,
                Errno::NoEntry,
                HostError::NoRecovery,
            )
        }
        _ => failed(
            thread,
            Status::Unavail,
            Errno::NoEntry,
            HostError::NoRecovery,
        ),
    }
}

fn failed(thread: &mut Thread<'_>, status: Status, errno: Errno, h_errno: HostError) -> Found {
    thread.errno = errno;
    thread.h_errno = h_errno;
    Found::none(status)
}

fn not_found(thread: &mut Thread<'_>) -> Found {
    thread.h_errno = HostError::NotFound;
    Found::none(Status::NotFound)
}

/// Source: systemd `src/nss-myhostname/nss-myhostname.c: _nss_myhostname_gethostbyname4_r`,
/// `src/basic/hostname-util.c: is_localhost` (252).
fn myhostname(thread: &mut Thread<'_>, name: &[u8], family: Family) -> Found {
    let text = name.strip_suffix(b".").unwrap_or(name);
    let lower = text.to_ascii_lowercase();
    let plain = lower.strip_suffix(b".localdomain").unwrap_or(&lower);
    let own = if plain == b"localhost" || plain.ends_with(b".localhost") {
        vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()]
    } else if text == thread.scenario.hostname.as_bytes() {
        thread
            .io
            .limit("`myhostname` of nsswitch.conf has the machine's addresses for the name: those of a scenario's");
        LOCAL_ADDRESSES.iter().filter_map(Data::ip).collect()
    } else {
        if matches!(lower.as_slice(), b"_gateway" | b"_outbound") {
            thread
                .io
                .limit("`myhostname` of nsswitch.conf has the name where there is a default route");
        }
        return not_found(thread);
    };
    let wanted = |ip: &IpAddr| family == Family::Both || ip.is_ipv6() == (family == Family::Inet6);
    let mut addresses: Vec<Address> = own.into_iter().filter(wanted).map(Into::into).collect();
    if family == Family::Both {
        // Each is put before those that it has already.
        addresses.reverse();
    }
    thread.h_errno = HostError::Success;
    Found {
        status: Status::Success,
        addresses,
    }
}

/// `kind`: whether it is minimal, the only family it has, whether Avahi is there.
///
/// Source: nss-mdns `src/nss.c: _nss_mdns_gethostbyname_impl`, `src/util.c:
/// verify_name_allowed_with_soa` (0.15.1; 0.14.1 does the same).
async fn mdns(
    thread: &mut Thread<'_>,
    name: &[u8],
    family: Family,
    (is_minimal, own, is_served): (bool, Option<Family>, bool),
) -> Found {
    let has_family = family == Family::Both || own.is_none_or(|it| it == family);
    let allow = thread
        .scenario
        .files
        .get(MDNS_ALLOW)
        .filter(|_| !is_minimal);
    let is_allowed = has_family
        && match allow {
            Some(allow) => is_on_list(allow, name),
            None => is_two_labels_of_local(name) && !local_soa(thread).await,
        };
    if !is_allowed {
        return failed(
            thread,
            Status::Unavail,
            Errno::Invalid,
            HostError::NoRecovery,
        );
    }
    if !is_served {
        return failed(
            thread,
            Status::Unavail,
            Errno::TimedOut,
            HostError::NoRecovery,
        );
    }
    thread
        .io
        .limit("Avahi is asked for the name first: whoever has it on the network answers");
    failed(
        thread,
        Status::NotFound,
        Errno::TimedOut,
        HostError::NotFound,
    )
}

fn ends_with(name: &[u8], suffix: &[u8]) -> bool {
    let end = name.len().checked_sub(suffix.len());
    end.and_then(|at| name.get(at..))
        .is_some_and(|it| it.eq_ignore_ascii_case(suffix))
}

/// Dots are counted but a last one.
fn is_two_labels_of_local(name: &[u8]) -> bool {
    let text = name.strip_suffix(b".").unwrap_or(name);
    ends_with(text, b".local") && text.iter().filter(|it| **it == b'.').count() == 1
}

/// Whether the name has an ending of mdns.allow. Lines longer than its buffer of 128 bytes, which
/// count as several, are not modelled.
///
/// Source: nss-mdns `src/util.c: verify_name_allowed` (0.15.1).
fn is_on_list(allow: &[u8], name: &[u8]) -> bool {
    let ends = |byte: &u8| b"#\t\n\r ".contains(byte);
    let mut words = allow.split(|byte| *byte == b'\n').filter_map(|line| {
        let word = line.split(ends).next().unwrap_or_default();
        (!word.is_empty()).then_some(word)
    });
    words.any(|word| match word {
        b"*" => true,
        [b'.', ..] => ends_with(name, word),
        _ => ends_with(name, &[b".", word].concat()),
    })
}

/// Whether DNS has a zone `local`, which is then left to it: asked with a `res_state` of its own.
///
/// Source: nss-mdns `src/util.c: local_soa` (0.15.1).
async fn local_soa(thread: &mut Thread<'_>) -> bool {
    let (io, conf) = (Rc::clone(&thread.io), Rc::clone(&thread.conf));
    let mut other = Thread::new(io, thread.scenario, conf, thread.version);
    other.rotation = thread.rotation;
    let kind = Kind::One(RecordType::SOA);
    let answers = context_query(&mut other, b"local", kind, Because::Module).await;
    iclose(&mut other);
    thread.rotation = other.rotation;
    answers.is_some()
}

/// systemd-resolved looks the name up, as 252 does, whatever the release of glibc comes with.
///
/// Source: systemd `src/nss-resolve/nss-resolve.c: _nss_resolve_gethostbyname4_r` (252).
async fn resolve(thread: &mut Thread<'_>, family: Family) -> Found {
    thread.io.limit(
        "`resolve` of nsswitch.conf asks systemd-resolved, if it runs; its servers need not be those of this file",
    );
    // Its own stub: what it asks itself stands elsewhere.
    let servers = &thread.conf.servers;
    if servers
        .iter()
        .all(|it| it.value.address.reached().is_loopback())
    {
        return failed(
            thread,
            Status::Unavail,
            Errno::NoEntry,
            HostError::NoRecovery,
        );
    }
    let mut question = thread.scenario.without_answers();
    question.lookup = Lookup::Addresses(family);
    let version = &resolved::V252;
    let setup = resolved::Setup::from_scenario(&question, version, Door::Varlink);
    let lookup = resolved::lookup(Rc::clone(&thread.io), Rc::new(setup));
    match Box::pin(lookup).await {
        Outcome::Found(addresses) if !addresses.is_empty() => {
            thread.h_errno = HostError::Success;
            Found {
                status: Status::Success,
                addresses,
            }
        }
        Outcome::Failed("NoNameServers" | "QueryTimedOut" | "MaxAttemptsReached") => {
            failed(thread, Status::TryAgain, Errno::Again, HostError::TryAgain)
        }
        _ => not_found(thread),
    }
}

#[cfg(test)]
mod tests;
