//! Reads what a resolver on a machine looks at.

use std::collections::BTreeMap;
use std::path::Path;

use nix::net::if_::{Interface, if_nameindex};

use crate::config::resolv_conf::ResolvConf;
use crate::host::root::{Link, Root};
use crate::host::{FileRead, ReadError, shown};
use crate::loopback::{self, Evidence};
use crate::resolver::glibc::nss_others;
use crate::scenario::{MDNS_ALLOW, NssModule};

/// Where the resolvers' file is.
pub const RESOLV_CONF: &str = "/etc/resolv.conf";

/// The files and names of a machine that decide what its resolvers ask.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Situation {
    /// `/etc/resolv.conf`; `None`: there is no such file.
    pub resolv_conf: Option<FileRead>,
    /// The links that lead to it, or nowhere.
    pub links: Vec<Link>,
    /// `/etc/hosts`; `None`: there is no such file.
    pub hosts: Option<FileRead>,
    /// `/etc/nsswitch.conf`; `None`: there is no such file.
    pub nsswitch: Option<FileRead>,
    /// What is known of the modules that it names and glibc does not have.
    pub nss_modules: BTreeMap<String, NssModule>,
    /// [`MDNS_ALLOW`]; `None`: there is no such file.
    pub mdns_allow: Option<FileRead>,
    /// The host name, if it is known.
    pub hostname: Option<String>,
    /// The network interfaces; `None`: not known, as below a directory.
    pub interfaces: Option<Vec<String>>,
    /// What tells where loopback servers of the file lead.
    pub evidence: Evidence,
    /// Files for that which are there and could not be read.
    pub skipped: Vec<ReadError>,
}

/// Reads the situation on a machine. A file that is not there is `None`.
///
/// # Errors
///
/// A file is there and cannot be read; the system does not say its host name
/// or interfaces.
pub fn read_situation(root: &Root) -> Result<Situation, ReadError> {
    let path = Path::new(RESOLV_CONF);
    let links = root.links(path)?;
    let resolv_conf = root.read_if_there(path)?;
    let (evidence, skipped) = match &resolv_conf {
        Some(file) => evidence(root, file, &links),
        None => (Evidence::default(), Vec::new()),
    };
    let nsswitch = root.read_if_there(Path::new("/etc/nsswitch.conf"))?;
    Ok(Situation {
        resolv_conf,
        links,
        hosts: root.read_if_there(Path::new("/etc/hosts"))?,
        nss_modules: nss_modules(root, nsswitch.as_ref(), root.is_live()),
        nsswitch,
        mdns_allow: root.read_if_there(Path::new(MDNS_ALLOW))?,
        hostname: hostname(root)?,
        interfaces: root.is_live().then(interfaces).transpose()?,
        evidence,
        skipped,
    })
}

/// What tells where the loopback servers of a file on that machine lead;
/// reads nothing if it lists none. With what could not be read.
pub fn evidence(root: &Root, file: &FileRead, links: &[Link]) -> (Evidence, Vec<ReadError>) {
    let conf = ResolvConf::parse(file.source.clone());
    let mut evidence = Evidence {
        links: links.iter().map(|link| shown(&link.leads_to)).collect(),
        files: Vec::new(),
    };
    let mut skipped = Vec::new();
    for path in loopback::wanted(&conf) {
        match root.read_if_there(Path::new(path)) {
            Ok(file) => evidence
                .files
                .extend(file.map(|file| ResolvConf::parse(file.source))),
            Err(error) => skipped.push(error),
        }
    }
    (evidence, skipped)
}

/// What is known of the modules of an nsswitch.conf that glibc does not have: of those whose
/// library is not beside the C library nothing, as a program may look elsewhere, too
/// (`ld.so(8)`). Of a system that does not run (`!is_running`) it is not known whether daemons do.
pub fn nss_modules(
    root: &Root,
    nsswitch: Option<&FileRead>,
    is_running: bool,
) -> BTreeMap<String, NssModule> {
    let conf = nsswitch.map(|it| ResolvConf::parse(it.source.clone()));
    let names = conf.as_ref().map(nss_others::named).unwrap_or_default();
    if names.is_empty() {
        return BTreeMap::new();
    }
    let has = |folder: &str, file: &str| {
        let beside = |it: &&str| root.is_there(&Path::new(it).join(folder).join(file));
        ["/", "/usr"].iter().any(beside)
    };
    let mut folders = LIBRARIES.iter().filter(|it| has(it, "libc.so.6"));
    // Of several C libraries it is not known which one a program has.
    let (Some(folder), None) = (folders.next(), folders.next()) else {
        return BTreeMap::new();
    };
    let is_any = |paths: &[&str]| paths.iter().any(|it| root.is_there(Path::new(it)));
    let names = names.into_iter();
    let found = names.filter(|it| has(folder, &format!("libnss_{it}.so.2")));
    let with_state = |name: String| {
        let state = match nss_others::daemon_of(&name) {
            Some(daemon) if is_any(daemon.sockets) => NssModule::Served,
            Some(daemon) if is_running && !is_any(daemon.perhaps) => NssModule::Installed,
            _ => NssModule::Found,
        };
        (name, state)
    };
    found.map(with_state).collect()
}

/// Where glibc finds libraries by itself, below / or /usr, in Debian's folders and in those of
/// others.
const LIBRARIES: [&str; 9] = [
    "lib",
    "lib64",
    "lib/aarch64-linux-gnu",
    "lib/arm-linux-gnueabihf",
    "lib/i386-linux-gnu",
    "lib/powerpc64le-linux-gnu",
    "lib/riscv64-linux-gnu",
    "lib/s390x-linux-gnu",
    "lib/x86_64-linux-gnu",
];

/// The kernel's host name, or the first line of `/etc/hostname` below a
/// directory.
///
/// # Errors
///
/// The system does not say it; the file is there and cannot be read.
pub fn hostname(root: &Root) -> Result<Option<String>, ReadError> {
    if root.is_live() {
        let what = "the host name";
        let name =
            nix::unistd::gethostname().map_err(|errno| ReadError::Machine { what, errno })?;
        return Ok(Some(name.to_string_lossy().into_owned()));
    }
    let file = root.read_if_there(Path::new("/etc/hostname"))?;
    Ok(file.and_then(|file| first_line(&file.source.bytes)))
}

/// The first line that is neither empty nor a comment (`hostname(5)`).
fn first_line(bytes: &[u8]) -> Option<String> {
    bytes
        .split(|&byte| byte == b'\n')
        .map(<[u8]>::trim_ascii)
        .find(|line| !line.is_empty() && !line.starts_with(b"#"))
        .map(|line| String::from_utf8_lossy(line).into_owned())
}

/// The names of the network interfaces where kdns runs.
///
/// # Errors
///
/// The kernel does not say.
pub fn interfaces() -> Result<Vec<String>, ReadError> {
    let what = "the network interfaces";
    let interfaces = if_nameindex().map_err(|errno| ReadError::Machine { what, errno })?;
    let name = |interface: &Interface| interface.name().to_string_lossy().into();
    Ok(interfaces.to_slice().iter().map(name).collect())
}
