//! The configuration of a channel.
//!
//! Source: c-ares 1.34 `src/lib/ares_init.c: ares_init_options, init_by_defaults`,
//! `src/lib/ares_sysconfig.c: ares_init_by_sysconfig`.

use std::borrow::Cow;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use crate::resolver::c_ares::v1_34::sysconfig::{Sysconfig, sysconfig};
use crate::resolver::reading::{Origin, Reading, Setting};
use crate::scenario::Scenario;

/// `DEFAULT_TIMEOUT` (1.34 `src/lib/ares_private.h`), in milliseconds.
const DEFAULT_TIMEOUT: u32 = 2000;
/// `DEFAULT_TRIES` (1.34 `src/lib/ares_private.h`).
const DEFAULT_TRIES: u32 = 3;
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
    pub(super) ndots: u32,
    /// In milliseconds.
    pub(super) timeout: u32,
    pub(super) tries: u32,
    pub(super) rotate: bool,
}

/// Reads everything that a channel depends on.
pub(super) fn config(scenario: &Scenario) -> Config<'_> {
    match sysconfig(scenario) {
        Ok(sysconfig) => init_by_defaults(sysconfig, scenario),
        // Nothing of it is applied, not even what was read before.
        Err(failed) => {
            let config = init_by_defaults(Sysconfig::default(), scenario);
            Config {
                reading: Reading {
                    dropped: failed.dropped,
                    refused: Some(failed.refused),
                    ..config.reading
                },
                ..config
            }
        }
    }
}

/// Source: c-ares 1.34 `src/lib/ares_init.c: init_by_defaults`.
fn init_by_defaults<'a>(sysconfig: Sysconfig<'a>, scenario: &'a Scenario) -> Config<'a> {
    let mut servers = sysconfig.servers;
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
    let domains = sysconfig.domains;
    let search = domains.unwrap_or_else(|| from_host_name().into_iter().collect());
    let ndots = sysconfig.ndots.unwrap_or(Setting::built_in(DEFAULT_NDOTS));
    let timeout = sysconfig.timeout.filter(|timeout| timeout.value != 0);
    let timeout = timeout.unwrap_or(Setting::built_in(DEFAULT_TIMEOUT));
    let tries = sysconfig.tries.unwrap_or(Setting::built_in(DEFAULT_TRIES));
    let rotate = sysconfig.rotate.map(|origin| Setting {
        value: "rotate",
        origin,
    });
    Config {
        ndots: ndots.value,
        timeout: timeout.value,
        tries: tries.value,
        rotate: rotate.is_some(),
        lookups: sysconfig
            .lookups
            .unwrap_or_else(|| DEFAULT_LOOKUPS.to_owned()),
        reading: Reading {
            servers,
            search,
            ndots: Some(ndots),
            timeout: Setting {
                value: Duration::from_millis(timeout.value.into()),
                origin: timeout.origin,
            },
            attempts: tries,
            flags: rotate.into_iter().collect(),
            dropped: sysconfig.dropped,
            refused: None,
        },
    }
}
