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
