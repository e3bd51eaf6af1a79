//! What resolved knows of a server: which features it seems to have.
//!
//! Without DNSSEC and DNS over TLS, the levels above EDNS are never used.
//!
//! Source: systemd `src/resolve/resolved-dns-server.c`.

use std::net::IpAddr;
use std::time::Duration;

use crate::address::{Address, Server};
use crate::engine::message::Transport;

/// Failures of a level after which a lower one is tried.
///
/// Source: `DNS_SERVER_FEATURE_RETRY_ATTEMPTS`.
const FEATURE_RETRY_ATTEMPTS: u32 = 3;
/// How long a lower level is kept at first, and at most.
///
/// Source: `DNS_SERVER_FEATURE_GRACE_PERIOD_MIN_USEC`, `_MAX_USEC`.
const GRACE_PERIOD_MIN: Duration = Duration::from_secs(5 * 60);
const GRACE_PERIOD_MAX: Duration = Duration::from_secs(6 * 60 * 60);
/// MTU of a scenario's network and of the loop.
const MTU: u16 = 1500;
const LOOPBACK_MTU: u32 = 65536;
/// Source: `src/resolve/resolved-dns-packet.h: udp_header_size`.
const UDP4_HEADER_SIZE: u16 = 28;
const UDP6_HEADER_SIZE: u16 = 48;

/// How a server is asked.
///
/// Source: `DnsServerFeatureLevel`.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum FeatureLevel {
    /// Over TCP, without EDNS.
    Tcp,
    /// Over UDP, without EDNS.
    Udp,
    /// Over UDP, with EDNS.
    Edns0,
}

/// The best level without DNSSEC and DNS over TLS.
const BEST: FeatureLevel = FeatureLevel::Edns0;

/// A server with what was learnt about it.
///
/// Source: `DnsServer`.
#[derive(Clone, Debug)]
pub(super) struct DnsServer {
    /// Where queries arrive: the IPv4 address of one that is mapped to IPv6.
    pub server: Server,
    /// The address as configured.
    pub configured: Address,
    /// The connection to it, an index of the manager's streams.
    pub stream: Option<usize>,
    verified_feature_level: Option<FeatureLevel>,
    possible_feature_level: FeatureLevel,
    failed_udp: u32,
    failed_tcp: u32,
    packet_truncated: bool,
    packet_bad_opt: bool,
    verified_at: Option<Duration>,
    grace_period: Duration,
}

impl FeatureLevel {
    /// The next lower level.
    pub(super) fn lower(self) -> Self {
        match self {
            Self::Edns0 => Self::Udp,
            Self::Udp | Self::Tcp => Self::Tcp,
        }
    }
}

impl DnsServer {
    /// Source: `dns_server_new`, `dns_server_reset_features`.
    pub(super) fn new(configured: &Server) -> Self {
        let address = &configured.address;
        let ip = match address.ip {
            IpAddr::V6(ip) => ip.to_ipv4_mapped().map_or(address.ip, IpAddr::V4),
            ip @ IpAddr::V4(_) => ip,
        };
        Self {
            server: Server {
                address: Address::scoped(ip, address.scope.clone()),
                port: configured.port,
            },
            configured: address.clone(),
            stream: None,
            verified_feature_level: None,
            possible_feature_level: BEST,
            failed_udp: 0,
            failed_tcp: 0,
            packet_truncated: false,
            packet_bad_opt: false,
            verified_at: None,
            grace_period: GRACE_PERIOD_MIN,
        }
    }

    /// Source: `src/basic/in-addr-util.c: in_addr_is_localhost`.
    pub(super) fn is_localhost(&self) -> bool {
        self.configured.ip.is_loopback()
    }

    /// The size that an OPT record tells.
    ///
    /// Source: `dns_server_adjust_opt`.
    pub(super) fn udp_size(&self) -> u16 {
        let header = match self.configured.ip {
            IpAddr::V4(_) => UDP4_HEADER_SIZE,
            IpAddr::V6(_) => UDP6_HEADER_SIZE,
        };
        if self.is_localhost() {
            u16::try_from(LOOPBACK_MTU - u32::from(header)).unwrap_or(u16::MAX)
        } else {
            MTU - header
        }
    }

    /// Source: `dns_server_packet_received`.
    pub(super) fn packet_received(
        &mut self,
        transport: Transport,
        level: FeatureLevel,
        now: Duration,
    ) {
        let mut verified = level;
        match transport {
            Transport::Udp if self.possible_feature_level == level => self.failed_udp = 0,
            Transport::Udp => {}
            Transport::Tcp => {
                if self.possible_feature_level == level {
                    self.failed_tcp = 0;
                }
                verified = FeatureLevel::Tcp;
            }
        }
        if self.packet_bad_opt && verified >= FeatureLevel::Edns0 {
            verified = FeatureLevel::Udp;
        }
        self.verified(verified, now);
    }

    /// Source: `dns_server_verified`.
    fn verified(&mut self, level: FeatureLevel, now: Duration) {
        if self.verified_feature_level > Some(level) {
            return;
        }
        self.verified_feature_level = Some(level);
        self.verified_at = Some(now);
    }

    /// Source: `dns_server_packet_lost`.
    pub(super) fn packet_lost(&mut self, transport: Transport, level: FeatureLevel) {
        if self.possible_feature_level != level {
            return;
        }
        match transport {
            Transport::Udp => self.failed_udp += 1,
            Transport::Tcp => self.failed_tcp += 1,
        }
    }

    /// Source: `dns_server_packet_truncated`.
    pub(super) fn packet_truncated(&mut self, level: FeatureLevel) {
        if self.possible_feature_level == level {
            self.packet_truncated = true;
        }
    }

    /// Source: `dns_server_packet_bad_opt`.
    pub(super) fn packet_bad_opt(&mut self, level: FeatureLevel) {
        if level < FeatureLevel::Edns0 {
            return;
        }
        if self.verified_feature_level >= Some(FeatureLevel::Edns0) {
            self.verified_feature_level = Some(FeatureLevel::Udp);
        }
        self.packet_bad_opt = true;
    }

    /// Source: `dns_server_packet_rcode_downgrade`.
    pub(super) fn packet_rcode_downgrade(&mut self, level: FeatureLevel) {
        if self.verified_feature_level > Some(level) {
            self.verified_feature_level = Some(level);
        }
        if self.possible_feature_level > level {
            self.possible_feature_level = level;
            self.reset_counters();
        }
    }

    /// Source: `dns_server_reset_counters`.
    fn reset_counters(&mut self) {
        self.failed_udp = 0;
        self.failed_tcp = 0;
        self.packet_truncated = false;
        self.verified_at = None;
    }

    /// The level to ask at now, and whether what is cached is to be forgotten.
    ///
    /// Source: `dns_server_possible_feature_level`.
    pub(super) fn possible_feature_level(&mut self, now: Duration) -> (FeatureLevel, bool) {
        if self.possible_feature_level < BEST && self.grace_period_expired(now) {
            self.possible_feature_level = BEST;
            self.reset_counters();
            self.packet_bad_opt = false;
            return (BEST, true);
        }
        if let Some(verified) = self
            .verified_feature_level
            .filter(|&verified| self.possible_feature_level <= verified)
        {
            self.possible_feature_level = verified;
            return (verified, false);
        }
        let level = self.degraded_feature_level();
        if level != self.possible_feature_level {
            self.possible_feature_level = level;
            self.reset_counters();
        }
        (level, false)
    }

    /// The second half of `dns_server_possible_feature_level`.
    fn degraded_feature_level(&self) -> FeatureLevel {
        let level = self.possible_feature_level;
        let lost_udp = self.failed_udp >= FEATURE_RETRY_ATTEMPTS;
        let lost_tcp = self.failed_tcp >= FEATURE_RETRY_ATTEMPTS;
        match level {
            // TCP does not work: UDP again.
            FeatureLevel::Tcp if lost_tcp => FeatureLevel::Udp,
            FeatureLevel::Edns0 if self.packet_bad_opt => FeatureLevel::Udp,
            FeatureLevel::Udp | FeatureLevel::Edns0 if lost_udp => level.lower(),
            // Replies are too large for UDP, and TCP fails: make them smaller.
            FeatureLevel::Edns0 if lost_tcp && self.packet_truncated => FeatureLevel::Udp,
            _ => level,
        }
    }

    /// Source: `dns_server_grace_period_expired`.
    fn grace_period_expired(&mut self, now: Duration) -> bool {
        let expired = self
            .verified_at
            .is_some_and(|verified_at| verified_at + self.grace_period <= now);
        if expired {
            self.grace_period = (self.grace_period * 2).min(GRACE_PERIOD_MAX);
        }
        expired
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lower_level_is_kept_for_five_minutes_then_twice_as_long_each_time() {
        let mut server = DnsServer::new(&Server::from(IpAddr::from([10, 96, 0, 10])));
        let mut now = Duration::ZERO;
        for minutes in [5, 10, 20, 40, 80, 160, 320, 360, 360] {
            server.packet_rcode_downgrade(FeatureLevel::Udp);
            server.packet_received(Transport::Udp, FeatureLevel::Udp, now);
            let before = now + Duration::from_millis(minutes * 60_000 - 1);
            now += Duration::from_secs(minutes * 60);
            assert_eq!(
                server.possible_feature_level(before),
                (FeatureLevel::Udp, false)
            );
            assert_eq!(server.possible_feature_level(now), (BEST, true));
        }
    }
}
