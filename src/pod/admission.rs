//! What the API server refuses in a pod's `dnsConfig`, where that depends on
//! its version. What it refuses in any version is an error of the manifest.
//!
//! The API server is taken to have the kubelet's version.
//!
//! Source: kubernetes `pkg/apis/core/validation: validatePodDNSConfig`.

use crate::config::manifest::{DnsConfig, DnsPolicy, PodSpec};
use crate::pod::{PodError, Rules};
use crate::text::escaped;

/// Whether the API server takes the pod.
pub(super) fn check(pod: &PodSpec, rules: &Rules) -> Result<(), PodError> {
    let config = pod.dns_config.as_ref();
    let has_servers = config.is_some_and(|it| !it.nameservers.is_empty());
    if pod.dns_policy == DnsPolicy::None && !has_servers {
        let sentence = "dnsPolicy None needs at least one name server in dnsConfig";
        return Err(PodError::Refused(sentence.to_owned()));
    }
    config.map_or(Ok(()), |config| check_searches(config, rules))
}

fn check_searches(config: &DnsConfig, rules: &Rules) -> Result<(), PodError> {
    let refuse = |sentence: String| Err(PodError::Refused(sentence));
    let limits = rules.limits;
    let searches = &config.searches;
    if searches.len() > limits.searches {
        return refuse(format!(
            "dnsConfig.searches: must not have more than {} search paths (in this version)",
            limits.searches
        ));
    }
    let chars: usize = searches.iter().map(|it| it.len() + 1).sum();
    if chars > limits.search_chars + 1 {
        return refuse(format!(
            "dnsConfig.searches: must not have more than {} characters (including spaces) in the \
             search list (in this version)",
            limits.search_chars
        ));
    }
    match searches.iter().find(|it| !is_search(it, rules)) {
        None => Ok(()),
        Some(search) => refuse(format!(
            "dnsConfig.searches has \"{}\", which is no lower-case domain name of letters, digits, \
             '-' and '.'{}",
            escaped(search.as_bytes()),
            if rules.relaxed_searches {
                ""
            } else {
                " (in this version)"
            }
        )),
    }
}

/// Whether the API server takes it as a search domain of `dnsConfig`. One
/// final dot is fine.
pub fn is_search(search: &str, rules: &Rules) -> bool {
    if search == "." && rules.relaxed_searches {
        return true;
    }
    let name = search.strip_suffix('.').unwrap_or(search);
    let is_label = |label: &str| is_label(label.as_bytes(), rules.relaxed_searches);
    name.len() <= 253 && name.split('.').all(is_label)
}

/// A label of RFC 1123 in lower case; with underscores where that is relaxed:
/// one at the beginning, any inside.
pub(super) fn is_label(label: &[u8], relaxed: bool) -> bool {
    let label = match label {
        [b'_', rest @ ..] if relaxed => rest,
        label => label,
    };
    let is_end = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let is_inner = |byte: &u8| is_end(byte) || *byte == b'-' || (relaxed && *byte == b'_');
    label.first().is_some_and(is_end)
        && label.last().is_some_and(is_end)
        && label.iter().all(is_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kubelet::Version;

    fn check_at(minor: u32, searches: &[&str], expected: bool) {
        let config = DnsConfig {
            searches: searches.iter().map(|&it| it.to_owned()).collect(),
            ..DnsConfig::default()
        };
        let pod = PodSpec {
            dns_config: Some(config),
            ..PodSpec::default()
        };
        let version = Version::release(1, minor, 0);
        let result = check(&pod, &Rules::of_version(Some(version)));
        assert_eq!(result.is_ok(), expected, "1.{minor} {searches:?}");
    }

    #[test]
    fn searches_are_what_the_version_takes() {
        check_at(25, &["a"; 6], true);
        check_at(25, &["a"; 7], false);
        check_at(26, &["a"; 32], true);
        check_at(26, &["a"; 33], false);
        let long = "x".repeat(63);
        check_at(25, &[long.as_str(); 4], true);
        check_at(25, &[&long, &long, &long, &long, "x"], false);
        check_at(26, &[long.as_str(); 32], true);
        check_at(26, &["a.example", "b.example."], true);
        // The longest name, and with another one the longest list.
        let longest = format!("{long}.{long}.{long}.{}", "x".repeat(61));
        check_at(26, &[&longest], true);
        check_at(26, &[&format!("x{longest}")], false);
        check_at(25, &[&longest, "xx"], true);
        check_at(25, &[&longest, "xxx"], false);
    }

    #[test]
    fn underscores_and_the_root_came_late() {
        for (search, relaxed, strict) in [
            ("a-1.example", true, true),
            ("_tcp.a", true, false),
            ("a_b", true, false),
            (".", true, false),
            ("a_", false, false),
            ("__a", false, false),
            ("A.example", false, false),
            ("a..b", false, false),
            ("-a", false, false),
            ("a..", false, false),
            (&"x".repeat(254), false, false),
        ] {
            check_at(33, &[search], relaxed);
            check_at(32, &[search], strict);
        }
    }
}
