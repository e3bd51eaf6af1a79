//! The table of resolvers: every version of every family, and the words that
//! mean them.

use std::cmp::Reverse;

use super::{Model, Resolver, bind, c_ares, dnspython, glibc, go, musl, resolved};

/// Every resolver, in the order of output.
pub const ALL: &[Resolver] = &[
    Resolver {
        id: "glibc",
        family: "glibc",
        version: "2.36",
        since: "2.36",
        observed: &["2.36"],
        used_by: "getaddrinfo in Debian, Ubuntu, Fedora and RHEL images",
        model: Model::Glibc(&glibc::V2_36, glibc::Call::GetAddrInfo),
    },
    Resolver {
        id: "glibc-2.41",
        family: "glibc",
        version: "2.41",
        since: "2.41",
        observed: &["2.41"],
        used_by: "Debian 13 images",
        model: Model::Glibc(&glibc::V2_41, glibc::Call::GetAddrInfo),
    },
    Resolver {
        id: "glibc-2.31",
        family: "glibc",
        version: "2.31",
        since: "2.31",
        observed: &["2.31"],
        used_by: "Debian 11, Ubuntu 20.04 and RHEL 9 images",
        model: Model::Glibc(&glibc::V2_31, glibc::Call::GetAddrInfo),
    },
    Resolver {
        id: "glibc-2.28",
        family: "glibc",
        version: "2.28",
        since: "2.26",
        observed: &[],
        used_by: "Debian 10 and RHEL 8 images",
        model: Model::Glibc(&glibc::V2_28, glibc::Call::GetAddrInfo),
    },
    Resolver {
        id: "glibc-2.17",
        family: "glibc",
        version: "2.17",
        since: "2.17",
        observed: &[],
        used_by: "RHEL 7 and CentOS 7 images",
        model: Model::Glibc(&glibc::V2_17, glibc::Call::GetAddrInfo),
    },
    Resolver {
        id: "glibc-res_search",
        family: "glibc-res_search",
        version: "2.36",
        since: "2.36",
        observed: &["2.36"],
        used_by: "programs that call res_search",
        model: Model::Glibc(&glibc::V2_36, glibc::Call::ResSearch),
    },
    Resolver {
        id: "glibc-res_query",
        family: "glibc-res_query",
        version: "2.36",
        since: "2.36",
        observed: &["2.36"],
        used_by: "programs that call res_query",
        model: Model::Glibc(&glibc::V2_36, glibc::Call::ResQuery),
    },
    Resolver {
        id: "musl-1.2.3",
        family: "musl",
        version: "1.2.3",
        since: "1.2.1",
        observed: &["1.2.3"],
        used_by: "Alpine 3.16 and 3.17 images",
        model: Model::Musl(&musl::V1_2_3),
    },
    Resolver {
        id: "musl-1.2.5",
        family: "musl",
        version: "1.2.5",
        since: "1.2.4",
        observed: &["1.2.5"],
        used_by: "Alpine 3.20 and later images",
        model: Model::Musl(&musl::V1_2_5),
    },
    Resolver {
        id: "go-1.15",
        family: "go",
        version: "1.15.15",
        since: "1.11",
        observed: &["1.15.15"],
        used_by: "Go programs of 2021 and before",
        model: Model::Go(&go::V1_15),
    },
    Resolver {
        id: "go-1.19",
        family: "go",
        version: "1.19.8",
        since: "1.19",
        observed: &["1.19.8"],
        used_by: "older Go programs with the pure Go resolver",
        model: Model::Go(&go::V1_19),
    },
    Resolver {
        id: "go-1.21",
        family: "go",
        version: "1.21.13",
        since: "1.21",
        observed: &["1.21.13"],
        used_by: "Go programs of 2023",
        model: Model::Go(&go::V1_21),
    },
    Resolver {
        id: "go-1.22",
        family: "go",
        version: "1.22.10",
        since: "1.22",
        observed: &["1.22.10"],
        used_by: "Go programs of 2024",
        model: Model::Go(&go::V1_22),
    },
    Resolver {
        id: "go-1.27",
        family: "go",
        version: "1.27.3",
        since: "1.23",
        observed: &["1.23.9", "1.27.3"],
        used_by: "kubectl, CoreDNS and other Go programs",
        model: Model::Go(&go::V1_27),
    },
    Resolver {
        id: "c-ares-1.18",
        family: "c-ares",
        version: "1.18.1",
        since: "1.16",
        observed: &["1.18.1"],
        used_by: "Envoy, gRPC and Node's resolve* of 2022",
        model: Model::CAres(c_ares::Version::V1_18, c_ares::Call::GetAddrInfo),
    },
    Resolver {
        id: "c-ares-1.18-search",
        family: "c-ares-search",
        version: "1.18.1",
        since: "1.16",
        observed: &["1.18.1"],
        used_by: "ares_search of 2022",
        model: Model::CAres(c_ares::Version::V1_18, c_ares::Call::Search),
    },
    Resolver {
        id: "c-ares-1.34",
        family: "c-ares",
        version: "1.34.9",
        since: "1.34",
        observed: &["1.34.9"],
        used_by: "Envoy, gRPC, aiodns",
        model: Model::CAres(c_ares::Version::V1_34, c_ares::Call::GetAddrInfo),
    },
    Resolver {
        id: "c-ares-1.34-search",
        family: "c-ares-search",
        version: "1.34.9",
        since: "1.34",
        observed: &["1.34.9"],
        used_by: "ares_search",
        model: Model::CAres(c_ares::Version::V1_34, c_ares::Call::Search),
    },
    Resolver {
        id: "c-ares-1.34-query",
        family: "c-ares-query",
        version: "1.34.9",
        since: "1.34",
        observed: &["1.34.9"],
        used_by: "ares_query: no search list",
        model: Model::CAres(c_ares::Version::V1_34, c_ares::Call::Query),
    },
    Resolver {
        id: "node-resolve",
        family: "node-resolve",
        version: "20.20.2",
        since: "20.16",
        observed: &["20.20.2"],
        used_by: "Node's dns.resolve4 and dns.resolve6: no search list, no hosts file",
        model: Model::CAres(c_ares::Version::V1_34, c_ares::Call::Node),
    },
    Resolver {
        id: "dig",
        family: "dig",
        version: "9.18.49",
        since: "9.18",
        observed: &["9.18.49", "9.20.30"],
        used_by: "dig NAME: no search list",
        model: Model::Bind(bind::Tool::Dig),
    },
    Resolver {
        id: "dig-search",
        family: "dig-search",
        version: "9.18.49",
        since: "9.18",
        observed: &["9.18.49", "9.20.30"],
        used_by: "dig +search NAME",
        model: Model::Bind(bind::Tool::DigSearch),
    },
    Resolver {
        id: "host",
        family: "host",
        version: "9.18.49",
        since: "9.18",
        observed: &["9.18.49"],
        used_by: "host NAME",
        model: Model::Bind(bind::Tool::Host),
    },
    Resolver {
        id: "host-9.20",
        family: "host",
        version: "9.20.30",
        since: "9.20",
        observed: &["9.20.30"],
        used_by: "host NAME of Debian 13",
        model: Model::Bind(bind::Tool::Host9_20),
    },
    Resolver {
        id: "nslookup",
        family: "nslookup",
        version: "9.18.49",
        since: "9.18",
        observed: &["9.18.49", "9.20.30"],
        used_by: "nslookup NAME of bind-utils",
        model: Model::Bind(bind::Tool::Nslookup),
    },
    Resolver {
        id: "busybox-nslookup",
        family: "busybox-nslookup",
        version: "1.35.0",
        since: "1.30",
        observed: &["1.35.0", "1.37.0"],
        used_by: "nslookup NAME in busybox and Alpine images",
        model: Model::Busybox,
    },
    Resolver {
        id: "systemd-resolved",
        family: "systemd-resolved",
        version: "252.39",
        since: "248",
        observed: &["252.39"],
        used_by: "nss-resolve on nodes, resolvectl",
        model: Model::Resolved(&resolved::V252, resolved::Door::Varlink),
    },
    Resolver {
        id: "systemd-resolved-stub",
        family: "systemd-resolved-stub",
        version: "252.39",
        since: "248",
        observed: &["252.39"],
        used_by: "glibc through 127.0.0.53",
        model: Model::Resolved(&resolved::V252, resolved::Door::Stub),
    },
    Resolver {
        id: "systemd-resolved-257",
        family: "systemd-resolved",
        version: "257.13",
        since: "254",
        observed: &["257.13"],
        used_by: "nss-resolve on nodes with Debian 13 or Ubuntu 24.04",
        model: Model::Resolved(&resolved::V257, resolved::Door::Varlink),
    },
    Resolver {
        id: "systemd-resolved-stub-257",
        family: "systemd-resolved-stub",
        version: "257.13",
        since: "254",
        observed: &["257.13"],
        used_by: "glibc through 127.0.0.53 there",
        model: Model::Resolved(&resolved::V257, resolved::Door::Stub),
    },
    Resolver {
        id: "hickory-0.26",
        family: "hickory",
        version: "0.26.3",
        since: "0.26",
        observed: &["0.26.3"],
        used_by: "Rust programs with hickory-resolver",
        model: Model::Hickory,
    },
    Resolver {
        id: "dnspython",
        family: "dnspython",
        version: "2.3.0",
        since: "2.0",
        observed: &["2.3.0"],
        used_by: "Python's dns.resolver.resolve: no search list, no hosts file",
        model: Model::Dnspython(dnspython::Call::Resolve),
    },
    Resolver {
        id: "dnspython-search",
        family: "dnspython-search",
        version: "2.3.0",
        since: "2.0",
        observed: &["2.3.0"],
        used_by: "dns.resolver.resolve with search=True",
        model: Model::Dnspython(dnspython::Call::Search),
    },
];

/// Other words for a family.
const SHORT: &[(&str, &str)] = &[
    ("resolved", "systemd-resolved"),
    ("busybox", "busybox-nslookup"),
];

/// The resolver of this id, this family or this version of a family: `musl` is
/// the newest one, `musl-1.2.4` the one whose versions that is among.
pub fn find(word: &str) -> Option<&'static Resolver> {
    let other = SHORT.iter().find(|(short, _)| *short == word);
    let word = other.map_or(word, |(_, full)| full);
    let by_id = ALL.iter().find(|resolver| resolver.id == word);
    by_id.or_else(|| newest(word)).or_else(|| {
        let (family, version) = split(word)?;
        of_version(&family, version)
    })
}

/// The newest one of a family.
fn newest(family: &str) -> Option<&'static Resolver> {
    let own = ALL.iter().filter(|resolver| resolver.family == family);
    own.max_by_key(|resolver| numbers(resolver.since))
}

/// The one of a family that does as this version, or the oldest one if that is
/// older than all.
pub fn of_version(family: &str, version: &str) -> Option<&'static Resolver> {
    let own = || ALL.iter().filter(|resolver| resolver.family == family);
    let version = numbers(version);
    let not_newer = own().filter(|resolver| numbers(resolver.since) <= version);
    let nearest = not_newer.max_by_key(|resolver| numbers(resolver.since));
    nearest.or_else(|| own().max_by_key(|resolver| Reverse(numbers(resolver.since))))
}

/// `c-ares-1.34-search` is version `1.34` of the family `c-ares-search`.
fn split(word: &str) -> Option<(String, &str)> {
    let is_version = |part: &&str| {
        let is_number = |it: &str| !it.is_empty() && it.bytes().all(|byte| byte.is_ascii_digit());
        part.split('.').all(is_number)
    };
    let version = word.split('-').find(is_version)?;
    let rest = word.split('-').filter(|part| *part != version);
    Some((rest.collect::<Vec<_>>().join("-"), version))
}

fn numbers(version: &str) -> Vec<u32> {
    let parts = version.split('.').map_while(|part| part.parse().ok());
    parts.collect()
}

/// The resolver of this word; a family is that of one of `versions`, if one is
/// of it, else the newest.
pub fn find_among(word: &str, versions: &[&str]) -> Option<&'static Resolver> {
    let is_own = |resolver: &&Resolver| resolver.family == word;
    let own = versions.iter().filter_map(|id| find(id)).find(is_own);
    own.or_else(|| find(word))
}

/// Every word that [`find`] knows, ids first, but for versions.
pub fn names() -> impl Iterator<Item = &'static str> {
    let is_new = |&(at, resolver): &(usize, &Resolver)| {
        let before = ALL.iter().take(at);
        resolver.id != resolver.family
            && !ALL.iter().any(|other| other.id == resolver.family)
            && !before
                .into_iter()
                .any(|other| other.family == resolver.family)
    };
    let families = ALL
        .iter()
        .enumerate()
        .filter(is_new)
        .map(|(_, it)| it.family);
    let short = SHORT.iter().map(|(short, _)| *short);
    ALL.iter()
        .map(|resolver| resolver.id)
        .chain(families)
        .chain(short)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_that_of_the_nearest_one_before_it() {
        let check = |word, expected| {
            assert_eq!(find(word).map(|it| it.id), Some(expected), "{word}");
        };
        check("glibc", "glibc");
        check("glibc-2.39", "glibc");
        check("glibc-2.36", "glibc");
        check("glibc-2.42", "glibc-2.41");
        check("glibc-2.12", "glibc-2.17");
        check("glibc-2.30", "glibc-2.28");
        check("musl", "musl-1.2.5");
        check("musl-1.2.4", "musl-1.2.5");
        check("go-1.20", "go-1.19");
        check("go-1.25", "go-1.27");
        check("go-1.25.5", "go-1.27");
        check("c-ares-1.34.5-search", "c-ares-1.34-search");
        check("c-ares-1.19-search", "c-ares-1.18-search");
        check("dig-9.20", "dig");
        check("host-9.20.4", "host-9.20");
        check("systemd-resolved-255", "systemd-resolved-257");
        check("systemd-resolved-stub-249", "systemd-resolved-stub");
        check("resolved", "systemd-resolved");
        for word in ["glibc-", "glibc-2.x", "glib-2.3", "-1", "2.36", ""] {
            assert!(find(word).is_none(), "{word}");
        }
    }

    #[test]
    fn a_familys_name_is_the_version_that_is_there() {
        let check = |word, versions: &[&str], expected| {
            let found = find_among(word, versions).map(|it| it.id);
            assert_eq!(found, Some(expected), "{word} {versions:?}");
        };
        check("musl", &[], "musl-1.2.5");
        check("musl", &["musl-1.2.3"], "musl-1.2.3");
        check("musl", &["glibc", "go-1.19"], "musl-1.2.5");
        check("glibc", &["glibc-2.31", "go-1.19"], "glibc-2.31");
        check("go", &["glibc", "go-1.19"], "go-1.19");
        check("musl-1.2.5", &["musl-1.2.3"], "musl-1.2.5");
        check(
            "c-ares",
            &["c-ares-1.18-search", "c-ares-1.18"],
            "c-ares-1.18",
        );
        check(
            "c-ares-search",
            &["c-ares-1.18", "c-ares-1.18-search"],
            "c-ares-1.18-search",
        );
    }

    #[test]
    fn an_id_is_of_its_version_and_ids_differ() {
        let mut words: Vec<&str> = names().collect();
        let all = words.len();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), all);
        for resolver in ALL {
            let own = of_version(resolver.family, resolver.version);
            assert_eq!(own.map(|it| it.id), Some(resolver.id));
            for version in resolver.observed {
                let own = of_version(resolver.family, version);
                assert_eq!(own.map(|it| it.id), Some(resolver.id), "{version}");
            }
        }
    }
}
