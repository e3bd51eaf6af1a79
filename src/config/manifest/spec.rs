//! Reads the fields of one workload.

use std::net::IpAddr;

use crate::config::manifest::container;
use crate::config::manifest::{DnsConfig, DnsOption, DnsPolicy, ManifestError, PodSpec, Workload};
use crate::config::yaml::{Kind, Node};
use crate::text::{Source, escaped};

/// More name servers in a `dnsConfig` are refused.
/// Source: kubernetes `pkg/apis/core/validation: MaxDNSNameservers`.
pub const MAX_NAMESERVERS: usize = 3;
/// More search domains in a `dnsConfig` are refused.
/// Source: kubernetes `pkg/apis/core/validation: MaxDNSSearchPaths`.
const MAX_SEARCHES: usize = 32;

/// A workload from its object and the spec of its pods.
pub(super) fn workload(
    source: &Source,
    kind: &str,
    object: &Node,
    spec: &Node,
) -> Result<Workload, ManifestError> {
    let reader = Reader { source };
    let metadata = object.get("metadata");
    let of_metadata = |key| match metadata {
        Some(metadata) => reader.text(metadata, "metadata", key),
        None => Ok(None),
    };
    let name = match of_metadata("name")? {
        Some(name) => name,
        None => of_metadata("generateName")?
            .map(|prefix| prefix.trim_end_matches(['-', '.']).to_owned())
            .unwrap_or_default(),
    };
    let mut pod = reader.pod(spec)?;
    if kind == "StatefulSet" {
        // Its controller overwrites both.
        // Source: kubernetes `pkg/controller/statefulset/stateful_set_utils.go: updateIdentity`.
        pod.hostname = Some(format!("{name}-0"));
        pod.subdomain = match object.get("spec") {
            Some(spec) => reader.text(spec, "spec", "serviceName")?,
            None => None,
        };
    }
    Ok(Workload {
        kind: escaped(kind.as_bytes()),
        name: escaped(name.as_bytes()),
        namespace: of_metadata("namespace")?,
        place: source.place(object.span.start),
        pod,
        containers: container::all(spec),
    })
}

struct Reader<'s> {
    source: &'s Source,
}

impl Reader<'_> {
    fn pod(&self, spec: &Node) -> Result<PodSpec, ManifestError> {
        let dns_config = match present(spec, "dnsConfig") {
            Some(config) => Some(self.dns_config(config)?),
            None => None,
        };
        let dns_policy = self.dns_policy(spec)?;
        let has_servers = |config: &DnsConfig| !config.nameservers.is_empty();
        if dns_policy == DnsPolicy::None && !dns_config.as_ref().is_some_and(has_servers) {
            let at = spec.get("dnsPolicy").unwrap_or(spec);
            let message = "dnsPolicy None needs at least one name server in dnsConfig";
            return Err(self.error(at, message));
        }
        Ok(PodSpec {
            dns_policy,
            host_network: self.flag(spec, "hostNetwork")?,
            dns_config,
            hostname: self.filled_text(spec, "hostname")?,
            subdomain: self.filled_text(spec, "subdomain")?,
            hostname_is_fqdn: self.flag(spec, "setHostnameAsFQDN")?,
        })
    }

    fn dns_policy(&self, spec: &Node) -> Result<DnsPolicy, ManifestError> {
        let Some(text) = self.filled_text(spec, "dnsPolicy")? else {
            return Ok(DnsPolicy::default());
        };
        DnsPolicy::named(&text).ok_or_else(|| {
            let message = format!(
                "there is no dnsPolicy \"{}\": it is one of ClusterFirst, \
                 ClusterFirstWithHostNet, Default and None",
                escaped(text.as_bytes())
            );
            self.error(spec.get("dnsPolicy").unwrap_or(spec), message)
        })
    }

    fn dns_config(&self, config: &Node) -> Result<DnsConfig, ManifestError> {
        self.mapping(config, "dnsConfig")?;
        let nameservers = self.texts(config, "nameservers", MAX_NAMESERVERS)?;
        for (text, node) in &nameservers {
            if text.parse::<IpAddr>().is_err() {
                let message = format!(
                    "dnsConfig.nameservers has \"{}\", which is no IP address",
                    escaped(text.as_bytes())
                );
                return Err(self.error(node, message));
            }
        }
        let searches = self.texts(config, "searches", MAX_SEARCHES)?;
        for (text, node) in &searches {
            if text.is_empty() || text.contains(|c: char| c.is_whitespace() || c.is_control()) {
                let message = format!(
                    "dnsConfig.searches has \"{}\", which is no domain name",
                    escaped(text.as_bytes())
                );
                return Err(self.error(node, message));
            }
        }
        let texts = |list: Vec<(String, &Node)>| list.into_iter().map(|(text, _)| text).collect();
        Ok(DnsConfig {
            nameservers: texts(nameservers),
            searches: texts(searches),
            options: self
                .list(config, "options")?
                .iter()
                .map(|option| self.option(option))
                .collect::<Result<_, _>>()?,
        })
    }

    fn option(&self, option: &Node) -> Result<DnsOption, ManifestError> {
        self.mapping(option, "an entry of dnsConfig.options")?;
        let path = "dnsConfig.options";
        let Some(name) = self
            .text(option, path, "name")?
            .filter(|name| !name.is_empty())
        else {
            return Err(self.error(option, "an entry of dnsConfig.options has no name"));
        };
        Ok(DnsOption {
            name,
            value: self.text(option, path, "value")?,
        })
    }

    /// The texts of a list under `key` of `dnsConfig`, with their places.
    fn texts<'n>(
        &self,
        config: &'n Node,
        key: &str,
        most: usize,
    ) -> Result<Vec<(String, &'n Node)>, ManifestError> {
        let items = self.list(config, key)?;
        if let Some(beyond) = items.get(most) {
            let message = format!("dnsConfig.{key} has more than {most} entries");
            return Err(self.error(beyond, message));
        }
        items
            .iter()
            .map(|item| match item.as_scalar() {
                Some(scalar) if item.kind() == Some(Kind::Text) => Ok((scalar.text.clone(), item)),
                _ => Err(self.not_a(item, &format!("an entry of dnsConfig.{key}"), "a string")),
            })
            .collect()
    }

    fn list<'n>(&self, config: &'n Node, key: &str) -> Result<&'n [Node], ManifestError> {
        let Some(list) = present(config, key) else {
            return Ok(&[]);
        };
        list.as_sequence()
            .ok_or_else(|| self.not_a(list, &format!("dnsConfig.{key}"), "a list"))
    }

    fn mapping(&self, node: &Node, what: &str) -> Result<(), ManifestError> {
        match node.as_mapping() {
            Some(_) => Ok(()),
            None => Err(self.not_a(node, what, "a mapping")),
        }
    }

    fn flag(&self, spec: &Node, key: &str) -> Result<bool, ManifestError> {
        match present(spec, key) {
            None => Ok(false),
            Some(node) => match node.kind() {
                Some(Kind::Bool(value)) => Ok(value),
                _ => Err(self.not_a(node, key, "true or false")),
            },
        }
    }

    /// The text under `key`; an empty one counts as none.
    fn filled_text(&self, spec: &Node, key: &str) -> Result<Option<String>, ManifestError> {
        let text = self.text(spec, "spec", key)?;
        Ok(text.filter(|text| !text.is_empty()))
    }

    fn text(&self, parent: &Node, path: &str, key: &str) -> Result<Option<String>, ManifestError> {
        let Some(node) = present(parent, key) else {
            return Ok(None);
        };
        match node.as_scalar() {
            Some(scalar) if node.kind() == Some(Kind::Text) => Ok(Some(scalar.text.clone())),
            _ => Err(self.not_a(node, &format!("{path}.{key}"), "a string")),
        }
    }

    fn not_a(&self, node: &Node, what: &str, wanted: &str) -> ManifestError {
        let mut message = format!("{what} must be {wanted}, not {}", node.described());
        if let (Some(scalar), "a string") = (node.as_scalar(), wanted)
            && !node.is_null()
        {
            let text = escaped(scalar.text.as_bytes());
            message.extend([": put it in quotes, \"", &text, "\""]);
        }
        self.error(node, message)
    }

    fn error(&self, node: &Node, message: impl Into<String>) -> ManifestError {
        ManifestError {
            place: self.source.place(node.span.start),
            message: message.into(),
        }
    }
}

/// The value under `key`, if there is one that is not null.
fn present<'n>(node: &'n Node, key: &str) -> Option<&'n Node> {
    node.get(key).filter(|value| !value.is_null())
}
