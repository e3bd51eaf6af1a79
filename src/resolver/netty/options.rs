//! Options of `resolv.conf` and of `RES_OPTIONS`, since 4.1.50.

use std::time::Duration;

use crate::config::resolv_conf::{ResolvConf, Word};
use crate::resolver::netty::read::{WHITE, lines};
use crate::resolver::reading::{Origin, Reading, Setting};
use crate::scenario::Scenario;

/// Source: `DnsNameResolverBuilder.java: queryTimeoutMillis, maxQueriesPerResolve` (4.1.48)
pub(super) const LIMITS: Limits = Limits {
    timeout: Duration::from_secs(5),
    queries: 16,
};
/// With a time-out of 0 it waits for ever; here for some years, which is said.
pub(super) const FOR_EVER: Duration = Duration::from_secs(1 << 28);

/// What a name may cost.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// How long a reply is waited for.
    pub(super) timeout: Duration,
    /// How many queries.
    pub(super) queries: u32,
}

/// Takes the options of the file and of the environment.
///
/// Source: `UnixResolverDnsServerAddressStreamProvider.java: parseEtcResolverOptions` (4.1.68)
pub(super) fn read_options(
    file: &ResolvConf,
    scenario: &Scenario,
    (ndots, limits): (&mut i64, &mut Limits),
    reading: &mut Reading<'_>,
) {
    let from_file = options(file).map(|it| (it.bytes, Origin::File(it.span)));
    let environment = scenario.env("RES_OPTIONS").unwrap_or_default().as_bytes();
    let environment = environment.split(|byte| WHITE.contains(byte));
    let environment = environment.map(|it| (it, Origin::Environment("RES_OPTIONS")));
    for (word, origin) in from_file.chain(environment) {
        read_option(word, origin, (&mut *ndots, &mut *limits), reading);
    }
}

/// The words of the first `options` line.
fn options(file: &ResolvConf) -> impl Iterator<Item = Word<'_>> {
    let line = lines(file).find(|it| it.bytes.starts_with(b"options "));
    line.into_iter().flat_map(|it| it.split(WHITE).skip(1))
}

/// Takes an option; a number that is none leaves what was there.
///
/// Source: `UnixResolverDnsServerAddressStreamProvider.java: parseResOptions` (4.1.68)
fn read_option(
    word: &[u8],
    origin: Origin,
    (ndots, limits): (&mut i64, &mut Limits),
    reading: &mut Reading<'_>,
) {
    let Some((key, value)) = std::str::from_utf8(word)
        .ok()
        .and_then(|it| it.split_once(':'))
    else {
        return;
    };
    let Ok(value) = value.parse::<i32>() else {
        return;
    };
    match key {
        "ndots" => {
            *ndots = value.into();
            let value = u32::try_from(value).unwrap_or(1);
            reading.ndots = Some(Setting { value, origin });
        }
        // Below zero there is no end.
        "attempts" => limits.queries = u32::try_from(value).unwrap_or(u32::MAX),
        "timeout" => {
            let seconds = u64::try_from(value).ok().filter(|it| *it > 0);
            limits.timeout = seconds.map_or(FOR_EVER, Duration::from_secs);
            let value = limits.timeout;
            reading.timeout = Setting { value, origin };
        }
        _ => {}
    }
}
