//! `getaddrinfo` through the name service switch.

use std::net::IpAddr;

use crate::address::Address;
use crate::resolver::glibc::getaddrinfo::{
    ALL, CANONNAME, Failure, GaihResult, Request, V4MAPPED, mapped,
};
use crate::resolver::glibc::gethostbyname::{database, say_passed};
use crate::resolver::glibc::nss_dns::{self, Found};
use crate::resolver::glibc::nss_files;
use crate::resolver::glibc::nss_others::{self, is_asked};
use crate::resolver::glibc::nsswitch::{Reaction, Service, Status};
use crate::resolver::glibc::thread::{Errno, HostError, Thread};
use crate::scenario::Family;

/// Source: glibc `sysdeps/posix/getaddrinfo.c: get_nss_addresses` (2.36).
pub(super) async fn get_nss_addresses(
    thread: &mut Thread<'_>,
    request: Request<'_>,
) -> Result<GaihResult, Failure> {
    let services = database(thread);
    thread.context_get()?;
    let mut lookup = Lookup {
        request,
        result: GaihResult::default(),
        status: Status::Unavail,
        no_data: NoData::No,
        no_inet6_data: NoData::No,
    };
    // An empty list has its end as a service without functions.
    let null = Service::null();
    let mut do_merge = false;
    let services = services.as_deref().map(|services| match services {
        [] => std::slice::from_ref(&null),
        services => services,
    });
    let services = services.unwrap_or_default();
    for (at, service) in services.iter().enumerate() {
        // What was found before is gone, even if it was to be kept.
        lookup.result = GaihResult::default();
        if do_merge {
            thread.h_errno = HostError::Internal;
            thread.errno = Errno::Busy;
            break;
        }
        if !is_asked(thread.scenario, service) {
            say_passed(thread, services, at);
        }
        lookup.ask(thread, service).await?;
        match service.reaction(lookup.status) {
            Reaction::Return => break,
            Reaction::Merge => do_merge = true,
            Reaction::Continue => {}
        }
    }
    lookup.end(thread)
}

/// The local variables of `get_nss_addresses`.
struct Lookup<'n> {
    request: Request<'n>,
    result: GaihResult,
    status: Status,
    no_data: NoData,
    no_inet6_data: NoData,
}

/// `no_data`: why there is nothing, if the module could tell.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum NoData {
    /// 0
    No,
    /// 1
    Yes,
    /// `EAI_AGAIN`
    Again,
}

impl Lookup<'_> {
    async fn ask(&mut self, thread: &mut Thread<'_>, service: &Service<'_>) -> Result<(), Failure> {
        self.no_data = NoData::No;
        if !is_asked(thread.scenario, service) {
            self.status = Status::Unavail;
            thread.h_errno = HostError::Internal;
            thread.errno = Errno::Busy;
            return Ok(());
        }
        if self.request.family == Family::Both {
            self.ask_both(thread, service).await;
            return Ok(());
        }
        self.ask_one_family(thread, service).await
    }

    /// `gethostbyname4_r`, for both families at once.
    async fn ask_both(&mut self, thread: &mut Thread<'_>, service: &Service<'_>) {
        let name = self.request.name;
        let found = match service.module {
            b"files" => nss_files::gethostbyname4_r(thread, name),
            b"dns" => nss_dns::gethostbyname4_r(thread, name).await,
            _ => nss_others::gethostbyname(thread, service, name, Family::Both).await,
        };
        self.status = found.status;
        if found.status == Status::Success {
            self.result.addresses = found.addresses;
        } else {
            self.no_data = NoData::from_h_errno(thread.h_errno);
        }
        self.no_inet6_data = self.no_data;
    }

    /// `gethostbyname2_r` or `gethostbyname3_r`.
    async fn ask_one_family(
        &mut self,
        thread: &mut Thread<'_>,
        service: &Service<'_>,
    ) -> Result<(), Failure> {
        let Request { family, flags, .. } = self.request;
        self.gethosts(thread, service, family).await?;
        self.no_inet6_data = self.no_data;
        let inet6_status = self.status;
        let also_mapped = family == Family::Inet6
            && flags & V4MAPPED != 0
            && (flags & ALL != 0 || !self.result.got_ipv6);
        if !also_mapped {
            return Ok(());
        }
        self.gethosts(thread, service, Family::Inet).await?;
        self.status = match (inet6_status, self.status) {
            (Status::Success, _) | (_, Status::Success) => Status::Success,
            (Status::TryAgain, _) => Status::TryAgain,
            (inet6_status, Status::Unavail) => inet6_status,
            (_, status) => status,
        };
        Ok(())
    }

    /// Asks a module for one family, and adds what it has.
    ///
    /// Source: glibc `sysdeps/posix/getaddrinfo.c: gethosts` (2.36).
    async fn gethosts(
        &mut self,
        thread: &mut Thread<'_>,
        service: &Service<'_>,
        family: Family,
    ) -> Result<(), Failure> {
        let name = self.request.name;
        let found: Found = match service.module {
            b"files" => nss_files::gethostbyname3_r(thread, name, family),
            // Only the other function checks the name.
            b"dns" if self.request.flags & CANONNAME != 0 => {
                nss_dns::gethostbyname3_r(thread, name, family).await
            }
            b"dns" => nss_dns::gethostbyname2_r(thread, name, family).await,
            _ => nss_others::gethostbyname(thread, service, name, family).await,
        };
        self.no_data = NoData::No;
        self.status = found.status;
        if found.status != Status::Success {
            if thread.h_errno == HostError::Internal {
                return Err(Failure::Code("EAI_SYSTEM"));
            }
            self.no_data = NoData::from_h_errno(thread.h_errno);
            return Ok(());
        }
        self.result.got_ipv6 = family == Family::Inet6;
        let as_ipv6 = family == Family::Inet && self.request.family == Family::Inet6;
        let addresses = found.addresses.into_iter().map(|address| match address.ip {
            IpAddr::V4(ip) if as_ipv6 => mapped(ip),
            ip => Address::from(ip),
        });
        self.result.addresses.extend(addresses);
        Ok(())
    }

    /// What the last module that was asked means for the caller.
    fn end(self, thread: &Thread<'_>) -> Result<GaihResult, Failure> {
        let failed = matches!(self.status, Status::TryAgain | Status::Unavail);
        if failed && thread.h_errno == HostError::Internal {
            return Err(Failure::Code("EAI_SYSTEM"));
        }
        match (self.no_data, self.no_inet6_data) {
            (NoData::No, _) | (_, NoData::No) => Ok(self.result),
            (NoData::Again, NoData::Again) => Err(Failure::Code("EAI_AGAIN")),
            _ => Err(Failure::Code("EAI_NODATA")),
        }
    }
}

impl NoData {
    fn from_h_errno(h_errno: HostError) -> Self {
        match h_errno {
            HostError::TryAgain => Self::Again,
            HostError::NoData => Self::Yes,
            _ => Self::No,
        }
    }
}
