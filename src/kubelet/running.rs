//! What a kubelet has while it runs, where its files were changed since it was
//! started: it reads them once.

use crate::config::resolv_conf::ResolvConf;
use crate::config::yaml;
use crate::kubelet::configuration::{self, Configuration, GENERATED, Role};
use crate::kubelet::effective::addresses;
use crate::kubelet::flags::Name;
use crate::kubelet::{ClusterSettings, Found, Kubelet, Origin, Running, Setting};
use crate::text::Source;

/// What the API server shows of a running kubelet at `/configz`, which has the
/// flags in it, too; `None`: it is another file.
pub fn shown_at_configz(source: &Source) -> Option<Configuration> {
    let documents = yaml::documents(source);
    let root = documents.first()?.root.as_ref().ok()?;
    root.get("kubeletconfig")?.as_mapping()?;
    Some(configuration::read_configuration(source, Role::Main, None))
}

/// What was changed since a kubelet was started.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Changes {
    /// Its configuration and drop-ins, and directories of these.
    pub settings: Vec<String>,
    /// The same that can be older, too.
    pub unsure: Vec<String>,
    /// What systemd starts it with that is newer, where the files give other
    /// flags by now.
    pub units: Option<Vec<String>>,
    /// The flags of the process itself: of what they set no file counts.
    pub flags: Vec<Name>,
    /// Whether the times of the files are those that they had on the node.
    pub has_times: bool,
    /// When it was started, in clock ticks since the machine was.
    pub started: Option<u64>,
}

/// What the kubelet has while it runs; `None`: what its files say. `actual` is
/// made of the process's own flags and the files as they are, `restarted` of
/// the flags that it would get; `configz` is what the kubelet itself shows.
pub fn running(
    actual: &Kubelet,
    restarted: &Kubelet,
    changes: &Changes,
    configz: Option<&Source>,
) -> Option<Running> {
    let settings = changes.of_administrators();
    let shown = configz.and_then(shown_at_configz);
    let shown = shown.filter(|it| it.setting(Name::ResolvConf).is_some());
    let resolv_conf = if let Some(shown) = shown {
        of_shown(&shown, Name::ResolvConf, <[String]>::concat)
    } else {
        let kept = &actual.resolv_conf;
        changes.seen(kept, Name::ResolvConf, actual)
    };
    let is_known = !matches!(resolv_conf.origin, Origin::Unread(_));
    if resolv_conf.value == restarted.resolv_conf.value && (is_known || settings.is_empty()) {
        return None;
    }
    let is_unsure = settings.iter().all(|it| changes.unsure.contains(it)) && !settings.is_empty();
    let files = settings.into_iter();
    let files = files.chain(changes.units.iter().flatten()).cloned();
    let is_variables =
        |it: &String| it.starts_with("/etc/default/") || it.starts_with("/etc/sysconfig/");
    Some(Running {
        resolv_conf,
        changed: files.collect(),
        is_unsure: is_unsure && changes.units.is_none(),
        is_unit_changed: match &changes.units {
            // Those are read at each start; without a newer file it is the unit
            // that systemd has not read again.
            Some(units) => units.is_empty() || !units.iter().all(is_variables),
            None => false,
        },
        started: changes.started,
    })
}

/// What a running kubelet has of the cluster's DNS; `None`: what its files say.
pub fn cluster(
    actual: &Kubelet,
    restarted: &Kubelet,
    changes: &Changes,
    configz: Option<&Source>,
) -> Option<ClusterSettings> {
    let (dns, domain) = match configz.and_then(shown_at_configz) {
        Some(shown) => (
            of_shown(&shown, Name::ClusterDns, addresses),
            of_shown(&shown, Name::ClusterDomain, <[String]>::concat),
        ),
        None => (
            changes.seen(&actual.cluster_dns, Name::ClusterDns, actual),
            changes.seen(&actual.cluster_domain, Name::ClusterDomain, actual),
        ),
    };
    let is_unread = |it: &Origin| matches!(it, Origin::Unread(_));
    let is_other = dns.value != restarted.cluster_dns.value
        || domain.value != restarted.cluster_domain.value
        || is_unread(&dns.origin)
        || is_unread(&domain.origin);
    is_other.then_some(ClusterSettings { dns, domain })
}

/// What a kubelet shows of a setting; it leaves out what is empty.
fn of_shown<T>(shown: &Configuration, key: Name, read: impl Fn(&[String]) -> T) -> Setting<T> {
    let setting = shown.setting(key);
    let texts = setting.and_then(|it| it.value.as_deref());
    let origin = setting.map_or(Origin::BuiltIn, |it| Origin::File(it.place.clone()));
    Setting::made(read(texts.unwrap_or_default()), origin)
}

impl Changes {
    /// What is not written by those who set the node up anew at each start.
    fn of_administrators(&self) -> Vec<&String> {
        let is_others = |it: &&String| !GENERATED.iter().any(|end| it.ends_with(end));
        let all = self.settings.iter().chain(&self.unsure);
        all.filter(is_others).collect()
    }

    /// A setting of the process, made of the files as they are, as far as it is
    /// known that it is what the process has.
    fn seen<T: Clone>(&self, setting: &Setting<T>, flag: Name, kubelet: &Kubelet) -> Setting<T> {
        let settings = self.of_administrators();
        if settings.is_empty() || self.flags.contains(&flag) || !self.has_times {
            return setting.clone();
        }
        let origin = Origin::Unread(reason(kubelet, &settings, &self.unsure));
        Setting::made(setting.value.clone(), origin)
    }
}

fn reason(kubelet: &Kubelet, changed: &[&String], unsure: &[String]) -> String {
    let process = match &kubelet.found {
        Found::Process { pid, .. } => format!(" (process {pid})"),
        Found::Files { .. } | Found::Named => String::new(),
    };
    let first = changed.first().map_or("its file", |it| it.as_str());
    let what = if changed.first().is_some_and(|it| unsure.contains(it)) {
        format!(
            "whether {first} was changed before the kubelet{process} was started or after is not \
             known: its time lies between those that systemd and the kernel give for that start, \
             or is yet to come"
        )
    } else {
        format!(
            "{first} was changed after the kubelet{process} was started, which still has what \
             stood there before"
        )
    };
    format!(
        "{what}; give what it has as --kubelet-config, the text of its /configz: kubectl get \
         --raw /api/v1/nodes/NODE/proxy/configz"
    )
}

impl Kubelet {
    /// The same kubelet where it is not known whether it runs with what its
    /// files say.
    #[must_use]
    pub fn not_seen(mut self, why: &str) -> Self {
        let unread = || Origin::Unread(why.to_owned());
        self.resolv_conf.origin = unread();
        self.cluster_dns.origin = unread();
        self.cluster_domain.origin = unread();
        self.is_not_seen = true;
        self
    }
}

impl Running {
    /// The same kubelet, which handed this file to a pod, from the node's file
    /// or whichever it has.
    #[must_use]
    pub fn with_handed_over(mut self, conf: &ResolvConf, pod: &str) -> Self {
        self.resolv_conf.value.clone_from(&conf.source.name);
        self.resolv_conf.origin = Origin::Pod(pod.to_owned());
        self
    }
}
