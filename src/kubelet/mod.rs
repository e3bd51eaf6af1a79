//! The kubelet of a node: what it hands to pods, and where each setting was
//! made.

pub mod address;
pub mod choice;
pub mod configuration;
pub mod distribution;
pub mod effective;
pub mod flags;
pub mod rancher;
pub mod version;

use std::fmt;
use std::net::IpAddr;

use crate::config::traced::Traced;
use crate::kubelet::effective::{File, Inputs};
use crate::text::{Place, Source};

/// The kubelet as far as DNS depends on it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Kubelet {
    /// How its settings are known.
    pub found: Found,
    /// Its version, if anything tells it.
    pub version: Option<Version>,
    /// `resolvConf`; an empty path means that it hands out loopback servers.
    pub resolv_conf: Setting<String>,
    /// `clusterDNS`, in order.
    pub cluster_dns: Setting<Vec<IpAddr>>,
    /// `clusterDomain`, as written.
    pub cluster_domain: Setting<String>,
    /// What else an engineer should know: ignored keys, skipped drop-ins,
    /// files newer than the process. Whole sentences without a full stop.
    pub remarks: Vec<String>,
    /// Why it does not start with these settings, one of the remarks; `None`
    /// of a kubelet that runs.
    pub stops: Option<String>,
    /// Files with settings that are newer than the process, safe to print.
    pub newer: Vec<String>,
}

/// How the kubelet's settings are known.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Found {
    /// It runs.
    Process {
        /// Its process id.
        pid: u32,
        /// The process's own name: `kubelet`, `k3s-server`, `kubelite`.
        comm: String,
    },
    /// It does not run; this unit or configuration file would start it.
    Files {
        /// The file that tells, safe to print.
        file: String,
    },
    /// A configuration file was named on the command line.
    Named,
}

/// A version such as 1.29.3, by its first two numbers.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Version {
    /// The first number.
    pub major: u32,
    /// The second number.
    pub minor: u32,
    /// The third number, 0 if it is not known.
    pub patch: u32,
}

/// A setting, where it was made, and what that overrode.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Setting<T> {
    /// What counts.
    pub value: T,
    /// Where it was set.
    pub origin: Origin,
    /// What it overrode, the strongest first; never the built-in default.
    pub overrode: Vec<(T, Origin)>,
}

/// Where a setting was made.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Origin {
    /// Nowhere: the kubelet's own default.
    BuiltIn,
    /// In a file, at the value.
    File(Place),
    /// An argument of a running process that no file was found to give.
    Argument {
        /// The process.
        pid: u32,
        /// The argument as it was given, safe to print.
        argument: String,
    },
    /// An option of kdns.
    Option(&'static str),
    /// A file that could set it could not be read, so the value is a guess:
    /// the kubelet's default. The reason, a whole sentence without a full stop.
    Unread(String),
}

/// `the built-in default`, `/var/lib/kubelet/config.yaml:31:13`.
impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BuiltIn => f.write_str("the built-in default"),
            Self::File(place) => place.fmt(f),
            Self::Argument { pid, argument } => write!(f, "{argument} (argument of process {pid})"),
            Self::Option(option) => f.write_str(option),
            Self::Unread(reason) => f.write_str(reason),
        }
    }
}

/// A kubelet that has this configuration file and these arguments, which are
/// given as on its command line, and nothing else.
///
/// Without a version the newest is meant.
pub fn configured(
    configuration: Option<&Source>,
    arguments: &[String],
    version: Option<Version>,
) -> Kubelet {
    let arguments: Vec<Traced> = arguments
        .iter()
        .map(|argument| Traced::untraced(argument.as_bytes()))
        .collect();
    let flags = flags::read(&arguments);
    let with_origin = |flag| (flag, Origin::Option("--kubelet-arg"));
    let inputs = Inputs {
        version,
        main: configuration.cloned().map(File::Read),
        flags: flags.flags.into_iter().map(with_origin).collect(),
        remarks: flags.remarks,
        stops: flags.stops,
        ..Inputs::default()
    };
    effective::effective(Found::Named, inputs)
}

impl Kubelet {
    /// The same kubelet with further arguments at the end of its command line,
    /// from the option `--kubelet-arg`.
    #[must_use]
    pub fn with_arguments(mut self, arguments: &[String]) -> Self {
        let more = configured(None, arguments, self.version);
        self.resolv_conf = more.resolv_conf.over(self.resolv_conf);
        self.cluster_dns = more.cluster_dns.over(self.cluster_dns);
        self.cluster_domain = more.cluster_domain.over(self.cluster_domain);
        self.remarks.extend(more.remarks);
        self.stops = self.stops.or(more.stops);
        self
    }
}

impl<T> Setting<T> {
    /// A setting that nobody made.
    pub fn built_in(value: T) -> Self {
        Self {
            value,
            origin: Origin::BuiltIn,
            overrode: Vec::new(),
        }
    }

    /// This setting, if it was made at all, over another one.
    fn over(mut self, weaker: Self) -> Self {
        if self.origin == Origin::BuiltIn {
            return weaker;
        }
        let counted = (weaker.value, weaker.origin);
        let is_made =
            |(_, origin): &(T, Origin)| !matches!(origin, Origin::BuiltIn | Origin::Unread(_));
        self.overrode.extend(Some(counted).filter(is_made));
        self.overrode.extend(weaker.overrode);
        self
    }
}

#[cfg(test)]
mod tests;
