//! The table of resolvers: every version of every family.

use super::Model::{
    Bind, Busybox, CAres, Dnspython, Erlang, Glibc, Go, Haproxy, Hickory, Musl, Netty, Nginx,
    Resolved, Ruby,
};
use super::{
    Model, Resolver, bind, busybox, c_ares, dnspython, erlang, glibc, go, hickory, musl, netty,
    resolved, ruby,
};

/// Every resolver, in the order of output: id and family, the first version that does the same,
/// the versions that were run, the model, and who uses it.
#[rustfmt::skip]
pub const ALL: &[Resolver] = &[
    usual("glibc", "glibc", "2.36", &["2.36"], Glibc(&glibc::V2_36, glibc::Call::GetAddrInfo), "getaddrinfo in Debian, Ubuntu, Fedora and RHEL images"),
    version("glibc-2.41", "glibc", "2.41", &["2.41"], Glibc(&glibc::V2_41, glibc::Call::GetAddrInfo), "Debian 13 images"),
    version("glibc-2.35", "glibc", "2.35", &[], Glibc(&glibc::V2_35, glibc::Call::GetAddrInfo), "Ubuntu 22.04 images"),
    Resolver { version: "2.34", ..version("glibc-2.34", "glibc", "2.33", &[], Glibc(&glibc::V2_34, glibc::Call::GetAddrInfo), "RHEL 9 images") },
    version("glibc-2.31", "glibc", "2.31", &["2.31"], Glibc(&glibc::V2_31, glibc::Call::GetAddrInfo), "Debian 11 and Ubuntu 20.04 images"),
    Resolver { version: "2.28", ..version("glibc-2.28", "glibc", "2.26", &[], Glibc(&glibc::V2_28, glibc::Call::GetAddrInfo), "Debian 10 and RHEL 8 images") },
    version("glibc-2.17", "glibc", "2.17", &[], Glibc(&glibc::V2_17, glibc::Call::GetAddrInfo), "RHEL 7 and CentOS 7 images"),
    usual("glibc-res_search", "glibc-res_search", "2.36", &["2.36"], Glibc(&glibc::V2_36, glibc::Call::ResSearch), "programs that call res_search"),
    usual("glibc-res_query", "glibc-res_query", "2.36", &["2.36"], Glibc(&glibc::V2_36, glibc::Call::ResQuery), "programs that call res_query"),
    version("musl-1.1.24", "musl", "1.1.20", &["1.1.24"], Musl(&musl::V1_1_24), "Alpine 3.9 to 3.12 images"),
    usual("musl-1.2.3", "musl", "1.2.2", &["1.2.3", "1.2.2"], Musl(&musl::V1_2_3), "Alpine 3.13 to 3.17 images"),
    usual("musl-1.2.5", "musl", "1.2.4", &["1.2.5", "1.2.4"], Musl(&musl::V1_2_5), "Alpine 3.18 and later images"),
    version("go-1.15", "go", "1.11", &["1.15.15"], Go(&go::V1_15), "Go programs of 2021 and before"),
    usual("go-1.19", "go", "1.19", &["1.19.8"], Go(&go::V1_19), "older Go programs with the pure Go resolver"),
    version("go-1.21", "go", "1.21", &["1.21.13"], Go(&go::V1_21), "Go programs of 2023"),
    version("go-1.22", "go", "1.22", &["1.22.10"], Go(&go::V1_22), "Go programs of 2024"),
    usual("go-1.27", "go", "1.23", &["1.27.3", "1.23.9"], Go(&go::V1_27), "kubectl, CoreDNS and other Go programs"),
    usual("c-ares-1.18", "c-ares", "1.18", &["1.18.1"], CAres(c_ares::Version::V1_18, c_ares::Call::GetAddrInfo), "Envoy, gRPC and Node's resolve* of 2022"),
    usual("c-ares-1.18-search", "c-ares-search", "1.16", &["1.18.1", "1.17.1"], CAres(c_ares::Version::V1_18, c_ares::Call::Search), "ares_search of 2022"),
    version("c-ares-1.25", "c-ares", "1.24", &["1.25.0"], CAres(c_ares::Version::V1_25, c_ares::Call::GetAddrInfo), "programs of late 2023 with c-ares"),
    version("c-ares-1.25-search", "c-ares-search", "1.24", &["1.25.0"], CAres(c_ares::Version::V1_25, c_ares::Call::Search), "ares_search there"),
    version("c-ares-1.27", "c-ares", "1.27", &["1.27.0"], CAres(c_ares::Version::V1_27, c_ares::Call::GetAddrInfo), "programs of early 2024 with c-ares; Node 18.20, 20.12 and 21.7 and Alpine 3.19 have it"),
    version("c-ares-1.27-search", "c-ares-search", "1.27", &["1.27.0"], CAres(c_ares::Version::V1_27, c_ares::Call::Search), "ares_search there"),
    version("c-ares-1.28", "c-ares", "1.28", &["1.28.1"], CAres(c_ares::Version::V1_28, c_ares::Call::GetAddrInfo), "programs of early 2024 with c-ares; Node 20.13 to 20.15 and 22.0 have it"),
    version("c-ares-1.28-search", "c-ares-search", "1.28", &["1.28.1"], CAres(c_ares::Version::V1_28, c_ares::Call::Search), "ares_search there"),
    version("c-ares-1.31", "c-ares", "1.31", &["1.31.0"], CAres(c_ares::Version::V1_31, c_ares::Call::GetAddrInfo), "programs of mid-2024 with c-ares"),
    version("c-ares-1.31-search", "c-ares-search", "1.31", &["1.31.0"], CAres(c_ares::Version::V1_31, c_ares::Call::Search), "ares_search there"),
    version("c-ares-1.32", "c-ares", "1.32.3", &["1.32.3"], CAres(c_ares::Version::V1_32, c_ares::Call::GetAddrInfo), "programs of mid-2024 with c-ares"),
    version("c-ares-1.32-search", "c-ares-search", "1.32.3", &["1.32.3"], CAres(c_ares::Version::V1_32, c_ares::Call::Search), "ares_search there"),
    version("c-ares-1.33", "c-ares", "1.33.1", &["1.33.1"], CAres(c_ares::Version::V1_33, c_ares::Call::GetAddrInfo), "programs of late 2024 with c-ares"),
    version("c-ares-1.33-search", "c-ares-search", "1.33.1", &["1.33.1"], CAres(c_ares::Version::V1_33, c_ares::Call::Search), "ares_search there"),
    version("c-ares-1.34.3", "c-ares", "1.34.3", &["1.34.6"], CAres(c_ares::Version::V1_34_3, c_ares::Call::GetAddrInfo), "programs of 2025 with c-ares; Node 22 and 24 have it"),
    version("c-ares-1.34.3-search", "c-ares-search", "1.34.3", &["1.34.6"], CAres(c_ares::Version::V1_34_3, c_ares::Call::Search), "ares_search there"),
    usual("c-ares-1.34", "c-ares", "1.34.9", &["1.34.9"], CAres(c_ares::Version::V1_34_9, c_ares::Call::GetAddrInfo), "aiodns, and programs in Debian 13 images"),
    usual("c-ares-1.34-search", "c-ares-search", "1.34.9", &["1.34.9"], CAres(c_ares::Version::V1_34_9, c_ares::Call::Search), "ares_search"),
    version("c-ares-1.34-query", "c-ares-query", "1.34.9", &["1.34.9"], CAres(c_ares::Version::V1_34_9, c_ares::Call::Query), "ares_query: no search list"),
    version("node-resolve-20.15", "node-resolve", "20.13", &["20.15.1"], CAres(c_ares::Version::V1_28, c_ares::Call::Node), "the same in Node 20.13 to 20.15"),
    version("node-resolve-22.11", "node-resolve", "20.18", &["22.11.0"], CAres(c_ares::Version::V1_33, c_ares::Call::Node), "the same in Node 20.18 to 20.18.2 and 22.11"),
    version("node-resolve-24.22", "node-resolve", "24.22", &["24.22.3"], CAres(c_ares::Version::V1_34_9, c_ares::Call::Node), "Node's dns.resolve4 and dns.resolve6 in Node 22.23.5, 24.22.3 and 26.12: no search list, no hosts file"),
    version("node-resolve-20.20", "node-resolve", "20.18.3", &["20.20.2"], CAres(c_ares::Version::V1_34_3, c_ares::Call::Node), "the same in Node 20.18.3 to 20.20, 22.12 to 22.22 and 24.0 to 24.18"),
    usual("dig", "dig", "9.18", &["9.18.49", "9.20.30"], Bind(&bind::DIG), "dig NAME: no search list"),
    version("dig-9.11", "dig", "9.11", &["9.11.36"], Bind(&bind::DIG_9_11), "dig NAME of RHEL 7 and 8, Debian 10 and Ubuntu 18.04"),
    version("dig-9.16", "dig", "9.14", &["9.16.50"], Bind(&bind::DIG_9_16), "dig NAME of Debian 11 and RHEL 9"),
    usual("dig-search", "dig-search", "9.18", &["9.18.49", "9.20.30"], Bind(&bind::DIG_SEARCH), "dig +search NAME"),
    version("dig-search-9.11", "dig-search", "9.11", &["9.11.36"], Bind(&bind::DIG_SEARCH_9_11), "dig +search NAME there"),
    version("dig-search-9.16", "dig-search", "9.14", &["9.16.50"], Bind(&bind::DIG_SEARCH_9_16), "dig +search NAME there"),
    usual("host", "host", "9.18", &["9.18.49"], Bind(&bind::HOST), "host NAME"),
    version("host-9.11", "host", "9.11", &["9.11.36"], Bind(&bind::HOST_9_11), "host NAME there"),
    version("host-9.16", "host", "9.14", &["9.16.50"], Bind(&bind::HOST_9_16), "host NAME there"),
    version("host-9.20", "host", "9.20", &["9.20.30"], Bind(&bind::HOST_9_20), "host NAME of Debian 13"),
    usual("nslookup", "nslookup", "9.18", &["9.18.49", "9.20.30"], Bind(&bind::NSLOOKUP), "nslookup NAME of bind-utils"),
    version("nslookup-9.11", "nslookup", "9.11", &["9.11.36"], Bind(&bind::NSLOOKUP_9_11), "nslookup NAME there"),
    version("nslookup-9.16", "nslookup", "9.14", &["9.16.50"], Bind(&bind::NSLOOKUP_9_16), "nslookup NAME there"),
    usual("busybox-nslookup", "busybox-nslookup", "1.30", &["1.35.0", "1.37.0", "1.30.1"], Busybox(busybox::Version::V1_35), "nslookup NAME in busybox and Alpine images"),
    version("busybox-nslookup-1.29", "busybox-nslookup", "1.29", &["1.29.3"], Busybox(busybox::Version::V1_29), "nslookup NAME in Alpine 3.9 images"),
    version("systemd-resolved-245", "systemd-resolved", "245", &[], Resolved(&resolved::V245, resolved::Door::Varlink), "nss-resolve on nodes with Ubuntu 20.04"),
    version("systemd-resolved-stub-245", "systemd-resolved-stub", "245", &[], Resolved(&resolved::V245, resolved::Door::Stub), "glibc through 127.0.0.53 there"),
    version("systemd-resolved-247", "systemd-resolved", "247", &["247.3"], Resolved(&resolved::V247, resolved::Door::Varlink), "nss-resolve on nodes with Debian 11"),
    version("systemd-resolved-stub-247", "systemd-resolved-stub", "247", &["247.3"], Resolved(&resolved::V247, resolved::Door::Stub), "glibc through 127.0.0.53 there"),
    usual("systemd-resolved", "systemd-resolved", "248", &["252.39"], Resolved(&resolved::V252, resolved::Door::Varlink), "nss-resolve on nodes, resolvectl"),
    usual("systemd-resolved-stub", "systemd-resolved-stub", "248", &["252.39"], Resolved(&resolved::V252, resolved::Door::Stub), "glibc through 127.0.0.53"),
    version("systemd-resolved-257", "systemd-resolved", "254", &["257.13"], Resolved(&resolved::V257, resolved::Door::Varlink), "nss-resolve on nodes with Debian 13 or Ubuntu 24.04"),
    version("systemd-resolved-stub-257", "systemd-resolved-stub", "254", &["257.13"], Resolved(&resolved::V257, resolved::Door::Stub), "glibc through 127.0.0.53 there"),
    version("hickory-0.24", "hickory", "0.24", &["0.24.4"], Hickory(&hickory::V0_24), "Rust programs of 2024"),
    version("hickory-0.25", "hickory", "0.25", &["0.25.2"], Hickory(&hickory::V0_25), "Rust programs of 2025"),
    usual("hickory-0.26", "hickory", "0.26", &["0.26.3"], Hickory(&hickory::V0_26), "Rust programs with hickory-resolver"),
    version("dnspython", "dnspython", "2.0", &["2.3.0"], Dnspython(dnspython::Version::V2_3, dnspython::Call::Resolve), "Python's dns.resolver.resolve: no search list, no hosts file"),
    version("dnspython-search", "dnspython-search", "2.0", &["2.3.0"], Dnspython(dnspython::Version::V2_3, dnspython::Call::Search), "dns.resolver.resolve with search=True"),
    version("dnspython-2.9", "dnspython", "2.4", &["2.9.2"], Dnspython(dnspython::Version::V2_9, dnspython::Call::Resolve), "dns.resolver.resolve: a name server that is no address is an error"),
    version("dnspython-search-2.9", "dnspython-search", "2.4", &["2.9.2"], Dnspython(dnspython::Version::V2_9, dnspython::Call::Search), "dns.resolver.resolve with search=True"),
    version("nginx", "nginx", "1.15.2", &["1.22.1"], Nginx, "nginx at run time, with a `resolver` directive: no search list, no hosts file"),
    version("haproxy", "haproxy", "2.6", &["2.6.12"], Haproxy, "HAProxy at run time, with a `resolvers` section: no search list, no hosts file"),
    version("envoy", "envoy", "1.33", &[], CAres(c_ares::Version::V1_34_3, c_ares::Call::Envoy), "clusters of Envoy whose addresses are names"),
    version("netty-4.1.48", "netty", "4.1.48", &["4.1.48"], Netty(&netty::V4_1_48), "Java programs with Netty's DnsNameResolver of 2020"),
    version("netty-4.1.68", "netty", "4.1.64", &["4.1.68"], Netty(&netty::V4_1_68), "Java programs with Netty of 2021 and 2022"),
    version("netty-4.1.101", "netty", "4.1.98", &["4.1.101"], Netty(&netty::V4_1_101), "Java programs with Netty of 2023"),
    version("netty-4.1.118", "netty", "4.1.108", &["4.1.118"], Netty(&netty::V4_1_118), "Java programs with Netty of 2024 and 2025, and Netty 4.2"),
    version("netty-4.2.13", "netty", "4.2.13", &["4.2.13"], Netty(&netty::V4_2_13), "Java programs with Netty of 2026"),
    version("ruby-resolv", "ruby-resolv", "0.2.0", &["0.2.1"], Ruby(ruby::Call::GetAddress), "Ruby's Resolv.getaddress"),
    version("ruby-resolv-all", "ruby-resolv-all", "0.2.0", &["0.2.1"], Ruby(ruby::Call::GetAddresses), "Ruby's Resolv.getaddresses and each_address"),
    version("erlang-getbyname", "erlang-getbyname", "25", &["25.2.3"], Erlang(erlang::Call::GetByName), "Erlang's inet_res:getbyname and gethostbyname"),
    version("erlang-resolve", "erlang-resolve", "25", &["25.2.3"], Erlang(erlang::Call::Resolve), "Erlang's inet_res:resolve and lookup: no search list, no hosts file"),
];

/// One that has to be named; of the versions that were observed the first is the model's.
const fn version(
    id: &'static str,
    family: &'static str,
    since: &'static str,
    observed: &'static [&'static str],
    model: Model,
    used_by: &'static str,
) -> Resolver {
    Resolver {
        id,
        is_usual: false,
        family,
        version: match observed {
            [first, ..] => first,
            [] => since,
        },
        since,
        observed,
        used_by,
        model,
    }
}

/// One of those that stand for all, see [`version`].
const fn usual(
    id: &'static str,
    family: &'static str,
    since: &'static str,
    observed: &'static [&'static str],
    model: Model,
    used_by: &'static str,
) -> Resolver {
    Resolver {
        is_usual: true,
        ..version(id, family, since, observed, model, used_by)
    }
}
