//! The questions that a rule can ask about what was given together.
//!
//! Files of several clusters can be given in one run. What is near counts:
//! the question goes from the directory of the asking file upwards, and the
//! first directory that has an answer below it decides. Answers that
//! contradict each other there are none.

use std::net::IpAddr;

use crate::kubelet::Version;
use crate::kubelet::choice::NODE_FILE;
use crate::lint::document::{At, FileId};
use crate::lint::facts::{CorefileFacts, DnsPod, Facts, Key, Resolver, Service, Setting, Text};
use crate::lint::options::{Options, Role};
use crate::lint::subject::Kubelet;
use crate::lint::workspace::Workspace;
use crate::node::Node;

/// What was given together, with the kubelets put together from it.
#[derive(Debug)]
pub struct Context<'w> {
    workspace: &'w Workspace,
    /// In the order of their files.
    kubelets: Vec<Kubelet>,
}

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
        let mut context = Self {
            workspace,
            kubelets: Vec::new(),
        };
        context.kubelets = super::kubelets::all(&context);
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
        self.kubelets.iter().find(|it| it.files.contains(&file))
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
                if let Some(file) = self.file_at(&full) {
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

    fn file_at(&self, path: &str) -> Option<FileId> {
        let files = &self.workspace.files;
        let at = files
            .binary_search_by(|it| it.path.as_str().cmp(path))
            .ok()?;
        Some(FileId(u32::try_from(at).ok()?))
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
        let mut is_nodes = false;
        for kubelet in &self.kubelets {
            let named = kubelet.resolv_conf();
            let path = named.map_or(NODE_FILE, |it| it.text.as_str());
            if self.resolve_path(&kubelet.path, path) == Some(read.file) {
                return (Role::Kubelet, kubelet.setting(Key::ResolvConf));
            }
            // It stands beside the file that this kubelet hands out.
            let beside = self.resolve_path(&kubelet.path, NODE_FILE) == Some(read.file);
            is_nodes |= beside && (named.is_some() || kubelet.has_configuration);
        }
        let is_stub = read.path.ends_with("/stub-resolv.conf");
        if is_nodes || is_stub && !self.kubelets.is_empty() {
            return (Role::Node, None);
        }
        let has_cluster_search = read.searches.iter().any(|it| is_cluster_search(&it.text));
        if has_cluster_search {
            return (Role::Pod, None);
        }
        (Role::Kubelet, None)
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
        let settings = self.near(near, |facts| {
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
        let domains = self.near(near, |facts| {
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
        self.near(near, |facts| facts.services.iter().collect())
    }

    /// The Corefiles near a file.
    pub fn corefiles(&self, near: FileId) -> Vec<&'w CorefileFacts> {
        self.near(near, |facts| facts.corefiles.iter().collect())
    }

    /// The pods near a file that are DNS servers of the cluster.
    pub fn dns_pods(&self, near: FileId) -> Vec<&'w DnsPod> {
        self.near(near, |facts| facts.dns_pods.iter().collect())
    }

    /// What the files below the nearest directory above `near` say that has
    /// anything to say; the file itself comes first.
    pub fn near<T>(&self, near: FileId, of: impl Fn(&'w Facts) -> Vec<T>) -> Vec<T> {
        let own = self.workspace.facts(near).map(&of).unwrap_or_default();
        if !own.is_empty() {
            return own;
        }
        for directory in parents(self.path(near)) {
            let files = self.below(directory);
            let found: Vec<T> = files.iter().flat_map(|file| of(&file.facts)).collect();
            if !found.is_empty() {
                return found;
            }
        }
        Vec::new()
    }

    /// The files below a directory, in order.
    fn below(&self, directory: &str) -> &'w [super::workspace::File] {
        let files = &self.workspace.files;
        let start = files.partition_point(|it| it.path.as_str() < directory);
        let rest = files.get(start..).unwrap_or_default();
        let end = rest.partition_point(|it| it.path.starts_with(directory));
        rest.get(..end).unwrap_or_default()
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
