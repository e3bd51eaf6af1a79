//! Whom a resolver believes where servers do not say the same.

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use crate::address::Server;
use crate::engine::machine::Outcome;
use crate::engine::message::Rcode;
use crate::explain::transition::run_when;
use crate::resolver::Resolver;
use crate::resolver::reading::Setting;
use crate::scenario::Scenario;
use crate::world::{Effect, Rule};

/// So many servers are tried; no resolver but Go uses more.
const MAX_SERVERS: usize = 8;

/// The others answer so much later.
const LATER: Duration = Duration::from_millis(20);

/// The servers whose NXDOMAIN ends the lookup although all others have the
/// name, each tried as the fastest one. Empty where there is one server.
pub(super) fn believed(
    scenario: &Scenario,
    resolver: &Resolver,
    servers: &[Setting<Server>],
) -> Vec<IpAddr> {
    let mut addresses: Vec<IpAddr> = Vec::new();
    for server in servers {
        let ip = server.value.address.reached();
        if !addresses.contains(&ip) && addresses.len() < MAX_SERVERS {
            addresses.push(ip);
        }
    }
    if addresses.len() < 2 {
        return Vec::new();
    }
    let others = Rule {
        effect: Effect::Answer {
            a: vec![Ipv4Addr::new(192, 0, 2, 1)],
            aaaa: Vec::new(),
            cname: None,
        },
        delay: LATER,
        ..Rule::default()
    };
    let is_believed = |ip: &IpAddr| {
        let denies = Rule {
            server: Some(*ip),
            effect: Effect::Status(Rcode::NxDomain),
            ..Rule::default()
        };
        let run = run_when(scenario, resolver, &[denies, others.clone()]);
        !run.sent.is_empty() && !matches!(run.outcome, Outcome::Found(_))
    };
    addresses.retain(is_believed);
    addresses
}
