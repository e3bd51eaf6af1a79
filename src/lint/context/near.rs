//! What the files near a file say.

use crate::kubelet::choice::NODE_FILE;
use crate::kubelet::flags::Name;
use crate::lint::context::{Context, paths};
use crate::lint::document::FileId;
use crate::lint::facts::{Facts, Resolver, Setting, Text};

/// What files say that rules about other files ask for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Topic {
    ClusterDns,
    ClusterDomain,
    ResolvConf,
    Services,
    Corefiles,
    DnsPods,
    ProxyModes,
    Importable,
    Networks,
}

/// All of them, in their order.
pub(super) const TOPICS: [Topic; 9] = [
    Topic::ClusterDns,
    Topic::ClusterDomain,
    Topic::ResolvConf,
    Topic::Services,
    Topic::Corefiles,
    Topic::DnsPods,
    Topic::ProxyModes,
    Topic::Importable,
    Topic::Networks,
];

/// Where more files than this are equally near, none is.
const MAX_NEAR: usize = 1000;

impl<'w> Context<'w> {
    /// What the files below the nearest directory above `near` say that has
    /// anything to say; the file itself comes first.
    pub(super) fn near<T>(
        &self,
        near: FileId,
        topic: Topic,
        of: impl Fn(&'w Facts) -> Vec<T>,
    ) -> Vec<T> {
        let of_file = |file: FileId| self.workspace.facts(file).map(&of).unwrap_or_default();
        let own = of_file(near);
        if !own.is_empty() {
            return own;
        }
        for directory in paths::parents(self.path(near)) {
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

    /// The texts beside a file, or below its directory, that have a path which is
    /// wanted. Those of others, further away, are of other clusters.
    pub fn importable(
        &self,
        near: FileId,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Vec<(FileId, &'w str)> {
        let directory = paths::parents(self.path(near)).next().unwrap_or_default();
        let files = self.below(directory, Topic::Importable);
        let near = files.iter().take(MAX_NEAR);
        let texts = near.flat_map(|&file| {
            let paths = self.workspace.facts(file).map(|it| &it.importable);
            let paths = paths.into_iter().flatten().map(String::as_str);
            paths.map(move |it| (file, it))
        });
        texts.filter(|(_, path)| is_wanted(path)).collect()
    }

    /// Whether it is the node's file, and all kubelets near it that name one hand out another.
    pub(super) fn is_passed_over(&self, read: &Resolver) -> bool {
        let named = || self.values(read.file, Topic::ResolvConf, Name::ResolvConf);
        let is_another = |it: &Text| it.text.starts_with('/') && it.text != NODE_FILE;
        read.path.ends_with(NODE_FILE)
            && agreed(&named(), |it| it.text.as_str()).is_some_and(is_another)
    }

    /// What the kubelets near a file are given for a setting of one value.
    pub(super) fn values(&self, near: FileId, topic: Topic, key: Name) -> Vec<&'w Text> {
        self.near(near, topic, |facts| {
            let settings = facts.kubelets.iter().flat_map(|it| &it.settings);
            let settings = settings.filter(|it| it.key == key);
            settings.filter_map(Setting::value).collect()
        })
    }

    /// Whether a file stands beside the description of a chart.
    pub fn is_of_chart(&self, file: FileId) -> bool {
        let directory = paths::parents(self.path(file)).next().unwrap_or_default();
        self.workspace
            .file_at(&format!("{directory}Chart.yaml"))
            .is_some()
    }

    /// The files below a directory that say something of a topic, in order.
    fn below(&self, directory: &str, topic: Topic) -> &[FileId] {
        let files = self
            .topics
            .get(topic as usize)
            .map_or(&[][..], Vec::as_slice);
        let start = files.partition_point(|&it| self.path(it) < directory);
        let rest = files.get(start..).unwrap_or_default();
        let end = rest.partition_point(|&it| self.path(it).starts_with(directory));
        rest.get(..end).unwrap_or_default()
    }
}

impl Topic {
    /// Whether a file says something of it.
    pub(super) fn is_in(self, facts: &Facts) -> bool {
        let sets = |key| {
            let mut settings = facts.kubelets.iter().flat_map(|it| &it.settings);
            settings.any(|it| it.key == key)
        };
        match self {
            Self::ClusterDns => sets(Name::ClusterDns),
            Self::ClusterDomain => sets(Name::ClusterDomain),
            Self::ResolvConf => sets(Name::ResolvConf),
            Self::Services => !facts.services.is_empty(),
            Self::Corefiles => !facts.corefiles.is_empty(),
            Self::DnsPods => !facts.dns_pods.is_empty(),
            Self::ProxyModes => !facts.proxy_modes.is_empty(),
            Self::Importable => !facts.importable.is_empty(),
            Self::Networks => !facts.networks.is_empty(),
        }
    }
}

/// The one that all agree on, by what `what` makes of it.
pub(super) fn agreed<T: Copy, V: PartialEq>(all: &[T], what: impl Fn(T) -> V) -> Option<T> {
    let first = *all.first()?;
    let is_same = |it: &T| what(*it) == what(first);
    all.iter().all(is_same).then_some(first)
}
