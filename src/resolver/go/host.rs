//! From the program's call to addresses: literals, the hosts file, DNS.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::rc::Rc;

use crate::address::Address;
use crate::engine::io::Io;
use crate::resolver::go::Version;
use crate::resolver::go::client::{Client, Failure, NO_SUCH_HOST};
use crate::resolver::go::hosts::lookup_static_host;
use crate::resolver::go::order::{Order, lookup_order};
use crate::resolver::go::parse::{parse_addr, to4};
use crate::resolver::go::read::dns_read_config;
use crate::scenario::{Family, Lookup, Scenario};

/// Source: Go `src/net/ipsock.go: errNoSuitableAddress`.
const NO_SUITABLE_ADDRESS: Failure = "no suitable address found";

/// The lookup of `scenario`.
pub(super) async fn lookup(
    io: Rc<Io>,
    scenario: &Scenario,
    version: &'static Version,
) -> Result<Vec<Address>, Failure> {
    let config = dns_read_config(scenario, version);
    let order = lookup_order(scenario, &config, version, false);
    let host = Host {
        scenario,
        version,
        order,
        client: Client::new(io, scenario, config, version),
    };
    match scenario.lookup {
        Lookup::Records(record_type) => host.client.lookup(host.name(), record_type).await,
        Lookup::Addresses(Family::Both) => host.lookup_host().await,
        Lookup::Addresses(family) => host.lookup_ip(family).await,
    }
}

struct Host<'a> {
    scenario: &'a Scenario,
    version: &'static Version,
    order: Order,
    client: Client<'a>,
}

impl<'a> Host<'a> {
    fn name(&self) -> &'a [u8] {
        self.scenario.name.as_bytes()
    }

    /// Source: Go `src/net/lookup.go: Resolver.LookupHost`.
    async fn lookup_host(&self) -> Result<Vec<Address>, Failure> {
        if self.name().is_empty() {
            return Err(NO_SUCH_HOST);
        }
        if let Some(mut address) = parse_addr(self.name(), self.version) {
            // It is given back as it was written.
            address.written = Some(self.scenario.name.as_str().into());
            return Ok(vec![address]);
        }
        self.go_lookup_host_order().await
    }

    /// Source: Go `src/net/lookup.go: Resolver.LookupIP`.
    async fn lookup_ip(&self, family: Family) -> Result<Vec<Address>, Failure> {
        if self.name().is_empty() {
            // In 1.19 it is one address of no bytes, shown as `<nil>`.
            return if self.version.empty_name_has_addresses {
                Ok(Vec::new())
            } else {
                Err(NO_SUCH_HOST)
            };
        }
        self.internet_addr_list(family).await
    }

    /// The addresses of one family; a name that has none of it fails.
    ///
    /// Source: Go `src/net/ipsock.go: Resolver.internetAddrList, filterAddrList`.
    async fn internet_addr_list(&self, family: Family) -> Result<Vec<Address>, Failure> {
        let mut addresses = match parse_addr(self.name(), self.version) {
            Some(address) => vec![address],
            None => self.go_lookup_ip_cname_order(family).await?,
        };
        if let [only] = addresses.as_slice()
            && only.ip == IpAddr::V6(Ipv6Addr::UNSPECIFIED)
        {
            addresses.push(IpAddr::from(Ipv4Addr::UNSPECIFIED).into());
        }
        let suitable: Vec<Address> = addresses
            .into_iter()
            .map(|address| address.ip.to_canonical())
            .filter(|ip| match family {
                Family::Both => true,
                Family::Inet => ip.is_ipv4(),
                Family::Inet6 => ip.is_ipv6(),
            })
            // `LookupIP` gives no zones.
            .map(Address::from)
            .collect();
        if suitable.is_empty() {
            return Err(NO_SUITABLE_ADDRESS);
        }
        Ok(suitable)
    }

    /// Source: Go `src/net/dnsclient_unix.go: Resolver.goLookupHostOrder`.
    async fn go_lookup_host_order(&self) -> Result<Vec<Address>, Failure> {
        if matches!(self.order, Order::FilesDns | Order::Files) {
            let addresses = lookup_static_host(self.scenario, self.name(), self.version);
            if !addresses.is_empty() {
                return Ok(addresses);
            }
            if self.order == Order::Files {
                return self.not_in_files();
            }
        }
        self.go_lookup_ip_cname_order(Family::Both).await
    }

    /// Source: Go `src/net/dnsclient_unix.go: Resolver.goLookupIPCNAMEOrder`.
    async fn go_lookup_ip_cname_order(&self, family: Family) -> Result<Vec<Address>, Failure> {
        if matches!(self.order, Order::FilesDns | Order::Files) {
            let addresses = self.go_lookup_ip_files();
            if !addresses.is_empty() {
                return Ok(addresses);
            }
            if self.order == Order::Files {
                return self.not_in_files();
            }
        }
        let found = self.client.lookup_addresses(self.name(), family).await?;
        let mut addresses = found.addresses;
        if addresses.is_empty() {
            if self.order == Order::DnsFiles {
                addresses = self.go_lookup_ip_files();
            }
            if let Some(error) = found.error.filter(|_| addresses.is_empty()) {
                return Err(error);
            }
        }
        Ok(addresses)
    }

    /// Source: Go `src/net/dnsclient_unix.go: goLookupIPFiles`.
    fn go_lookup_ip_files(&self) -> Vec<Address> {
        lookup_static_host(self.scenario, self.name(), self.version)
            .into_iter()
            .map(to4)
            .collect()
    }

    fn not_in_files(&self) -> Result<Vec<Address>, Failure> {
        if self.version.files_alone_find_nothing {
            Ok(Vec::new())
        } else {
            Err(NO_SUCH_HOST)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::machine::Outcome;
    use crate::resolver::find;

    #[test]
    fn the_empty_name_is_one_address_of_no_bytes_in_1_19() {
        let mut scenario = Scenario::new("1", "");
        scenario.lookup = Lookup::Addresses(Family::Inet);
        for (id, expected) in [
            ("go-1.19", Outcome::Found(Vec::new())),
            ("go-1.27", Outcome::Failed(NO_SUCH_HOST)),
        ] {
            let run = find(id).unwrap().predict(&scenario);
            assert_eq!(run.outcome, expected, "{id}");
        }
    }
}
