//! The feature gate `ExpandedDNSConfig`, which lets 32 search domains of 2048
//! characters into a pod's file instead of 6 of 256.
//!
//! Source: kubernetes `pkg/features/kube_features.go`: alpha and off from 1.22,
//! beta and on from 1.26, locked from 1.28; `component-base/featuregate:
//! SetFromMap`; `component-base/cli/flag: MapStringBool`.

use crate::kubelet::Origin;
use crate::kubelet::remark::Refusal;
use crate::kubelet::version::Version;
use crate::text::Place;

/// The gate by its name.
pub const EXPANDED: &str = "ExpandedDNSConfig";
/// The gates that change others which nobody names.
const ALL_ALPHA: &str = "AllAlpha";
const ALL_BETA: &str = "AllBeta";

/// A gate that somebody set.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Gate {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: bool,
    /// Where it was set.
    pub origin: Origin,
}

/// Whether a gate of this name can decide.
pub fn counts(name: &str) -> bool {
    [EXPANDED, ALL_ALPHA, ALL_BETA].contains(&name)
}

/// What is set, and where, if that changes what the version has; the
/// strongest gate is the last of `gates`. A kubelet of unknown version that
/// takes the gate is one that has it.
pub fn expanded_dns(version: Option<Version>, gates: &[Gate]) -> Option<(bool, Origin)> {
    let last = |name: &str| gates.iter().rfind(|gate| gate.name == name);
    let between = |first, end| {
        version.is_some_and(|it| (Version::minor(1, first)..Version::minor(1, end)).contains(&it))
    };
    let has_gate = version.is_none() || between(22, 28);
    let all = if between(22, 26) {
        last(ALL_ALPHA)
    } else if between(26, 28) {
        last(ALL_BETA)
    } else {
        None
    };
    let gate = last(EXPANDED).filter(|_| has_gate).or(all)?;
    Some((gate.value, gate.origin.clone()))
}

/// Why a kubelet of this version does not start with the gate.
pub fn refused(version: Option<Version>, gates: &[Gate]) -> Option<Refusal> {
    let version = version?;
    let gate = gates.iter().rfind(|gate| gate.name == EXPANDED)?;
    let is_locked = (Version::minor(1, 28)..Version::minor(1, 30)).contains(&version);
    let why = if version < Version::minor(1, 22) {
        "it is known since 1.22"
    } else if is_locked && !gate.value {
        "since 1.28 it is always on"
    } else {
        return None;
    };
    Some(Refusal::UnknownGate {
        place: gate
            .origin
            .at()
            .unwrap_or_else(|| Place::nowhere("--feature-gates")),
        gate: EXPANDED,
        value: gate.value,
        why,
    })
}

/// The gates of a flag's value: `A=true,B=false`.
///
/// # Errors
///
/// The kubelet does not start with it: this pair is none.
pub fn of_flag(value: &str) -> Result<Vec<(String, bool)>, String> {
    let pairs = value.split(',').filter(|pair| !pair.is_empty());
    let gate = |pair: &str| {
        let (name, value) = pair.split_once('=')?;
        Some((name.trim().to_owned(), boolean(value.trim())?))
    };
    pairs
        .map(|pair| gate(pair).ok_or_else(|| pair.to_owned()))
        .collect()
}

/// Source: Go `strconv.ParseBool`.
fn boolean(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "TRUE" | "true" | "True" => Some(true),
        "0" | "f" | "F" | "FALSE" | "false" | "False" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gates(set: &[(&str, bool)]) -> Vec<Gate> {
        let gate = |&(name, value): &(&str, bool)| Gate {
            name: name.to_owned(),
            value,
            origin: Origin::BuiltIn,
        };
        set.iter().map(gate).collect()
    }

    fn check(minor: Option<u32>, set: &[(&str, bool)], expected: Option<bool>) {
        let version = minor.map(|minor| Version::release(1, minor, 3));
        let found = expanded_dns(version, &gates(set)).map(|it| it.0);
        assert_eq!(found, expected, "{minor:?} {set:?}");
    }

    #[test]
    fn the_gate_counts_where_there_is_one() {
        for minor in 22..28 {
            check(Some(minor), &[(EXPANDED, true)], Some(true));
            check(Some(minor), &[(EXPANDED, false)], Some(false));
        }
        for minor in [17, 21, 28, 29, 34] {
            check(Some(minor), &[(EXPANDED, true)], None);
            check(Some(minor), &[(EXPANDED, false)], None);
        }
        check(None, &[(EXPANDED, false)], Some(false));
        check(None, &[("AllBeta", false)], None);
    }

    #[test]
    fn all_gates_of_a_stage_change_those_that_nobody_names() {
        check(Some(24), &[("AllAlpha", true)], Some(true));
        check(Some(26), &[("AllAlpha", true)], None);
        check(Some(26), &[("AllBeta", false)], Some(false));
        check(Some(24), &[("AllBeta", true)], None);
        check(
            Some(24),
            &[("AllAlpha", true), (EXPANDED, false)],
            Some(false),
        );
        check(
            Some(24),
            &[(EXPANDED, false), ("AllAlpha", true)],
            Some(false),
        );
        check(Some(24), &[(EXPANDED, false), (EXPANDED, true)], Some(true));
    }

    #[test]
    fn where_there_is_none_the_kubelet_does_not_start() {
        let refuses = |minor, value| {
            let version = Some(Version::minor(1, minor));
            refused(version, &gates(&[(EXPANDED, value)])).is_some()
        };
        assert!(refuses(21, true) && refuses(21, false) && refuses(28, false));
        assert!(!refuses(22, true) && !refuses(27, false) && !refuses(28, true));
        assert_eq!(refused(None, &gates(&[(EXPANDED, false)])), None);
    }

    #[test]
    fn a_flag_has_pairs() {
        let pair = |name: &str, value| (name.to_owned(), value);
        assert_eq!(
            of_flag("A=true, B = F"),
            Ok(vec![pair("A", true), pair("B", false)])
        );
        assert_eq!(of_flag(""), Ok(Vec::new()));
        assert_eq!(of_flag("A=true,B"), Err("B".to_owned()));
        assert_eq!(of_flag("A=yes"), Err("A=yes".to_owned()));
    }
}
