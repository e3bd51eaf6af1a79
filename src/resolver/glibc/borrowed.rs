//! An nsswitch.conf for programs of a node that are to look hosts up as a
//! container does, whose file is a stranger's.
//!
//! glibc makes a library's name of every word for a service, `libnss_WORD.so.2`,
//! and loads it: by a path from the working directory on if WORD has a slash.

use super::nsswitch::{Service, hosts_database, is_hosts_line};
use crate::config::resolv_conf::ResolvConf;
use crate::resolver::glibc::nsswitch::{Reaction, Status};
use crate::text::escaped;

/// The services that come with glibc.
const OWN: &[&[u8]] = &[b"files", b"dns"];

/// Those of systemd and nss-mdns, which look hosts up and do nothing else.
const KNOWN: &[&[u8]] = &[
    b"mdns",
    b"mdns4",
    b"mdns4_minimal",
    b"mdns6",
    b"mdns6_minimal",
    b"mdns_minimal",
    b"mymachines",
    b"myhostname",
    b"resolve",
];

/// So many of them say all that a line can say.
const MAX_SERVICES: usize = 16;

/// Of a stranger's word so much is shown.
const MAX_SHOWN: usize = 64;

/// A node's nsswitch.conf in which the hosts are looked up as a target's says.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Borrowed {
    /// The file.
    pub bytes: Vec<u8>,
    /// What the target's file says and this one does not.
    pub left_out: Vec<LeftOut>,
}

/// What of a target no program of the node gets to see.
/// `render` has the words.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum LeftOut {
    /// The name of a library that the target chose.
    Unknown(String),
    /// A service that the node does not have.
    Missing(String),
    /// A lookup that goes on after it found something.
    GoesOn(String),
    /// There are more services than this, and nobody asks so many.
    TooMany(usize),
    /// glibc does not understand the file.
    Unreadable,
    /// The node has no such file that could have the target's line.
    NoNodeFile,
    /// The target's host name, which could be taken for more than a name.
    HostName(String),
}

/// The node's file with the target's `hosts` line; without one if the target
/// has none. `has_library` tells which of the known services the node has.
pub fn hosts_borrowed(
    node: Option<&ResolvConf>,
    target: Option<&ResolvConf>,
    has_library: impl Fn(&str) -> bool,
) -> Borrowed {
    let mut left_out = Vec::new();
    let mut bytes = Vec::new();
    match target.map(|it| hosts_database(Some(it), &super::V2_36)) {
        Some(Ok(services)) => bytes = line(&services, has_library, &mut left_out),
        Some(Err(_)) => left_out.push(LeftOut::Unreadable),
        None => {}
    }
    // Its own last line may be without an end.
    for line in node.into_iter().flat_map(ResolvConf::lines) {
        if !is_hosts_line(line.bytes()) {
            bytes.extend(line.bytes());
            bytes.extend(line.ends_in_newline().then_some(b'\n'));
        }
    }
    Borrowed { bytes, left_out }
}

fn line(
    services: &[Service<'_>],
    has_library: impl Fn(&str) -> bool,
    left_out: &mut Vec<LeftOut>,
) -> Vec<u8> {
    let mut line = "hosts:".to_owned();
    for (number, service) in services.iter().enumerate() {
        if number == MAX_SERVICES {
            left_out.push(LeftOut::TooMany(MAX_SERVICES));
            break;
        }
        let name = escaped(service.module.get(..MAX_SHOWN).unwrap_or(service.module));
        if !OWN.contains(&service.module) {
            if !KNOWN.contains(&service.module) {
                left_out.push(LeftOut::Unknown(name));
                continue;
            }
            if !has_library(&name) {
                left_out.push(LeftOut::Missing(name));
                continue;
            }
        }
        line.extend([" ", &name]);
        if service.reaction(Status::Success) != Reaction::Return {
            left_out.push(LeftOut::GoesOn(name));
        }
        line += &actions(service);
    }
    line.push('\n');
    line.into_bytes()
}

/// What follows a service: those of its actions that are not the usual ones.
///
/// glibc up to 2.36 uses memory after it was freed where a lookup of hosts goes
/// on after a success (CVE-2023-4813): that is never written.
fn actions(service: &Service<'_>) -> String {
    let statuses = [
        (Status::NotFound, "NOTFOUND"),
        (Status::Unavail, "UNAVAIL"),
        (Status::TryAgain, "TRYAGAIN"),
    ];
    let ends = |&(status, _): &(Status, &str)| service.reaction(status) == Reaction::Return;
    let words: Vec<String> = statuses
        .iter()
        .filter(|it| ends(it))
        .map(|(_, name)| format!("{name}=return"))
        .collect();
    if words.is_empty() {
        return String::new();
    }
    format!(" [{}]", words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::file;

    const NODE: &str = "passwd: files systemd\nhosts: files myhostname\n hosts dns\nnetgroup: nis";

    #[track_caller]
    fn check(target: Option<&str>, hosts: &str, left_out: &[LeftOut]) {
        let node = file("nsswitch.conf", NODE);
        let target = target.map(|it| file("nsswitch.conf", it));
        let made = hosts_borrowed(Some(&node), target.as_ref(), |name| name != "mymachines");
        let expected = format!("{hosts}passwd: files systemd\nnetgroup: nis");
        assert_eq!(String::from_utf8(made.bytes).unwrap(), expected);
        assert_eq!(made.left_out, left_out);
    }

    #[test]
    fn the_hosts_line_is_the_targets_and_all_else_the_nodes() {
        check(None, "", &[]);
        check(Some(""), "hosts: files dns\n", &[]);
        check(Some("hosts:\n"), "hosts:\n", &[]);
        check(
            Some("passwd: x/../evil\nshadow: evil\nhosts: dns files\ninitgroups: evil\n"),
            "hosts: dns files\n",
            &[],
        );
        check(
            Some("hosts: files resolve [!UNAVAIL=return] mdns4_minimal[NOTFOUND=return]dns\n"),
            "hosts: files resolve [NOTFOUND=return TRYAGAIN=return] mdns4_minimal [NOTFOUND=return] dns\n",
            &[],
        );
    }

    #[test]
    fn what_is_not_known_is_left_out_and_said() {
        let unknown = |name: &str| LeftOut::Unknown(name.to_owned());
        check(
            Some(
                "hosts: x/../evil [UNAVAIL=return] files mymachines /evil ../evil evil FILES dns\n",
            ),
            "hosts: files dns\n",
            &[
                unknown("x/../evil"),
                LeftOut::Missing("mymachines".to_owned()),
                unknown("/evil"),
                unknown("../evil"),
                unknown("evil"),
                unknown("FILES"),
            ],
        );
        check(
            Some("hosts: files [SUCCESS=continue] dns [SUCCESS=merge NOTFOUND=return]\n"),
            "hosts: files dns [NOTFOUND=return]\n",
            &["files", "dns"].map(|it| LeftOut::GoesOn(it.to_owned())),
        );
        check(
            Some("passwd: a [x]\nhosts: dns\n"),
            "",
            &[LeftOut::Unreadable],
        );
        check(
            Some("hosts: \x1b[31m \0 evil\n"),
            "",
            &[LeftOut::Unreadable],
        );
        check(
            Some("hosts: \x1bx dns\n"),
            "hosts: dns\n",
            &[unknown("\\u{1b}x")],
        );
        let many = format!("hosts:{}\n", " dns".repeat(1000));
        let kept = format!("hosts:{}\n", " dns".repeat(MAX_SERVICES));
        check(Some(&many), &kept, &[LeftOut::TooMany(16)]);
    }
}
