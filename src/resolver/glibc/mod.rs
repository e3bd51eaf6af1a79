//! glibc 2.36 as Debian 12 builds it (2.36-9+deb12u14): `getaddrinfo` through
//! the name service switch, `res_search`, `res_query`.
//!
//! The files follow those of the source: `read` is `resolv/res_init.c`,
//! `res_query` and `res_send` are the files of that name with `send_dg`
//! for UDP, `nss_dns` and `nss_files` are the two modules that are always
//! there, `nss_others` those of others, `nsswitch` says which of them is asked (`borrowed` for programs of
//! a node that ask as a container does), and `getaddrinfo` is the function.
//! `thread` is what the C code keeps in thread-local variables: `_res`,
//! `errno` and `h_errno`, whose old values matter.

pub mod borrowed;
mod getaddrinfo;
mod gethostbyname;
mod host_conf;
mod name;
mod nss_addresses;
mod nss_dns;
mod nss_files;
pub mod nss_others;
mod nsswitch;
mod options;
mod read;
mod res_query;
mod res_send;
mod send_dg;
mod thread;

use std::rc::Rc;

use hickory_proto::rr::RecordType;

use crate::address::Address;
use crate::engine::io::Io;
use crate::engine::machine::Outcome;
use crate::engine::message::{Because, Data};
use crate::resolver::glibc::res_query::{Answers, Kind};
use crate::resolver::glibc::thread::Thread;
use crate::resolver::reading::Reading;
use crate::scenario::{Family, Lookup, Scenario};

/// What differs between versions of glibc, 2.17 to 2.41.
#[derive(Clone, Copy, Debug)]
pub struct Version {
    /// The options without a number: what a word must begin with, and the option it then sets, the
    /// first that fits. `None`: it changes no query. Source: `resolv/res_init.c: res_setoptions`,
    /// `trust-ad` since 2.31, `no-aaaa` since 2.36.
    flags: &'static [&'static [(&'static str, Option<&'static str>)]],
    /// Whether a `-` before an option takes it back: since 2.41, there.
    minus_takes_back: bool,
    /// Whether what follows white space behind an IPv4 address does not count,
    /// so that a carriage return does no harm: before 2.29.
    /// Source: `resolv/inet_addr.c: __inet_aton_exact`.
    address_ends_at_space: bool,
    /// Domains and bytes of the search list that are used: before 2.26.
    /// Source: `resolv/res_init.c: __res_vinit`, `MAXDNSRCH` and
    /// `sizeof (_res.defdname) - 1`.
    search_limits: Option<(usize, usize)>,
    /// Whether `rotate` begins with the second server, not with any one: before
    /// 2.26. Source: `resolv/res_send.c: __libc_res_nsend`.
    rotates_from_second: bool,
    /// Whether, for one family, an alias without addresses ends in "not found":
    /// 2.31. Observed; `resolv/nss_dns/dns-host.c: getanswer_r`, rewritten in
    /// 2.37 and in Debian's 2.36.
    alias_alone_is_not_found: bool,
    /// Whether, with `single-request`, an error that comes first is followed by a wait for
    /// the reply to a query that was not sent: before 2.41, and before Debian's 2.36.
    /// Source: `resolv/res_send.c: send_dg`, glibc's bug 30081.
    waits_for_unsent: bool,
    /// Whether nsswitch.conf is read as before 2.33: with comments and a last line without a
    /// newline; a mistake ends no more than its line, and a line without modules counts as none.
    /// Source: `nss/nsswitch.c: nss_parse_file, __nss_database_lookup2`.
    has_old_nsswitch: bool,
    /// Whether, where nsswitch.conf has no line for hosts, DNS is asked, and the hosts file
    /// only if DNS is not there: upstream up to its first 2.34, but not RHEL 9, which has the
    /// change of glibc's bug 28700 since 2.34-17. Source: `nss/hosts-lookup.c: DEFAULT_CONFIG`.
    asks_dns_before_files: bool,
}

/// glibc 2.41, as in Debian 13.
pub const V2_41: Version = Version {
    flags: &[
        options::FLAGS,
        options::TRUST_AD,
        options::NO_AAAA,
        options::STRICT_ERROR,
    ],
    minus_takes_back: true,
    ..V2_36
};

/// glibc 2.36, as in Debian 12.
pub const V2_36: Version = Version {
    flags: &[options::FLAGS, options::TRUST_AD, options::NO_AAAA],
    alias_alone_is_not_found: false,
    waits_for_unsent: false,
    ..V2_35
};

/// glibc 2.35, as in Ubuntu 22.04.
pub const V2_35: Version = V2_34;

/// glibc 2.34, as in RHEL 9.
pub const V2_34: Version = Version {
    has_old_nsswitch: false,
    asks_dns_before_files: false,
    ..V2_31
};

/// glibc 2.31, as in Debian 11.
pub const V2_31: Version = Version {
    flags: &[options::FLAGS, options::TRUST_AD],
    address_ends_at_space: false,
    ..V2_28
};

/// glibc 2.28, as in Debian 10 and RHEL 8.
pub const V2_28: Version = Version {
    flags: &[options::FLAGS],
    minus_takes_back: false,
    address_ends_at_space: true,
    search_limits: None,
    rotates_from_second: false,
    alias_alone_is_not_found: true,
    waits_for_unsent: true,
    has_old_nsswitch: true,
    asks_dns_before_files: true,
};

/// glibc 2.17, as in RHEL 7. It differs in more than is modelled: a pair of
/// queries of which one fails, and `.` in the search list.
pub const V2_17: Version = Version {
    search_limits: Some((6, 255)),
    rotates_from_second: true,
    ..V2_28
};

/// Which function of glibc is called.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Call {
    /// `getaddrinfo`
    GetAddrInfo,
    /// `res_search`
    ResSearch,
    /// `res_query`
    ResQuery,
}

/// The lookup of `scenario`. Records are searched for with `res_search`
/// whatever is called, unless that is `res_query`.
pub async fn lookup(
    io: Rc<Io>,
    scenario: &Scenario,
    version: &'static Version,
    call: Call,
) -> Outcome {
    let conf = Rc::new(reading(scenario, version));
    lookup_with(io, scenario, conf, version, call).await
}

/// The same with `resolv.conf` and its variables as they were read before.
pub async fn lookup_with<'a>(
    io: Rc<Io>,
    scenario: &'a Scenario,
    conf: Rc<Reading<'a>>,
    version: &'static Version,
    call: Call,
) -> Outcome {
    let thread = Thread::new(io, scenario, conf, version);
    match (call, scenario.lookup) {
        (Call::GetAddrInfo, Lookup::Addresses(family)) => {
            getaddrinfo::getaddrinfo(thread, family).await
        }
        (Call::ResQuery, lookup) => records(thread, lookup, false).await,
        (_, lookup) => records(thread, lookup, true).await,
    }
}

/// The addresses that a program of this glibc gets for the server `name` that
/// its own configuration has: with that family and those flags.
pub async fn addresses_of(
    io: &Rc<Io>,
    scenario: &Scenario,
    name: &[u8],
    (family, flags): (Family, u32),
) -> Option<Vec<Address>> {
    let mut question = scenario.without_answers();
    question.name = String::from_utf8_lossy(name).into_owned();
    question.lookup = Lookup::Addresses(family);
    question.flags = flags;
    let found = lookup(Rc::clone(io), &question, &V2_36, Call::GetAddrInfo);
    match Box::pin(found).await {
        Outcome::Found(addresses) => Some(addresses),
        _ => None,
    }
}

/// What it takes from the configuration.
pub fn reading<'a>(scenario: &'a Scenario, version: &'static Version) -> Reading<'a> {
    read::res_vinit(scenario, version)
}

/// `res_search` or `res_query`, for A unless the scenario names a type.
async fn records(mut thread: Thread<'_>, lookup: Lookup, search: bool) -> Outcome {
    if thread.context_get().is_err() {
        return thread.crash();
    }
    let record_type = match lookup {
        Lookup::Addresses(_) => RecordType::A,
        Lookup::Records(record_type) => record_type,
    };
    let name = thread.scenario.name.as_bytes();
    let kind = Kind::One(record_type);
    let answers = if search {
        res_query::context_search(&mut thread, name, kind, Because::AsIs).await
    } else {
        res_query::context_query(&mut thread, name, kind, Because::AsIs).await
    };
    match answers {
        Some(answers) => Outcome::Found(addresses(&answers, record_type)),
        None => Outcome::Failed(thread.h_errno.as_str()),
    }
}

/// The addresses of that type in the answer, whosever they are.
fn addresses(answers: &Answers, record_type: RecordType) -> Vec<Address> {
    let first = answers.first.iter();
    let records = first.flat_map(|message| message.reply.answers.iter());
    records
        .filter(|record| record.data.record_type() == record_type)
        .filter_map(|record| match record.data {
            Data::A(ip) => Some(std::net::IpAddr::V4(ip).into()),
            Data::Aaaa(ip) => Some(std::net::IpAddr::V6(ip).into()),
            _ => None,
        })
        .map(Address::in_c_text)
        .collect()
}

#[cfg(test)]
super::mutation::neighbours!(Version: minus_takes_back address_ends_at_space rotates_from_second alias_alone_is_not_found waits_for_unsent has_old_nsswitch asks_dns_before_files; flags: &[], search_limits: Some((1, 255)));
