//! In which order Go asks the hosts file and DNS, and when it leaves both to libc.

use crate::resolver::go::Version;
use crate::resolver::go::name::has_suffix_fold;
use crate::resolver::go::nss::{NssConf, NssSource, parse_nss_conf};
use crate::resolver::go::parse::parse_addr;
use crate::resolver::go::read::{Config, dns_read_config};
use crate::scenario::{Lookup, MDNS_ALLOW, Scenario};

/// Source: Go `src/net/dnsclient_unix.go: hostLookupOrder`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Order {
    /// libc is asked, for this reason.
    Cgo(String),
    FilesDns,
    DnsFiles,
    Files,
    Dns,
}

/// The order for the scenario's name.
///
/// With `can_use_cgo` the program has libc to turn to: whatever Go does not
/// know or does not do itself is a reason to. Without, such things have no
/// effect, but in versions where they mean "files, then DNS".
///
/// Source: Go `src/net/conf.go: conf.lookupOrder`; before 1.21, `hostLookupOrder`.
pub(super) fn lookup_order(
    scenario: &Scenario,
    config: &Config<'_>,
    version: &Version,
    can_use_cgo: bool,
) -> Order {
    let fallback = |reason: String| {
        if can_use_cgo {
            Order::Cgo(reason)
        } else {
            Order::FilesDns
        }
    };
    let minds = can_use_cgo || version.unusual_means_files_dns;
    if minds && let Some(reason) = unusual(scenario, config, version) {
        return fallback(reason);
    }
    let sources = match parse_nss_conf(scenario.nsswitch.as_ref()) {
        NssConf::Hosts(sources) if sources.is_empty() && version.dns_without_sources => {
            return Order::DnsFiles;
        }
        NssConf::Hosts(sources) if sources.is_empty() => return Order::FilesDns,
        NssConf::Hosts(sources) => sources,
        NssConf::Error => return fallback("Go cannot read nsswitch.conf".to_owned()),
    };
    if minds && let Some(reason) = unusual_source(scenario, &sources, version) {
        return fallback(reason);
    }
    let has = |name: &[u8]| sources.iter().position(|source| source.source == name);
    let files = has(b"files");
    let dns = has(b"dns").or_else(|| {
        // A source that Go does not know counts as DNS if nothing else does.
        let known = |source: &NssSource<'_>| source.source == b"files";
        let first_unknown = sources.iter().position(|source| !known(source));
        first_unknown.filter(|_| !minds)
    });
    match (files, dns) {
        (Some(files), Some(dns)) if files < dns => Order::FilesDns,
        (Some(_), Some(_)) => Order::DnsFiles,
        (Some(_), None) => Order::Files,
        (None, Some(_)) => Order::Dns,
        (None, None) => fallback("nsswitch.conf has neither `files` nor `dns`".to_owned()),
    }
}

/// See [`super::hands_over_to_libc`].
pub(super) fn reason_for_cgo(scenario: &Scenario, version: &Version) -> Option<String> {
    // `LookupMX` and its like never ask libc.
    if let Lookup::Records(_) = scenario.lookup {
        return None;
    }
    let name = scenario.name.as_bytes();
    if name.is_empty() || parse_addr(name, version).is_some() {
        return None;
    }
    let config = dns_read_config(scenario, version);
    match lookup_order(scenario, &config, version, true) {
        Order::Cgo(reason) => Some(reason),
        _ => None,
    }
}

/// What, before nsswitch.conf, makes Go leave the name to libc.
///
/// Source: Go `src/net/conf.go: initConfVal, lookupOrder`.
fn unusual(scenario: &Scenario, config: &Config<'_>, version: &Version) -> Option<String> {
    // LOCALDOMAIN counts even when it is empty.
    if scenario.env("LOCALDOMAIN").is_some() {
        return Some("LOCALDOMAIN is set".to_owned());
    }
    for variable in ["RES_OPTIONS", "HOSTALIASES"] {
        if scenario
            .env(variable)
            .is_some_and(|value| !value.is_empty())
        {
            return Some(format!("{variable} is set"));
        }
    }
    if let Some(special) = scenario.name.chars().find(|it| matches!(it, '\\' | '%')) {
        return Some(format!("the name has a `{special}`"));
    }
    if let Some(unknown) = config.unknown {
        let word = String::from_utf8_lossy(unknown);
        return Some(format!("Go does not know `{word}` in resolv.conf"));
    }
    if version.local_is_for_libc && is_local(hostname(scenario)) {
        return Some("`.local` names are for multicast DNS".to_owned());
    }
    None
}

/// What in the sources of nsswitch.conf makes Go leave the name to libc.
///
/// Source: Go `src/net/conf.go: lookupOrder`.
fn unusual_source(
    scenario: &Scenario,
    sources: &[NssSource<'_>],
    version: &Version,
) -> Option<String> {
    let hostname = hostname(scenario);
    sources.iter().find_map(|source| {
        let text = String::from_utf8_lossy(source.source);
        match source.source {
            b"files" | b"dns" => (!source.has_standard_criteria())
                .then(|| format!("nsswitch.conf has an unusual action after `{text}`")),
            b"myhostname" if !hostname.is_empty() => {
                let mine = is_localhost(hostname)
                    || has_name(version.gateway_names, hostname)
                    || hostname.eq_ignore_ascii_case(scenario.hostname.as_bytes());
                mine.then(|| "`myhostname` in nsswitch.conf answers the name".to_owned())
            }
            mdns if mdns.starts_with(b"mdns") && !hostname.is_empty() => {
                if is_local(hostname) {
                    return Some(format!("`{text}` in nsswitch.conf is for `.local` names"));
                }
                let allow = scenario.files.contains_key(MDNS_ALLOW);
                allow.then(|| format!("there is {MDNS_ALLOW}, and `{text}` in nsswitch.conf"))
            }
            _ => Some(format!("Go does not know `{text}` in nsswitch.conf")),
        }
    })
}

/// The name without its final dot.
fn hostname(scenario: &Scenario) -> &[u8] {
    let name = scenario.name.as_bytes();
    name.strip_suffix(b".").unwrap_or(name)
}

fn is_local(name: &[u8]) -> bool {
    has_suffix_fold(name, b".local")
}

fn has_name(names: &[&str], name: &[u8]) -> bool {
    names
        .iter()
        .any(|known| name.eq_ignore_ascii_case(known.as_bytes()))
}

/// Source: Go `src/net/conf.go: isLocalhost`.
fn is_localhost(name: &[u8]) -> bool {
    has_name(&["localhost", "localhost.localdomain"], name)
        || has_suffix_fold(name, b".localhost")
        || has_suffix_fold(name, b".localhost.localdomain")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolver::go::{V1_19, V1_27};
    use crate::scenario::file;

    fn scenario(name: &str, nsswitch: &str) -> Scenario {
        let mut scenario = Scenario::new("1", name);
        scenario.nsswitch = Some(file("/etc/nsswitch.conf", nsswitch));
        scenario
    }

    /// Why libc is asked, by Go 1.19 and by Go 1.27.
    fn check(scenario: &Scenario, old: Option<&str>, new: Option<&str>) {
        for (version, expected) in [(&V1_19, old), (&V1_27, new)] {
            let reason = reason_for_cgo(scenario, version);
            assert_eq!(reason.as_deref(), expected, "{scenario:?}");
        }
    }

    #[test]
    fn the_sources_make_the_order() {
        use Order::{Dns, DnsFiles, Files, FilesDns};
        let check = |nsswitch: &str, old: &Order, new: &Order| {
            let scenario = scenario("db.local", nsswitch);
            for (version, expected) in [(&V1_19, old), (&V1_27, new)] {
                let config = dns_read_config(&scenario, version);
                // 1.19 treats `.local` names as unusual.
                let mut other = scenario.clone();
                other.name = "db".to_owned();
                assert_eq!(
                    lookup_order(&other, &config, version, false),
                    *expected,
                    "{nsswitch}"
                );
                let local = lookup_order(&scenario, &config, version, false);
                let expected = if version.local_is_for_libc {
                    &FilesDns
                } else {
                    expected
                };
                assert_eq!(local, *expected, "{nsswitch}");
            }
        };
        check("hosts: files dns", &FilesDns, &FilesDns);
        check("hosts: dns files", &DnsFiles, &DnsFiles);
        check("hosts: files", &Files, &Files);
        check("hosts: dns", &Dns, &Dns);
        check("", &FilesDns, &FilesDns);
        check("hosts files dns", &FilesDns, &FilesDns);
        check(
            "hosts: resolve [!UNAVAIL=return] files",
            &FilesDns,
            &DnsFiles,
        );
        check(
            "hosts: resolve [!UNAVAIL=return] files dns",
            &FilesDns,
            &FilesDns,
        );
        check("hosts: files myhostname", &Files, &FilesDns);
        check("hosts: files\tdns", &FilesDns, &Dns);
        check("hosts: dns [NOTFOUND=return] files", &DnsFiles, &DnsFiles);
        check("hosts: mymachines", &FilesDns, &Dns);
    }

    #[test]
    fn a_cgo_build_leaves_what_go_does_not_know_to_libc() {
        let same = |scenario: &Scenario, reason| check(scenario, reason, reason);
        same(&scenario("db", "hosts: files dns"), None);
        same(&scenario("10.0.0.1", "hosts: nis"), None);
        same(&scenario("", "hosts: nis"), None);
        same(
            &scenario("db", "hosts: nis dns"),
            Some("Go does not know `nis` in nsswitch.conf"),
        );
        same(
            &scenario(
                "db",
                "hosts: files [NOTFOUND=continue SUCCESS=continue] dns",
            ),
            Some("nsswitch.conf has an unusual action after `files`"),
        );
        same(&scenario("db", "hosts: dns [NOTFOUND=return] files"), None);
        same(
            &scenario("db", "hosts: files mdns4_minimal [NOTFOUND=return] dns"),
            None,
        );
        check(
            &scenario("db.Local.", "hosts: files mdns4 dns"),
            Some("`.local` names are for multicast DNS"),
            Some("`mdns4` in nsswitch.conf is for `.local` names"),
        );
        same(
            &scenario("POD-1", "hosts: files myhostname"),
            Some("`myhostname` in nsswitch.conf answers the name"),
        );
        check(
            &scenario("_gateway", "hosts: files myhostname"),
            None,
            Some("`myhostname` in nsswitch.conf answers the name"),
        );
        same(
            &scenario("db", "hosts"),
            Some("Go cannot read nsswitch.conf"),
        );
        same(
            &scenario("d%b", "hosts: files dns"),
            Some("the name has a `%`"),
        );
        let mut unusual = scenario("db", "hosts: files dns");
        unusual.resolv_conf = Some(file(
            "/etc/resolv.conf",
            "nameserver 10.0.0.1\noptions debug",
        ));
        same(&unusual, Some("Go does not know `debug` in resolv.conf"));
        unusual.env.insert("LOCALDOMAIN".to_owned(), String::new());
        same(&unusual, Some("LOCALDOMAIN is set"));
        unusual.lookup = Lookup::Records(hickory_proto::rr::RecordType::MX);
        same(&unusual, None);
    }

    #[test]
    fn names_and_files_of_its_own_are_for_libc() {
        check(
            &scenario("_outbound", "hosts: files myhostname"),
            None,
            Some("`myhostname` in nsswitch.conf answers the name"),
        );
        check(
            &scenario("gateway", "hosts: files myhostname"),
            Some("`myhostname` in nsswitch.conf answers the name"),
            None,
        );
        let mut allow = scenario("db", "hosts: files mdns4 dns");
        allow.files.insert("/etc/mdns.allow".to_owned(), Vec::new());
        let reason = Some("there is /etc/mdns.allow, and `mdns4` in nsswitch.conf");
        check(&allow, reason, reason);
    }
}
