//! The questions that a rule can ask about what was given together.
//!
//! Files of several clusters can be given in one run. What is near counts:
//! the question goes from the directory of the asking file upwards, and the
//! first directory that has an answer below it decides. Answers that
//! contradict each other there are none.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use crate::kubelet::Version;
use crate::kubelet::choice::NODE_FILE;
use crate::lint::document::{At, FileId};
use crate::lint::facts::{CorefileFacts, DnsPod, Facts, Key, Resolver, Service, Setting, Text};
use crate::lint::options::{Options, Role};
use crate::lint::subject::Kubelet;
use crate::lint::workspace::Workspace;
use crate::node::{HostFile, Node};

/// What was given together, with the kubelets put together from it.
#[derive(Debug)]
pub struct Context<'w> {
    workspace: &'w Workspace,
    /// In the order of their files.
    kubelets: Vec<Kubelet>,
    /// The kubelet that each file is a part of, by its place in `kubelets`.
    parts: BTreeMap<FileId, usize>,
    /// The kubelet that hands out each file.
    handed_out: BTreeMap<FileId, usize>,
    /// Each `/etc/resolv.conf` of a node whose kubelet is known.
    nodes_own: BTreeSet<FileId>,
    /// The files that say something of each topic, in order.
    topics: [Vec<FileId>; TOPICS.len()],
}

/// What files say that rules about other files ask for.
#[derive(Clone, Copy, Debug)]
enum Topic {
    ClusterDns,
    ClusterDomain,
    Services,
    Corefiles,
    DnsPods,
}

const TOPICS: [Topic; 5] = [
    Topic::ClusterDns,
    Topic::ClusterDomain,
    Topic::Services,
    Topic::Corefiles,
    Topic::DnsPods,
];

/// Where more files than this are equally near, none is.
const MAX_NEAR: usize = 1000;

/// Something that is known, and what says so; `None`: an option of kdns.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Known<T> {
    /// What is known.
    pub value: T,
    /// Where it is written.
    pub at: Option<At>,
}

/// Links that lead further than this lead nowhere.
const MAX_LINKS: usize = 16;

impl<'w> Context<'w> {
    /// Puts the kubelets together.
    pub fn new(workspace: &'w Workspace) -> Self {
        let files_on = |topic: Topic| {
            let files = workspace.numbered().filter(|(_, it)| topic.is_in(&it.facts));
            files.map(|(file, _)| file).collect()
        };
        let mut context = Self {
            workspace,
            kubelets: Vec::new(),
            parts: BTreeMap::new(),
            handed_out: BTreeMap::new(),
            nodes_own: BTreeSet::new(),
            topics: TOPICS.map(files_on),
        };
        context.kubelets = super::kubelets::all(&context);
        for (index, kubelet) in context.kubelets.iter().enumerate() {
            for &file in &kubelet.files {
                context.parts.entry(file).or_insert(index);
            }
            let named = kubelet.resolv_conf();
            let path = named.map_or(NODE_FILE, |it| it.text.as_str());
            if let Some(file) = context.resolve_path(&kubelet.path, path) {
                context.handed_out.entry(file).or_insert(index);
            }
            // It stands beside the file that this kubelet hands out.
            let is_known = named.is_some() || kubelet.has_configuration;
            let beside = context.resolve_path(&kubelet.path, NODE_FILE).filter(|_| is_known);
            context.nodes_own.extend(beside);
        }
        context
    }

    /// What the caller says.
    pub fn options(&self) -> &'w Options {
        &self.workspace.options
    }

    /// The version of the kubelets, if it was given or the node tells it.
    pub fn kubelet_version(&self) -> Option<Version> {
        let of_node = || self.workspace.node.as_ref()?.kubelet.as_ref()?.version;
        self.options().kubelet_version.or_else(of_node)
    }

    /// The node, with `--root` or `--node`.
    pub fn node(&self) -> Option<&'w Node> {
        self.workspace.node.as_ref()
    }

    /// Everything that was given.
    pub fn workspace(&self) -> &'w Workspace {
        self.workspace
    }

    /// The path of a file, safe to print.
    pub fn path(&self, file: FileId) -> &'w str {
        self.workspace.path(file)
    }

    /// The kubelets, each put together from what was given of it.
    pub fn kubelets(&self) -> &[Kubelet] {
        &self.kubelets
    }

    /// The kubelet that a file is a part of.
    pub fn kubelet_of(&self, file: FileId) -> Option<&Kubelet> {
        self.kubelets.get(*self.parts.get(&file)?)
    }

    /// The flag that beats what a file sets for a kubelet: mending the file
    /// alone would change nothing.
    pub fn flag_over(&self, file: FileId, key: Key) -> Option<&Setting> {
        self.kubelet_of(file)?
            .setting(key)
            .filter(|it| it.is_flag && it.at.file != file)
    }

    /// The file at an absolute path of the node that the file `near` is from:
    /// below the nearest directory above `near` that has it. Links are followed.
    pub fn resolve(&self, near: FileId, path: &str) -> Option<FileId> {
        self.resolve_path(self.path(near), path)
    }

    fn resolve_path(&self, near: &str, path: &str) -> Option<FileId> {
        let mut path = path.to_owned();
        for _ in 0..MAX_LINKS {
            let link = parents(near).find_map(|root| {
                let full = joined(root, &path);
                if let Some(file) = self.workspace.file_at(&full) {
                    return Some(Ok(file));
                }
                self.workspace.links.get(&full).map(|to| Err(to.as_str()))
            });
            match link? {
                Ok(file) => return Some(file),
                Err(to) => path = linked(&path, to),
            }
        }
        None
    }

    /// The file that the kubelet's `resolvConf` names, or that which was given
    /// for it.
    pub fn kubelet_file(&self, kubelet: &Kubelet) -> Option<&'w Resolver> {
        let file = self.workspace.node_file.or_else(|| {
            let named = kubelet.resolv_conf();
            let path = named.map_or(NODE_FILE, |it| it.text.as_str());
            self.resolve_path(&kubelet.path, path)
        })?;
        self.workspace.facts(file)?.resolvers.first()
    }

    /// Who reads a resolv.conf, and the setting that names it for the kubelet.
    pub fn role(&self, read: &Resolver) -> (Role, Option<&Setting>) {
        if let Some(role) = self.options().role {
            return (role, None);
        }
        if self.workspace.node_file == Some(read.file) {
            return (Role::Kubelet, None);
        }
        if let Some(role) = self.role_on_node(&read.path) {
            return (role, None);
        }
        if let Some(kubelet) = self.handed_out.get(&read.file).and_then(|it| self.kubelets.get(*it)) {
            return (Role::Kubelet, kubelet.setting(Key::ResolvConf));
        }
        let is_stub = read.path.ends_with("/stub-resolv.conf");
        if self.nodes_own.contains(&read.file) || is_stub && !self.kubelets.is_empty() {
            return (Role::Node, None);
        }
        let has_cluster_search = read.searches.iter().any(|it| is_cluster_search(&it.text));
        if has_cluster_search {
            return (Role::Pod, None);
        }
        (Role::Kubelet, None)
    }

    /// Who reads a file of the node that is read.
    fn role_on_node(&self, path: &str) -> Option<Role> {
        let node = self.node()?;
        let is_it = |file: &Option<HostFile>| {
            let content = file.as_ref().and_then(|it| it.content.as_ref().ok());
            content.is_some_and(|it| it.source.name == path)
        };
        let role = if is_it(&node.kubelet_file) { Role::Kubelet } else { Role::Node };
        Some(role)
    }

    /// The addresses of the cluster's DNS: those that were given, else those
    /// of the Services near a file, else those that the kubelets near it have.
    pub fn cluster_dns(&self, near: FileId) -> Vec<Known<IpAddr>> {
        let given = &self.options().cluster_dns;
        if !given.is_empty() {
            return given
                .iter()
                .map(|&value| Known { value, at: None })
                .collect();
        }
        let services = self.dns_services(near);
        let of_services = services.iter().flat_map(|it| &it.addresses);
        let known = addresses(of_services);
        if !known.is_empty() {
            return known;
        }
        let settings = self.near(near, Topic::ClusterDns, |facts| {
            let settings = facts.kubelets.iter().flat_map(|it| &it.settings);
            settings.filter(|it| it.key == Key::ClusterDns).collect()
        });
        agreed(settings, |it| {
            it.values.iter().map(|it| &it.text).collect::<Vec<_>>()
        })
        .map(|it| addresses(it.values.iter()))
        .unwrap_or_default()
    }

    /// The cluster's domain without a final dot: the one that was given, else
    /// that of the kubelets near a file.
    pub fn cluster_domain(&self, near: FileId) -> Option<Known<String>> {
        if let Some(value) = self.options().cluster_domain.clone() {
            return Some(Known { value, at: None });
        }
        let domains = self.near(near, Topic::ClusterDomain, |facts| {
            let settings = facts.kubelets.iter().flat_map(|it| &it.settings);
            let domains = settings.filter(|it| it.key == Key::ClusterDomain);
            domains.filter_map(Setting::value).collect()
        });
        let domain = agreed(domains, |it| it.text.trim_end_matches('.'))?;
        let value = domain.text.trim_end_matches('.').to_owned();
        let at = Some(domain.at);
        (!value.is_empty()).then_some(Known { value, at })
    }

    /// The Services of the cluster's DNS near a file.
    pub fn dns_services(&self, near: FileId) -> Vec<&'w Service> {
        self.near(near, Topic::Services, |facts| facts.services.iter().collect())
    }

    /// The Corefiles near a file.
    pub fn corefiles(&self, near: FileId) -> Vec<&'w CorefileFacts> {
        self.near(near, Topic::Corefiles, |facts| facts.corefiles.iter().collect())
    }

    /// The pods near a file that are DNS servers of the cluster.
    pub fn dns_pods(&self, near: FileId) -> Vec<&'w DnsPod> {
        self.near(near, Topic::DnsPods, |facts| facts.dns_pods.iter().collect())
    }

    /// What the files below the nearest directory above `near` say that has
    /// anything to say; the file itself comes first.
    fn near<T>(&self, near: FileId, topic: Topic, of: impl Fn(&'w Facts) -> Vec<T>) -> Vec<T> {
        let of_file = |file: FileId| self.workspace.facts(file).map(&of).unwrap_or_default();
        let own = of_file(near);
        if !own.is_empty() {
            return own;
        }
        for directory in parents(self.path(near)) {
            let files = self.below(directory, topic);
            if files.len() > MAX_NEAR {
                return Vec::new();
            }
            let found: Vec<T> = files.iter().flat_map(|&file| of_file(file)).collect();
            if !found.is_empty() {
                return found;
            }
        }
        Vec::new()
    }

    /// The files below a directory that say something of a topic, in order.
    fn below(&self, directory: &str, topic: Topic) -> &[FileId] {
        let files = self.topics.get(topic as usize).map_or(&[][..], Vec::as_slice);
        let start = files.partition_point(|&it| self.path(it) < directory);
        let rest = files.get(start..).unwrap_or_default();
        let end = rest.partition_point(|&it| self.path(it).starts_with(directory));
        rest.get(..end).unwrap_or_default()
    }
}

impl Topic {
    /// Whether a file says something of it.
    fn is_in(self, facts: &Facts) -> bool {
        let sets = |key| {
            let mut settings = facts.kubelets.iter().flat_map(|it| &it.settings);
            settings.any(|it| it.key == key)
        };
        match self {
            Self::ClusterDns => sets(Key::ClusterDns),
            Self::ClusterDomain => sets(Key::ClusterDomain),
            Self::Services => !facts.services.is_empty(),
            Self::Corefiles => !facts.corefiles.is_empty(),
            Self::DnsPods => !facts.dns_pods.is_empty(),
        }
    }
}

/// A search domain that only pods have: `svc.cluster.local`.
pub fn is_cluster_search(domain: &str) -> bool {
    let mut labels = domain.split('.');
    labels.next() == Some("svc") || labels.next() == Some("svc")
}

/// The one that all agree on, by what `what` makes of it.
fn agreed<T: Copy, V: PartialEq>(all: Vec<T>, what: impl Fn(T) -> V) -> Option<T> {
    let first = *all.first()?;
    let is_same = |it: &T| what(*it) == what(first);
    all.iter().all(is_same).then_some(first)
}

fn addresses<'t>(texts: impl Iterator<Item = &'t Text>) -> Vec<Known<IpAddr>> {
    let known = texts.filter_map(|it| {
        let value = it.address()?;
        let at = Some(it.at);
        Some(Known { value, at })
    });
    known.collect()
}

/// The directories above a path, the nearest first, each with its final `/`;
/// at last the empty one, below which everything is.
fn parents(path: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(path);
    std::iter::from_fn(move || {
        let path = rest?;
        let slash = path.strip_suffix('/').unwrap_or(path).rfind('/');
        let parent = slash.map_or("", |at| path.get(..=at).unwrap_or_default());
        rest = (!parent.is_empty()).then_some(parent);
        Some(parent)
    })
}

/// An absolute path of a node below a directory, which ends in `/` or is empty.
fn joined(root: &str, path: &str) -> String {
    format!("{root}{}", path.trim_start_matches('/'))
}

/// Where a link at `path` leads, as a path of the node.
fn linked(path: &str, to: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    let directory = path.rsplit_once('/').map_or("", |it| it.0);
    let start = if to.starts_with('/') { "" } else { directory };
    for part in start.split('/').chain(to.split('/')) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}
