//! The table of resolvers: every version of every family.

use super::{Model, Resolver, bind, c_ares, dnspython, erlang, glibc, go, musl, resolved, ruby};

/// One that has to be named and is of no other's family, see [`version`].
const fn named(
    id: &'static str,
    versions: (&'static str, &'static [&'static str]),
    used_by: &'static str,
    model: Model,
) -> Resolver {
    version((id, id), versions, used_by, model)
}

/// One that has to be named, with its family, its first version and those that
/// were observed, of which the first is the model's.
const fn version(
    (id, family): (&'static str, &'static str),
    (since, observed): (&'static str, &'static [&'static str]),
    used_by: &'static str,
    model: Model,
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
    ids: (&'static str, &'static str),
    versions: (&'static str, &'static [&'static str]),
    used_by: &'static str,
    model: Model,
) -> Resolver {
    Resolver {
        is_usual: true,
        ..version(ids, versions, used_by, model)
    }
}

/// Every resolver, in the order of output.
pub const ALL: &[Resolver] = &[
    usual(
        ("glibc", "glibc"),
        ("2.36", &["2.36"]),
        "getaddrinfo in Debian, Ubuntu, Fedora and RHEL images",
        Model::Glibc(&glibc::V2_36, glibc::Call::GetAddrInfo),
    ),
    version(
        ("glibc-2.41", "glibc"),
        ("2.41", &["2.41"]),
        "Debian 13 images",
        Model::Glibc(&glibc::V2_41, glibc::Call::GetAddrInfo),
    ),
    version(
        ("glibc-2.35", "glibc"),
        ("2.35", &[]),
        "Ubuntu 22.04 images",
        Model::Glibc(&glibc::V2_35, glibc::Call::GetAddrInfo),
    ),
    version(
        ("glibc-2.31", "glibc"),
        ("2.31", &["2.31"]),
        "Debian 11, Ubuntu 20.04 and RHEL 9 images",
        Model::Glibc(&glibc::V2_31, glibc::Call::GetAddrInfo),
    ),
    Resolver {
        id: "glibc-2.28",
        is_usual: false,
        family: "glibc",
        version: "2.28",
        since: "2.26",
        observed: &[],
        used_by: "Debian 10 and RHEL 8 images",
        model: Model::Glibc(&glibc::V2_28, glibc::Call::GetAddrInfo),
    },
    version(
        ("glibc-2.17", "glibc"),
        ("2.17", &[]),
        "RHEL 7 and CentOS 7 images",
        Model::Glibc(&glibc::V2_17, glibc::Call::GetAddrInfo),
    ),
    usual(
        ("glibc-res_search", "glibc-res_search"),
        ("2.36", &["2.36"]),
        "programs that call res_search",
        Model::Glibc(&glibc::V2_36, glibc::Call::ResSearch),
    ),
    usual(
        ("glibc-res_query", "glibc-res_query"),
        ("2.36", &["2.36"]),
        "programs that call res_query",
        Model::Glibc(&glibc::V2_36, glibc::Call::ResQuery),
    ),
    usual(
        ("musl-1.2.3", "musl"),
        ("1.2.1", &["1.2.3", "1.2.2"]),
        "Alpine 3.16 and 3.17 images",
        Model::Musl(&musl::V1_2_3),
    ),
    usual(
        ("musl-1.2.5", "musl"),
        ("1.2.4", &["1.2.5", "1.2.4"]),
        "Alpine 3.20 and later images",
        Model::Musl(&musl::V1_2_5),
    ),
    version(
        ("go-1.15", "go"),
        ("1.11", &["1.15.15"]),
        "Go programs of 2021 and before",
        Model::Go(&go::V1_15),
    ),
    usual(
        ("go-1.19", "go"),
        ("1.19", &["1.19.8"]),
        "older Go programs with the pure Go resolver",
        Model::Go(&go::V1_19),
    ),
    version(
        ("go-1.21", "go"),
        ("1.21", &["1.21.13"]),
        "Go programs of 2023",
        Model::Go(&go::V1_21),
    ),
    version(
        ("go-1.22", "go"),
        ("1.22", &["1.22.10"]),
        "Go programs of 2024",
        Model::Go(&go::V1_22),
    ),
    usual(
        ("go-1.27", "go"),
        ("1.23", &["1.27.3", "1.23.9"]),
        "kubectl, CoreDNS and other Go programs",
        Model::Go(&go::V1_27),
    ),
    usual(
        ("c-ares-1.18", "c-ares"),
        ("1.18", &["1.18.1"]),
        "Envoy, gRPC and Node's resolve* of 2022",
        Model::CAres(c_ares::Version::V1_18, c_ares::Call::GetAddrInfo),
    ),
    usual(
        ("c-ares-1.18-search", "c-ares-search"),
        ("1.16", &["1.18.1", "1.17.1"]),
        "ares_search of 2022",
        Model::CAres(c_ares::Version::V1_18, c_ares::Call::Search),
    ),
    version(
        ("c-ares-1.28", "c-ares"),
        ("1.28", &["1.28.1"]),
        "programs of early 2024 with c-ares; Node 20.13 to 20.15 and 22.0 have it",
        Model::CAres(c_ares::Version::V1_28, c_ares::Call::GetAddrInfo),
    ),
    version(
        ("c-ares-1.28-search", "c-ares-search"),
        ("1.28", &["1.28.1"]),
        "ares_search there",
        Model::CAres(c_ares::Version::V1_28, c_ares::Call::Search),
    ),
    version(
        ("c-ares-1.31", "c-ares"),
        ("1.31", &["1.31.0"]),
        "programs of mid-2024 with c-ares",
        Model::CAres(c_ares::Version::V1_31, c_ares::Call::GetAddrInfo),
    ),
    version(
        ("c-ares-1.31-search", "c-ares-search"),
        ("1.31", &["1.31.0"]),
        "ares_search there",
        Model::CAres(c_ares::Version::V1_31, c_ares::Call::Search),
    ),
    version(
        ("c-ares-1.32", "c-ares"),
        ("1.32.3", &["1.32.3"]),
        "programs of mid-2024 with c-ares",
        Model::CAres(c_ares::Version::V1_32, c_ares::Call::GetAddrInfo),
    ),
    version(
        ("c-ares-1.32-search", "c-ares-search"),
        ("1.32.3", &["1.32.3"]),
        "ares_search there",
        Model::CAres(c_ares::Version::V1_32, c_ares::Call::Search),
    ),
    version(
        ("c-ares-1.33", "c-ares"),
        ("1.33.1", &["1.33.1"]),
        "programs of late 2024 with c-ares",
        Model::CAres(c_ares::Version::V1_33, c_ares::Call::GetAddrInfo),
    ),
    version(
        ("c-ares-1.33-search", "c-ares-search"),
        ("1.33.1", &["1.33.1"]),
        "ares_search there",
        Model::CAres(c_ares::Version::V1_33, c_ares::Call::Search),
    ),
    version(
        ("c-ares-1.34.3", "c-ares"),
        ("1.34.3", &["1.34.6"]),
        "programs of 2025 with c-ares; Node 22 and 24 have it",
        Model::CAres(c_ares::Version::V1_34_3, c_ares::Call::GetAddrInfo),
    ),
    version(
        ("c-ares-1.34.3-search", "c-ares-search"),
        ("1.34.3", &["1.34.6"]),
        "ares_search there",
        Model::CAres(c_ares::Version::V1_34_3, c_ares::Call::Search),
    ),
    usual(
        ("c-ares-1.34", "c-ares"),
        ("1.34.9", &["1.34.9"]),
        "aiodns, and programs in Debian 13 images",
        Model::CAres(c_ares::Version::V1_34_9, c_ares::Call::GetAddrInfo),
    ),
    usual(
        ("c-ares-1.34-search", "c-ares-search"),
        ("1.34.9", &["1.34.9"]),
        "ares_search",
        Model::CAres(c_ares::Version::V1_34_9, c_ares::Call::Search),
    ),
    version(
        ("c-ares-1.34-query", "c-ares-query"),
        ("1.34.9", &["1.34.9"]),
        "ares_query: no search list",
        Model::CAres(c_ares::Version::V1_34_9, c_ares::Call::Query),
    ),
    version(
        ("node-resolve-20.15", "node-resolve"),
        ("20.13", &["20.15.1"]),
        "the same in Node 20.13 to 20.15",
        Model::CAres(c_ares::Version::V1_28, c_ares::Call::Node),
    ),
    version(
        ("node-resolve-22.11", "node-resolve"),
        ("20.18", &["22.11.0"]),
        "the same in Node 20.18 to 20.18.2 and 22.11",
        Model::CAres(c_ares::Version::V1_33, c_ares::Call::Node),
    ),
    named(
        "node-resolve",
        ("20.18.3", &["20.20.2"]),
        "Node's dns.resolve4 and dns.resolve6: no search list, no hosts file",
        Model::CAres(c_ares::Version::V1_34_3, c_ares::Call::Node),
    ),
    usual(
        ("dig", "dig"),
        ("9.18", &["9.18.49", "9.20.30"]),
        "dig NAME: no search list",
        Model::Bind(&bind::DIG),
    ),
    version(
        ("dig-9.16", "dig"),
        ("9.16", &["9.16.50"]),
        "dig NAME of Debian 11 and RHEL 9",
        Model::Bind(&bind::DIG_9_16),
    ),
    usual(
        ("dig-search", "dig-search"),
        ("9.18", &["9.18.49", "9.20.30"]),
        "dig +search NAME",
        Model::Bind(&bind::DIG_SEARCH),
    ),
    version(
        ("dig-search-9.16", "dig-search"),
        ("9.16", &["9.16.50"]),
        "dig +search NAME there",
        Model::Bind(&bind::DIG_SEARCH_9_16),
    ),
    usual(
        ("host", "host"),
        ("9.18", &["9.18.49"]),
        "host NAME",
        Model::Bind(&bind::HOST),
    ),
    version(
        ("host-9.16", "host"),
        ("9.16", &["9.16.50"]),
        "host NAME there",
        Model::Bind(&bind::HOST_9_16),
    ),
    version(
        ("host-9.20", "host"),
        ("9.20", &["9.20.30"]),
        "host NAME of Debian 13",
        Model::Bind(&bind::HOST_9_20),
    ),
    usual(
        ("nslookup", "nslookup"),
        ("9.18", &["9.18.49", "9.20.30"]),
        "nslookup NAME of bind-utils",
        Model::Bind(&bind::NSLOOKUP),
    ),
    version(
        ("nslookup-9.16", "nslookup"),
        ("9.16", &["9.16.50"]),
        "nslookup NAME there",
        Model::Bind(&bind::NSLOOKUP_9_16),
    ),
    usual(
        ("busybox-nslookup", "busybox-nslookup"),
        ("1.30", &["1.35.0", "1.37.0", "1.30.1"]),
        "nslookup NAME in busybox and Alpine images",
        Model::Busybox,
    ),
    version(
        ("systemd-resolved-247", "systemd-resolved"),
        ("247", &["247.3"]),
        "nss-resolve on nodes with Debian 11",
        Model::Resolved(&resolved::V247, resolved::Door::Varlink),
    ),
    version(
        ("systemd-resolved-stub-247", "systemd-resolved-stub"),
        ("247", &["247.3"]),
        "glibc through 127.0.0.53 there",
        Model::Resolved(&resolved::V247, resolved::Door::Stub),
    ),
    usual(
        ("systemd-resolved", "systemd-resolved"),
        ("248", &["252.39"]),
        "nss-resolve on nodes, resolvectl",
        Model::Resolved(&resolved::V252, resolved::Door::Varlink),
    ),
    usual(
        ("systemd-resolved-stub", "systemd-resolved-stub"),
        ("248", &["252.39"]),
        "glibc through 127.0.0.53",
        Model::Resolved(&resolved::V252, resolved::Door::Stub),
    ),
    version(
        ("systemd-resolved-257", "systemd-resolved"),
        ("254", &["257.13"]),
        "nss-resolve on nodes with Debian 13 or Ubuntu 24.04",
        Model::Resolved(&resolved::V257, resolved::Door::Varlink),
    ),
    version(
        ("systemd-resolved-stub-257", "systemd-resolved-stub"),
        ("254", &["257.13"]),
        "glibc through 127.0.0.53 there",
        Model::Resolved(&resolved::V257, resolved::Door::Stub),
    ),
    usual(
        ("hickory-0.26", "hickory"),
        ("0.26", &["0.26.3"]),
        "Rust programs with hickory-resolver",
        Model::Hickory,
    ),
    named(
        "dnspython",
        ("2.0", &["2.3.0"]),
        "Python's dns.resolver.resolve: no search list, no hosts file",
        Model::Dnspython(dnspython::Version::V2_3, dnspython::Call::Resolve),
    ),
    named(
        "dnspython-search",
        ("2.0", &["2.3.0"]),
        "dns.resolver.resolve with search=True",
        Model::Dnspython(dnspython::Version::V2_3, dnspython::Call::Search),
    ),
    version(
        ("dnspython-2.9", "dnspython"),
        ("2.4", &["2.9.2"]),
        "dns.resolver.resolve: a name server that is no address is an error",
        Model::Dnspython(dnspython::Version::V2_9, dnspython::Call::Resolve),
    ),
    version(
        ("dnspython-search-2.9", "dnspython-search"),
        ("2.4", &["2.9.2"]),
        "dns.resolver.resolve with search=True",
        Model::Dnspython(dnspython::Version::V2_9, dnspython::Call::Search),
    ),
    named(
        "nginx",
        ("1.15.2", &["1.22.1"]),
        "nginx at run time, with a `resolver` directive: no search list, no hosts file",
        Model::Nginx,
    ),
    named(
        "haproxy",
        ("2.6", &["2.6.12"]),
        "HAProxy at run time, with a `resolvers` section: no search list, no hosts file",
        Model::Haproxy,
    ),
    named(
        "envoy",
        ("1.33", &[]),
        "clusters of Envoy whose addresses are names",
        Model::CAres(c_ares::Version::V1_34_3, c_ares::Call::Envoy),
    ),
    version(
        ("netty-4.1.48", "netty"),
        ("4.1.48", &["4.1.48"]),
        "Java programs with Netty's DnsNameResolver of 2020",
        Model::Netty,
    ),
    named(
        "ruby-resolv",
        ("0.2.0", &["0.2.1"]),
        "Ruby's Resolv.getaddress",
        Model::Ruby(ruby::Call::GetAddress),
    ),
    named(
        "ruby-resolv-all",
        ("0.2.0", &["0.2.1"]),
        "Ruby's Resolv.getaddresses and each_address",
        Model::Ruby(ruby::Call::GetAddresses),
    ),
    named(
        "erlang-getbyname",
        ("25", &["25.2.3"]),
        "Erlang's inet_res:getbyname and gethostbyname",
        Model::Erlang(erlang::Call::GetByName),
    ),
    named(
        "erlang-resolve",
        ("25", &["25.2.3"]),
        "Erlang's inet_res:resolve and lookup: no search list, no hosts file",
        Model::Erlang(erlang::Call::Resolve),
    ),
];
