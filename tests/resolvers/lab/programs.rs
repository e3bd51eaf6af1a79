//! The resolvers: which program stands for each, and how it is called.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::str::FromStr;

use serde::Serialize;

use super::observation::{Outcome, Scenario};
use super::outcomes::{self, Output};

/// The id of a resolver, as in the vectors.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize)]
pub(crate) struct ResolverId(&'static str);

impl ResolverId {
    /// Every resolver.
    pub(crate) const ALL: [Self; 19] = [
        Self("glibc"),
        Self("glibc-res_search"),
        Self("glibc-res_query"),
        Self("musl-1.2.3"),
        Self("musl-1.2.5"),
        Self("go-1.19"),
        Self("go-1.27"),
        Self("c-ares-1.18"),
        Self("c-ares-1.18-search"),
        Self("c-ares-1.34"),
        Self("c-ares-1.34-search"),
        Self("dig"),
        Self("dig-search"),
        Self("host"),
        Self("nslookup"),
        Self("busybox-nslookup"),
        Self("systemd-resolved"),
        Self("systemd-resolved-stub"),
        Self("hickory-0.26"),
    ];

    /// The id.
    pub(crate) fn as_str(self) -> &'static str {
        self.0
    }

    /// How it is asked.
    pub(crate) fn how(self) -> How {
        match self.0 {
            "systemd-resolved" => How::Varlink,
            "systemd-resolved-stub" => How::Stub,
            _ => How::Program,
        }
    }

    /// The program that it needs, looked for in the lab's folder and on the machine.
    pub(crate) fn program(self, real: &Path) -> PathBuf {
        let probe = |name: &str| real.join(name);
        match self.0 {
            "glibc" | "glibc-res_search" | "glibc-res_query" | "systemd-resolved-stub" => {
                probe("getaddrinfo-glibc")
            }
            "musl-1.2.3" => probe("getaddrinfo-musl-1.2.3"),
            "musl-1.2.5" => probe("getaddrinfo-musl-1.2.5"),
            "go-1.19" => probe("lookup-go-1.19"),
            "go-1.27" => probe("lookup-go-1.27"),
            "c-ares-1.18" | "c-ares-1.18-search" => probe("ares-1.18"),
            "c-ares-1.34" | "c-ares-1.34-search" => probe("ares-1.34"),
            "dig" | "dig-search" => PathBuf::from("/usr/bin/dig"),
            "host" => PathBuf::from("/usr/bin/host"),
            "nslookup" => PathBuf::from("/usr/bin/nslookup"),
            "busybox-nslookup" => PathBuf::from("/bin/busybox"),
            _ => PathBuf::from("/proc/self/exe"),
        }
    }

    /// The call that looks the scenario's name up.
    pub(crate) fn command(self, scenario: &Scenario, real: &Path) -> Command {
        let mut command = Command::new(self.program(real));
        command
            .env_clear()
            .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
            .envs(&scenario.env)
            .current_dir("/");
        let family = scenario.family.as_deref().unwrap_or("unspec");
        let name = scenario.name.as_str();
        match self.0 {
            "glibc-res_search" => command.args(["res_search", name]),
            "glibc-res_query" => command.args(["res_query", name]),
            "c-ares-1.18" | "c-ares-1.34" => command.args(["getaddrinfo", name, family]),
            "c-ares-1.18-search" | "c-ares-1.34-search" => command.args(["search", name]),
            "go-1.19" | "go-1.27" => command.env("GODEBUG", "netdns=go").args([name, family]),
            "dig" | "host" | "nslookup" => command.arg(name),
            "dig-search" => command.args(["+search", name]),
            "busybox-nslookup" => command.args(["nslookup", name]),
            "hickory-0.26" => command.args([super::hickory::ARGUMENT, name, family]),
            _ => command.args(["getaddrinfo", name, family, &scenario.flags.to_string()]),
        };
        command
    }

    /// How its output reads.
    pub(crate) fn outcome(self, output: &Output) -> Outcome {
        match self.0 {
            "dig" | "dig-search" => outcomes::dig(output),
            "host" => outcomes::host(output),
            "nslookup" => outcomes::nslookup(output),
            "busybox-nslookup" => outcomes::busybox(output),
            _ => outcomes::probe(output),
        }
    }
}

impl FromStr for ResolverId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|r| r.0 == text)
            .ok_or_else(|| format!("no such resolver: {text}"))
    }
}

impl fmt::Display for ResolverId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.0)
    }
}

/// How a resolver is asked.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum How {
    /// By a program that is linked with it, or is it.
    Program,
    /// Over systemd-resolved's Varlink socket.
    Varlink,
    /// By glibc, through systemd-resolved's stub.
    Stub,
}
