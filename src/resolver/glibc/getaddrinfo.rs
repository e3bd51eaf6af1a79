//! The function `getaddrinfo`.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::address::{Address, inet_aton, split_scope};
use crate::engine::machine::Outcome;
use crate::resolver::glibc::gethostbyname::gethostbyname2_r;
use crate::resolver::glibc::name::inet6_scopeid_pton;
use crate::resolver::glibc::nss_addresses::get_nss_addresses;
use crate::resolver::glibc::thread::{Errno, HostError, Killed, Thread};
use crate::scenario::Family;

/// `AI_CANONNAME` of `resolv/netdb.h`
pub(super) const CANONNAME: u32 = 0x2;
const NUMERICHOST: u32 = 0x4;
/// `AI_IDN`
const IDN: u32 = 0x40;
/// `AI_V4MAPPED`
pub(super) const V4MAPPED: u32 = 0x8;
/// `AI_ALL`
pub(super) const ALL: u32 = 0x10;
/// All flags that glibc knows.
const KNOWN_FLAGS: u32 = 0x7ff;

/// What is asked for (`struct addrinfo` of the hints).
#[derive(Clone, Copy, Debug)]
pub(super) struct Request<'n> {
    pub(super) name: &'n [u8],
    pub(super) family: Family,
    pub(super) flags: u32,
}

/// Addresses, and whether IPv4 addresses stand among them as IPv6.
///
/// Source: glibc `sysdeps/posix/getaddrinfo.c: struct gaih_result` (2.36).
#[derive(Debug, Default)]
pub(super) struct GaihResult {
    pub(super) addresses: Vec<Address>,
    pub(super) got_ipv6: bool,
}

/// How a part of the lookup ends early.
#[derive(Clone, Copy, Debug)]
pub(super) enum Failure {
    /// An error code.
    Code(&'static str),
    /// The program is dead.
    Killed,
}

/// Source: glibc `sysdeps/posix/getaddrinfo.c: getaddrinfo` (2.36).
pub(super) async fn getaddrinfo(mut thread: Thread<'_>, family: Family) -> Outcome {
    let request = Request {
        name: thread.scenario.name.as_bytes(),
        family,
        flags: thread.scenario.flags,
    };
    if request.name == b"*" {
        return Outcome::Failed("EAI_NONAME");
    }
    if request.flags & !KNOWN_FLAGS != 0 {
        return Outcome::Failed("EAI_BADFLAGS");
    }
    // AI_ADDRCONFIG changes nothing: the machine has addresses of both families.
    match gaih_inet(&mut thread, request).await {
        Ok(addresses) => Outcome::Found(addresses.into_iter().map(Address::in_c_text).collect()),
        Err(Failure::Code(code)) => Outcome::Failed(code),
        Err(Failure::Killed) => thread.crash(),
    }
}

/// Source: glibc `sysdeps/posix/getaddrinfo.c: gaih_inet` (2.36).
async fn gaih_inet(thread: &mut Thread<'_>, request: Request<'_>) -> Result<Vec<Address>, Failure> {
    // In the C locale, which a program has that sets no other, no byte beyond ASCII is a character
    // (inet/idna_name_classify.c: __idna_name_classify).
    if request.flags & IDN != 0 && !request.name.is_ascii() {
        return Err(Failure::Code("EAI_IDN_ENCODE"));
    }
    if let Some(address) = text_to_binary_address(thread, request)? {
        return Ok(vec![address]);
    }
    let simple = request.family == Family::Inet && request.flags & CANONNAME == 0;
    let result = if simple {
        try_simple_gethostbyname(thread, request).await?
    } else {
        get_nss_addresses(thread, request).await?
    };
    if result.addresses.is_empty() {
        return Err(Failure::Code("EAI_NONAME"));
    }
    Ok(generate_addrinfo(result, request.flags))
}

/// The address that `name` spells, if it spells one.
///
/// Source: glibc `sysdeps/posix/getaddrinfo.c: text_to_binary_address` (2.36).
fn text_to_binary_address(
    thread: &Thread<'_>,
    request: Request<'_>,
) -> Result<Option<Address>, Failure> {
    let wrong_family = Err(Failure::Code("EAI_ADDRFAMILY"));
    if let Some(ip) = inet_aton(request.name) {
        return match request.family {
            Family::Both | Family::Inet => Ok(Some(IpAddr::V4(ip).into())),
            Family::Inet6 if request.flags & V4MAPPED != 0 => Ok(Some(mapped(ip))),
            Family::Inet6 => wrong_family,
        };
    }
    let text = std::str::from_utf8(request.name).unwrap_or_default();
    let (ip, scope) = split_scope(text);
    let Ok(ip) = ip.parse::<Ipv6Addr>() else {
        return match request.flags & NUMERICHOST {
            0 => Ok(None),
            _ => Err(Failure::Code("EAI_NONAME")),
        };
    };
    let found = match (request.family, ip.to_ipv4_mapped()) {
        (Family::Both | Family::Inet6, _) => IpAddr::V6(ip),
        (Family::Inet, Some(ip)) => IpAddr::V4(ip),
        (Family::Inet, None) => return wrong_family,
    };
    if scope.is_some_and(|scope| !inet6_scopeid_pton(thread, ip, scope)) {
        return Err(Failure::Code("EAI_NONAME"));
    }
    // The scope goes into a field of its own, which is not printed.
    Ok(Some(found.into()))
}

/// Source: glibc `sysdeps/posix/getaddrinfo.c: try_simple_gethostbyname` (2.36).
async fn try_simple_gethostbyname(
    thread: &mut Thread<'_>,
    request: Request<'_>,
) -> Result<GaihResult, Failure> {
    let (error, host) = gethostbyname2_r(thread, request.name).await?;
    let code = match (error, thread.h_errno) {
        (Errno::Clear, _) if host.is_some() => {
            return Ok(GaihResult {
                addresses: host.unwrap_or_default(),
                got_ipv6: false,
            });
        }
        (Errno::Clear, HostError::NoData) => "EAI_NODATA",
        (Errno::Clear, _) => "EAI_NONAME",
        (_, HostError::Internal) => "EAI_SYSTEM",
        (_, HostError::TryAgain) => "EAI_AGAIN",
        _ => "EAI_NODATA",
    };
    Err(Failure::Code(code))
}

/// Source: glibc `sysdeps/posix/getaddrinfo.c: generate_addrinfo` (2.36).
fn generate_addrinfo(result: GaihResult, flags: u32) -> Vec<Address> {
    let drop_mapped = result.got_ipv6 && flags & (V4MAPPED | ALL) == V4MAPPED;
    let is_mapped = |address: &Address| match address.ip {
        IpAddr::V6(ip) => ip.to_ipv4_mapped().is_some(),
        IpAddr::V4(_) => false,
    };
    let mut addresses = result.addresses;
    addresses.retain(|address| !(drop_mapped && is_mapped(address)));
    addresses
}

/// An IPv4 address as IPv6, `::ffff:a.b.c.d`.
pub(super) fn mapped(ip: Ipv4Addr) -> Address {
    IpAddr::V6(ip.to_ipv6_mapped()).into()
}

impl From<Killed> for Failure {
    fn from(_: Killed) -> Self {
        Self::Killed
    }
}
