//! Options of `resolv.conf` and of `RES_OPTIONS`, since 4.1.50.

use std::time::Duration;

use crate::config::resolv_conf::{ResolvConf, Word};
use crate::resolver::netty::read::{WHITE, lines};
use crate::resolver::reading::{Origin, Reading, Setting};
use crate::scenario::Scenario;

/// Source: `DnsNameResolverBuilder.java: queryTimeoutMillis, maxQueriesPerResolve` (4.1.48)
pub(super) const LIMITS: Limits = Limits {
    timeout: Some(TIMEOUT),
    queries: 16,
};
/// Source: the same
pub(super) const TIMEOUT: Duration = Duration::from_secs(5);

/// What a name may cost.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// How long a reply is waited for; `None`: for ever.
    pub(super) timeout: Option<Duration>,
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
            let value = Duration::from_secs(u64::try_from(value).unwrap_or_default());
            limits.timeout = Some(value).filter(|it| !it.is_zero());
            reading.timeout = Setting { value, origin };
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::engine::machine::Outcome;
    use crate::resolver::find;
    use crate::scenario::json;

    #[test]
    fn without_a_time_out_a_lookup_without_a_reply_does_not_end() {
        for (option, ends) in [
            ("timeout:0", false),
            ("timeout:-1", false),
            ("timeout:1", true),
        ] {
            let text = format!(
                r#"{{"name": "a.test.", "resolv_conf": "nameserver 10.0.0.1\noptions {option}\n",
                    "answers": [{{"name": "*", "reply": "TIMEOUT"}}]}}"#
            );
            let scenario = json::parse(text.as_bytes(), "1").unwrap();
            let run = find("netty").unwrap().predict(&scenario);
            assert_eq!(run.outcome != Outcome::Hung, ends, "{option}");
            assert!(run.elapsed < Duration::from_secs(100), "{option}");
        }
    }
}
