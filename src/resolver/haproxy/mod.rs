//! HAProxy: names that it looks up at run time, with a `resolvers` section that
//! says `parse-resolv-conf`: `server … resolvers`, `do-resolve`.
//!
//! All servers are asked at once, and for one type at a time: AAAA, and A after
//! that (`resolve-prefer ipv6`, the default). There is no search list, no hosts
//! file and no TCP. `read` is `parse_resolve_conf`, `resolution` follows
//! `src/resolvers.c`.

mod read;
mod resolution;

use std::rc::Rc;

use hickory_proto::rr::RecordType;

use crate::engine::io::{Io, Wrong};
use crate::engine::machine::Outcome;
use crate::resolver::haproxy::read::{configured, nameservers};
use crate::resolver::haproxy::resolution::Resolution;
use crate::resolver::reading::Reading;
use crate::scenario::own::{Daemon, Own, UNKNOWN};
use crate::scenario::{Family, Scenario};

/// When it is asked, as a sentence without a full stop.
pub const CONDITION: &str = "names of servers with `resolvers`, and of do-resolve, with the target's own section if there is a target, else one that has `parse-resolv-conf` and is as it is by default; other names go to the C library when HAProxy starts: --resolver glibc, musl";
/// What `do-resolve` leaves behind when it fails.
const NO_ADDRESS: Outcome = Outcome::Failed("no address");

/// The lookup of `scenario`. A text that is an address is asked about, too: in
/// a `server` line it is none that has to be looked up.
pub async fn lookup(io: Rc<Io>, scenario: &Scenario) -> Outcome {
    // resolvers.c: resolv_process_responses looks at the id, and at the name of the question.
    io.takes(&[Wrong::Question]);
    let Some(servers) = nameservers(&io, scenario).await else {
        return Outcome::Failed("CONFIG_ERROR");
    };
    let Some(labels) = str_to_dn_label(scenario.name.as_bytes()) else {
        return NO_ADDRESS;
    };
    let preferred = match scenario.family() {
        Family::Inet => RecordType::A,
        Family::Both | Family::Inet6 => RecordType::AAAA,
    };
    let own = scenario.own_of(Daemon::Haproxy);
    if own.is_some_and(Own::has_unknown) {
        io.note(UNKNOWN);
    }
    let mut resolution = Resolution::new(&io, servers, labels, preferred);
    resolution.adjust(own);
    resolution.run().await
}

/// What it takes from the configuration.
pub fn reading(scenario: &Scenario) -> Reading<'_> {
    configured(scenario).1
}

/// The labels of a name, in lower case.
///
/// Source: HAProxy `src/resolvers.c: resolv_str_to_dn_label` (2.6)
fn str_to_dn_label(name: &[u8]) -> Option<Vec<Vec<u8>>> {
    if name.is_empty() {
        return Some(Vec::new());
    }
    let name = name.strip_suffix(b".").unwrap_or(name);
    let labels: Vec<Vec<u8>> = name
        .split(|&byte| byte == b'.')
        .map(<[u8]>::to_ascii_lowercase)
        .collect();
    labels.iter().all(|it| !it.is_empty()).then_some(labels)
}
