//! The module `dns`.

use std::net::IpAddr;

use hickory_proto::rr::RecordType;

use crate::address::Address;
use crate::engine::message::{Because, Data, Rcode, Record};
use crate::name::Name;
use crate::resolver::glibc::name::{res_binary_hnok, res_hnok};
use crate::resolver::glibc::nsswitch::Status;
use crate::resolver::glibc::res_query::{Kind, Message, context_hostalias, context_search};
use crate::resolver::glibc::thread::{Errno, HostError, Thread};
use crate::scenario::Family;

/// What a module says.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) status: Status,
    /// Empty unless `status` is a success.
    pub(super) addresses: Vec<Address>,
}

impl Found {
    pub(super) fn none(status: Status) -> Self {
        Self {
            status,
            addresses: Vec::new(),
        }
    }
}

/// Addresses of both families, A and AAAA asked together.
///
/// Source: glibc `resolv/nss_dns/dns-host.c: _nss_dns_gethostbyname4_r` (2.36).
pub(super) async fn gethostbyname4_r(thread: &mut Thread<'_>, name: &[u8]) -> Found {
    if !check_name(thread, name) {
        return Found::none(Status::NotFound);
    }
    let old_errno = thread.errno;
    let (name, because) = alias(thread, name);
    let kind = if thread.option("no-aaaa") {
        Kind::One(RecordType::A)
    } else {
        Kind::AAndAaaa
    };
    let Some(answers) = context_search(thread, name, kind, because).await else {
        return search_failed(thread, old_errno);
    };
    gaih_getanswer(thread, answers.first.as_ref(), answers.second.as_ref())
}

/// Addresses of one family, of a name that is not checked.
///
/// Source: glibc `resolv/nss_dns/dns-host.c: gethostbyname3_context` (2.36).
pub(super) async fn gethostbyname3_r(
    thread: &mut Thread<'_>,
    name: &[u8],
    family: Family,
) -> Found {
    let old_errno = thread.errno;
    let record_type = match family {
        Family::Inet6 => RecordType::AAAA,
        Family::Both | Family::Inet => RecordType::A,
    };
    let (name, because) = alias(thread, name);
    let kind = Kind::One(record_type);
    match context_search(thread, name, kind, because).await {
        Some(answers) => getanswer_r(thread, answers.first.as_ref(), record_type),
        None => search_failed(thread, old_errno),
    }
}

/// Addresses of one family.
///
/// Source: glibc `resolv/nss_dns/dns-host.c: _nss_dns_gethostbyname2_r` (2.36).
pub(super) async fn gethostbyname2_r(
    thread: &mut Thread<'_>,
    name: &[u8],
    family: Family,
) -> Found {
    if !check_name(thread, name) {
        return Found::none(Status::NotFound);
    }
    gethostbyname3_r(thread, name, family).await
}

/// Source: glibc `resolv/nss_dns/dns-host.c: check_name` (2.36).
fn check_name(thread: &mut Thread<'_>, name: &[u8]) -> bool {
    let fits = res_hnok(name);
    if !fits {
        thread.h_errno = HostError::NotFound;
    }
    fits
}

/// The name to look up, and why it is asked for as it is: a name without dots
/// can have another one in the file of `HOSTALIASES`.
fn alias<'n>(thread: &Thread<'n>, name: &'n [u8]) -> (&'n [u8], Because) {
    let dotless = !name.contains(&b'.');
    match dotless.then(|| context_hostalias(thread, name)).flatten() {
        Some(alias) => (alias, Because::HostAlias),
        None => (name, Because::AsIs),
    }
}

/// The status after a search without a result depends on the `errno` that its
/// last exchange with a server left behind.
fn search_failed(thread: &mut Thread<'_>, old_errno: Errno) -> Found {
    let status = match thread.errno {
        Errno::Refused | Errno::TimedOut => Status::Unavail,
        _ => Status::NotFound,
    };
    thread.errno = match thread.h_errno {
        HostError::TryAgain => Errno::Again,
        _ => old_errno,
    };
    Found::none(status)
}

/// The addresses in the reply to one query.
///
/// Source: glibc `resolv/nss_dns/dns-host.c: getanswer_r` (2.36).
fn getanswer_r(
    thread: &mut Thread<'_>,
    message: Option<&Message>,
    record_type: RecordType,
) -> Found {
    let usable = message
        .filter(|message| message.reply.rcode != Rcode::NxDomain && res_binary_hnok(&message.name));
    let Some(message) = usable else {
        thread.h_errno = HostError::NotFound;
        thread.errno = Errno::NoEntry;
        return Found::none(Status::NotFound);
    };
    let addresses = records(message, record_type);
    if addresses.is_empty() {
        thread.h_errno = HostError::NoRecovery;
        thread.errno = Errno::NoEntry;
        let is_alias = |it: &Record| matches!(it.data, Data::Cname(_));
        let ends = thread.version.alias_alone_is_not_found;
        let aliases = ends && message.reply.answers.iter().any(is_alias);
        return Found::none(if aliases {
            Status::NotFound
        } else {
            Status::TryAgain
        });
    }
    thread.h_errno = HostError::Success;
    Found {
        status: Status::Success,
        addresses,
    }
}

/// The addresses in one or both replies.
///
/// Source: glibc `resolv/nss_dns/dns-host.c: gaih_getanswer` (2.36).
fn gaih_getanswer(
    thread: &mut Thread<'_>,
    first: Option<&Message>,
    second: Option<&Message>,
) -> Found {
    let mut found = Found::none(Status::NotFound);
    for message in [first, second].into_iter().flatten() {
        let slice = gaih_getanswer_slice(thread, message);
        if slice.status == Status::Success {
            found.status = Status::Success;
            found.addresses.extend(slice.addresses);
        }
    }
    found
}

/// Source: glibc `resolv/nss_dns/dns-host.c: gaih_getanswer_slice` (2.36).
fn gaih_getanswer_slice(thread: &mut Thread<'_>, message: &Message) -> Found {
    let mut addresses = Vec::new();
    if res_binary_hnok(&message.name) {
        addresses = records(message, message.record_type);
    }
    // A CNAME alone is no answer either.
    if addresses.is_empty() {
        thread.h_errno = HostError::NotFound;
        return Found::none(Status::NotFound);
    }
    thread.h_errno = HostError::Success;
    Found {
        status: Status::Success,
        addresses,
    }
}

/// The addresses of the name asked for, or of what CNAME records make of it.
fn records(message: &Message, record_type: RecordType) -> Vec<Address> {
    let mut expected: &Name = &message.name;
    let mut addresses = Vec::new();
    for record in &message.reply.answers {
        let ip = match &record.data {
            // Whoever owns it.
            Data::Cname(target) => {
                expected = target;
                continue;
            }
            Data::A(ip) if record_type == RecordType::A => IpAddr::V4(*ip),
            Data::Aaaa(ip) if record_type == RecordType::AAAA => IpAddr::V6(*ip),
            _ => continue,
        };
        if record.name.eq_ignore_case(expected) {
            addresses.push(ip.into());
        }
    }
    addresses
}
