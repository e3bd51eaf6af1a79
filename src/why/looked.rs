//! What kind of name was looked up, as far as the name tells.

use super::plain::RETURN;
use crate::explain::cluster::is_of_the_world;
use crate::node::workload::is_random;

/// What kind of name was looked up.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Looked {
    /// One label, which a search list has to complete: `db`.
    Short,
    /// A Service or pod with its namespace, in the cluster's zone: `db.prod.svc.cluster.local`, `db.prod.svc`.
    Service,
    /// A name outside the cluster: `shop.example.net`.
    Outside,
    /// One outside that exists, whatever else is wrong: `github.com`.
    Public,
    /// The API server's Service, which every cluster has: `kubernetes.default`.
    Api,
    /// A pod of a Deployment, which no DNS server knows by its name: `web-6bcc7d4b9c-x2x9z`.
    Pod,
    /// One of multicast DNS, in many networks: `printer.local`.
    Local,
    /// What programs look up for a value that was not set, or take from a URL or in its
    /// place, or with a carriage return behind it: `null`, `$(HOST)`, `http`, `redis://db:6379`.
    Nothing,
    /// Another name with a domain of the cluster's search list behind it, as a server
    /// sees it: `github.com.default.svc.cluster.local`.
    Candidate,
}

/// What stands there for a value that was not set, or is a part of a URL.
const NOTHING: [&str; 12] = [
    "-",
    "http",
    "https",
    "inventory_hostname",
    "nil",
    "none",
    "null",
    "socks5",
    "socks5h",
    "tcp",
    "undefined",
    "username",
];

/// Zones whose names people and programs ask for most, and that are there.
const PUBLIC: [&str; 46] = [
    "alpinelinux.org",
    "amazonaws.com",
    "apache.org",
    "archlinux.org",
    "baidu.com",
    "cloudflare.com",
    "crates.io",
    "debian.org",
    "docker.com",
    "docker.io",
    "elastic.co",
    "fedoraproject.org",
    "gcr.io",
    "github.com",
    "githubusercontent.com",
    "gitlab.com",
    "go.dev",
    "golang.org",
    "google.com",
    "googleapis.com",
    "googleusercontent.com",
    "gradle.org",
    "hashicorp.com",
    "huggingface.co",
    "k8s.io",
    "kubernetes.io",
    "letsencrypt.org",
    "maven.org",
    "microsoft.com",
    "mongodb.org",
    "nodejs.org",
    "npmjs.org",
    "nuget.org",
    "openai.com",
    "packagist.org",
    "pypi.org",
    "python.org",
    "pythonhosted.org",
    "quay.io",
    "rubygems.org",
    "slack.com",
    "telegram.org",
    "ubuntu.com",
    "yahoo.com",
    "yarnpkg.com",
    "youtube.com",
];

/// Whether a name is in capitals what is to be filled in: `SERVER`, `DB_HOST`.
fn is_placeholder(name: &str) -> bool {
    let is_capital = |it: char| it.is_ascii_uppercase() || it == '_';
    name.chars().all(is_capital)
        && (name.contains('_') || ["HOST", "HOSTNAME", "SERVER", "SERVERNAME"].contains(&name))
}

impl Looked {
    /// Every kind, with its word in the pages of causes.
    const WORDS: [(&'static str, Self); 9] = [
        ("short", Self::Short),
        ("service", Self::Service),
        ("outside", Self::Outside),
        ("public", Self::Public),
        ("api", Self::Api),
        ("pod", Self::Pod),
        ("local", Self::Local),
        ("nothing", Self::Nothing),
        ("candidate", Self::Candidate),
    ];

    /// The kind of a word.
    pub fn of_word(word: &str) -> Option<Self> {
        let mut words = Self::WORDS.iter();
        words.find(|it| it.0 == word).map(|it| it.1)
    }

    /// The kind of a name; `None`: it could be of several, as `db.prod`.
    pub fn of_name(name: &str) -> Option<Self> {
        if is_placeholder(name) {
            return Some(Self::Nothing);
        }
        let name = name.trim_end_matches('.').to_ascii_lowercase();
        if name == "kubernetes.default" || name.starts_with("kubernetes.default.svc") {
            return Some(Self::Api);
        }
        if NOTHING.contains(&name.as_str()) || name.contains(['$', '(', '@', '/', RETURN]) {
            return Some(Self::Nothing);
        }
        let is_below = |zone: &str| {
            let rest = name.strip_suffix(zone);
            rest.is_some_and(|it| it.is_empty() || it.ends_with('.'))
        };
        if PUBLIC.iter().any(|it| is_below(it)) {
            return Some(Self::Public);
        }
        let Some((first, last)) = name.rsplit_once('.') else {
            let kind = if is_pod(&name) {
                Self::Pod
            } else {
                Self::Short
            };
            return (!name.is_empty()).then_some(kind);
        };
        if format!("{first}.").contains(".svc.") || (last == "svc" && first.contains('.')) {
            return Some(Self::Service);
        }
        if is_below("local") && !is_below("cluster.local") {
            return Some(Self::Local);
        }
        is_of_the_world(&name).then_some(Self::Outside)
    }
}

impl Looked {
    /// The kind of a name as a DNS server gets it: a Service's, or another name with the
    /// search list behind it. `None`: it could be either, or tells nothing.
    pub fn of_query(name: &str) -> Option<Self> {
        let name = name.trim_end_matches('.').to_ascii_lowercase();
        if Self::of_name(&name) == Some(Self::Api) {
            return Some(Self::Api);
        }
        let Some((before, _)) = name.rsplit_once(".svc.") else {
            let before = name.strip_suffix(".cluster.local")?;
            return is_of_the_world(before).then_some(Self::Candidate);
        };
        let labels = before.split('.').count();
        let own = before.rsplit_once('.').map_or("", |it| it.0);
        let is_whole = |it: &str| is_of_the_world(it) || it.split('.').any(|it| it == "svc");
        match labels {
            _ if is_whole(own) || Self::of_name(before) == Some(Self::Public) => {
                Some(Self::Candidate)
            }
            2 if is_of_the_world(before) => None,
            2 => Some(Self::Service),
            _ if is_of_the_world(before) => Some(Self::Candidate),
            _ => None,
        }
    }
}

/// Whether a label is what a `ReplicaSet` calls its pods: the hash of the template and
/// five letters, with a digit among them.
fn is_pod(label: &str) -> bool {
    let mut parts = label.rsplitn(3, '-');
    let (Some(own), Some(hash), Some(_)) = (parts.next(), parts.next(), parts.next()) else {
        return false;
    };
    is_random(own, 5..=5) && is_random(hash, 8..=10) && hash.contains(|c: char| c.is_ascii_digit())
}

/// The name of the Service in a name that can be one's, or one of its pods'.
///
/// Source: <https://github.com/kubernetes/dns/blob/master/docs/specification.md>.
pub fn service(name: &str) -> Option<&str> {
    let labels: Vec<&str> = name.trim_end_matches('.').split('.').collect();
    let svc = labels.iter().position(|it| it.eq_ignore_ascii_case("svc"));
    let before = svc.map_or(labels.as_slice(), |at| labels.get(..at).unwrap_or_default());
    match (before, svc.is_some()) {
        ([.., service, _], true) | ([service] | [service, _], false) => Some(service),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_service_is_before_its_namespace() {
        for (name, expected) in [
            ("db", Some("db")),
            ("db.prod", Some("db")),
            ("db.prod.svc", Some("db")),
            ("db-0.db.prod.svc.cluster.local.", Some("db")),
            ("db.prod.SVC.cluster.local", Some("db")),
            ("api.shop.example.net", None),
            ("svc.cluster.local", None),
        ] {
            assert_eq!(service(name), expected, "{name}");
        }
    }

    #[test]
    fn candidates_of_the_search_list_are_seen() {
        for (name, expected) in [
            ("db.prod.svc.cluster.local.", Some(Looked::Service)),
            (
                "google.com.default.svc.cluster.local.",
                Some(Looked::Candidate),
            ),
            ("google.com.svc.cluster.local.", Some(Looked::Candidate)),
            ("www.shop.de.svc.cluster.local.", Some(Looked::Candidate)),
            ("google.com.cluster.local.", Some(Looked::Candidate)),
            (
                "db.prod.svc.cluster.local.prod.svc.cluster.local.",
                Some(Looked::Candidate),
            ),
            // A Service of the namespace de, or shop.de.
            ("shop.de.svc.cluster.local.", None),
            // db.prod with the namespace's domain, or the pod db of the Service prod.
            ("db.prod.prod.svc.cluster.local.", None),
            ("google.com.", None),
            ("kubernetes.default.svc.cluster.local.", Some(Looked::Api)),
        ] {
            assert_eq!(Looked::of_query(name), expected, "{name}");
        }
    }

    #[test]
    fn names_tell_their_kind() {
        for (name, expected) in [
            ("db", Some(Looked::Short)),
            ("", None),
            ("null", Some(Looked::Nothing)),
            ("$(DB_HOST)", Some(Looked::Nothing)),
            ("@db", Some(Looked::Nothing)),
            ("redis://db:6379", Some(Looked::Nothing)),
            ("socks5h", Some(Looked::Nothing)),
            ("web-986c54956-7sr4x", Some(Looked::Pod)),
            ("web-986c54956-7sr4a", Some(Looked::Short)),
            ("web-frontend-proxy", Some(Looked::Short)),
            ("db.prod", None),
            ("db.prod.svc", Some(Looked::Service)),
            ("db.svc", None),
            ("db.prod.svc.cluster.local.", Some(Looked::Service)),
            ("db.prod.svc.example.com", Some(Looked::Service)),
            ("Example.COM", Some(Looked::Outside)),
            ("registry.k8s.io", Some(Looked::Public)),
            ("nogithub.com", Some(Looked::Outside)),
            ("kubernetes.default.svc", Some(Looked::Api)),
            ("shop.de", Some(Looked::Outside)),
            ("printer.local", Some(Looked::Local)),
            ("db.prod.svc.local", Some(Looked::Service)),
            ("db.cluster.local", None),
            ("notlocal", Some(Looked::Short)),
        ] {
            assert_eq!(Looked::of_name(name), expected, "{name}");
        }
    }
}
