//! c-ares as Envoy configures it. From the source, not observed.
//!
//! Source: Envoy `source/extensions/network/dns_resolver/cares/dns_impl.cc`,
//! `api/envoy/extensions/network/dns_resolver/cares/v3/cares_dns_resolver.proto` (1.36)

use std::time::Duration;

use crate::engine::io::Io;
use crate::engine::machine::Outcome;
use crate::resolver::c_ares::config::Config;
use crate::resolver::c_ares::v1_34;
use crate::resolver::reading::{Origin, Setting};
use crate::scenario::own::{Daemon, Given, Order, Own, UNKNOWN};
use crate::scenario::{Family, Scenario};

/// When it is asked, as a sentence without a full stop.
pub const CONDITION: &str = "STRICT_DNS and LOGICAL_DNS clusters of Envoy 1.33 and later, as the bootstrap of the target has them if there is a target, else with what Envoy does by itself (AUTO: IPv6 first, and IPv4 where that brings nothing); older ones have the time-outs of their c-ares";

/// Envoy's own for `query_timeout_seconds`.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Envoy's own for `query_tries`.
const TRIES: u32 = 4;

/// Lays what Envoy sets over what the files say.
///
/// Source: `DnsResolverImpl::defaultAresOptions, initializeChannel`
pub(super) fn apply(config: &mut Config<'_>, scenario: &Scenario) {
    let own = scenario.own_of(Daemon::Envoy);
    let reading = &mut config.reading;
    let retry = own.and_then(|it| it.retry);
    reading.timeout = Setting::built_in(retry.unwrap_or(TIMEOUT));
    let tries = own.and_then(|it| it.retries);
    reading.attempts = Setting::built_in(tries.unwrap_or(TRIES));
    config.flags.use_vc = false;
    let Some(own) = own else {
        return;
    };
    config.flags.use_vc = own.is_tcp;
    // Flags of its own take the place of c-ares' usual one, which is EDNS.
    config.flags.edns = own.has_search && !own.is_tcp;
    if let Some(size) = own.edns_size {
        config.flags.edns = true;
        config.flags.edns_size = size;
    }
    if !own.has_search {
        reading.search.clear();
    }
    let is_known = |it: &Setting<_>| it.origin != Origin::BuiltIn;
    let is_fallback = own.has_resolv_conf();
    if is_fallback && reading.servers.iter().any(is_known) {
        return;
    }
    let given = own.servers.iter().enumerate();
    let given = given.filter_map(|(at, it)| match &it.value {
        Given::Server(server) => Some(Setting::own(server.clone(), at)),
        _ => None,
    });
    let given: Vec<_> = given.collect();
    if !given.is_empty() || !is_fallback {
        reading.servers = given;
    }
}

/// Looks the name up in one family, and in the other one where that brings
/// nothing, whatever it was.
///
/// Source: `DnsResolverImpl::AddrInfoPendingResolution, onAresGetAddrInfoCallback`
pub(super) async fn lookup(
    mut channel: v1_34::Channel<'_>,
    io: &Io,
    scenario: &Scenario,
    config: &Config<'_>,
    name: &[u8],
) -> Outcome {
    let own = scenario.own_of(Daemon::Envoy);
    if own.is_some_and(Own::has_unknown) {
        io.note(UNKNOWN);
    }
    let mut last = Outcome::Failed("no family");
    for &family in families(scenario.family(), own) {
        last = v1_34::ares_getaddrinfo(&mut channel, scenario, config, name, family).await;
        if matches!(last, Outcome::Found(_)) {
            break;
        }
    }
    last
}

fn families(asked: Family, own: Option<&Own>) -> &'static [Family] {
    let has = own.map_or([true, true], |it| [it.has_ipv4, it.has_ipv6]);
    let order = own.map_or(Order::Ipv6First, |it| it.order);
    match (asked, has, order) {
        (Family::Inet, ..) | (_, [true, false], _) => &[Family::Inet],
        (Family::Inet6, ..) | (_, [false, _], _) => &[Family::Inet6],
        (_, _, Order::Together) => &[Family::Both],
        (_, _, Order::Ipv6First) => &[Family::Inet6, Family::Inet],
        (_, _, Order::Ipv4First) => &[Family::Inet, Family::Inet6],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::resolv_conf::ResolvConf;
    use crate::engine::message::Question;
    use crate::resolver;
    use crate::text::{Place, Placed, Source};

    /// What is asked for a name that does not exist.
    fn check(own: Option<Own>, expected: &str) {
        let mut scenario = Scenario::new("1", "db");
        let conf = "nameserver 10.0.0.1\nsearch a.test\noptions timeout:1 attempts:1\n";
        scenario.resolv_conf = Some(ResolvConf::parse(Source::new("f", conf)));
        scenario.own = own;
        let run = resolver::find("envoy").unwrap().predict(&scenario);
        let sent = run.sent.iter().map(|it| {
            let query = &it.query;
            let Question::Asked(name, kind) = &query.question else {
                panic!("{query:?}");
            };
            let edns = query.edns.as_ref().map_or(0, |it| it.size);
            let (server, transport) = (&query.server, query.transport);
            format!("{server} {name} {kind} {transport:?} {edns}")
        });
        let sent: Vec<String> = sent.collect();
        assert_eq!(sent.join(", "), expected);
    }

    fn own(order: Order, servers: &[Given]) -> Own {
        let mut own = Own::new(Daemon::Envoy);
        let place = || Place::nowhere("f");
        let servers = servers.iter().cloned();
        own.servers = servers
            .map(|value| Placed {
                value,
                place: place(),
            })
            .collect();
        own.order = order;
        own
    }

    #[test]
    fn families_are_asked_one_after_the_other() {
        let auto = "10.0.0.1 db.a.test AAAA Udp 1232, 10.0.0.1 db AAAA Udp 1232, \
                    10.0.0.1 db.a.test A Udp 1232, 10.0.0.1 db A Udp 1232";
        check(None, auto);
        let file = [Given::ResolvConf];
        check(Some(own(Order::Ipv6First, &file)), auto);
        let mut only = own(Order::Together, &file);
        only.has_ipv6 = false;
        only.edns_size = Some(4096);
        check(
            Some(only),
            "10.0.0.1 db.a.test A Udp 4096, 10.0.0.1 db A Udp 4096",
        );
    }

    #[test]
    fn servers_and_flags_are_envoys_own() {
        let server = Given::host("10.0.0.9", "10.0.0.9".parse().ok(), 5353).unwrap();
        let mut flags = own(Order::Ipv4First, std::slice::from_ref(&server));
        flags.has_search = false;
        let expected = "10.0.0.9#5353 db A Udp 0, 10.0.0.9#5353 db AAAA Udp 0";
        check(Some(flags.clone()), expected);
        flags.is_tcp = true;
        check(Some(flags), &expected.replace("Udp", "Tcp"));
        // The file has a server: the others are for when it has none.
        let mut fallback = own(Order::Together, &[Given::ResolvConf, server]);
        fallback.has_ipv6 = false;
        fallback.has_search = false;
        check(Some(fallback), "10.0.0.1 db A Udp 0");
    }

    #[test]
    fn its_time_outs_are_not_those_of_the_file() {
        let mut scenario = Scenario::new("1", "db");
        let conf = "nameserver 10.0.0.1\noptions timeout:1 attempts:1\n";
        scenario.resolv_conf = Some(ResolvConf::parse(Source::new("f", conf)));
        let resolver = resolver::find("envoy").unwrap();
        let reading = resolver.reading(&scenario);
        assert_eq!(
            (reading.timeout.value, reading.attempts.value),
            (TIMEOUT, TRIES)
        );
        let mut own = own(Order::Together, &[Given::ResolvConf]);
        (own.retry, own.retries) = (Some(Duration::from_secs(2)), Some(7));
        scenario.own = Some(own);
        let reading = resolver.reading(&scenario);
        let expected = (Duration::from_secs(2), 7);
        assert_eq!((reading.timeout.value, reading.attempts.value), expected);
    }
}
