//! The resolvers: which program stands for each, and how it is called.

use std::fmt;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::str::FromStr;

use serde::Serialize;

use super::observation::{Outcome, Scenario};
use super::outcomes::{self, Output};
use super::real::resolved;
use super::sandbox::MODULES;

/// The id of a resolver, as in the vectors.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize)]
pub(crate) struct ResolverId(&'static str);

/// What a resolver's name is looked up with.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Kind {
    /// `getaddrinfo`, of the C library that the probe runs with.
    GetAddrInfo,
    /// A function of glibc's resolver.
    Res(&'static str),
    /// A function of c-ares.
    Ares(&'static str),
    /// Go's own resolver.
    Go,
    /// A tool of BIND with its options.
    Bind(&'static [&'static str]),
    /// busybox's nslookup.
    Busybox,
    /// systemd-resolved, asked over its Varlink socket.
    Varlink,
    /// systemd-resolved, asked by this machine's glibc through its stub.
    Stub,
    /// hickory, which is in this very program.
    Hickory,
    /// A script with its words before the name.
    Script(&'static [&'static str]),
    /// A class in a folder with the JARs that it needs.
    Java(&'static str),
}

/// A resolver, the program that has it, and where that is: a folder made by
/// `.ci/install-real` with another release's files, or else the lab's own or,
/// with an absolute path, this machine.
#[derive(Clone, Copy, Debug)]
struct Row(&'static str, Kind, Place, &'static str);

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Place {
    /// The path as it is, below the lab's folder unless it is absolute.
    Here,
    /// The program is run by the loader and with the libraries of that release.
    Release(&'static str),
    /// The program and its libraries are of that release.
    Of(&'static str),
}

/// The sources of the probes.
const PROBES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/resolvers/probes");

/// Options with which the JVM starts in a third of a second. With the last one Netty does not
/// begin with a lookup of the host's own name.
const JVM: [&str; 4] = [
    "-XX:TieredStopAtLevel=1",
    "-XX:+UseSerialGC",
    "-XX:-UsePerfData",
    "-Dio.netty.processId=1",
];

const D11: Place = Place::Of("debian-11");
const D13: Place = Place::Of("debian-13");
const GLIBC_2_31: Place = Place::Release("debian-11");
const GLIBC_2_41: Place = Place::Release("debian-13");
const GETADDRINFO: &str = "getaddrinfo-glibc";
const RESOLVED: &str = "usr/lib/systemd/systemd-resolved";

#[rustfmt::skip]
const ROWS: &[Row] = &[
    Row("glibc", Kind::GetAddrInfo, Place::Here, GETADDRINFO),
    Row("glibc-res_search", Kind::Res("res_search"), Place::Here, GETADDRINFO),
    Row("glibc-res_query", Kind::Res("res_query"), Place::Here, GETADDRINFO),
    Row("musl-1.2.3", Kind::GetAddrInfo, Place::Here, "getaddrinfo-musl-1.2.3"),
    Row("musl-1.2.5", Kind::GetAddrInfo, Place::Here, "getaddrinfo-musl-1.2.5"),
    Row("go-1.19", Kind::Go, Place::Here, "lookup-go-1.19"),
    Row("go-1.27", Kind::Go, Place::Here, "lookup-go-1.27"),
    Row("c-ares-1.18", Kind::Ares("getaddrinfo"), Place::Here, "ares-1.18"),
    Row("c-ares-1.18-search", Kind::Ares("search"), Place::Here, "ares-1.18"),
    Row("c-ares-1.34", Kind::Ares("getaddrinfo"), Place::Here, "ares-1.34"),
    Row("c-ares-1.34-search", Kind::Ares("search"), Place::Here, "ares-1.34"),
    Row("dig", Kind::Bind(&[]), Place::Here, "/usr/bin/dig"),
    Row("dig-search", Kind::Bind(&["+search"]), Place::Here, "/usr/bin/dig"),
    Row("host", Kind::Bind(&[]), Place::Here, "/usr/bin/host"),
    Row("nslookup", Kind::Bind(&[]), Place::Here, "/usr/bin/nslookup"),
    Row("busybox-nslookup", Kind::Busybox, Place::Here, "/bin/busybox"),
    Row("systemd-resolved", Kind::Varlink, Place::Here, GETADDRINFO),
    Row("systemd-resolved-stub", Kind::Stub, Place::Here, GETADDRINFO),
    Row("hickory-0.26", Kind::Hickory, Place::Here, "/proc/self/exe"),
    Row("hickory-0.24", Kind::Hickory, Place::Here, "hickory-0.24"),
    Row("hickory-0.25", Kind::Hickory, Place::Here, "hickory-0.25"),
    // Versions that do the same as one of these, or that have a model of their own.
    Row("glibc-2.31", Kind::GetAddrInfo, GLIBC_2_31, "getaddrinfo-glibc-old"),
    Row("glibc-2.41", Kind::GetAddrInfo, GLIBC_2_41, GETADDRINFO),
    Row("go-1.15", Kind::Go, Place::Here, "lookup-go-1.15"),
    Row("go-1.21", Kind::Go, Place::Here, "lookup-go-1.21"),
    Row("go-1.22", Kind::Go, Place::Here, "lookup-go-1.22"),
    Row("go-1.23", Kind::Go, Place::Here, "lookup-go-1.23"),
    Row("c-ares-1.34-query", Kind::Ares("query"), Place::Here, "ares-1.34"),
    Row("musl-1.1.24", Kind::GetAddrInfo, Place::Here, "getaddrinfo-musl-1.1.24"),
    Row("musl-1.2.2", Kind::GetAddrInfo, Place::Here, "getaddrinfo-musl-1.2.2"),
    Row("musl-1.2.4", Kind::GetAddrInfo, Place::Here, "getaddrinfo-musl-1.2.4"),
    Row("c-ares-1.17-search", Kind::Ares("search"), GLIBC_2_31, "ares-1.17"),
    Row("c-ares-1.25", Kind::Ares("getaddrinfo"), Place::Here, "ares-1.25"),
    Row("c-ares-1.25-search", Kind::Ares("search"), Place::Here, "ares-1.25"),
    Row("c-ares-1.27", Kind::Ares("getaddrinfo"), Place::Here, "ares-1.27"),
    Row("c-ares-1.27-search", Kind::Ares("search"), Place::Here, "ares-1.27"),
    Row("c-ares-1.28", Kind::Ares("getaddrinfo"), Place::Here, "ares-1.28"),
    Row("c-ares-1.28-search", Kind::Ares("search"), Place::Here, "ares-1.28"),
    Row("c-ares-1.31", Kind::Ares("getaddrinfo"), Place::Here, "ares-1.31"),
    Row("c-ares-1.31-search", Kind::Ares("search"), Place::Here, "ares-1.31"),
    Row("c-ares-1.32", Kind::Ares("getaddrinfo"), Place::Here, "ares-1.32"),
    Row("c-ares-1.32-search", Kind::Ares("search"), Place::Here, "ares-1.32"),
    Row("c-ares-1.33", Kind::Ares("getaddrinfo"), Place::Here, "ares-1.33"),
    Row("c-ares-1.33-search", Kind::Ares("search"), Place::Here, "ares-1.33"),
    Row("c-ares-1.34.3", Kind::Ares("getaddrinfo"), Place::Here, "ares-1.34.6"),
    Row("c-ares-1.34.3-search", Kind::Ares("search"), Place::Here, "ares-1.34.6"),
    Row("dig-9.11", Kind::Bind(&[]), Place::Here, "bind-9.11/dig"),
    Row("dig-search-9.11", Kind::Bind(&["+search"]), Place::Here, "bind-9.11/dig"),
    Row("host-9.11", Kind::Bind(&[]), Place::Here, "bind-9.11/host"),
    Row("nslookup-9.11", Kind::Bind(&[]), Place::Here, "bind-9.11/nslookup"),
    Row("dig-9.16", Kind::Bind(&[]), D11, "usr/bin/dig"),
    Row("dig-search-9.16", Kind::Bind(&["+search"]), D11, "usr/bin/dig"),
    Row("host-9.16", Kind::Bind(&[]), D11, "usr/bin/host"),
    Row("nslookup-9.16", Kind::Bind(&[]), D11, "usr/bin/nslookup"),
    Row("busybox-nslookup-1.29", Kind::Busybox, Place::Here, "busybox-1.29"),
    Row("busybox-nslookup-1.30", Kind::Busybox, D11, "usr/bin/busybox"),
    Row("systemd-resolved-247", Kind::Varlink, D11, RESOLVED),
    Row("systemd-resolved-stub-247", Kind::Stub, D11, RESOLVED),
    Row("dig-9.20", Kind::Bind(&[]), D13, "usr/bin/dig"),
    Row("dig-search-9.20", Kind::Bind(&["+search"]), D13, "usr/bin/dig"),
    Row("host-9.20", Kind::Bind(&[]), D13, "usr/bin/host"),
    Row("nslookup-9.20", Kind::Bind(&[]), D13, "usr/bin/nslookup"),
    Row("busybox-nslookup-1.37", Kind::Busybox, Place::Here, "debian-13/usr/bin/busybox"),
    Row("systemd-resolved-257", Kind::Varlink, D13, RESOLVED),
    Row("systemd-resolved-stub-257", Kind::Stub, D13, RESOLVED),
    Row("node-resolve-20.20", Kind::Script(&["lookup.js"]), Place::Here, "/usr/bin/node"),
    Row("node-resolve-20.15", Kind::Script(&["lookup.js"]), Place::Here, "node-20.15"),
    Row("node-resolve-22.11", Kind::Script(&["lookup.js"]), Place::Here, "node-22.11"),
    Row("node-resolve-24.22", Kind::Script(&["lookup.js"]), Place::Here, "node-24.22"),
    Row("dnspython", Kind::Script(&["lookup.py", "resolve"]), Place::Here, "/usr/bin/python3"),
    Row("dnspython-search", Kind::Script(&["lookup.py", "search"]), Place::Here, "/usr/bin/python3"),
    Row("dnspython-2.9", Kind::Script(&["lookup.py", "resolve"]), Place::Here, "/usr/bin/python3"),
    Row("dnspython-search-2.9", Kind::Script(&["lookup.py", "search"]), Place::Here, "/usr/bin/python3"),
    Row("nginx", Kind::Script(&["nginx.py"]), Place::Here, "/usr/bin/python3"),
    Row("haproxy", Kind::Script(&["haproxy.py"]), Place::Here, "/usr/bin/python3"),
    Row("netty-4.1.48", Kind::Java("Netty"), Place::Here, "/usr/bin/java"),
    Row("netty-4.1.68", Kind::Java("Netty"), Place::Here, "/usr/bin/java"),
    Row("netty-4.1.101", Kind::Java("Netty"), Place::Here, "/usr/bin/java"),
    Row("netty-4.1.118", Kind::Java("Netty"), Place::Here, "/usr/bin/java"),
    Row("netty-4.2.13", Kind::Java("Netty"), Place::Here, "/usr/bin/java"),
    Row("ruby-resolv", Kind::Script(&["lookup.rb", "getaddress"]), Place::Here, "/usr/bin/ruby"),
    Row("ruby-resolv-all", Kind::Script(&["lookup.rb", "getaddresses"]), Place::Here, "/usr/bin/ruby"),
    Row("erlang-getbyname", Kind::Script(&["lookup.escript", "getbyname"]), Place::Here, "/usr/bin/escript"),
    Row("erlang-resolve", Kind::Script(&["lookup.escript", "resolve"]), Place::Here, "/usr/bin/escript"),
];

/// No id is without a row.
const NONE: Row = Row("", Kind::Hickory, Place::Here, "");

impl ResolverId {
    /// Every resolver.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        ROWS.iter().map(|row| Self(row.0))
    }

    /// The id.
    pub(crate) fn as_str(self) -> &'static str {
        self.0
    }

    /// Whether no package has its program ready: it is run where somebody has made it.
    pub(crate) fn is_made_by_hand(self) -> bool {
        let made = [
            "getaddrinfo-musl-1.1.24",
            "ares-1.25",
            "ares-1.27",
            "ares-1.28",
            "ares-1.31",
            "ares-1.32",
            "ares-1.33",
            "busybox-1.29",
            "bind-9.11/dig",
            "bind-9.11/host",
            "bind-9.11/nslookup",
            "node-20.15",
            "node-22.11",
            "node-24.22",
            "hickory-0.24",
            "hickory-0.25",
        ];
        made.contains(&self.row().3) || self.0.starts_with("netty-") && self.0 != "netty-4.1.48"
    }

    fn row(self) -> &'static Row {
        ROWS.iter().find(|row| row.0 == self.0).unwrap_or(&NONE)
    }

    /// How it is asked.
    pub(crate) fn how(self) -> How {
        match self.row().1 {
            Kind::Varlink => How::Varlink,
            Kind::Stub => How::Stub,
            _ => How::Program,
        }
    }

    /// The program that it needs, looked for in the lab's folder and on the machine.
    pub(crate) fn program(self, real: &Path) -> PathBuf {
        let Row(_, _, place, path) = self.row();
        match place {
            Place::Here | Place::Release(_) => real.join(path),
            Place::Of(release) => real.join(release).join(path),
        }
    }

    /// What its script needs besides, and the variable that says where that is.
    pub(crate) fn needs(self, real: &Path) -> Option<(&'static str, PathBuf)> {
        let daemon = |path: &str| {
            let unpacked = real.join("servers").join(path);
            let installed = Path::new("/").join(path);
            let found = Some(unpacked).filter(|it| it.is_file());
            ("PROGRAM", found.unwrap_or(installed))
        };
        match self.row().1 {
            Kind::Script(["lookup.py", ..]) => {
                let newer = self.0.ends_with("-2.9").then_some("dnspython-2.9");
                let library = newer.unwrap_or("dnspython/usr/lib/python3/dist-packages");
                Some(("PYTHONPATH", real.join(library)))
            }
            Kind::Script(["nginx.py"]) => Some(daemon("usr/sbin/nginx")),
            Kind::Script(["haproxy.py"]) => Some(daemon("usr/sbin/haproxy")),
            Kind::Java(_) => Some(("JARS", real.join(self.0))),
            _ => None,
        }
    }

    /// Starts `program` as this resolver's place says.
    pub(crate) fn start(self, program: &Path, real: &Path) -> Command {
        match self.row().2 {
            // Tools begin what they say with the name by which they were called.
            Place::Here if matches!(self.row().1, Kind::Bind(_)) => {
                let mut command = Command::new(program);
                command.arg0(program.file_name().unwrap_or_default());
                command
            }
            Place::Here => Command::new(program),
            Place::Release(release) | Place::Of(release) => {
                with_loader(&real.join(release), program)
            }
        }
    }

    /// The systemd-resolved that it needs.
    pub(crate) fn daemon(self, real: &Path) -> Option<Command> {
        match self.row().2 {
            Place::Of(_) => {
                let program = self.program(real);
                program.is_file().then(|| self.start(&program, real))
            }
            _ => resolved().map(Command::new),
        }
    }

    /// The call that looks the scenario's name up.
    pub(crate) fn command(self, scenario: &Scenario, real: &Path) -> Command {
        let kind = self.row().1;
        let mut command = match kind {
            // What stands there is the daemon's.
            Kind::Stub => Command::new(real.join("getaddrinfo-glibc")),
            _ => self.start(&self.program(real), real),
        };
        command
            .env_clear()
            .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
            .envs((!scenario.nss_modules.is_empty()).then_some(("LD_LIBRARY_PATH", MODULES)))
            .envs(&scenario.env)
            .current_dir("/");
        let family = scenario.family.as_deref().unwrap_or("unspec");
        let name = scenario.name.as_str();
        match kind {
            Kind::Res(function) => command.args([function, name]),
            Kind::Ares("getaddrinfo") => command.args(["getaddrinfo", name, family]),
            Kind::Ares("query") => command.args(["query", name, family]),
            Kind::Ares(function) => command.args([function, name]),
            Kind::Script(words) => {
                let [script, words @ ..] = words else {
                    return command;
                };
                command.envs(self.needs(real));
                command.arg(Path::new(PROBES).join(script)).args(words);
                command.args([name, family])
            }
            Kind::Java(class) => {
                let jars = real.join(self.0).join("*");
                // Java takes arguments and files for ASCII otherwise.
                command.env("LC_ALL", "C.UTF-8");
                command
                    .args(JVM)
                    .arg("-cp")
                    .arg(jars)
                    .args([class, name, family])
            }
            Kind::Go => {
                let own = scenario.env.get("GODEBUG").map_or("", String::as_str);
                let debug = format!("netdns=go,{own}");
                command.env("GODEBUG", debug).args([name, family])
            }
            Kind::Bind(options) => command.args(options).arg(name),
            Kind::Busybox => command.args(["nslookup", name]),
            Kind::Hickory => command.args([super::hickory::ARGUMENT, name, family]),
            Kind::GetAddrInfo | Kind::Varlink | Kind::Stub => {
                command.args(["getaddrinfo", name, family, &scenario.flags.to_string()])
            }
        };
        command
    }

    /// How its output reads.
    pub(crate) fn outcome(self, output: &Output) -> Outcome {
        match (self.row().1, self.0.split('-').next()) {
            (Kind::Bind(_), Some("dig")) => outcomes::dig(output),
            (Kind::Bind(_), Some("host")) => outcomes::host(output),
            (Kind::Bind(_), _) => outcomes::nslookup(output),
            (Kind::Busybox, _) => outcomes::busybox(output),
            _ => outcomes::probe(output),
        }
    }
}

/// `program`, run by the loader of the release that is unpacked in `root`, with its libraries.
fn with_loader(root: &Path, program: &Path) -> Command {
    let folder = root.join("usr/lib/x86_64-linux-gnu");
    let old = folder.join("ld-2.31.so");
    let loader = Some(old).filter(|path| path.is_file());
    let mut command = Command::new(loader.unwrap_or(folder.join("ld-linux-x86-64.so.2")));
    let private = [folder.join("systemd"), root.join("usr/lib/systemd")];
    let folders = std::iter::once(&folder).chain(&private);
    let folders: Vec<_> = folders.map(|it| it.display().to_string()).collect();
    command
        .arg("--library-path")
        .arg(folders.join(":"))
        .arg(program);
    command
}

impl FromStr for ResolverId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::all()
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
