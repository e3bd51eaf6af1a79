//! The configuration of a channel: what files and environment say, and what is
//! so where they say nothing.

use std::borrow::Cow;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use crate::address::Server;
use crate::resolver::c_ares::Flags;
use crate::resolver::reading::{Dropped, Origin, Reading, Setting, Unused};
use crate::scenario::Scenario;

/// `ndots` without any option.
const DEFAULT_NDOTS: u32 = 1;
/// Hosts file, then DNS.
const DEFAULT_LOOKUPS: &str = "fb";

/// A channel's configuration.
#[derive(Debug)]
pub(super) struct Config<'a> {
    pub(super) reading: Reading<'a>,
    /// `f` for the hosts file and `b` for DNS, in order.
    pub(super) lookups: String,
    /// What the program that makes the channel asks for.
    pub(super) flags: Flags,
    /// Said beside the outcome where the source alone does not decide it.
    pub(super) note: Option<&'static str>,
}

/// What the files and the environment say.
#[derive(Debug, Default)]
pub(super) struct Sysconfig<'a> {
    pub(super) servers: Vec<Setting<Server>>,
    pub(super) domains: Option<Vec<Setting<Cow<'a, [u8]>>>>,
    pub(super) lookups: Option<String>,
    pub(super) ndots: Option<Setting<u32>>,
    /// In milliseconds.
    pub(super) timeout: Option<Setting<u32>>,
    pub(super) tries: Option<Setting<u32>>,
    pub(super) rotate: Option<Origin>,
    pub(super) use_vc: bool,
    pub(super) dropped: Unused,
    /// Why nothing of it is applied.
    pub(super) refused: Option<Dropped>,
    /// What the source alone does not decide.
    pub(super) note: Option<&'static str>,
}

/// What versions differ in where nothing is said.
#[derive(Clone, Copy, Debug)]
pub(super) struct Defaults {
    /// `DEFAULT_TIMEOUT` (`src/lib/ares_private.h`), in milliseconds.
    pub(super) timeout: u32,
    /// `DEFAULT_TRIES` (`src/lib/ares_private.h`).
    pub(super) tries: u32,
    /// The size that queries with an OPT record offer.
    pub(super) edns_size: u16,
}

impl<'a> Sysconfig<'a> {
    /// Source: c-ares `src/lib/ares_init.c: init_by_defaults`.
    pub(super) fn init_by_defaults(self, scenario: &'a Scenario, defaults: Defaults) -> Config<'a> {
        let mut servers = self.servers;
        if servers.is_empty() {
            servers.push(Setting::built_in(IpAddr::from(Ipv4Addr::LOCALHOST).into()));
        }
        let from_host_name = || {
            let (_, domain) = scenario.hostname.split_once('.')?;
            Some(Setting {
                value: Cow::Borrowed(domain.as_bytes()),
                origin: Origin::HostName,
            })
        };
        let search = (self.domains).unwrap_or_else(|| from_host_name().into_iter().collect());
        let timeout = (self.timeout).unwrap_or(Setting::built_in(defaults.timeout));
        let rotate = self.rotate.map(|origin| Setting {
            value: "rotate",
            origin,
        });
        Config {
            note: self.note,
            flags: Flags {
                edns: true,
                edns_size: defaults.edns_size,
                checks_responses: true,
                use_vc: self.use_vc,
                tick: None,
            },
            lookups: self.lookups.unwrap_or_else(|| DEFAULT_LOOKUPS.to_owned()),
            reading: Reading {
                servers,
                search,
                ndots: Some(self.ndots.unwrap_or(Setting::built_in(DEFAULT_NDOTS))),
                timeout: Setting {
                    value: Duration::from_millis(timeout.value.into()),
                    origin: timeout.origin,
                },
                attempts: (self.tries).unwrap_or(Setting::built_in(defaults.tries)),
                flags: rotate.into_iter().collect(),
                dropped: self.dropped,
                refused: self.refused,
            },
        }
    }
}

impl Config<'_> {
    /// In milliseconds.
    pub(super) fn timeout(&self) -> u64 {
        u64::try_from(self.reading.timeout.value.as_millis()).unwrap_or(u64::MAX)
    }

    /// Whether `rotate` is set.
    pub(super) fn rotate(&self) -> bool {
        !self.reading.flags.is_empty()
    }
}
