//! The kubelet's version where it stands in a path, a file or a label.

use std::fmt;
use std::str::FromStr;

/// A version such as 1.29.3. One without its third number comes before all
/// releases with the same first two.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Version {
    /// The first number.
    pub major: u32,
    /// The second number.
    pub minor: u32,
    /// The third number, if it is known.
    pub patch: Option<u32>,
}

impl Version {
    /// `major.minor`, whatever the release of it is.
    pub const fn minor(major: u32, minor: u32) -> Self {
        Self {
            major,
            minor,
            patch: None,
        }
    }

    /// `major.minor.patch`.
    pub const fn release(major: u32, minor: u32, patch: u32) -> Self {
        Self {
            major,
            minor,
            patch: Some(patch),
        }
    }

    /// The first version of Kubernetes in a text: three numbers, the first of
    /// them 1, with or without a `v` before, not inside another number.
    ///
    /// `/var/lib/rancher/rke2/data/v1.28.5-rke2r1-3f2/bin/kubelet` is 1.28.5.
    pub fn find(text: &str) -> Option<Self> {
        let is_part = |c: char| c.is_ascii_digit() || c == '.';
        text.split(|c| !is_part(c)).find_map(|number| {
            let mut parts = number.trim_matches('.').split('.');
            let mut next = || parts.next()?.parse::<u32>().ok();
            let found = Self::release(next()?, next()?, next()?);
            let is_kubernetes = found.major == 1 && parts.next().is_none();
            is_kubernetes.then_some(found)
        })
    }
}

/// `1.29`, `v1.29.3`, `v1.29.3+k3s1`: two or three numbers, and what tools print
/// behind them: `-rc.1`, `+k3s1`, `~ds1`. The error says nothing.
impl FromStr for Version {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let plain = text.strip_prefix('v').unwrap_or(text);
        let end = plain.find(|c: char| !c.is_ascii_digit() && c != '.');
        let (numbers, rest) = plain.split_at(end.unwrap_or(plain.len()));
        let is_suffix = |c: char| c.is_ascii_alphanumeric() || "-+~._:".contains(c);
        if rest.starts_with(char::is_alphanumeric) || !rest.chars().all(is_suffix) {
            return Err(());
        }
        let numbers: Option<Vec<u32>> = numbers.split('.').map(|it| it.parse().ok()).collect();
        match numbers.as_deref() {
            Some(&[major, minor]) => Ok(Self::minor(major, minor)),
            Some(&[major, minor, patch]) => Ok(Self::release(major, minor, patch)),
            _ => Err(()),
        }
    }
}

/// `1.29.3`, or `1.29` where no more is known.
impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)?;
        self.patch.map_or(Ok(()), |patch| write!(f, ".{patch}"))
    }
}

/// The version that a node's `os-release` fixes, with the patch level not
/// known: Bottlerocket and `OpenShift` are made for one minor version each.
///
/// Source: bottlerocket-os `variants/aws-k8s-1.28`; openshift's `OPENSHIFT_VERSION`,
/// where 4.3 is Kubernetes 1.16 and each further release one more.
pub fn of_os_release(text: &str) -> Option<Version> {
    let value = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        Some(line.trim_matches('"'))
    };
    let minor = |text: &str| text.split('.').nth(1)?.parse::<u32>().ok();
    if let Some((_, version)) = value("VARIANT_ID=").and_then(|it| it.split_once("-k8s-")) {
        let version = version.split('-').next().unwrap_or_default();
        return minor(version).map(|minor| Version::minor(1, minor));
    }
    let openshift = value("OPENSHIFT_VERSION=").filter(|it| it.starts_with("4."));
    let minor = openshift.and_then(minor).filter(|&minor| minor >= 3)?;
    Some(Version::minor(1, minor.saturating_add(13)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<(u32, u32)>) {
        let found = Version::find(text).map(|it| (it.minor, it.patch.unwrap()));
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn versions_stand_in_paths() {
        check(
            "/var/lib/rancher/rke2/data/v1.28.5-rke2r1-3f/bin",
            Some((28, 5)),
        );
        check("/var/lib/minikube/binaries/v1.25.0/kubelet", Some((25, 0)));
        check("kubernetes-v1.29.2-x86-64.raw", Some((29, 2)));
        check("version: 1.31.14\n", Some((31, 14)));
        check("/snap/microk8s/6089/kubelite", None);
        check("10.96.0.10 1.2.3.4 1.28 v2.1.0", None);
        check("1.99999999999.1", None);
    }

    #[test]
    fn some_systems_fix_the_minor_version() {
        for (text, minor) in [
            ("ID=bottlerocket\nVARIANT_ID=aws-k8s-1.28\n", Some(28)),
            ("VARIANT_ID=aws-k8s-1.27-nvidia\n", Some(27)),
            ("OPENSHIFT_VERSION=\"4.14\"\n", Some(27)),
            ("ID=debian\nVERSION_ID=\"12\"\n", None),
        ] {
            assert_eq!(of_os_release(text).map(|it| it.minor), minor, "{text}");
        }
    }
}
