//! Which pod has which address.

use std::collections::BTreeMap;

use serde_json::Value;

/// Pods by their addresses, `NAMESPACE/NAME`.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Pods {
    by_address: BTreeMap<String, String>,
}

impl Pods {
    /// Adds a pod. Where several have the address, as on the node's network, none
    /// of them is named.
    pub fn add(&mut self, address: &str, label: String) {
        self.by_address
            .entry(address.to_owned())
            .and_modify(|known| {
                if *known != label {
                    known.clear();
                }
            })
            .or_insert(label);
    }

    /// The pod with an address.
    pub fn pod_at(&self, address: &str) -> Option<&str> {
        let label = self.by_address.get(address)?;
        Some(label.as_str()).filter(|it| !it.is_empty())
    }

    /// Whether no pod is known.
    pub fn is_empty(&self) -> bool {
        self.by_address.is_empty()
    }

    /// Reads what `kubectl get pods -A -o json`, or `-o wide`, writes. `None`: it
    /// is neither, or has no pod with an address.
    pub fn parse(text: &str) -> Option<Self> {
        let mut pods = Self::default();
        if text.trim_start().starts_with('{') {
            pods.json(&serde_json::from_str(text).ok()?);
        } else {
            pods.wide(text);
        }
        (!pods.is_empty()).then_some(pods)
    }

    fn json(&mut self, document: &Value) {
        let items = document.get("items").and_then(Value::as_array);
        let items = items.map_or_else(|| std::slice::from_ref(document), Vec::as_slice);
        for item in items {
            let word = |value: Option<&Value>| value?.as_str().map(str::to_owned);
            let meta = item.get("metadata");
            let name = word(meta.and_then(|it| it.get("name")));
            let space = word(meta.and_then(|it| it.get("namespace")));
            let Some((space, name)) = space.zip(name) else {
                continue;
            };
            let label = format!("{space}/{name}");
            let status = item.get("status");
            let first = status.and_then(|it| it.get("podIP"));
            let all = status.and_then(|it| it.get("podIPs")?.as_array());
            let all = all.into_iter().flatten().filter_map(|it| it.get("ip"));
            for address in all.chain(first).filter_map(Value::as_str) {
                self.add(address, label.clone());
            }
        }
    }

    /// Columns stand where the words of the first line do.
    fn wide(&mut self, text: &str) {
        let mut lines = text.lines();
        let head = lines.next().unwrap_or_default();
        let column = |title: &str| {
            let mut titles = head.split_whitespace();
            titles.any(|it| it == title).then(|| {
                let starts = head.match_indices(title);
                let alone = |at: &usize| {
                    let before = head.get(..*at).unwrap_or_default();
                    let behind = head.get(at + title.len()..).unwrap_or_default();
                    let is_blank = |it: char| it == ' ';
                    before.chars().next_back().is_none_or(is_blank)
                        && behind.chars().next().is_none_or(is_blank)
                };
                starts.map(|it| it.0).find(alone)
            })?
        };
        let columns = (column("NAMESPACE"), column("NAME"), column("IP"));
        let (Some(space), Some(name), Some(address)) = columns else {
            return;
        };
        for line in lines {
            let word = |at: usize| line.get(at..)?.split_whitespace().next();
            if let (Some(space), Some(name), Some(address)) =
                (word(space), word(name), word(address))
                && address.parse::<std::net::IpAddr>().is_ok()
            {
                self.add(address, format!("{space}/{name}"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_outputs_of_kubectl() {
        let wide = "\
NAMESPACE   NAME                  READY   STATUS    RESTARTS      AGE   IP           NODE
shop        web-7d9f8c6b5-x2x9z   1/1     Running   3 (2d ago)    9d    10.244.0.7   n1
kube-system kube-proxy-1          1/1     Running   0             9d    10.0.0.5     n1
kube-system etcd-n1               1/1     Running   0             9d    10.0.0.5     n1
shop        new                   0/1     Pending   0             1s    <none>       <none>
";
        let pods = Pods::parse(wide).unwrap();
        assert_eq!(pods.pod_at("10.244.0.7"), Some("shop/web-7d9f8c6b5-x2x9z"));
        assert_eq!(pods.pod_at("10.0.0.5"), None);
        let json = r#"{"items":[{"metadata":{"namespace":"shop","name":"web"},
            "status":{"podIP":"10.244.0.7","podIPs":[{"ip":"10.244.0.7"},{"ip":"fd00::7"}]}}]}"#;
        let pods = Pods::parse(json).unwrap();
        assert_eq!(pods.pod_at("fd00::7"), Some("shop/web"));
        assert_eq!(Pods::parse("nothing\n"), None);
        assert_eq!(Pods::parse("{"), None);
    }
}
