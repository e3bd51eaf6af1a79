//! The function `gethostbyname2_r` for IPv4, which `getaddrinfo` calls if that
//! is enough.

use std::collections::BTreeSet;

use crate::address::Address;
use crate::resolver::glibc::nss_dns::{self, Found};
use crate::resolver::glibc::nss_files;
use crate::resolver::glibc::nss_others::{self, is_asked, state};
use crate::resolver::glibc::nsswitch::{Reaction, Service, Status, hosts_database};
use crate::resolver::glibc::thread::{Errno, HostError, Killed, Thread};
use crate::scenario::{Family, NssModule, Scenario};

/// The value returned, 0 or an `errno`, and the addresses.
///
/// Source: glibc `nss/getXXbyYY_r.c` (2.36).
pub(super) async fn gethostbyname2_r(
    thread: &mut Thread<'_>,
    name: &[u8],
) -> Result<(Errno, Option<Vec<Address>>), Killed> {
    thread.context_get()?;
    let mut status = Status::Unavail;
    let mut any_service = false;
    let mut result = None;
    if hostname_digits_dots(name) {
        thread.h_errno = HostError::NotFound;
        status = Status::NotFound;
        any_service = true;
    } else if let Some(services) = database(thread) {
        let mut do_merge = false;
        let mut next = lookup(thread, &services, 0);
        while let Some(at) = next {
            any_service = true;
            let Some(service) = services.get(at) else {
                break;
            };
            let found = call(thread, service, name).await;
            status = found.status;
            if status == Status::Success {
                result = Some(found.addresses);
            }
            status = merge(thread, service, status, &mut do_merge);
            next = match service.reaction(status) {
                Reaction::Return => None,
                Reaction::Continue | Reaction::Merge => lookup(thread, &services, at + 1),
            };
        }
    }
    if status == Status::Unavail && !any_service && thread.errno != Errno::NoEntry {
        thread.h_errno = HostError::Internal;
    } else if status != Status::Success && !any_service {
        thread.h_errno = HostError::NoRecovery;
    }
    let error = match status {
        Status::Success => return Ok((Errno::Clear, result)),
        Status::NotFound => Errno::Clear,
        Status::TryAgain if thread.h_errno != HostError::Internal => Errno::Again,
        // This can be 0, too.
        Status::TryAgain | Status::Unavail => thread.errno,
    };
    thread.errno = error;
    Ok((error, None))
}

/// The modules to ask; `None` if the file cannot be read.
pub(super) fn database<'a>(thread: &mut Thread<'a>) -> Option<Vec<Service<'a>>> {
    let scenario = thread.scenario;
    if scenario.nsswitch.is_none() {
        thread.errno = Errno::NoEntry;
    }
    let Ok(mut services) = hosts_database(scenario.nsswitch.as_ref(), thread.version) else {
        thread.errno = Errno::Invalid;
        return None;
    };
    if services.is_empty() {
        thread
            .io
            .note("no module on the hosts line: glibc reads beyond its list, and may crash");
    }
    say_missing(thread, &services);
    if services.len() > MAX_SERVICES {
        thread.io.note(format!(
            "nsswitch.conf has {} modules for hosts: only the first {MAX_SERVICES} are played",
            services.len()
        ));
        services.truncate(MAX_SERVICES);
    }
    Some(services)
}

/// Which modules are not asked, and why: each once, and of many the first.
fn say_missing(thread: &Thread<'_>, services: &[Service<'_>]) {
    let mut known = BTreeSet::new();
    let is_left_out = |it: &&Service<'_>| !is_asked(thread.scenario, it);
    for service in services.iter().filter(is_left_out) {
        if known.insert(service.module) && known.len() <= MAX_MODULES {
            let module = String::from_utf8_lossy(service.module);
            let is = match state(thread.scenario, service.module) {
                Some(NssModule::Missing) => "is not installed",
                None => "is taken as not installed",
                Some(_) => "is installed, and what it says is not known",
            };
            let module = module.escape_default();
            thread
                .io
                .note(format!("the module `{module}` of nsswitch.conf {is}"));
        }
    }
    let more = known.len().saturating_sub(MAX_MODULES);
    if more > 0 {
        thread.io.note(format!(
            "{more} more modules of nsswitch.conf are not asked, either"
        ));
    }
}

/// Says that a module that is not asked may have the name, before DNS is asked.
pub(super) fn say_passed(thread: &Thread<'_>, services: &[Service<'_>], at: usize) {
    let Some((service, before)) = services.get(..=at).and_then(<[_]>::split_last) else {
        return;
    };
    let is_first = before.iter().all(|it| it.module != b"dns");
    let state = state(thread.scenario, service.module);
    let is_missing = state == Some(NssModule::Missing);
    if is_first && !is_missing && may_have(service.module, thread.scenario) {
        let condition = match state {
            None => ", if it is installed,",
            Some(_) => "",
        };
        thread.io.limit(format!(
            "`{}` of nsswitch.conf{condition} may answer first or end the lookup",
            service.module.escape_ascii()
        ));
    }
}

/// Whether a module that is not part of glibc can have this name.
///
/// Source: nss-mdns `README.md`, systemd `nss-myhostname(8)`, `nss-mymachines(8)`.
fn may_have(module: &[u8], scenario: &Scenario) -> bool {
    let name = scenario.name.trim_end_matches('.').to_ascii_lowercase();
    match module {
        b"" => false,
        b"mdns_minimal" | b"mdns4_minimal" | b"mdns6_minimal" => {
            name.rsplit_once('.').is_some_and(|it| it.1 == "local")
        }
        b"myhostname" => {
            let last = name.rsplit('.').find(|it| *it != "localdomain");
            matches!(last, Some("localhost" | "_gateway" | "_outbound"))
                || name.eq_ignore_ascii_case(&scenario.hostname)
        }
        b"mymachines" => !name.contains('.'),
        _ => true,
    }
}

/// glibc asks any number of modules; of so many a run is played.
const MAX_SERVICES: usize = 100;
/// So many modules that are not asked are named.
const MAX_MODULES: usize = 20;

/// The first service from `at` on that has the function, unless one without it
/// ends the search.
///
/// Source: glibc `nss/nsswitch.c: __nss_lookup, __nss_next2` (2.36).
fn lookup(thread: &Thread<'_>, services: &[Service<'_>], at: usize) -> Option<usize> {
    for (index, service) in services.iter().enumerate().skip(at) {
        if is_asked(thread.scenario, service) {
            return Some(index);
        }
        say_passed(thread, services, index);
        if service.reaction(Status::Unavail) != Reaction::Continue {
            return None;
        }
    }
    None
}

async fn call(thread: &mut Thread<'_>, service: &Service<'_>, name: &[u8]) -> Found {
    match service.module {
        b"files" => nss_files::gethostbyname3_r(thread, name, Family::Inet),
        b"dns" => nss_dns::gethostbyname2_r(thread, name, Family::Inet).await,
        _ => nss_others::gethostbyname(thread, service, name, Family::Inet).await,
    }
}

/// `merge` as an action: hosts cannot be merged, and the attempt turns what
/// was found into an error, and what was not found into what was found before.
fn merge(
    thread: &mut Thread<'_>,
    service: &Service<'_>,
    mut status: Status,
    do_merge: &mut bool,
) -> Status {
    if *do_merge {
        thread.errno = Errno::Invalid;
        if status == Status::Success {
            status = Status::Unavail;
            *do_merge = false;
        } else {
            status = Status::Success;
        }
    }
    if status == Status::Success && service.reaction(status) == Reaction::Merge {
        thread.errno = Errno::Invalid;
        status = Status::Unavail;
        *do_merge = true;
    }
    status
}

/// Whether `name` looks like an address, but is none: it is not looked up.
/// Those that are addresses do not come here.
///
/// Source: glibc `nss/digits_dots.c` (2.36).
fn hostname_digits_dots(name: &[u8]) -> bool {
    let Some(&first) = name.first() else {
        return false;
    };
    let all_numeric = first.is_ascii_digit()
        && name
            .iter()
            .all(|byte| byte.is_ascii_digit() || *byte == b'.');
    let colons = first == b':' || first.is_ascii_hexdigit() && name.contains(&b':');
    all_numeric && !name.ends_with(b".") || colons
}
