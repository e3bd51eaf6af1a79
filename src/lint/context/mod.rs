//! The questions that a rule can ask about what was given together.
//!
//! Files of several clusters can be given in one run. What is near counts:
//! the question goes from the directory of the asking file upwards, and the
//! first directory that has an answer below it decides. Answers that
//! contradict each other there are none.

mod kubelets;
mod near;
mod paths;
mod policies;
mod servers;
mod texts;

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use crate::kubelet::Version;
use crate::kubelet::choice::NODE_FILE;
use crate::kubelet::effective::from_directory_of;
use crate::kubelet::flags::Name;
use crate::lint::context::near::{TOPICS, Topic, agreed};
use crate::lint::context::paths::tree_of;
use crate::lint::document::{At, FileId};
use crate::lint::egress::LetOut;
use crate::lint::facts::{CorefileFacts, DnsPod, Resolver, Service, Setting, Text};
use crate::lint::options::{Options, Role};
use crate::lint::subject::Kubelet;
use crate::lint::workspace::Workspace;
use crate::node::{HostFile, Node};
use crate::order::Order as _;
use crate::pod::Rules;
use crate::text::ordered;

/// What was given together, with the kubelets put together from it.
#[derive(Debug)]
pub struct Context<'w> {
    workspace: &'w Workspace<'w>,
    /// In the order of their files.
    kubelets: Vec<Kubelet<'w>>,
    /// The kubelets that each file is a part of, by their places in `kubelets`,
    /// in order.
    parts: Vec<(FileId, usize)>,
    /// The first kubelet that each setting was made for: one file can have the
    /// settings of thousands.
    made: BTreeMap<At, usize>,
    /// The texts in the syntax of resolv.conf by their paths.
    resolvers: BTreeMap<&'w str, &'w Resolver>,
    /// The kubelet that hands out the text at each path.
    handed_out: BTreeMap<&'w str, usize>,
    /// The path of each `/etc/resolv.conf` of a node whose kubelet is known.
    nodes_own: BTreeSet<&'w str>,
    /// The trees of nodes, and the directories, in which a kubelet is known to
    /// hand out a text of another path.
    others: BTreeSet<String>,
    /// What network policies let out to DNS, each once. `None`: they are too many
    /// to be compared.
    let_out: Option<BTreeSet<&'w LetOut>>,
    /// The files that say something of each topic, in order.
    topics: [Vec<FileId>; TOPICS.len()],
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
    pub fn new(workspace: &'w Workspace<'w>) -> Self {
        let files_on = |topic: Topic| {
            let files = workspace.all_facts().filter(|(_, it)| topic.is_in(it));
            files.map(|(file, _)| file).collect()
        };
        let mut context = Self {
            workspace,
            kubelets: Vec::new(),
            parts: Vec::new(),
            made: BTreeMap::new(),
            resolvers: BTreeMap::new(),
            handed_out: BTreeMap::new(),
            nodes_own: BTreeSet::new(),
            others: BTreeSet::new(),
            let_out: policies::let_out(workspace),
            topics: TOPICS.map(files_on),
        };
        let resolvers = workspace.all_facts().flat_map(|(_, it)| &it.resolvers);
        context.resolvers = ordered(resolvers.map(|it| (it.path.as_str(), it)));
        context.kubelets = kubelets::put_together(&context);
        for (index, kubelet) in context.kubelets.iter().enumerate() {
            let files = kubelet.files.iter();
            context.parts.extend(files.map(|&file| (file, index)));
            for setting in kubelet.given.iter() {
                context.made.entry(setting.at).or_insert(index);
            }
            let named = kubelet.resolv_conf();
            if named.is_none() && !kubelet.has_configuration {
                // Its configuration can name any file.
                continue;
            }
            if let Some(file) = context.named_file(kubelet) {
                context.handed_out.entry(&file.path).or_insert(index);
                let directory = file.path.rsplit_once('/').map_or("", |it| it.0);
                context.others.insert(format!("{directory}/"));
                let tree = tree_of(&file.path).map(str::to_owned);
                context.others.extend(tree);
            } else if named.is_some_and(|it| it.text.starts_with('/')) {
                let tree = tree_of(kubelet.path).map(str::to_owned);
                context.others.extend(tree);
            }
            // It stands beside the file that this kubelet hands out.
            let beside = context.resolver_at(kubelet.path, NODE_FILE);
            context.nodes_own.extend(beside.map(|it| it.path.as_str()));
        }
        context.parts.order();
        context
    }

    /// What the caller says.
    pub fn options(&self) -> &'w Options {
        &self.workspace.given.options
    }

    /// The version of the kubelets, if it was given or the node tells it.
    pub fn kubelet_version(&self) -> Option<Version> {
        let of_node = || {
            self.workspace
                .given
                .node
                .as_ref()?
                .kubelet
                .as_ref()?
                .version
        };
        self.options().kubelet_version.or_else(of_node)
    }

    /// What those kubelets let into pods' files.
    pub fn pod_rules(&self) -> Rules {
        let kubelet = || self.workspace.given.node.as_ref()?.kubelet.as_ref();
        match self.options().kubelet_version {
            None => kubelet().map_or_else(|| Rules::of_version(None), Rules::of_kubelet),
            version => Rules::of_version(version),
        }
    }

    /// The node, with `--root` or `--node`.
    pub fn node(&self) -> Option<&'w Node> {
        self.workspace.given.node.as_ref()
    }

    /// Everything that was given.
    pub fn workspace(&self) -> &'w Workspace<'w> {
        self.workspace
    }

    /// The path of a file, safe to print.
    pub fn path(&self, file: FileId) -> &'w str {
        self.workspace.path(file)
    }

    /// The kubelets, each put together from what was given of it.
    pub fn kubelets(&self) -> &[Kubelet<'w>] {
        &self.kubelets
    }

    /// The first kubelet that a file is a part of: one with settings of several
    /// machines is a part of several.
    pub fn kubelet_of(&self, file: FileId) -> Option<&Kubelet<'w>> {
        let start = self.parts.partition_point(|it| it.0 < file);
        let first = self.parts.get(start).filter(|it| it.0 == file)?;
        self.kubelets.get(first.1)
    }

    /// The first kubelet that a setting was made for.
    pub fn kubelet_with(&self, setting: &Setting) -> Option<&Kubelet<'w>> {
        self.kubelets.get(*self.made.get(&setting.at)?)
    }

    /// The flag that beats what a file sets for a kubelet: fixing the file
    /// alone would change nothing.
    pub fn flag_over(&self, file: FileId, key: Name) -> Option<&Setting> {
        self.kubelet_of(file)?
            .setting(key)
            .filter(|it| it.is_flag && it.at.file != file)
    }

    /// The file at an absolute path of the node that the file `near` is from:
    /// below the nearest directory above `near` that has it. Links are followed.
    pub fn resolve(&self, near: FileId, path: &str) -> Option<FileId> {
        let near = self.path(near);
        self.look_up(near, path, |path| self.workspace.file_at(path))
    }

    /// The resolv.conf at an absolute path of the node that `near` is from;
    /// also one inside another file.
    fn resolver_at(&self, near: &str, path: &str) -> Option<&'w Resolver> {
        self.look_up(near, path, |path| self.resolvers.get(path).copied())
    }

    fn look_up<T>(&self, near: &str, path: &str, at: impl Fn(&str) -> Option<T>) -> Option<T> {
        let mut path = path.to_owned();
        for _ in 0..MAX_LINKS {
            let link = paths::parents(near).find_map(|root| {
                let full = paths::joined(root, &path);
                if let Some(found) = at(&full) {
                    return Some(Ok(found));
                }
                self.workspace
                    .given
                    .links
                    .get(&full)
                    .map(|to| Err(to.as_str()))
            });
            match link? {
                Ok(found) => return Some(found),
                Err(to) => path = paths::linked(&path, to),
            }
        }
        None
    }

    /// The file that the kubelet's `resolvConf` names, or that which was given
    /// for it.
    pub fn kubelet_file(&self, kubelet: &Kubelet<'_>) -> Option<&'w Resolver> {
        if let Some(file) = self.workspace.node_file {
            return self.workspace.facts(file)?.resolvers.first();
        }
        self.named_file(kubelet)
    }

    /// The file that the kubelet's `resolvConf` names.
    ///
    /// Source: kubernetes `pkg/kubelet/kubeletconfig/configfiles/configfiles.go:
    /// resolveRelativePaths`.
    fn named_file(&self, kubelet: &Kubelet<'_>) -> Option<&'w Resolver> {
        let named = kubelet.setting(Name::ResolvConf);
        let path = kubelet
            .resolv_conf()
            .map_or(NODE_FILE, |it| it.text.as_str());
        let is_relative = !path.is_empty() && !path.starts_with('/');
        if is_relative && named.is_some_and(|it| !it.is_flag) {
            let path = from_directory_of(&format!("/{}", kubelet.path), path.to_owned());
            let is_absolute = kubelet.path.starts_with('/');
            let path = path.get(usize::from(!is_absolute)..)?;
            return self.resolvers.get(path).copied();
        }
        self.resolver_at(kubelet.path, path)
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
        if let Some(kubelet) = self
            .handed_out
            .get(read.path.as_str())
            .and_then(|it| self.kubelets.get(*it))
        {
            return (Role::Kubelet, kubelet.setting(Name::ResolvConf));
        }
        let is_stub = read.path.ends_with("/stub-resolv.conf");
        if self.nodes_own.contains(read.path.as_str()) || is_stub && !self.kubelets.is_empty() {
            return (Role::Node, None);
        }
        let has_cluster_search = read.searches.iter().any(|it| is_cluster_search(&it.text));
        if has_cluster_search {
            return (Role::Pod, None);
        }
        if read.is_of_script
            || paths::is_of_dnsmasq(&read.path)
            || self.is_beside(&read.path)
            || self.is_passed_over(read)
        {
            return (Role::Node, None);
        }
        (Role::Kubelet, None)
    }

    /// Whether a kubelet of the same tree or directory hands out another file.
    fn is_beside(&self, path: &str) -> bool {
        let directory = path.rsplit_once('/').map_or("", |it| it.0);
        let tree = tree_of(path);
        tree.is_some_and(|it| self.others.contains(it))
            || self.others.contains(&format!("{directory}/"))
    }

    /// Who reads a file of the node that is read.
    fn role_on_node(&self, path: &str) -> Option<Role> {
        let node = self.node()?;
        let is_it = |file: &Option<HostFile>| {
            let content = file.as_ref().and_then(|it| it.content.as_ref().ok());
            content.is_some_and(|it| it.source.name == path)
        };
        let role = if is_it(&node.kubelet_file) {
            Role::Kubelet
        } else {
            Role::Node
        };
        Some(role)
    }

    /// The addresses of the cluster's DNS, as kubelets do not tell them: those
    /// that were given, else those of the Services near a file.
    pub fn told_cluster_dns(&self, near: FileId) -> Vec<Known<IpAddr>> {
        let given = self.options().cluster_dns.iter();
        let given: Vec<_> = given.map(|&value| Known { value, at: None }).collect();
        if !given.is_empty() {
            return given;
        }
        let told = self.near(near, Topic::Services, |facts| {
            facts.services.iter().flat_map(|it| &it.addresses).collect()
        });
        addresses(told.into_iter())
    }

    /// The addresses of the cluster's DNS: [`Context::told_cluster_dns`], else those
    /// that the kubelets near a file have.
    pub fn cluster_dns(&self, near: FileId) -> Vec<Known<IpAddr>> {
        let known = self.told_cluster_dns(near);
        if !known.is_empty() {
            return known;
        }
        let settings = self.near(near, Topic::ClusterDns, |facts| {
            let settings = facts.kubelets.iter().flat_map(|it| &it.settings);
            settings.filter(|it| it.key == Name::ClusterDns).collect()
        });
        agreed(&settings, |it| {
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
        let domains = self.values(near, Topic::ClusterDomain, Name::ClusterDomain);
        let domain = agreed(&domains, |it| it.text.trim_end_matches('.'))?;
        let value = domain.text.trim_end_matches('.').to_owned();
        let at = Some(domain.at);
        (!value.is_empty()).then_some(Known { value, at })
    }

    /// The Services of the cluster's DNS near a file.
    pub fn dns_services(&self, near: FileId) -> Vec<&'w Service> {
        self.near(near, Topic::Services, |facts| {
            facts.services.iter().collect()
        })
    }

    /// The Corefiles near a file.
    pub fn corefiles(&self, near: FileId) -> Vec<&'w CorefileFacts> {
        self.near(near, Topic::Corefiles, |facts| {
            facts.corefiles.iter().collect()
        })
    }

    /// The pods near a file that are DNS servers of the cluster.
    pub fn dns_pods(&self, near: FileId) -> Vec<&'w DnsPod> {
        self.near(near, Topic::DnsPods, |facts| {
            let pods = facts.dns_pods.iter();
            pods.filter(|it| it.is_clusters).collect()
        })
    }
}

/// A search domain that only pods have: `svc.cluster.local`.
pub fn is_cluster_search(domain: &str) -> bool {
    let mut labels = domain.split('.');
    labels.next() == Some("svc") || labels.next() == Some("svc")
}

fn addresses<'t>(texts: impl Iterator<Item = &'t Text>) -> Vec<Known<IpAddr>> {
    let known = texts.filter_map(|it| {
        let value = it.address()?;
        let at = Some(it.at);
        Some(Known { value, at })
    });
    known.collect()
}
