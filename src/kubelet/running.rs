//! What a kubelet has while it runs, where its files were changed since it was
//! started: it reads them once.

use crate::config::resolv_conf::ResolvConf;
use crate::config::yaml;
use crate::kubelet::configuration::{self, Configuration, GENERATED, Role};
use crate::kubelet::{Found, Kubelet, Origin, Running, Setting};
use crate::text::Source;

/// What the API server shows of a running kubelet at `/configz`, which has the
/// flags in it, too; `None`: it is another file.
pub fn shown_at_configz(source: &Source) -> Option<Configuration> {
    let documents = yaml::documents(source);
    let root = documents.first()?.root.as_ref().ok()?;
    root.get("kubeletconfig")?.as_mapping()?;
    Some(configuration::read(source, Role::Main, None))
}

/// What was changed since a kubelet was started.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Changes {
    /// Its configuration and drop-ins, and directories of these.
    pub settings: Vec<String>,
    /// What systemd starts it with, where that gives other flags by now.
    pub units: Vec<String>,
    /// Whether a flag of the process itself sets `resolvConf`: no file counts.
    pub is_flag: bool,
    /// Whether the times of the files are those that they had on the node.
    pub has_times: bool,
    /// When it was started, in clock ticks since the machine was.
    pub started: Option<u64>,
}

/// What the kubelet has while it runs; `None`: what its files say. `actual` is
/// made of the process's own flags and the files as they are, `restarted` of
/// the flags that it would get; `configz` is what the kubelet itself shows.
pub fn of(
    actual: &Kubelet,
    restarted: &Kubelet,
    changes: &Changes,
    configz: Option<&Source>,
) -> Option<Running> {
    let is_others = |it: &&String| !GENERATED.iter().any(|end| it.ends_with(end));
    let settings: Vec<&String> = changes.settings.iter().filter(is_others).collect();
    let shown = configz.and_then(shown_at_configz);
    let resolv_conf = if let Some(shown) = shown.and_then(|it| it.resolv_conf) {
        Setting {
            value: shown.value?,
            origin: Origin::File(shown.place),
            overrode: Vec::new(),
        }
    } else if settings.is_empty() || changes.is_flag || !changes.has_times {
        actual.resolv_conf.clone()
    } else {
        Setting {
            value: actual.resolv_conf.value.clone(),
            origin: Origin::Unread(reason(actual, &settings)),
            overrode: Vec::new(),
        }
    };
    let is_known = !matches!(resolv_conf.origin, Origin::Unread(_));
    if resolv_conf.value == restarted.resolv_conf.value && (is_known || settings.is_empty()) {
        return None;
    }
    let files = settings.into_iter().chain(&changes.units).cloned();
    let is_unit =
        |it: &String| !it.starts_with("/etc/default/") && !it.starts_with("/etc/sysconfig/");
    Some(Running {
        resolv_conf,
        changed: files.collect(),
        is_unit_changed: changes.units.iter().any(is_unit),
        started: changes.started,
    })
}

fn reason(kubelet: &Kubelet, changed: &[&String]) -> String {
    let process = match &kubelet.found {
        Found::Process { pid, .. } => format!(" (process {pid})"),
        Found::Files { .. } | Found::Named => String::new(),
    };
    let first = changed.first().map_or("its file", |it| it.as_str());
    format!(
        "{first} was changed after the kubelet{process} was started, which still has what stood \
         there before; what it has is told with --kubelet-config by the text of its /configz: \
         kubectl get --raw /api/v1/nodes/NODE/proxy/configz"
    )
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
