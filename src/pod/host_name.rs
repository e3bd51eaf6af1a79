//! The host name that the kubelet gives a pod.
//!
//! Source: kubernetes `pkg/kubelet/kubelet_pods.go: GeneratePodHostNameAndDomain`.

use crate::config::manifest::PodSpec;
use crate::pod::PodError;
use crate::text::escaped;

/// What `hostname` prints in a pod named `name`; `None` on the host network,
/// where it is the node's. Pods of a template have more behind the name.
///
/// # Errors
///
/// The name with its domain is too long for the kernel.
pub fn host_name(
    pod: &PodSpec,
    name: &str,
    namespace: &str,
    domain: &str,
) -> Result<Option<String>, PodError> {
    if pod.host_network {
        return Ok(None);
    }
    let name = pod.hostname.as_deref().unwrap_or(name);
    let short = match name.get(..MAX_HOST_NAME_CHARS) {
        Some(start) if name.len() > MAX_HOST_NAME_CHARS => start.trim_end_matches(['-', '.']),
        _ => name,
    };
    match &pod.subdomain {
        Some(subdomain) if pod.hostname_is_fqdn => {
            let full = format!("{short}.{subdomain}.{namespace}.svc.{domain}");
            if full.len() > MAX_FQDN_CHARS {
                return Err(PodError::LongHostName(escaped(full.as_bytes())));
            }
            Ok(Some(full))
        }
        _ => Ok(Some(short.to_owned())),
    }
}

/// Source: `truncatePodHostnameIfNeeded`.
const MAX_HOST_NAME_CHARS: usize = 63;
/// What the kernel takes (`sethostname(2)`). Source: `GeneratePodHostNameAndDomain`.
const MAX_FQDN_CHARS: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_name_is_the_pods_name_unless_the_spec_says_more() {
        let pod =
            |hostname: Option<&str>, subdomain: Option<&str>, hostname_is_fqdn: bool| PodSpec {
                hostname: hostname.map(str::to_owned),
                subdomain: subdomain.map(str::to_owned),
                hostname_is_fqdn,
                ..PodSpec::default()
            };
        let check = |pod: &PodSpec, expected: Option<&str>| {
            let found = host_name(pod, "web-1", "shop", "cluster.local").unwrap();
            assert_eq!(found.as_deref(), expected);
        };
        check(&pod(None, None, false), Some("web-1"));
        check(&pod(Some("a"), Some("b"), false), Some("a"));
        check(
            &pod(Some("a"), Some("b"), true),
            Some("a.b.shop.svc.cluster.local"),
        );
        check(&pod(Some("a"), None, true), Some("a"));
        let long = format!("{}-.y", "x".repeat(61));
        check(&pod(Some(&long), None, false), Some(&"x".repeat(61)));
        let error = host_name(
            &pod(Some(&long), Some("b"), true),
            "n",
            "shop",
            "cluster.local",
        );
        assert!(matches!(error, Err(PodError::LongHostName(_))));
        let on_host = PodSpec {
            host_network: true,
            ..PodSpec::default()
        };
        check(&on_host, None);
    }
}
