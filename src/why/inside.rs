//! Files and rules that stand in a text beside its messages: a report quotes
//! what it is about.

use std::net::IpAddr;
use std::sync::Arc;

use super::plain::{MOST as MOST_BYTES, boundary};
use crate::config::corefile::quoted;
use crate::finding::{Finding, Label};
use crate::kubelet::Version;
use crate::pod::DEFAULT_CLUSTER_DNS;
use crate::rules::Named;
use crate::text::Source;

/// More files of one text are not looked at, nor more lines of one.
const MOST: usize = 16;
const LONGEST: usize = 2000;

/// So few rules are a message, and no listing.
const FEW: usize = 3;

/// What begins lines of iptables-save, `iptables -S` and nft.
const RULES: [&str; 4] = ["-A ", "add rule ", "meta l4proto ", "ip daddr "];

/// What begins with keywords of resolv.conf(5) is called.
const RESOLV_CONF: &str = "resolv.conf";

/// What an object of Kubernetes is called.
const MANIFEST: &str = "manifest.yaml";

/// The files in a text, and the text without them. Each has as many line breaks before
/// it as the text has, so that its lines have the numbers that they have there; its
/// name tells what it is. Manifests stay in the text: what they are called is a word
/// about what was done. Name servers do, too.
pub fn split(text: &str) -> (Vec<Source>, String) {
    let text = text.get(..boundary(text, MOST_BYTES)).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    let mut found: Vec<Source> = Vec::new();
    let mut rest_of_text = String::new();
    let mut at = 0;
    while at < lines.len() {
        let rest = lines.get(at..lines.len().min(at + LONGEST));
        let rest = rest.unwrap_or_default();
        let begin = begins(rest).filter(|_| found.len() < MOST);
        let length = begin.map_or(1, |it| it.1);
        let is_kept = |line: &&&str| match begin {
            None | Some((MANIFEST, _)) => true,
            // Whom pods ask is said by other listings, too.
            Some((RESOLV_CONF, _)) => ["nameserver", "search"]
                .iter()
                .any(|it| line.trim_start().starts_with(it)),
            Some(_) => false,
        };
        let own = rest.get(..length).unwrap_or_default().iter();
        rest_of_text.extend(own.filter(is_kept).flat_map(|it| [it, "\n"]));
        at += length;
        let Some((name, _)) = begin else { continue };
        let body = rest.get(..length).unwrap_or_default().join("\n");
        let same = found.iter().filter(|it| it.name.ends_with(name)).count();
        let number = (same > 0).then(|| format!("{}-", same + 1));
        found.push(Source::new(
            number.unwrap_or_default() + name,
            format!("{}{body}\n", "\n".repeat(at - length)),
        ));
    }
    (found, rest_of_text)
}

/// Whether a finding is about what somebody has hidden before it was pasted, which is
/// right where it comes from: `forward . x.x.x.x`.
pub fn is_hidden(finding: &Finding, files: &[Arc<Source>]) -> bool {
    let Label { file, span, .. } = &finding.primary;
    let source = files.iter().find(|it| it.name == *file);
    let word = source.map(|it| String::from_utf8_lossy(span.slice(&it.bytes)));
    word.is_some_and(|it| is_placeholder(&it))
}

/// Whether a word stands for an address: `x.x.x.x`, `10.0.yy.zz`, `<server>`, `****`.
fn is_placeholder(word: &str) -> bool {
    let is_one = |it: &str| {
        let first = it.chars().next();
        let is_same =
            first.is_some_and(char::is_alphabetic) && it.chars().all(|c| Some(c) == first);
        is_same || (first.is_some() && it.bytes().all(|it| it.is_ascii_digit()))
    };
    let is_address = word.split('.').count() == 4 && word.split('.').all(is_one);
    let is_hidden = word.contains(char::is_alphabetic);
    let marks = ["**", "<", "REDACTED"];
    let is_marked = marks.iter().any(|it| word.contains(it));
    !word.contains(char::is_whitespace) && (is_address && is_hidden || is_marked)
}

/// The version of CoreDNS that a text tells: `CoreDNS-1.3.1`, `coredns:v1.6.5`, `version of
/// CoreDNS: v1.0.5`.
pub fn coredns_version(text: &str) -> Option<Version> {
    /// So far behind the program's name, in bytes.
    const FAR: usize = 16;
    let text = text.to_ascii_lowercase();
    let mut names = text.match_indices("coredns");
    names.find_map(|(at, name)| {
        let rest = text.get(at + name.len()..)?;
        let line = rest.lines().next()?;
        Version::find(line.get(..boundary(line, FAR))?)
    })
}

/// Whether rules of a packet filter are listed in a text that is about DNS, or kube-proxy's.
pub fn has_rules(text: &str) -> bool {
    let is_dns = text.contains("dns")
        || text.contains("KUBE-SERVICES")
        || text.contains("port 53")
        || text.contains("0.10/32");
    is_dns && text.lines().filter(|it| is_rule(it)).count() >= FEW
}

/// Whom pods most likely ask where none of these Services is that of the cluster's DNS: what
/// installers give it in the network of which the API server has the first address.
///
/// Source: kubernetes, cmd/kubeadm/app/constants `GetDNSIP`, and k3s, the tenth address of
/// the network; kubespray `skydns_server`, the third.
pub fn usual_dns(services: &[Named]) -> Option<IpAddr> {
    let mut apis = services.iter();
    let Some(api) = apis.find(|it| it.name.split(':').next() == Some("default/kubernetes")) else {
        return services.is_empty().then_some(DEFAULT_CLUSTER_DNS);
    };
    match api.address {
        IpAddr::V4(ip) => match ip.octets() {
            [10, 233, 0, 1] => Some([10, 233, 0, 3].into()),
            [a, b, c, 1] => Some([a, b, c, 10].into()),
            _ => None,
        },
        IpAddr::V6(_) => None,
    }
}

/// Whether a line is a rule of a packet filter.
pub(super) fn is_rule(line: &str) -> bool {
    RULES.iter().any(|it| line.trim_start().starts_with(it))
}

/// The file that begins at the first of these lines: its name, and its lines.
fn begins(lines: &[&str]) -> Option<(&'static str, usize)> {
    let kinds = [
        (RESOLV_CONF, resolv_conf as fn(&[&str]) -> usize),
        ("Corefile", quoted),
        (MANIFEST, manifest),
        ("nginx.conf", nginx),
    ];
    kinds.into_iter().find_map(|(name, length)| {
        let length = length(lines);
        (length > 0).then_some((name, length))
    })
}

/// Lines that all begin with a keyword of resolv.conf(5), one of them a name server.
fn resolv_conf(lines: &[&str]) -> usize {
    let is_its = |line: &&&str| {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("nameserver") => words.next().is_some_and(|it| it.parse::<IpAddr>().is_ok()),
            Some("search" | "domain" | "options") => words.next().is_some(),
            _ => false,
        }
    };
    let count = lines.iter().take_while(is_its).count();
    let mut own = lines.iter().take(count);
    let has_server = own.any(|it| it.trim_start().starts_with("nameserver"));
    if has_server { count } else { 0 }
}

/// A block of nginx, whose lines end with semicolons.
fn nginx(lines: &[&str]) -> usize {
    let first = lines.first().map_or("", |it| it.trim());
    let is_first = matches!(
        first.split_whitespace().next(),
        Some("http" | "server" | "location")
    );
    if !is_first || !first.ends_with('{') {
        return 0;
    }
    let mut depth = 0_usize;
    for (index, line) in lines.iter().enumerate() {
        depth += line.matches('{').count();
        depth = depth.saturating_sub(line.matches('}').count());
        if depth == 0 {
            return index + 1;
        }
    }
    0
}

/// An object of Kubernetes: its first line, and what is indented or a key behind it.
fn manifest(lines: &[&str]) -> usize {
    let Some(first) = lines.first() else { return 0 };
    // Some write the kind first.
    let mut head = lines.iter().take(2).map(|it| it.trim_start());
    let is_first = first.trim_start().starts_with("kind:");
    let mut keys = head.by_ref().take(if is_first { 2 } else { 1 });
    if !keys.any(|it| it.starts_with("apiVersion:")) {
        return 0;
    }
    let indent = first.len() - first.trim_start().len();
    // A message has more words behind its speaker than a key has.
    let is_key = |line: &str| {
        let (key, value) = line.split_once(':').unwrap_or_default();
        let is_word = !key.is_empty() && key.chars().all(|it| it.is_ascii_alphanumeric());
        let value = value.trim_start();
        is_word && (value.starts_with(['[', '{', '#']) || value.split_whitespace().count() < 2)
    };
    let goes_on = |line: &&&str| {
        let own = line.trim_start();
        let deeper = line.len() - own.len() > indent;
        own.is_empty() || deeper || own.starts_with(['-', '#']) || is_key(own)
    };
    lines.iter().take_while(goes_on).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lint::form::Form;
    use crate::lint::recognise::form;
    use crate::lint::{self, Given};

    #[test]
    fn versions_of_coredns_are_found() {
        for (text, version) in [
            ("kubernetes v1.14.0\nCoreDNS-1.3.1", Some((3, 1))),
            ("image: coredns:v1.6.5", Some((6, 5))),
            ("* CoreDNS version: v1.0.5", Some((0, 5))),
            ("coredns-5d78c9869d-qkpwj 1/1 Running 1.2.3", None),
            ("coredns\n1.2.3", None),
        ] {
            let expected = version.map(|(minor, patch)| Version::release(1, minor, patch));
            assert_eq!(coredns_version(text), expected, "{text}");
        }
    }

    fn check(text: &str, expected: &[(&str, usize)]) {
        let (found, _) = split(text);
        let found: Vec<(&str, usize)> = found
            .iter()
            .map(|it| {
                let text = String::from_utf8_lossy(&it.bytes);
                (
                    it.name.as_str(),
                    text.trim_start_matches('\n').lines().count(),
                )
            })
            .collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn files_are_found_beside_words() {
        let resolv = "it fails:\n$ cat /etc/resolv.conf\nsearch a.b\nnameserver 10.0.0.2\n\nwhy?";
        check(resolv, &[("resolv.conf", 2)]);
        check("search a.b\noptions ndots:5", &[]);
        check("nameserver of the node is wrong", &[]);
        let corefile = "mine:\n```\n.:53 {\n  errors\n  forward . 8.8.8.8 {\n  }\n}\na.b {\n cache\n}\n```\nend";
        check(corefile, &[("Corefile", 8)]);
        check(".:53 {\n  forward . 1.1.1.1", &[]);
        check("a.b {\n  color: red\n}", &[]);
        let nginx = "mine:\nserver {\n  location / {\n    proxy_pass http://web;\n  }\n}\nso";
        check(nginx, &[("nginx.conf", 5)]);
        check("server {\n  listen 80;", &[]);
        check(
            "kind: Pod\napiVersion: v1\nspec:\n",
            &[("manifest.yaml", 3)],
        );
        check("kind: of\nthing", &[]);
        let behind = "apiVersion: v1\nkind: Pod\ncurl: (6) Could not resolve host: a.b";
        check(behind, &[("manifest.yaml", 2)]);
        let policy =
            "```yaml\napiVersion: v1\nkind: Pod\nspec:\n  a: b\n```\napiVersion: v1\nkind: List";
        check(policy, &[("manifest.yaml", 4), ("2-manifest.yaml", 2)]);
    }

    #[test]
    fn what_is_hidden_is_no_fault() {
        let (files, _) = split(".:53 {\n  forward . 10.0.yy.zz web.example.\n}\n");
        let files: Vec<_> = files.into_iter().map(Arc::new).collect();
        let findings = lint::run(&files, &Given::default()).findings;
        let mut names = findings.iter().filter(|it| it.name == "forward-to-name");
        assert!(names.next().is_some_and(|it| is_hidden(it, &files)));
        assert!(names.next().is_some_and(|it| !is_hidden(it, &files)));
        for word in ["10.0.yy.zz", "<dns1>", "****", "YYY.YYY.YYY.YYY"] {
            assert!(is_placeholder(word), "{word}");
        }
        for word in [
            "10.0.0.1",
            "dns.example.com",
            "ns1.a.b.c",
            "*.example.com",
            "[::1]:53",
            "forward . <dns> {",
        ] {
            assert!(!is_placeholder(word), "{word}");
        }
    }

    #[test]
    fn lines_keep_their_numbers() {
        let (found, rest) = split("one\ntwo\nnameserver 10.0.0.2");
        assert_eq!(rest, "one\ntwo\nnameserver 10.0.0.2\n");
        let text = found.first().map(|it| it.bytes.as_slice());
        assert_eq!(text, Some(&b"\n\nnameserver 10.0.0.2\n"[..]));
    }

    #[test]
    fn dns_is_taken_to_be_in_the_network_of_the_api_server() {
        let named = |name: &str, ip: &str| Named {
            name: name.to_owned(),
            address: ip.parse().unwrap(),
            port: 443,
            is_udp: false,
            is_empty: false,
        };
        let usual = |services: &[Named]| usual_dns(services).map(|it| it.to_string());
        assert_eq!(usual(&[]).as_deref(), Some("10.96.0.10"));
        assert_eq!(usual(&[named("shop/web:http", "10.43.7.7")]), None);
        for (api, dns) in [
            ("10.96.0.1", Some("10.96.0.10")),
            ("10.43.0.1", Some("10.43.0.10")),
            ("10.233.0.1", Some("10.233.0.3")),
            ("10.43.0.7", None),
            ("fd00::1", None),
        ] {
            let services = [named("default/kubernetes:https", api)];
            assert_eq!(usual(&services).as_deref(), dns, "{api}");
        }
    }

    #[test]
    fn a_few_rules_are_no_listing() {
        let rule = "-A KUBE-SERVICES -d 10.96.0.10/32 -p udp --dport 53 -m comment dns -j REJECT\n";
        assert!(!has_rules(rule));
        assert!(has_rules(&rule.repeat(3)));
        assert!(!has_rules(&"-A INPUT -j DROP\n".repeat(3)));
        assert!(has_rules(&"-A INPUT -j KUBE-SERVICES\n".repeat(3)));
    }

    #[test]
    fn standard_input_can_be_a_corefile() {
        let text = b"# mine\n.:53 {\n  errors\n  forward . 8.8.8.8\n}\n";
        assert_eq!(form("<stdin>", text, true), Some(Form::Corefile));
        assert_eq!(form("found", text, false), None);
        let others = [
            "a.b {\n  color: red;\n}\n",
            "server {\n  listen 53;\n}\n",
            "zone \"a.b\" {\n  forward only;\n};\n",
            ".:53 {\n  forward . 8.8.8.8\n",
        ];
        for text in others {
            assert_eq!(form("<stdin>", text.as_bytes(), true), None, "{text}");
        }
    }
}
