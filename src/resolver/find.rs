//! The words that mean a resolver: ids, families and versions of them.

use std::cmp::Reverse;

use super::{ALL, Resolver};

/// Other words for a family.
const SHORT: &[(&str, &str)] = &[
    ("resolved", "systemd-resolved"),
    ("busybox", "busybox-nslookup"),
];

/// Those that stand for all.
pub fn usual() -> impl Iterator<Item = &'static Resolver> {
    ALL.iter().filter(|resolver| resolver.is_usual)
}

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

/// Versions that no model fits: the family, the first one, the first one that a model fits again,
/// and the id of the nearest model.
///
/// Source: c-ares wrote its lookups anew between 1.20 and 1.24. `ndots:0` counts since 1.31, closed
/// connections are told since 1.32.3, and 1.33.0 measured less than 1.33.1. Node 20.16 has c-ares
/// 1.31, 20.18.2 and 22.11 1.33, 24.20, 24.21 and 26.9 1.34.8, with part of 1.34.9. Netty takes
/// time-out, attempts and `rotate` from resolv.conf since 4.1.50, asks all servers for every name
/// since 4.1.52, asks less for CNAME since 4.1.64, 4.1.88 and 4.1.108, refuses a file for one
/// server without an address until 4.1.97, and has no EDNS over TCP since 4.1.105 (its #10207,
/// #10503, #11216, #13150, #13614, #13757, #13850). musl's `res_query` tells errors since 1.2.2.
/// systemd 246 and what was put into 245 later have parts of 247. BIND reads resolv.conf in another
/// way since 9.12, and addresses more strictly since 9.14.
#[rustfmt::skip]
const UNFITTING: &[(&str, &str, &str, &str)] = &[
    ("c-ares", "1.20", "1.22", "c-ares-1.18"),
    ("c-ares-search", "1.20", "1.22", "c-ares-1.18-search"),
    ("c-ares", "1.22", "1.24", "c-ares-1.25"),
    ("c-ares-search", "1.22", "1.24", "c-ares-1.25-search"),
    ("c-ares", "1.29", "1.31", "c-ares-1.31"),
    ("c-ares-search", "1.29", "1.31", "c-ares-1.31-search"),
    ("c-ares", "1.32", "1.32.3", "c-ares-1.32"),
    ("c-ares-search", "1.32", "1.32.3", "c-ares-1.32-search"),
    ("c-ares", "1.33", "1.33.1", "c-ares-1.33"),
    ("c-ares-search", "1.33", "1.33.1", "c-ares-1.33-search"),
    ("c-ares", "1.34", "1.34.3", "c-ares-1.34.3"),
    ("c-ares-search", "1.34", "1.34.3", "c-ares-1.34.3-search"),
    ("c-ares", "1.34.7", "1.34.9", "c-ares-1.34"),
    ("c-ares-search", "1.34.7", "1.34.9", "c-ares-1.34-search"),
    ("node-resolve", "20", "20.13", "node-resolve-20.15"),
    ("node-resolve", "20.16", "20.18", "node-resolve-22.11"),
    ("node-resolve", "21", "22.12", "node-resolve-22.11"),
    ("node-resolve", "22.23.1", "22.23.5", "node-resolve-24.22"),
    ("node-resolve", "24.19", "24.22.3", "node-resolve-24.22"),
    ("node-resolve", "26.6", "26.12", "node-resolve-24.22"),
    ("netty", "4.1.50", "4.1.64", "netty-4.1.68"),
    ("netty", "4.1.88", "4.1.98", "netty-4.1.101"),
    ("netty", "4.1.105", "4.1.108", "netty-4.1.101"),
    ("musl", "1.2.1", "1.2.2", "musl-1.2.3"),
    ("systemd-resolved", "245.5", "247", "systemd-resolved-245"),
    ("systemd-resolved-stub", "245.5", "247", "systemd-resolved-stub-245"),
    ("dig", "9.12", "9.14", "dig-9.16"),
    ("dig-search", "9.12", "9.14", "dig-search-9.16"),
    ("host", "9.12", "9.14", "host-9.16"),
    ("nslookup", "9.12", "9.14", "nslookup-9.16"),
];

/// Versions of which some do not as the model does, likewise.
///
/// Source: erlang/otp#11114 (27.3.4.1 of Debian 13, 28.4.2); others of 27 to 29 were not tried.
const UNSURE: &[(&str, &str, &str, &str)] = &[
    ("erlang-getbyname", "27", "30", "erlang-getbyname"),
    ("erlang-resolve", "27", "30", "erlang-resolve"),
];

/// Versions of other lines that a model fits, likewise.
///
/// Source: Node 25.9 and 26.5 have c-ares 1.34.6, 22.23.5 and 26.12 1.34.9; CVE-2026-42579 (Netty).
const FITTING: &[(&str, &str, &str, &str)] = &[
    ("node-resolve", "22.23.5", "23", "node-resolve-24.22"),
    ("node-resolve", "25", "26.6", "node-resolve-20.20"),
    ("netty", "4.1.133", "4.2", "netty-4.2.13"),
];

/// How well a resolver stands for a version of its family. `render` has the words.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Likeness {
    /// That version was run and did the same.
    Observed,
    /// It is the version whose source the model is from, and was not run.
    Read,
    /// No difference is known.
    Unseen,
    /// The version is older than all that are known.
    Older,
    /// It is known to do some things in another way.
    Differs,
    /// Versions near it are known to.
    MayDiffer,
    /// Only the beginning of a version is told, and those that begin so differ.
    Depends,
}

/// The resolver of a word that names another version than its id does, or one that was
/// not run, and how well it stands for that: `glibc-2.39`, `envoy`.
pub fn stands_for(word: &str) -> Option<(&'static Resolver, Likeness)> {
    let resolver = find(word)?;
    if resolver.id == word {
        return (resolver.observed.is_empty()).then_some((resolver, Likeness::Read));
    }
    let (family, version) = split(word)?;
    (resolver.family == family).then(|| (resolver, likeness(resolver, version)))
}

/// How well `resolver` stands for this version of its family.
pub fn likeness(resolver: &Resolver, version: &str) -> Likeness {
    let is_it = |known: &str| {
        let rest = known.strip_prefix(version);
        rest.is_some_and(|it| it.is_empty() || it.starts_with('.'))
    };
    let newest = newest_of(version);
    let is_in = |list| listed(list, resolver.family, &newest).is_some();
    let is_several = differ(resolver.family, &numbers(version));
    if !is_several && resolver.observed.iter().any(|it| is_it(it)) {
        Likeness::Observed
    } else if is_in(UNFITTING) {
        Likeness::Differs
    } else if is_in(UNSURE) {
        Likeness::MayDiffer
    } else if is_several {
        Likeness::Depends
    } else if !is_in(FITTING) && newest < numbers(resolver.since) {
        Likeness::Older
    } else if is_it(resolver.version) {
        Likeness::Read
    } else {
        Likeness::Unseen
    }
}

/// Whether one model ends and another begins among the versions that begin so.
fn differ(family: &str, version: &[u32]) -> bool {
    let own = ALL.iter().filter(|it| it.family == family);
    let ranges = UNFITTING.iter().chain(FITTING);
    let ranges = ranges.filter(|it| it.0 == family);
    let mut bounds = own
        .map(|it| it.since)
        .chain(ranges.flat_map(|it| [it.1, it.2]));
    bounds.any(|it| {
        let it = numbers(it);
        it.starts_with(version) && it.len() > version.len()
    })
}

/// The model of a version that is in one of these lists.
fn listed(
    list: &[(&str, &str, &str, &str)],
    family: &str,
    version: &[u32],
) -> Option<&'static Resolver> {
    let is_it = |it: &&(&str, &str, &str, &str)| {
        it.0 == family && (numbers(it.1)..numbers(it.2)).contains(&version.to_vec())
    };
    find(list.iter().find(is_it)?.3)
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
    let version = newest_of(version);
    let not_newer = own().filter(|resolver| numbers(resolver.since) <= version);
    let nearest = not_newer.max_by_key(|resolver| numbers(resolver.since));
    let listed = [UNFITTING, FITTING].map(|list| listed(list, family, &version));
    let nearest = listed.into_iter().flatten().next().or(nearest);
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

/// A version that is newer than all that begin with this one: `24` can be any 24.x.
fn newest_of(version: &str) -> Vec<u32> {
    numbers(version).into_iter().chain([u32::MAX]).collect()
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
    let is_new = |&(at, it): &(usize, &Resolver)| {
        let first = ALL.iter().position(|other| other.family == it.family);
        first == Some(at) && ALL.iter().all(|other| other.id != it.family)
    };
    let families = ALL.iter().enumerate().filter(is_new);
    let families = families.map(|(_, it)| it.family);
    let short = SHORT.iter().map(|(short, _)| *short);
    ALL.iter().map(|it| it.id).chain(families).chain(short)
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
        check("glibc-2.30", "glibc-2.28");
        check("musl", "musl-1.2.5");
        check("node-resolve", "node-resolve-24.22");
        check("musl-1.2.4", "musl-1.2.5");
        check("go-1.20", "go-1.19");
        check("go-1.25", "go-1.27");
        check("c-ares-1.34.5-search", "c-ares-1.34.3-search");
        check("c-ares-1.34.9-search", "c-ares-1.34-search");
        check("c-ares-1.19-search", "c-ares-1.18-search");
        check("dig-9.20", "dig");
        check("host-9.20.4", "host-9.20");
        check("systemd-resolved-255", "systemd-resolved-257");
        check("systemd-resolved-246", "systemd-resolved-245");
        check("resolved", "systemd-resolved");
        for word in ["glibc-", "glibc-2.x", "glib-2.3", "-1", "2.36", ""] {
            assert!(find(word).is_none(), "{word}");
        }
    }

    fn check(word: &str, expected: Option<(&str, Likeness)>) {
        let found = stands_for(word).map(|it| (it.0.id, it.1));
        assert_eq!(found, expected, "{word}");
    }

    #[test]
    fn a_version_without_a_model_of_its_own_is_told() {
        check("glibc-9.9", Some(("glibc-2.41", Likeness::Unseen)));
        check("glibc-2.41", None);
        check("dig-9.20", Some(("dig", Likeness::Observed)));
        check("glibc-2.12", Some(("glibc-2.17", Likeness::Older)));
        check("c-ares-1.19", Some(("c-ares-1.18", Likeness::Unseen)));
        check("c-ares-1.21", Some(("c-ares-1.18", Likeness::Differs)));
        check("c-ares-1.28.0", Some(("c-ares-1.28", Likeness::Unseen)));
        check("c-ares-1.28.1", Some(("c-ares-1.28", Likeness::Observed)));
        check("c-ares-1.30", Some(("c-ares-1.31", Likeness::Differs)));
        check("c-ares-1.32.2", Some(("c-ares-1.32", Likeness::Differs)));
        check("c-ares-1.33.0", Some(("c-ares-1.33", Likeness::Differs)));
        check("c-ares-1.34.1", Some(("c-ares-1.34.3", Likeness::Differs)));
        check("c-ares-1.34.5", Some(("c-ares-1.34.3", Likeness::Unseen)));
        check("c-ares-1.34.7", Some(("c-ares-1.34", Likeness::Differs)));
        let older = Some(("c-ares-1.34-query", Likeness::Older));
        check("c-ares-1.34.5-query", older);
    }

    #[test]
    fn a_version_of_node_without_a_model_of_its_own_is_told() {
        check("node-resolve-22.11", None);
        for (version, id, likeness) in [
            ("20.18.2", "node-resolve-22.11", Likeness::Unseen),
            ("22.9", "node-resolve-22.11", Likeness::Differs),
            ("22.12.0", "node-resolve-20.20", Likeness::Unseen),
            ("22.22", "node-resolve-20.20", Likeness::Unseen),
            ("22.23.3", "node-resolve-24.22", Likeness::Differs),
            ("22.23.6", "node-resolve-24.22", Likeness::Unseen),
            ("24.18.1", "node-resolve-20.20", Likeness::Unseen),
            ("24.21", "node-resolve-24.22", Likeness::Differs),
            ("24.22.3", "node-resolve-24.22", Likeness::Observed),
            ("26.5", "node-resolve-20.20", Likeness::Unseen),
            ("26.9", "node-resolve-24.22", Likeness::Differs),
            ("27", "node-resolve-24.22", Likeness::Unseen),
            ("20", "node-resolve-20.20", Likeness::Depends),
            ("21", "node-resolve-22.11", Likeness::Differs),
            ("22", "node-resolve-24.22", Likeness::Depends),
            ("24", "node-resolve-24.22", Likeness::Depends),
            ("26", "node-resolve-24.22", Likeness::Depends),
        ] {
            check(&format!("node-resolve-{version}"), Some((id, likeness)));
        }
    }

    #[test]
    fn a_program_that_is_no_c_library_is_told() {
        check("dig-9", Some(("dig", Likeness::Depends)));
        for (version, id, likeness) in [
            ("4.1.97", "netty-4.1.101", Likeness::Differs),
            ("4.1.107", "netty-4.1.101", Likeness::Differs),
            ("4.2.7", "netty-4.1.118", Likeness::Unseen),
            ("4.1.134", "netty-4.2.13", Likeness::Unseen),
            ("4.1.60", "netty-4.1.68", Likeness::Differs),
            ("4.1.70", "netty-4.1.68", Likeness::Unseen),
            ("4.1.49", "netty-4.1.48", Likeness::Unseen),
        ] {
            check(&format!("netty-{version}"), Some((id, likeness)));
        }
        for (version, likeness) in [
            ("25.3", Likeness::Unseen),
            ("27.3", Likeness::MayDiffer),
            ("30", Likeness::Unseen),
        ] {
            let word = format!("erlang-resolve-{version}");
            check(&word, Some(("erlang-resolve", likeness)));
        }
        check("c-ares-1.17", Some(("c-ares-1.18", Likeness::Older)));
        check("glibc-2.17", Some(("glibc-2.17", Likeness::Read)));
        check("envoy", Some(("envoy", Likeness::Read)));
        check("musl", None);
        check("alpine", None);
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
