//! musl's `getaddrinfo`: Alpine and other musl images.
//!
//! Read side by side with musl's `src/network`: `read` is `resolvconf.c`,
//! `lookup_name` is `lookup_name.c`, `res_msend` is `res_msend.c`,
//! `ipliteral` is `lookup_ipliteral.c`. There is no nsswitch, no environment
//! variable is read, and the search list exists only for addresses:
//! `res_search` is `res_query` (`res_query.c`).

mod ipliteral;
mod lookup_name;
mod read;
mod res_msend;
mod res_query;

use std::rc::Rc;

use crate::engine::io::{Io, Wrong};
use crate::engine::machine::Outcome;
use crate::resolver::reading::Reading;
use crate::scenario::{Lookup, Scenario};

/// What differs between versions of musl.
#[derive(Clone, Copy, Debug)]
pub struct Version {
    /// A truncated reply is asked again over TCP; before, it was used as it
    /// was. Source: `res_msend.c`, since 1.2.4.
    tcp_fallback: bool,
    /// A candidate that is no name is skipped; before, it ended the lookup.
    /// Source: `lookup_name.c: name_from_dns`, since 1.2.4.
    skips_bad_candidates: bool,
    /// A second dot at the end makes a name malformed; before, it became part
    /// of a broken question. Source: `res_mkquery.c`, since 1.2.4.
    refuses_double_dot: bool,
    /// A query for A or AAAA that fails ends the lookup, whatever the other found; before, what
    /// one of them found was enough, and else A's reply alone decided.
    /// Source: `lookup_name.c: name_from_dns`, since 1.2.1.
    needs_both: bool,
    /// Queries of `res_query` have the AD bit. Source: `res_mkquery.c`, since 1.2.1.
    sets_ad: bool,
    /// `res_query` fails where a reply is missing or says that there is nothing; before, it
    /// gives back what came. Source: `res_query.c`, since 1.2.2.
    checks_reply: bool,
    /// The error for a name without addresses of the family asked for.
    /// Source: `lookup_name.c`, `lookup_ipliteral.c`, `EAI_NODATA` since 1.2.4.
    no_data: &'static str,
}

/// musl 1.1.24, as in Alpine 3.12.
pub const V1_1_24: Version = Version {
    needs_both: false,
    sets_ad: false,
    checks_reply: false,
    ..V1_2_3
};

/// musl 1.2.3, as in Debian 12 and Alpine 3.16.
pub const V1_2_3: Version = Version {
    tcp_fallback: false,
    skips_bad_candidates: false,
    refuses_double_dot: false,
    needs_both: true,
    sets_ad: true,
    checks_reply: true,
    no_data: "EAI_NONAME",
};

/// musl 1.2.5, as in Alpine 3.20.
pub const V1_2_5: Version = Version {
    tcp_fallback: true,
    skips_bad_candidates: true,
    refuses_double_dot: true,
    needs_both: true,
    sets_ad: true,
    checks_reply: true,
    no_data: "EAI_NODATA",
};

/// The lookup of `scenario`: `getaddrinfo` for addresses, else `res_search`.
pub async fn lookup(io: Rc<Io>, scenario: &Scenario, version: &'static Version) -> Outcome {
    // res_msend.c looks at the id of a reply, and not at its question.
    io.takes(&[Wrong::Question]);
    let result = match scenario.lookup {
        Lookup::Addresses(family) => lookup_name::lookup_name(&io, scenario, version, family).await,
        Lookup::Records(record_type) => {
            res_query::res_query(&io, scenario, version, record_type).await
        }
    };
    match result {
        Ok(addresses) => Outcome::Found(addresses.into_iter().map(Into::into).collect()),
        Err(outcome) => outcome,
    }
}

/// What musl takes from the scenario's `resolv.conf`.
pub fn reading(scenario: &Scenario) -> Reading<'_> {
    read::get_resolv_conf(scenario)
}

#[cfg(test)]
super::mutation::neighbours!(Version: tcp_fallback skips_bad_candidates refuses_double_dot needs_both sets_ad checks_reply; no_data: "EAI_FAIL");
