//! Which keys of a file count: by the version of the kubelet, and by what the
//! file is read for.

use std::collections::BTreeSet;

use crate::kubelet::configuration::Role;
use crate::kubelet::flags::Name;
use crate::kubelet::version::Version;

/// Since then an empty `resolvConf` in a file is no default.
/// Source: kubernetes#104624.
const EMPTY_COUNTS: Version = Version::minor(1, 23);
/// Since then there are drop-ins.
pub const DROP_INS: Version = Version::minor(1, 28);
/// Since then drop-ins are merged by the keys that are documented.
/// Source: kubernetes#127421.
pub const DROP_INS_BY_KEY: Version = Version::minor(1, 32);

/// What is set, the key that is documented, and the one that the kubelet has
/// inside, by which it merged drop-ins at first.
const KEYS: [(Name, &str, &str); 4] = [
    (Name::ResolvConf, "resolvConf", "resolverConfig"),
    (Name::ClusterDns, "clusterDNS", "clusterDNS"),
    (Name::ClusterDomain, "clusterDomain", "clusterDomain"),
    (Name::StaticPods, "staticPodPath", "staticPodPath"),
];

/// Why a kubelet takes nothing from what stands in a file.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Ignored {
    /// The key is this one.
    OtherKey(&'static str),
    /// Drop-ins from 1.28 to 1.31 have the key `resolverConfig`.
    OldDropIn,
    /// Up to 1.22 an empty `resolvConf` is none.
    Empty,
    /// It has no value.
    Null,
    /// The key stands once more behind it.
    Repeated,
    /// Drop-ins have names that end in `.conf`.
    Suffix,
    /// Systemd starts the kubelet without it.
    Unused,
}

/// A key in a file with its value.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Said<'t> {
    /// The key as it is written.
    pub key: &'t str,
    /// The value, if it is a text.
    pub text: Option<&'t str>,
    /// Whether the value is a null.
    pub is_null: bool,
}

/// What each key of a file sets, in their order, or why it sets nothing; `None`:
/// nothing that is read here. Of keys that are the same the last one counts.
pub fn all_taken(
    said: &[Said<'_>],
    role: Role,
    version: Option<Version>,
) -> Vec<Option<Result<Name, Ignored>>> {
    let has_documented = said.iter().any(|it| it.key == "resolvConf");
    let mut behind = BTreeSet::new();
    let mut all = Vec::new();
    for it in said.iter().rev() {
        let taken = taken(it.key, role, version, has_documented);
        let effective = |name| {
            let ignored = without_effect(name, it.text, it.is_null, role, version);
            ignored.map_or(Ok(name), Err)
        };
        all.push(if behind.insert(it.key) {
            taken.map(|it| it.and_then(effective))
        } else {
            Some(Err(Ignored::Repeated))
        });
    }
    all.reverse();
    all
}

/// What a key sets; `None`: nothing that is read here. Without a version the
/// newest is meant, but a drop-in that has only the key of the older ones,
/// which `has_documented` says, is one of theirs.
pub fn taken(
    written: &str,
    role: Role,
    version: Option<Version>,
    has_documented: bool,
) -> Option<Result<Name, Ignored>> {
    let is = |key: &str| written.eq_ignore_ascii_case(key);
    let found = KEYS.iter().find(|it| is(it.1) || is(it.2));
    let &(name, documented, internal) = found?;
    let is_drop_in = role == Role::DropIn;
    if is_drop_in && version.is_some_and(|it| it < DROP_INS_BY_KEY) {
        return Some(if is(internal) {
            Ok(name)
        } else {
            Err(Ignored::OldDropIn)
        });
    }
    let is_older = is_drop_in && version.is_none() && !has_documented && written == internal;
    Some(if written == documented || is_older {
        Ok(name)
    } else {
        Err(Ignored::OtherKey(documented))
    })
}

/// Why the value of a key that counts sets nothing. A null in a drop-in takes
/// back what was set before: the files are merged as RFC 7396 says. Before 1.32
/// that hit another key than the one that is read afterwards.
fn without_effect(
    name: Name,
    text: Option<&str>,
    is_null: bool,
    role: Role,
    version: Option<Version>,
) -> Option<Ignored> {
    let takes_back = role == Role::DropIn && version.is_none_or(|it| it >= DROP_INS_BY_KEY);
    let is_empty = name == Name::ResolvConf && text == Some("");
    if is_null && !takes_back {
        Some(Ignored::Null)
    } else if is_empty && !honours_empty(version) {
        Some(Ignored::Empty)
    } else {
        None
    }
}

/// Whether an empty `resolvConf` in a file means that there is none.
pub fn honours_empty(version: Option<Version>) -> bool {
    version.is_none_or(|it| it >= EMPTY_COUNTS)
}
