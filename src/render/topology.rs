//! Who a DNS server is, and what cannot be known from its configuration, in words.

use std::fmt;

use super::sentence::{Sentence, sentence};
use crate::topology::{Beyond, CorefileUnknown, Doubt, Instance, Plugin, Role, ServerName, Target};

/// What people call it: `dnsmasq (process 812)`, `CoreDNS (pod kube-system/coredns-k8x2q)`.
impl fmt::Display for ServerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let program = &self.program;
        match &self.instance {
            Instance::Only => f.write_str(program),
            Instance::Process(pid) => write!(f, "{program} (process {pid})"),
            Instance::Pod(pod) => write!(f, "{program} (pod {pod})"),
            Instance::Configured(place) if place.line == 0 => {
                write!(f, "{program} (configured in {place})")
            }
            Instance::Configured(place) => write!(f, "{program} (configured at {place})"),
        }
    }
}

/// To whom a server forwards.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(to) => to.fmt(f),
            Self::File(text) | Self::Other(text) => f.write_str(text),
            Self::Roots => f.write_str("the root servers"),
            Self::ClusterDns => f.write_str("the service kube-dns-upstream"),
        }
    }
}

/// The doubt as a clause.
#[expect(clippy::too_many_lines, reason = "a table: one arm a fact")]
pub(super) fn doubt(doubt: &Doubt) -> Sentence {
    match doubt {
        Doubt::Beyond(beyond) => self::beyond(*beyond),
        Doubt::Interface { name, place } => sentence!(
            "interface-addresses-unknown",
            "it listens on interface {name} ({place}), whose addresses are not known"
        ),
        Doubt::NewestFile => Sentence::new(
            "newest-resolv-file",
            "of its resolv-files only the one that was changed last counts",
        ),
        Doubt::OverDbus {
            is_network_managers,
        } => {
            let ask = if *is_network_managers {
                ", `nmcli device show` does"
            } else {
                ""
            };
            sentence!(
                "servers-over-dbus",
                "its servers are set over D-Bus, and no file lists them{ask}"
            )
        }
        Doubt::Views => Sentence::new(
            "views",
            "it has views: which one answers depends on who asks",
        ),
        Doubt::CompiledIn => Sentence::new(
            "compiled-in-servers",
            "no file that was read names its servers, so it has those that were compiled in, if \
             any, or others: `resolvectl status` shows them",
        ),
        Doubt::Stops { reason, place } => sentence!(
            "corefile-stops-coredns",
            "CoreDNS does not start with this Corefile: {reason} ({place})"
        ),
        Doubt::NoServerBlock => Sentence::new(
            "no-server-block",
            "the Corefile has no server block that CoreDNS could serve",
        ),
        Doubt::Cut(file) => sentence!("file-cut", "{file} is so long that its end was not read"),
        Doubt::Import { pattern, place } => sentence!(
            "import-not-found",
            "no file was found for the import of {pattern} ({place})"
        ),
        Doubt::Plugin { name, place, does } => plugin(*does, name, &place.to_string()),
        Doubt::Template {
            word,
            is_cluster_dns,
            place,
        } => {
            let meaning = if *is_cluster_dns {
                "the cluster's DNS pods, by way of the service kube-dns-upstream"
            } else {
                "/etc/resolv.conf, as no upstreamNameservers were found"
            };
            sentence!("template-word", "{word} is taken for {meaning} ({place})")
        }
        Doubt::Variable { word, role, place } => {
            let what = match role {
                Role::Key | Role::Target => "what",
                Role::Address => "which addresses",
            };
            sentence!(
                "word-unknown",
                "{what} {word} stands for is not known ({place})"
            )
        }
        Doubt::Option {
            name,
            is_policy,
            place,
        } => {
            let what = if *is_policy { "policy" } else { "option" };
            sentence!(
                "forward-option-unknown",
                "kdns does not know the {what} {name} ({place})"
            )
        }
        Doubt::Corefile { pod, label, why } => {
            let pod = pod.as_ref().map(|(namespace, name)| (namespace, name));
            Sentence::new("corefile-unknown", corefile(pod, label, why.as_ref()))
        }
    }
}

fn beyond(beyond: Beyond) -> Sentence {
    let text = match beyond {
        Beyond::Targets(most) => {
            format!("it has a zone of which only the first {most} servers were looked at")
        }
        Beyond::Zones(most) => {
            format!("it has so many zones that only the first {most} were looked at")
        }
        Beyond::CorefileZones => "there are more zones than kdns looks at".to_owned(),
        Beyond::BlockZones => "a server block has more zones than kdns looks at".to_owned(),
        Beyond::Listeners => "there are more listeners than kdns looks at".to_owned(),
        Beyond::Blocks => "there are more server blocks than kdns looks at".to_owned(),
    };
    Sentence::new("configuration-too-large", text)
}

fn plugin(does: Plugin, name: &str, place: &str) -> Sentence {
    let (code, what) = match does {
        Plugin::Auto => (
            "plugin-auto",
            "answers the zones that it finds in its directory",
        ),
        Plugin::View => (
            "plugin-view",
            "lets this block serve some of the queries only",
        ),
        Plugin::Unknown => (
            "plugin-unknown",
            "is not known to kdns and could answer or forward, too",
        ),
    };
    sentence!(code, "the plugin {name} {what} ({place})")
}

fn corefile(pod: Option<(&String, &String)>, label: &str, why: Option<&CorefileUnknown>) -> String {
    let why = match why {
        None => "was not found".to_owned(),
        Some(CorefileUnknown::Stdin) => {
            "is not known: CoreDNS reads it from its standard input".to_owned()
        }
        Some(CorefileUnknown::Unread(reason)) => format!("is not known: {reason}"),
        Some(CorefileUnknown::NotThere(path)) => {
            format!("is not known: there is no {path} in its container")
        }
        Some(CorefileUnknown::InImage(path)) => {
            format!("is not known: its container has {path} from its image, which was not read")
        }
    };
    let ask = pod.map_or_else(String::new, |(namespace, name)| {
        format!(
            " kubectl -n {namespace} get pod {name} -o yaml says by its arguments and volumes \
             where that is, and"
        )
    });
    format!("the Corefile of pod {label} {why};{ask} --corefile stands in for it")
}
