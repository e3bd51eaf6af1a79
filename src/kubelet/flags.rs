//! The kubelet's command line, as far as DNS depends on it.
//!
//! Source: kubernetes `cmd/kubelet/app/options/options.go: AddKubeletConfigFlags`;
//! spf13/pflag `flag.go: parseArgs`; `_` is `-`, as in
//! `component-base/cli/flag: WordSepNormalizeFunc`.

use crate::config::traced::{self, Spot, Traced};
use crate::kubelet::remark::{Refusal, Remark};
use crate::kubelet::setting::Origin;
use crate::text::{Source, escaped};

/// The flags that count, and the keys of a configuration that are the same.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Name {
    /// `--resolv-conf`
    ResolvConf,
    /// `--cluster-dns`: addresses with commas between them; repeats add up.
    ClusterDns,
    /// `--cluster-domain`
    ClusterDomain,
    /// `--config`
    Config,
    /// `--config-dir`
    ConfigDir,
    /// `--feature-gates`: pairs with commas between them; repeats add up.
    FeatureGates,
    /// `--container-runtime-endpoint`
    RuntimeEndpoint,
    /// `--pod-manifest-path`, which decides nothing about DNS itself.
    StaticPods,
}

/// A flag as it was given.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Flag {
    /// The flag's name.
    pub name: Name,
    /// Its value.
    pub value: String,
    /// As it was given, safe to print: `--resolv-conf=/x`, `--resolv-conf /x`.
    pub argument: String,
    /// Where the value stands, if a file gave it.
    pub spot: Option<Spot>,
    /// Where the name stands, if a file gave it as a flag.
    pub name_spot: Option<Spot>,
}

/// What a command line says.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Flags {
    /// The flags that count, in order, repeats kept.
    pub flags: Vec<Flag>,
    /// What is wrong with them.
    pub remarks: Vec<Remark>,
    /// The first of the remarks that keeps the kubelet from starting.
    pub stops: Option<Refusal>,
}

impl Flags {
    fn stop(&mut self, reason: Refusal) {
        self.stops.get_or_insert_with(|| reason.clone());
        self.remarks.push(Remark::Refused(reason));
    }
}

/// Reads the arguments after the program.
pub fn read_flags(arguments: &[Traced]) -> Flags {
    let mut found = Flags::default();
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let bytes = argument.bytes();
        if bytes == b"--" {
            break;
        }
        let dashes = if bytes.starts_with(b"--") { 2 } else { 1 };
        let equals = bytes.iter().position(|&byte| byte == b'=');
        let name = bytes.get(dashes..equals.unwrap_or(bytes.len()));
        let Some(name) = name.filter(|_| bytes.starts_with(b"-")).and_then(named) else {
            continue;
        };
        let flag = if let Some(equals) = equals {
            Flag {
                name,
                value: argument.after(equals + 1).text().into_owned(),
                argument: escaped(bytes),
                spot: first_spot(argument, equals + 1),
                name_spot: argument.spot(dashes),
            }
        } else if let Some(value) = arguments.next() {
            found.remarks.extend(swallowed(bytes, value.bytes()));
            Flag {
                name,
                value: value.text().into_owned(),
                argument: format!("{} {}", escaped(bytes), escaped(value.bytes())),
                spot: value.spot(0),
                name_spot: argument.spot(dashes),
            }
        } else {
            found.stop(Refusal::NoValue(escaped(bytes)));
            break;
        };
        if dashes == 1 {
            found.stop(Refusal::OneDash(flag.argument.clone()));
        }
        found.flags.push(flag);
    }
    found
}

/// Where what follows the first `from` bytes stands: what a variable without a
/// file says stands nowhere.
fn first_spot(argument: &Traced, from: usize) -> Option<Spot> {
    let mut after = argument.iter().skip(from);
    let first = after.find_map(|(_, spot)| spot);
    argument.spot(from).or(first)
}

fn named(name: &[u8]) -> Option<Name> {
    Some(match name.to_ascii_lowercase().as_slice() {
        _ if name.iter().any(u8::is_ascii_uppercase) => return None,
        b"resolv-conf" | b"resolv_conf" => Name::ResolvConf,
        b"cluster-dns" | b"cluster_dns" => Name::ClusterDns,
        b"cluster-domain" | b"cluster_domain" => Name::ClusterDomain,
        b"config" => Name::Config,
        b"config-dir" | b"config_dir" => Name::ConfigDir,
        b"feature-gates" | b"feature_gates" => Name::FeatureGates,
        b"container-runtime-endpoint" | b"container_runtime_endpoint" => Name::RuntimeEndpoint,
        b"pod-manifest-path" | b"pod_manifest_path" => Name::StaticPods,
        _ => return None,
    })
}

/// A flag without `=` takes the next argument, whatever it is.
fn swallowed(flag: &[u8], value: &[u8]) -> Option<Remark> {
    value.starts_with(b"-").then(|| Remark::Swallowed {
        flag: escaped(flag),
        value: escaped(value),
    })
}

impl Flags {
    /// The last value of a flag that is given as one text.
    pub fn last(&self, name: Name) -> Option<&str> {
        let flag = self.flags.iter().rfind(|flag| flag.name == name)?;
        Some(&flag.value)
    }
}

impl Flag {
    /// The addresses in a list, each with the number of bytes before it.
    pub fn servers(&self) -> impl Iterator<Item = (usize, &str)> {
        let parts = self.value.split(',').scan(0, |offset, part| {
            let before = *offset;
            *offset += part.len() + 1;
            Some((before, part.trim_matches('"')))
        });
        parts.filter(|it| !it.1.is_empty())
    }

    /// Where it was given: in one of `files`, else what `otherwise` makes of it.
    pub fn origin(&self, files: &[Source], otherwise: impl Fn(&Self) -> Origin) -> Origin {
        let place = self.spot.and_then(|spot| traced::place(files, spot));
        place.map_or_else(|| otherwise(self), Origin::File)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stops_the_kubelet_is_told_apart() {
        let stops = |arguments: &[&str]| {
            let traced = |it: &&str| Traced::untraced(it.as_bytes());
            let arguments: Vec<Traced> = arguments.iter().map(traced).collect();
            read_flags(&arguments).stops.is_some()
        };
        assert!(stops(&["--v=2", "--resolv-conf"]));
        assert!(stops(&["-cluster-dns=10.0.0.1", "--config=c"]));
        assert!(!stops(&["--resolv-conf", "--v=2"]));
        assert!(!stops(&["--resolv-conf="]));
    }

    fn check(arguments: &[&str], expected: &[(Name, &str)], remarks: usize) {
        let arguments: Vec<Traced> = arguments
            .iter()
            .map(|it| Traced::untraced(it.as_bytes()))
            .collect();
        let found = read_flags(&arguments);
        let flags: Vec<(Name, &str)> = found
            .flags
            .iter()
            .map(|flag| (flag.name, flag.value.as_str()))
            .collect();
        assert_eq!(flags, expected, "{arguments:?}");
        assert_eq!(found.remarks.len(), remarks, "{:?}", found.remarks);
    }

    #[test]
    fn flags_are_read_as_the_kubelet_does() {
        use Name::{ClusterDns, ClusterDomain, Config, ConfigDir, ResolvConf};
        check(
            &[
                "--v=2",
                "--resolv-conf=/a",
                "--resolv_conf",
                "/b",
                "--x",
                "--config",
                "c",
            ],
            &[(ResolvConf, "/a"), (ResolvConf, "/b"), (Config, "c")],
            0,
        );
        check(
            &[
                "--cluster-dns=1.1.1.1,::1",
                "--cluster_domain=a=b",
                "--config-dir=",
            ],
            &[
                (ClusterDns, "1.1.1.1,::1"),
                (ClusterDomain, "a=b"),
                (ConfigDir, ""),
            ],
            0,
        );
        check(&["--resolv-conf", "--v=2"], &[(ResolvConf, "--v=2")], 1);
        check(&["--resolv-conf"], &[], 1);
        check(&["-resolv-conf=/a"], &[(ResolvConf, "/a")], 1);
        check(&["--resolv-confx=/a", "--", "--resolv-conf=/a"], &[], 0);
        check(&["resolv-conf=/a", "", "-", "--Config=x"], &[], 0);
    }
}
