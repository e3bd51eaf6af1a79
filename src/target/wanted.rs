//! Which parts of a node are enough to tell where a target leads.

use std::collections::BTreeSet;

use super::Target;
use super::notice::Warning;
use super::plan::{Door, Plan};
use crate::node::assemble::is_task;
use crate::node::cgroup::Membership;
use crate::node::logs::{Link, Owner};
use crate::text::ordered;

/// What the names of files and the control groups of processes tell, without a
/// look into any other file.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// Whose the directories in `/var/log/pods` are.
    pub logs: Vec<Owner>,
    /// Whose the links in `/var/log/containers` are; read for a target that is an id.
    pub links: Vec<Link>,
    /// What the control groups of every process say.
    pub groups: Vec<Group>,
}

/// What the control groups of a process say.
#[derive(Clone, Debug, Default)]
pub struct Group {
    /// The id of the process.
    pub pid: u32,
    /// Where they say that it belongs.
    pub membership: Membership,
    /// Whether they say nothing at all: then its mounts may.
    pub is_silent: bool,
}

/// The pods that a target can be, and their containers: nothing else of the
/// node needs to be read.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Wanted {
    uids: BTreeSet<String>,
    ids: BTreeSet<String>,
    /// What the ids of further containers begin with.
    prefix: Option<String>,
}

impl Names {
    /// What has to be read for this target; `None`: everything, as a pod that
    /// has a process has no name here, or nothing fits.
    pub fn wanted(&self, target: &Target) -> Option<Wanted> {
        let members = || self.groups.iter().map(|it| &it.membership);
        let tasks = || members().filter(|it| is_task(it));
        let named: BTreeSet<&str> = ordered(self.logs.iter().map(|it| it.uid.as_str()));
        let mut running = tasks().filter_map(|it| it.pod.as_deref());
        if !running.all(|uid| named.contains(uid)) {
            return None;
        }
        let mut wanted = Wanted::default();
        let fits = || {
            self.logs
                .iter()
                .filter_map(|it| Some((target.fit_owner(it)?, it)))
        };
        let best = fits().map(|(fit, _)| fit).max();
        let uids = fits().filter(|(fit, _)| Some(*fit) == best);
        wanted.uids.extend(uids.map(|(_, it)| it.uid.clone()));
        if let Target::Id(id) = target {
            wanted.prefix = Some(id.clone());
            let begins = |it: &Option<String>| it.as_deref().is_some_and(|it| it.starts_with(id));
            let uids = tasks().filter(|it| begins(&it.container));
            wanted.uids.extend(uids.filter_map(|it| it.pod.clone()));
            let links = self.links.iter().filter(|it| it.id.starts_with(id));
            for link in links {
                let is_its = |it: &&Owner| it.name == link.name && it.namespace == link.namespace;
                let owners = self.logs.iter().filter(is_its);
                wanted.uids.extend(owners.map(|it| it.uid.clone()));
            }
        }
        let is_wanted = |it: &&Membership| it.pod.as_ref().is_some_and(|it| wanted.has_pod(it));
        let ids = tasks().filter(is_wanted);
        let ids: BTreeSet<String> = ordered(ids.filter_map(|it| it.container.clone()));
        wanted.ids = ids;
        (!wanted.ids.is_empty()).then_some(wanted)
    }
}

impl Wanted {
    /// Only the pod and the container of a process; `None`: its control groups
    /// do not tell both.
    pub fn of_process(group: &Membership) -> Option<Self> {
        let (uid, id) = (group.pod.clone()?, group.container.clone()?);
        Some(Self {
            uids: [uid].into(),
            ids: [id].into(),
            prefix: None,
        })
    }

    /// Whether a process is to be looked at: also those of which the groups do
    /// not tell the pod.
    pub fn has_process(&self, group: &Group) -> bool {
        match &group.membership.pod {
            Some(uid) => self.uids.contains(uid),
            None => group.is_silent || is_task(&group.membership),
        }
    }

    /// Whether it is one of the pods.
    pub fn has_pod(&self, uid: &str) -> bool {
        self.uids.contains(uid)
    }

    /// Whether the files of a container or sandbox are to be read.
    pub fn has_container(&self, id: &str) -> bool {
        let begins = |prefix: &String| id.starts_with(prefix);
        self.ids.contains(id) || self.prefix.as_ref().is_some_and(begins)
    }

    /// The containers and sandboxes that run.
    pub fn running(&self) -> impl Iterator<Item = &str> {
        self.ids.iter().map(String::as_str)
    }
}

impl Plan {
    /// Whether a container that runs was found, and its sandbox's file, which may
    /// be in a directory that only a runtime's arguments name: what else the node
    /// has could not change where the target leads.
    pub fn is_settled(&self) -> bool {
        let is_dead = |it: &Warning| matches!(it, Warning::Dead(_));
        let runs = matches!(self.door, Door::Process(_)) && self.container.is_some();
        runs && self.kept.is_some() && !self.warnings.iter().any(is_dead)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner(name: &str, uid: &str) -> Owner {
        Owner {
            namespace: "shop".to_owned(),
            name: name.to_owned(),
            uid: uid.to_owned(),
        }
    }

    fn group(pid: u32, pod: &str, container: &str) -> Group {
        Group {
            pid,
            membership: Membership {
                pod: Some(pod.to_owned()),
                container: Some(container.repeat(64)),
                is_podman: false,
            },
            is_silent: false,
        }
    }

    /// The containers that are wanted, each by its first digit.
    fn check(names: &Names, word: &str, expected: Option<&str>) {
        let wanted = names.wanted(&word.parse().unwrap());
        let short = |it: &str| it.get(..1).unwrap_or_default().to_owned();
        let ids = wanted.map(|it| it.running().map(short).collect::<String>());
        assert_eq!(ids.as_deref(), expected, "{word}");
    }

    #[test]
    fn what_a_word_can_mean_is_wanted() {
        let mut names = Names {
            logs: vec![owner("web", "u1"), owner("web", "u2"), owner("db", "u3")],
            links: vec![Link {
                name: "db".to_owned(),
                namespace: "shop".to_owned(),
                container: "db".to_owned(),
                id: "a".repeat(63) + "0",
            }],
            groups: vec![
                group(5, "u1", "a"),
                group(6, "u2", "b"),
                group(7, "u2", "b"),
                group(8, "u3", "c"),
                Group::default(),
            ],
        };
        for (word, expected) in [
            ("shop/web", Some("ab")),
            ("web", Some("ab")),
            ("db", Some("c")),
            ("u3", Some("c")),
            ("other/web", None),
            ("nobody", None),
            ("bbbbbbbb", Some("b")),
            // A link to a container of another pod begins so, too.
            ("aaaaaaaa", Some("ac")),
            ("dddddddd", None),
            ("5", None),
            ("/run/netns/a", None),
        ] {
            check(&names, word, expected);
        }
        names.groups.push(group(10, "u4", "d"));
        check(&names, "db", None);
    }
}
