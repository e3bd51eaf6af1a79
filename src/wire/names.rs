//! Addresses of names that kdns itself needs, by hickory.

use std::net::IpAddr;
use std::time::Duration;

use hickory_proto::rr::Name;
use hickory_resolver::TokioResolver;
use hickory_resolver::config::{
    LookupIpStrategy, NameServerConfig, ResolveHosts, ResolverConfig, ServerOrderingStrategy,
};
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use tokio::runtime::Builder;

/// What a `resolv.conf` says about looking names up.
#[derive(Clone, Debug, Default)]
pub struct Directory {
    /// The name servers, in order.
    pub servers: Vec<IpAddr>,
    /// The search list.
    pub search: Vec<String>,
    /// Names with so many dots are asked as they are first.
    pub ndots: u32,
    /// How long a server may take; zero is hickory's default.
    pub timeout: Duration,
    /// How often a server is asked.
    pub attempts: u32,
}

/// The addresses of a name, those of IPv6 too; none if there are none or
/// nobody tells. Sockets are made by the calling thread, on a runtime of its
/// own, so they are in the network namespace that it has entered.
pub fn addresses(name: &str, directory: &Directory) -> Vec<IpAddr> {
    let Ok(runtime) = Builder::new_current_thread().enable_all().build() else {
        return Vec::new();
    };
    let search = directory.search.iter();
    let search = search.filter_map(|it| Name::from_utf8(it).ok()).collect();
    let servers = directory.servers.iter();
    let servers = servers.map(|ip| NameServerConfig::udp_and_tcp(*ip));
    let config = ResolverConfig::from_parts(None, search, servers.collect());
    let found = runtime.block_on(async {
        let mut builder =
            TokioResolver::builder_with_config(config, TokioRuntimeProvider::default());
        let options = builder.options_mut();
        options.ndots = usize::try_from(directory.ndots).unwrap_or(usize::MAX);
        if !directory.timeout.is_zero() {
            options.timeout = directory.timeout;
        }
        options.attempts = usize::try_from(directory.attempts).unwrap_or(1);
        options.ip_strategy = LookupIpStrategy::Ipv4AndIpv6;
        options.use_hosts_file = ResolveHosts::Never;
        options.server_ordering_strategy = ServerOrderingStrategy::UserProvidedOrder;
        let resolver = builder.build().ok()?;
        let found = resolver.lookup_ip(name).await.ok()?;
        Some(found.iter().collect())
    });
    found.unwrap_or_default()
}
