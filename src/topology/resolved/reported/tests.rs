use super::*;
use crate::config::resolv_conf::ResolvConf;
use crate::text::Source;
use crate::topology::resolved::{Files, Lost, from_files};

const BY: &str = "its word";

fn source(name: &str, text: &str) -> Source {
    Source::new(name, text)
}

/// A reply in the shape of systemd 259's.
const REPLY: &str = r#"{"parameters":{"configuration":[
{"servers":[{"address":[192,0,2,1],"addressString":"192.0.2.1","family":2,"port":53,"ifindex":0,"accessible":true}],
 "fallbackServers":[{"address":[9,9,9,9],"family":2,"port":53,"name":"dns.quad9.net"}],
 "searchDomains":[{"name":"global.example","routeOnly":false}],
 "dnssec":"no","dnsOverTLS":"opportunistic","llmnr":"no","mDNS":"no","resolvConfMode":"stub"},
{"ifname":"eth1","ifindex":4,"defaultRoute":false,
 "servers":[{"address":[32,1,13,184,0,0,0,0,0,0,0,0,0,0,0,83],"family":10,"port":5353,"ifindex":4,"name":"dns.corp.example"}],
 "searchDomains":[{"name":"corp.example","routeOnly":true,"ifindex":4},{"name":".","routeOnly":true}],
 "dnsOverTLS":"yes"},
{"ifname":"eth0","ifindex":3,"defaultRoute":true,"servers":[{"address":[172,31,0,53],"family":2,"port":53}],"dnsOverTLS":"opportunistic"},
{"ifname":"lo","ifindex":1,"defaultRoute":false,"dnsOverTLS":"opportunistic"},
{"delegate":"home","defaultRoute":false,"servers":[{"address":[198,51,100,1],"family":2,"port":53}],
 "searchDomains":[{"name":"home.arpa","routeOnly":true}]}
]}}"#;

fn files() -> Files {
    Files {
        settings: vec![source(
            "/etc/systemd/resolved.conf",
            "[Resolve]\nDNS=192.0.2.1 192.0.2.9\nDNSOverTLS=opportunistic\n",
        )],
        networkd: vec![(3, source("/run/systemd/netif/links/3", "DNS=172.31.0.53\n"))],
        uplink: Some(ResolvConf::parse(source(
            "/run/systemd/resolve/resolv.conf",
            "nameserver 192.0.2.1\nnameserver 2001:db8::53\nsearch global.example other.example\n",
        ))),
        ..Files::default()
    }
}

fn line(server: &Placed<ServerWord>) -> String {
    format!("{} ({})", server.value, server.place)
}

fn lines(scope: &Scope) -> Vec<String> {
    scope.servers.iter().map(line).collect()
}

#[test]
fn what_it_says_counts_with_the_places_of_files() {
    let reported = varlink(REPLY.as_bytes(), BY).unwrap();
    let resolved = from_files(&files()).with(reported);
    // 192.0.2.9 was written there after it was started.
    assert_eq!(
        lines(&resolved.global),
        ["192.0.2.1 (/etc/systemd/resolved.conf:2:5)"]
    );
    let links: Vec<(u32, Vec<String>)> = resolved
        .links
        .iter()
        .map(|(index, scope)| (*index, lines(scope)))
        .collect();
    let eth0 = vec!["172.31.0.53 (/run/systemd/netif/links/3:1:5)".to_owned()];
    let eth1 = "[2001:db8::53]:5353#dns.corp.example (/run/systemd/resolve/resolv.conf:2:12)";
    assert_eq!(links, [(3, eth0), (4, vec![eth1.to_owned()])]);
    let [(_, eth0), (_, eth1)] = resolved.links.as_slice() else {
        panic!("{:?}", resolved.links);
    };
    // What holds for all is not reported again.
    assert_eq!(eth0.dns_over_tls, None);
    assert_eq!(eth1.dns_over_tls.as_deref(), Some("yes"));
    assert_eq!(
        (eth0.default_route, eth1.default_route),
        (Some(true), Some(false))
    );
    let domains: Vec<(&str, bool)> = eth1
        .domains
        .iter()
        .map(|it| (it.name.as_str(), it.route_only))
        .collect();
    assert_eq!(domains, [("corp.example.", true), (".", true)]);
    let [(name, home)] = resolved.delegates.as_slice() else {
        panic!("{:?}", resolved.delegates);
    };
    assert_eq!(name, "home");
    assert_eq!(lines(home), ["198.51.100.1 (its word)"]);
    let fallback: Vec<String> = resolved.fallback.iter().flatten().map(line).collect();
    assert_eq!(fallback, ["9.9.9.9#dns.quad9.net (its word)"]);
    // Nothing of its file is left unexplained but what it does not say.
    assert_eq!(resolved.uplink, []);
    assert_eq!(resolved.uplink_domains, ["other.example."]);
}

#[test]
fn what_was_set_since_it_was_started_is_not_asked() {
    let resolved = from_files(&files());
    let first = "192.0.2.1 (/etc/systemd/resolved.conf:2:5)";
    assert_eq!(lines(&resolved.global), [first]);
    let unread: Vec<String> = resolved.unread.iter().map(line).collect();
    assert_eq!(unread, ["192.0.2.9 (/etc/systemd/resolved.conf:2:15)"]);
    let lost = resolved.lost();
    assert!(
        matches!(&lost[0], Lost::Unread(it) if line(it) == unread[0]),
        "{lost:?}"
    );
    // Its own file has no ports, and it never asks itself.
    let mut files = files();
    let text = "[Resolve]\nDNS=192.0.2.1:5353 127.0.0.53\n";
    files.settings = vec![source("/etc/systemd/resolved.conf", text)];
    assert_eq!(from_files(&files).unread, []);
    files.uplink = None;
    assert_eq!(from_files(&files).unread, []);
}

#[test]
fn a_file_of_others_is_newer_than_what_it_says() {
    let mut files = files();
    files.settings.clear();
    files.foreign = Some(ResolvConf::parse(source(
        "/etc/resolv.conf",
        "nameserver 192.0.2.77\n",
    )));
    let resolved = from_files(&files).with(varlink(REPLY.as_bytes(), BY).unwrap());
    assert_eq!(
        lines(&resolved.global),
        ["192.0.2.77 (/etc/resolv.conf:1:12)"]
    );
}

#[test]
fn replies_that_tell_nothing() {
    let tests = [
        (
            r#"{"error":"org.varlink.service.MethodNotFound"}"#,
            Refusal::NoSuchMethod,
        ),
        (
            r#"{"error":"io.systemd.\nBroken"}"#,
            Refusal::Other(r"it says io.systemd.\u{a}Broken".to_owned()),
        ),
        (
            "{}",
            Refusal::Other("the reply has no parameters".to_owned()),
        ),
    ];
    for (reply, expected) in tests {
        assert_eq!(varlink(reply.as_bytes(), BY), Err(expected), "{reply}");
    }
    let wrong = [
        r#"{"parameters":{"configuration":{}}}"#,
        r#"{"parameters":{"configuration":[{"servers":[{"address":[300]}]}]}}"#,
        r#"{"parameters":{"configuration":[{"servers":[{"address":"192.0.2.1"}]}]}}"#,
        r#"{"parameters":{"configuration":[{"ifindex":-1}]}}"#,
        "\u{1b}[31m",
    ];
    for reply in wrong {
        let reported = varlink(reply.as_bytes(), BY);
        assert!(
            matches!(reported, Err(Refusal::Other(_))),
            "{reply}: {reported:?}"
        );
    }
    // Of a list of servers those without an address are left out.
    let odd = r#"{"parameters":{"configuration":[{"servers":[{"address":[1,2]}]}]}}"#;
    assert_eq!(varlink(odd.as_bytes(), BY), Ok(Reported::default()));
}
