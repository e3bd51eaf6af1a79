//! Reads what a resolver on a machine looks at.

use std::path::Path;

use nix::net::if_::{Interface, if_nameindex};

use crate::config::resolv_conf::ResolvConf;
use crate::host::root::{Link, Root};
use crate::host::{FileRead, ReadError, shown};
use crate::loopback::{self, Evidence};

/// Where the resolvers' file is.
pub const RESOLV_CONF: &str = "/etc/resolv.conf";

/// The file whose being there tells Go that libc knows more about `.local`.
pub const MDNS_ALLOW: &str = "/etc/mdns.allow";

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
    Ok(Situation {
        resolv_conf,
        links,
        hosts: root.read_if_there(Path::new("/etc/hosts"))?,
        nsswitch: root.read_if_there(Path::new("/etc/nsswitch.conf"))?,
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
