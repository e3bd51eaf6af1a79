//! What differs between versions of the kubelet and of the runtimes.
//!
//! Source: kubernetes `pkg/kubelet/network/dns/dns.go` of 1.18 to 1.29 and
//! its change log; containerd `parseDNSOptions` and `setupSandboxFiles`,
//! CRI-O `parseDNSOptions`, both over their versions.

use crate::kubelet::{Kubelet, Version};

/// How much the kubelet lets into a file.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Limits {
    /// Name servers.
    pub servers: usize,
    /// Search domains.
    pub searches: usize,
    /// Characters of the search list, blanks between domains included.
    pub search_chars: usize,
    /// Characters of one search domain, if that counts at all.
    pub domain_chars: Option<usize>,
}

/// How a kubelet reads its file and how much it lets into a pod's.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Rules {
    /// How much fits.
    pub limits: Limits,
    /// What becomes of final dots of search domains in its file.
    pub final_dots: FinalDots,
    /// Whether all lines with options count, by name, not only the last line.
    pub merges_options: bool,
    /// Whether the API server of this version takes `_` and `.` in
    /// `dnsConfig.searches`.
    pub relaxed_searches: bool,
}

/// What becomes of final dots of search domains.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FinalDots {
    /// They stay.
    Kept,
    /// They go, and the root becomes an empty word.
    Cut,
    /// They go, but the root stays.
    RootKept,
    /// They go, and the root goes.
    RootDropped,
}

/// Who writes the file.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Runtime {
    /// The program.
    pub kind: RuntimeKind,
    /// Its version; `None`: not known.
    pub version: Option<Version>,
}

/// The programs that write pod files.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum RuntimeKind {
    /// containerd, also k3s's, rke2's and `MicroK8s`'s.
    #[default]
    Containerd,
    /// CRI-O.
    CriO,
    /// Docker with cri-dockerd or dockershim.
    Docker,
}

/// What a runtime does when the kubelet gives it nothing to write.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum WhenEmpty {
    /// It copies the node's own `/etc/resolv.conf`.
    Copy,
    /// It writes an empty file.
    Empty,
    /// It leaves the file that it made for the container before.
    OwnFile,
}

impl Limits {
    /// Since Kubernetes 1.26, by default (gate `ExpandedDNSConfig`).
    pub const EXPANDED: Self = Self {
        servers: 3,
        searches: 32,
        search_chars: 2048,
        domain_chars: Some(MAX_DOMAIN_CHARS),
    };
    /// Up to Kubernetes 1.25, by default. Before 1.22 one domain could be of
    /// any length.
    pub const LEGACY: Self = Self {
        servers: 3,
        searches: 6,
        search_chars: 256,
        domain_chars: Some(MAX_DOMAIN_CHARS),
    };
}

/// The longest domain that is kept: newer glibc aborts on longer ones.
/// Source: kubernetes `DNS1123SubdomainMaxLength`.
const MAX_DOMAIN_CHARS: usize = 253;

/// The last version before each change of the rules, the newest first.
pub const LAST_BEFORE_CHANGES: [Version; 5] = [
    at(1, 32, 0),
    at(1, 25, 1),
    at(1, 25, 0),
    at(1, 24, 0),
    at(1, 21, 0),
];

impl Rules {
    /// The rules of this kubelet, with its feature gate.
    ///
    /// The API server is taken to have the gate as the kubelet has it.
    pub fn of_kubelet(kubelet: &Kubelet) -> Self {
        let mut rules = Self::of_version(kubelet.version);
        match kubelet.expanded_dns.value {
            Some(true) => rules.limits = Limits::EXPANDED,
            Some(false) => rules.limits = Limits::LEGACY,
            None => {}
        }
        rules
    }

    /// The rules of a kubelet with its usual feature gates; `None`: those of
    /// the newest known. Without its third number it is the last release of
    /// that minor version.
    pub fn of_version(version: Option<Version>) -> Self {
        let since = |minor| version.is_none_or(|it| it >= Version::minor(1, minor));
        let mut limits = if since(26) {
            Limits::EXPANDED
        } else {
            Limits::LEGACY
        };
        if !since(22) {
            limits.domain_chars = None;
        }
        let final_dots = if since(25) && version != Some(at(1, 25, 0)) {
            FinalDots::RootDropped
        } else if since(25) {
            FinalDots::RootKept
        } else if since(18) {
            FinalDots::Cut
        } else {
            FinalDots::Kept
        };
        Self {
            limits,
            final_dots,
            merges_options: since(26),
            relaxed_searches: since(33),
        }
    }
}

impl Runtime {
    /// How many search domains it takes; with more the pod does not start.
    pub fn max_searches(self) -> Option<usize> {
        let first_without = match self.kind {
            RuntimeKind::Containerd => at(1, 5, 6),
            RuntimeKind::CriO => at(1, 22, 0),
            RuntimeKind::Docker => return None,
        };
        let is_old = self.version.is_some_and(|it| it < first_without);
        is_old.then_some(6)
    }

    /// What it does when there are no servers, searches and options; `None`:
    /// its version is needed for that, and not known so exactly.
    ///
    /// Source: containerd `setupSandboxFiles` in every release from 1.5.0 to
    /// 2.3.4 (changed by containerd#9730); CRI-O `ParseDNSOptions` from 1.0 to
    /// 1.36; cri-dockerd `rewriteResolvFile`.
    pub fn when_empty(self) -> Option<WhenEmpty> {
        match self.kind {
            RuntimeKind::Containerd => self.version.and_then(containerd_when_empty),
            RuntimeKind::CriO => Some(WhenEmpty::Copy),
            RuntimeKind::Docker => Some(WhenEmpty::OwnFile),
        }
    }
}

/// The change was taken back into two branches.
fn containerd_when_empty(version: Version) -> Option<WhenEmpty> {
    let first_to_write = match (version.major, version.minor) {
        (1, 6) => 34,
        (1, 7) => 20,
        _ if version >= Version::minor(2, 0) => return Some(WhenEmpty::Empty),
        _ => return Some(WhenEmpty::Copy),
    };
    Some(if version.patch? < first_to_write {
        WhenEmpty::Copy
    } else {
        WhenEmpty::Empty
    })
}

impl RuntimeKind {
    /// The program's name for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Containerd => "containerd",
            Self::CriO => "CRI-O",
            Self::Docker => "Docker",
        }
    }
}

const fn at(major: u32, minor: u32, patch: u32) -> Version {
    Version::release(major, minor, patch)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_change_at_known_versions() {
        let check = |version: Version, searches, domain_chars, final_dots, merges| {
            let rules = Rules::of_version(Some(version));
            assert_eq!(rules.limits.searches, searches, "{version:?}");
            assert_eq!(rules.limits.domain_chars, domain_chars, "{version:?}");
            assert_eq!(rules.final_dots, final_dots, "{version:?}");
            assert_eq!(rules.merges_options, merges, "{version:?}");
        };
        check(at(1, 17, 0), 6, None, FinalDots::Kept, false);
        check(at(1, 20, 2), 6, None, FinalDots::Cut, false);
        check(at(1, 21, 9), 6, None, FinalDots::Cut, false);
        check(at(1, 22, 0), 6, Some(253), FinalDots::Cut, false);
        check(at(1, 24, 17), 6, Some(253), FinalDots::Cut, false);
        check(at(1, 25, 0), 6, Some(253), FinalDots::RootKept, false);
        check(at(1, 25, 1), 6, Some(253), FinalDots::RootDropped, false);
        check(at(1, 26, 0), 32, Some(253), FinalDots::RootDropped, true);
        check(at(1, 36, 0), 32, Some(253), FinalDots::RootDropped, true);
        check(at(2, 0, 0), 32, Some(253), FinalDots::RootDropped, true);
        assert_eq!(
            Rules::of_version(None),
            Rules::of_version(Some(at(1, 99, 0)))
        );
    }

    #[test]
    fn runtimes_change_at_known_versions() {
        use RuntimeKind::{Containerd, CriO, Docker};
        let check = |kind, version: Option<(u32, u32, u32)>, max_searches, when_empty| {
            let version = version.map(|(major, minor, patch)| at(major, minor, patch));
            let runtime = Runtime { kind, version };
            assert_eq!(runtime.max_searches(), max_searches, "{runtime:?}");
            assert_eq!(runtime.when_empty(), Some(when_empty), "{runtime:?}");
        };
        check(Containerd, Some((1, 4, 13)), Some(6), WhenEmpty::Copy);
        check(Containerd, Some((1, 5, 5)), Some(6), WhenEmpty::Copy);
        check(Containerd, Some((1, 5, 6)), None, WhenEmpty::Copy);
        check(Containerd, Some((1, 6, 33)), None, WhenEmpty::Copy);
        check(Containerd, Some((1, 6, 34)), None, WhenEmpty::Empty);
        check(Containerd, Some((1, 7, 0)), None, WhenEmpty::Copy);
        check(Containerd, Some((1, 7, 19)), None, WhenEmpty::Copy);
        check(Containerd, Some((1, 7, 20)), None, WhenEmpty::Empty);
        check(Containerd, Some((2, 0, 0)), None, WhenEmpty::Empty);
        check(CriO, Some((1, 21, 7)), Some(6), WhenEmpty::Copy);
        check(CriO, Some((1, 22, 0)), None, WhenEmpty::Copy);
        check(CriO, None, None, WhenEmpty::Copy);
        check(Docker, Some((20, 10, 0)), None, WhenEmpty::OwnFile);
    }

    #[test]
    fn without_the_patch_it_is_unknown_where_a_branch_changed() {
        let check = |version: Option<Version>, expected| {
            let kind = RuntimeKind::Containerd;
            let runtime = Runtime { kind, version };
            assert_eq!(runtime.when_empty(), expected, "{runtime:?}");
        };
        check(None, None);
        check(Some(Version::minor(1, 6)), None);
        check(Some(Version::minor(1, 7)), None);
        check(Some(Version::minor(1, 5)), Some(WhenEmpty::Copy));
        check(Some(Version::minor(2, 1)), Some(WhenEmpty::Empty));
    }

    #[test]
    fn a_minor_version_alone_is_its_last_release() {
        let of = |version| Rules::of_version(Some(version));
        assert_eq!(of(Version::minor(1, 25)), of(at(1, 25, 1)));
        assert_eq!(of(Version::minor(1, 26)), of(at(1, 26, 0)));
        assert_eq!(of(Version::minor(1, 22)), of(at(1, 22, 0)));
        assert_eq!(of(Version::minor(1, 18)), of(at(1, 18, 0)));
        assert_eq!(of(Version::minor(1, 33)), of(at(1, 33, 0)));
    }

    #[test]
    fn the_versions_before_changes_are_all() {
        let minors = (21..60).flat_map(|minor| (0..3).map(move |patch| at(1, minor, patch)));
        let mut all: Vec<Rules> = minors.map(|it| Rules::of_version(Some(it))).collect();
        all.dedup();
        let before = LAST_BEFORE_CHANGES.map(|it| Rules::of_version(Some(it)));
        assert_eq!(
            all.split_last().unwrap().1,
            before.iter().rev().copied().collect::<Vec<_>>()
        );
    }
}
