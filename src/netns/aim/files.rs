//! Reads the files of a target.

use std::path::Path;

use crate::config::resolv_conf::ResolvConf;
use crate::host::node::processes::Directory;
use crate::host::root::Root;
use crate::host::situation::{self, RESOLV_CONF, Situation};
use crate::host::{FileRead, ReadError};
use crate::loopback::Evidence;
use crate::netns::{EnterError, hostname};
use crate::program::Program;
use crate::scenario::MDNS_ALLOW;
use crate::target::Plan;

/// The files and names of a target that decide what its resolvers ask.
#[derive(Clone, Debug, Default)]
pub struct TargetFiles {
    /// Those of any machine; resolv.conf is named by its path on the node.
    pub situation: Situation,
    /// Whether other files than resolv.conf were looked for: of a dead container they
    /// are not known.
    pub is_whole: bool,
    /// The file that HOSTALIASES names; `None`: it names none, or there is none.
    pub aliases: Option<FileRead>,
}

/// The files as the process sees them. Its root is a stranger's: links in it
/// stay inside.
pub(super) fn read_process(
    process: &Directory,
    own: &Root,
    skipped: &mut Vec<String>,
) -> Result<TargetFiles, EnterError> {
    let file = |path: &str| -> Result<Option<FileRead>, ReadError> {
        let mut read = own.read_if_there(Path::new(path))?;
        if let Some(file) = &mut read {
            file.source.name = format!("/proc/{}/root{path}", process.pid());
        }
        Ok(read)
    };
    let resolv_conf = file(RESOLV_CONF)?;
    let mut evidence = Evidence::default();
    if let Some(file) = &resolv_conf {
        let links = own.links(Path::new(RESOLV_CONF)).unwrap_or_default();
        let (found, unread) = situation::evidence(own, file, &links);
        evidence = found;
        skipped.extend(unread.iter().map(ToString::to_string));
    }
    let nsswitch = beside(file("/etc/nsswitch.conf"), skipped)?;
    let devices = process.read("net/dev").ok();
    Ok(whole(Situation {
        resolv_conf,
        hosts: beside(file("/etc/hosts"), skipped)?,
        nss_modules: situation::nss_modules(own, nsswitch.as_ref(), true),
        nsswitch,
        mdns_allow: beside(file(MDNS_ALLOW), skipped)?,
        hostname: hostname(process).or_else(|| first_word(own)),
        interfaces: devices.map(|it| crate::node::addresses::interface_names(&it.source.bytes)),
        evidence,
        ..Situation::default()
    }))
}

fn whole(situation: Situation) -> TargetFiles {
    TargetFiles {
        situation,
        is_whole: true,
        aliases: None,
    }
}

/// Hosts and nsswitch.conf are not what most is about: one that is no file, as
/// `/dev/null` laid over it, counts as absent, and that is said.
fn beside(
    read: Result<Option<FileRead>, ReadError>,
    skipped: &mut Vec<String>,
) -> Result<Option<FileRead>, ReadError> {
    match read {
        Err(error) if error.is_no_file() => {
            skipped.push(format!("{error}; it counts as absent"));
            Ok(None)
        }
        read => read,
    }
}

/// Where the UTS namespace cannot be entered.
fn first_word(own: &Root) -> Option<String> {
    let file = own.read(Path::new("/etc/hostname")).ok()?;
    let text = String::from_utf8_lossy(&file.source.bytes).into_owned();
    let word = text.split_whitespace().next();
    word.filter(|it| it.len() <= MAX_HOST_NAME)
        .map(str::to_owned)
}

/// What the kernel takes (`sethostname(2)`).
const MAX_HOST_NAME: usize = 64;

/// The file of HOSTALIASES; the program sees it below its own root.
pub(super) fn aliases(
    own: &Root,
    program: Option<&Program>,
    skipped: &mut Vec<String>,
) -> Option<FileRead> {
    let path = program?
        .env
        .get("HOSTALIASES")
        .filter(|it| it.starts_with('/'))?;
    let read = own.read_if_there(Path::new(path));
    let mut file = read.unwrap_or_else(|error| {
        skipped.push(format!("HOSTALIASES: {error}"));
        None
    })?;
    path.clone_into(&mut file.source.name);
    Some(file)
}

pub(super) fn read_kept(plan: &Plan) -> TargetFiles {
    let file = |conf: &ResolvConf| FileRead {
        source: conf.source.clone(),
        is_cut: false,
    };
    TargetFiles {
        situation: Situation {
            resolv_conf: plan.kept.as_ref().map(file),
            hostname: plan.hostname.clone(),
            ..Situation::default()
        },
        ..TargetFiles::default()
    }
}

/// The node's files; those in `first` come before them.
pub(super) fn read_node(
    root: &Root,
    first: Option<&str>,
    skipped: &mut Vec<String>,
) -> Result<TargetFiles, EnterError> {
    let file = |name: &str| -> Result<Option<FileRead>, ReadError> {
        let own = first.map(|it| root.read_if_there(Path::new(&format!("{it}/{name}"))));
        match own.transpose()?.flatten() {
            Some(file) => Ok(Some(file)),
            None => root.read_if_there(Path::new(&format!("/etc/{name}"))),
        }
    };
    let mut situation = situation::read_situation(root)?;
    let resolv_conf = file("resolv.conf")?;
    if resolv_conf != situation.resolv_conf {
        situation.resolv_conf = resolv_conf;
        situation.evidence = Evidence::default();
    }
    situation.hosts = beside(file("hosts"), skipped)?;
    situation.nsswitch = beside(file("nsswitch.conf"), skipped)?;
    situation.nss_modules =
        situation::nss_modules(root, situation.nsswitch.as_ref(), root.is_live());
    // Those of the node's own namespace are not the target's.
    situation.interfaces = None;
    Ok(whole(situation))
}
