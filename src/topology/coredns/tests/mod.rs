mod doubts;

use super::*;
use crate::topology::{Role, Target};

fn source(name: &str, text: &str) -> Source {
    Source::new(name, text)
}

fn servers_of(files: &[Source]) -> Vec<DnsServer> {
    let network = Network::Pod("p".to_owned());
    let address: IpAddr = "10.244.0.7".parse().unwrap();
    servers_of_files(
        files,
        &Site {
            program: Program::CoreDns,
            instance: &Instance::Only,
            network: &network,
            addresses: &[address],
            interfaces: &[],
        },
    )
}

fn target(target: &Target) -> String {
    match target {
        Target::Address(address) => address.to_string(),
        Target::File(path) => path.clone(),
        other => format!("{other:?}"),
    }
}

/// Each server on a line: `LISTENERS| ZONE -> TARGETS (POLICY); …`, `loop`
/// if it notices loops; then what is unknown.
fn shown(servers: &[DnsServer]) -> String {
    let mut text = String::new();
    for server in servers {
        for listen in &server.listens {
            let address = listen.address.map_or("*".to_owned(), |it| it.to_string());
            text.extend([format!("{address}#{} ", listen.port)]);
        }
        text += "|";
        for forward in &server.forwards {
            let to: Vec<String> = forward.to.iter().map(|to| target(&to.value)).collect();
            text.extend([format!(" {} -> {}", forward.zone, to.join(" "))]);
            if forward.to.len() > 1 {
                text.extend([format!(" ({:?})", forward.policy)]);
            }
            text += ";";
        }
        if server.notices_loops {
            text += " loop";
        }
        text += "\n";
    }
    for it in servers.first().map(|it| &it.doubts).into_iter().flatten() {
        text.extend([format!("? {}\n", doubt(it))]);
    }
    text
}

/// `KIND WORD LINE:COLUMN`.
fn doubt(doubt: &Doubt) -> String {
    let (kind, word, place) = match doubt {
        Doubt::Template { word, place, .. } => ("template", word, place),
        Doubt::Variable { word, role, place } => match role {
            Role::Address => ("addresses", word, place),
            Role::Key | Role::Target => ("variable", word, place),
        },
        Doubt::Option { name, place, .. } => ("option", name, place),
        Doubt::Plugin { name, place, .. } => ("plugin", name, place),
        Doubt::Import { pattern, place } => ("import", pattern, place),
        Doubt::Stops { reason, place } => ("stops", reason, place),
        other => return format!("{other:?}"),
    };
    format!("{kind} {word} {}:{}", place.line, place.column)
}

fn check(corefile: &str, expected: &str) {
    check_files(&[source("/c/Corefile", corefile)], expected);
}

fn check_files(files: &[Source], expected: &str) {
    let mut files = files.to_vec();
    main_first(&mut files);
    assert_eq!(shown(&servers_of(&files)), expected, "{:?}", files.first());
}

#[test]
fn the_corefile_of_kubeadm() {
    check(
        ".:53 {
    errors
    health {
       lameduck 5s
    }
    ready
    kubernetes cluster.local in-addr.arpa ip6.arpa {
       pods insecure
       fallthrough in-addr.arpa ip6.arpa
       ttl 30
    }
    prometheus :9153
    forward . /etc/resolv.conf {
       max_concurrent 1000
    }
    cache 30
    loop
    reload
    loadbalance
}
",
        "*#53 | cluster.local. -> ; . -> /etc/resolv.conf; loop\n",
    );
}

macro_rules! check_file {
    ($name:literal, $expected:expr) => {
        let text = include_str!(concat!("../../../../testdata/corefiles/", $name));
        check_files(&[source($name, text)], $expected);
    };
}

#[test]
fn corefiles_that_coredns_was_started_with() {
    check_file!("healthy.Corefile", "*#53 | . -> /etc/resolv.conf; loop\n");
    check_file!(
        "loop-undetected.Corefile",
        "*#53 | . -> /etc/resolv.conf;\n"
    );
    check_file!(
        "corefile-bad-dup.Corefile",
        "*#53 | . -> /etc/resolv.conf; loop\n"
    );
    check_file!(
        "corefile-bad-proxy.Corefile",
        "*#53 | . -> /etc/resolv.conf;\n"
    );
    check_file!("bind-missing-address.Corefile", "10.244.0.99#53 |\n");
    check_file!(
        "upstream-refused.Corefile",
        "*#53 | . -> 10.244.0.53:5399; loop\n"
    );
    check_file!(
        "loop-fatal-zone.Corefile",
        "*#53 | cluster.local. -> 127.0.0.1:53; loop\n"
    );
}

#[test]
fn the_corefiles_of_caches_on_the_node() {
    check_file!(
        "node-local-dns.Corefile.base",
        "10.96.0.10#53 169.254.20.10#53 | cluster.local. -> ClusterDns; in-addr.arpa. -> \
         ClusterDns; ip6.arpa. -> ClusterDns; . -> /etc/resolv.conf; loop\n\
         ? template __PILLAR__CLUSTER__DNS__ 10:15\n? template __PILLAR__CLUSTER__DNS__ 22:15\n\
         ? template __PILLAR__CLUSTER__DNS__ 33:15\n\
         ? template __PILLAR__UPSTREAM__SERVERS__ 44:15\n"
    );
    check_file!(
        "localdns.corefile",
        "169.254.10.10#53 | health-check.localdns.local. -> ; reddog.microsoft.com. -> ; . -> \
         168.63.129.16:53; loop\n\
         169.254.10.11#53 | health-check.localdns.local. -> ; cluster.local. -> 10.0.0.10:53; \
         . -> 10.0.0.10:53; loop\n"
    );
}

#[test]
fn places_are_those_of_the_words() {
    let text = ".:53 {\n  forward . 1.1.1.1 127.0.0.1:5353\n}\nx:5353 {\n bind 10.0.0.1\n}\n";
    let servers = servers_of(&[source("/c/Corefile", text)]);
    let server = servers.first().unwrap();
    let places: Vec<String> = server.forwards[0]
        .to
        .iter()
        .map(|to| to.place.to_string())
        .collect();
    assert_eq!(places, ["/c/Corefile:2:13", "/c/Corefile:2:21"]);
    assert_eq!(server.listens[0].evidence.to_string(), "/c/Corefile:1:1");
    assert_eq!(
        servers[1].listens[0].evidence.to_string(),
        "/c/Corefile:5:7"
    );
}

#[test]
fn servers_are_written_in_many_ways() {
    let check = |to: &str, expected: &str| {
        let text = format!(". {{\n forward . {to}\n}}");
        check(&text, &format!("*#53 | . -> {expected};\n"));
    };
    check("10.0.0.1", "10.0.0.1:53");
    check("dns://10.0.0.1:1053", "10.0.0.1:1053");
    check("10.0.0.1:domain", "10.0.0.1:53");
    check("2001:db8::1", "[2001:db8::1]:53");
    check("[2001:db8::1]:1053", "[2001:db8::1]:1053");
    check("fe80::1%eth0", "[fe80::1]:53");
    check("[fe80::1%eth0]:53", "[fe80::1]:53");
    check("tls://9.9.9.9", "9.9.9.9:853");
    check("tls://9.9.9.9%dns.quad9.net:10853", "9.9.9.9:10853");
    check("/etc/resolv.conf", "/etc/resolv.conf");
    check("./resolv.conf", "./resolv.conf");
    check("dns.example", "Other(\"dns.example\")");
    check("https://dns.example/q", "Other(\"https://dns.example/q\")");
    check("10.0.0.1 /x", "10.0.0.1:53 /x (Random)");
    check(
        "10.0.0.1 10.0.0.2 {\n policy sequential\n }",
        "10.0.0.1:53 10.0.0.2:53 (Sequential)",
    );
    check(
        "10.0.0.1 10.0.0.2 {\n force_tcp\n max_fails 3 policy round_robin\n }",
        "10.0.0.1:53 10.0.0.2:53 (RoundRobin)",
    );
}

#[test]
fn what_is_not_known_is_said() {
    check(
        ". {\n forward . {$UP} __PILLAR__DNS__DOMAIN__\n}",
        "*#53 | . -> Other(\"{$UP}\") Other(\"__PILLAR__DNS__DOMAIN__\") (Random);\n\
         ? variable {$UP} 2:12\n? variable __PILLAR__DNS__DOMAIN__ 2:18\n",
    );
    check(
        ". {\n alternate x\n forward . 1.1.1.1 {\n  what 1\n }\n}",
        "*#53 | . -> 1.1.1.1:53;\n\
         ? option what 4:3\n? plugin alternate 2:2\n",
    );
    let sixteen = " 1.1.1.1".repeat(16);
    check(
        &format!(". {{\n forward .{sixteen}\n loop\n}}"),
        &format!(
            "*#53 | . ->{} (Random); loop\n? stops more than 15 TOs configured 2:2\n",
            " 1.1.1.1:53".repeat(16)
        ),
    );
    check(
        ". {\n import x/*.override\n bind nodelocaldns\n}",
        "|\n? import /c/x/*.override 2:9\n? addresses nodelocaldns 3:7\n",
    );
    check("", "|\n? NoServerBlock\n");
}

#[test]
fn the_most_special_zone_counts() {
    check(
        "corp.example {\n forward . 10.0.0.1\n}\n. {\n forward . 1.1.1.1\n}\n\
         a.corp.example {\n kubernetes\n}",
        "*#53 | a.corp.example. -> ; corp.example. -> 10.0.0.1:53; . -> 1.1.1.1:53;\n",
    );
    check(
        ". {\n forward a.example 10.0.0.1\n forward example 10.0.0.2 {\n  except b.example\n }\n}",
        "*#53 | a.example. -> 10.0.0.1:53; b.example. -> ; example. -> 10.0.0.2:53;\n",
    );
    // The first forward takes all, so that the second gets nothing.
    check(
        ". {\n forward . 1.1.1.1\n forward example 10.0.0.2\n}",
        "*#53 | . -> 1.1.1.1:53;\n",
    );
    check(
        ". {\n forward . 1.1.1.1 {\n  except example\n }\n forward . 2.2.2.2\n}",
        "*#53 | example. -> 2.2.2.2:53; . -> 1.1.1.1:53;\n",
    );
    check(
        ". {\n forward . 1.1.1.1 {\n  next NXDOMAIN\n }\n forward . 2.2.2.2\n}",
        "*#53 | . -> 1.1.1.1:53 2.2.2.2:53 (Sequential);\n",
    );
    check("example {\n forward example.org 1.1.1.1\n}", "*#53 |\n");
}

#[test]
fn plugins_answer_before_forward() {
    let check = |plugin: &str, expected: &str| {
        let text = format!(". {{\n{plugin}\n forward . 1.1.1.1\n}}");
        check(&text, &format!("*#53 |{expected}\n"));
    };
    check("kubernetes x", " x. -> ; . -> 1.1.1.1:53;");
    check("kubernetes x {\n fallthrough\n}", " . -> 1.1.1.1:53;");
    check(
        "kubernetes x {\n fallthrough y.x\n}",
        " y.x. -> 1.1.1.1:53; x. -> ; . -> 1.1.1.1:53;",
    );
    check("hosts {\n 1.1.1.1 a\n fallthrough\n}", " . -> 1.1.1.1:53;");
    check("hosts", "");
    check("hosts /f x", " x. -> ; . -> 1.1.1.1:53;");
    check("file /f x", " x. -> ; . -> 1.1.1.1:53;");
    check(
        "template ANY ANY x {\n rcode NXDOMAIN\n}",
        " x. -> ; . -> 1.1.1.1:53;",
    );
    check(
        "template IN AAAA x {\n rcode NXDOMAIN\n}",
        " . -> 1.1.1.1:53;",
    );
    check("rewrite name a b\ncache 30\nwhoami", " . -> 1.1.1.1:53;");
    check(
        "kubernetes 10.0.0.0/8",
        " 10.in-addr.arpa. -> ; . -> 1.1.1.1:53;",
    );
}

#[test]
fn listeners_make_servers() {
    check(
        "cluster.local:53 {\n bind 169.254.20.10 10.96.0.10\n forward . 10.0.0.9\n}\n\
         .:53 {\n bind 169.254.20.10 10.96.0.10\n forward . __PILLAR__UPSTREAM__SERVERS__\n}\n",
        "10.96.0.10#53 169.254.20.10#53 | cluster.local. -> 10.0.0.9:53; . -> \
         /etc/resolv.conf;\n? template __PILLAR__UPSTREAM__SERVERS__ 7:12\n",
    );
    check(
        "dns://.:5353 {\n forward . 1.1.1.1\n loop\n}\n.:5301 tls://. {\n forward . 2.2.2.2\n}",
        "*#5301 | . -> 2.2.2.2:53;\n*#5353 | . -> 1.1.1.1:53; loop\n*#853 | . -> 2.2.2.2:53;\n",
    );
    check(
        ". {\n bind lo {\n  except ::1\n }\n bind eth0\n}",
        "10.244.0.7#53 127.0.0.1#53 |\n",
    );
    check(". {\n bind 0.0.0.0\n}", "*#53 |\n");
}

#[test]
fn files_of_a_pod_are_told_apart() {
    check_files(
        &[
            source("/v/custom/x.server", "x {\n forward . 1.1.1.1\n}"),
            source(
                "/v/config-volume/Corefile",
                ". {\n}\nimport custom/*.server",
            ),
        ],
        "*#53 | x. -> 1.1.1.1:53;\n",
    );
    check_files(
        &[
            source(
                "/v/kube-dns/upstreamNameservers",
                "[\"10.0.0.1\", \"10.0.0.2:54\"]",
            ),
            source(
                "/v/c/Corefile.base",
                ". {\n forward . __PILLAR__UPSTREAM__SERVERS__\n}",
            ),
        ],
        "*#53 | . -> 10.0.0.1:53 10.0.0.2:54 (Random);\n",
    );
    check_files(
        &[source("/a", ". {\n forward . /r\n}")],
        "*#53 | . -> /r;\n",
    );
    check_files(
        &[
            source("/a", ". {\n forward . /r\n}"),
            source("/b", ". {\n}"),
        ],
        "*#53 | . -> /r;\n",
    );
}

#[test]
fn the_old_proxy_forwards_too() {
    check(
        ".:53 {\n proxy . /etc/resolv.conf {\n  policy first\n  except x\n }\n}",
        "*#53 | x. -> ; . -> /etc/resolv.conf;\n",
    );
    check(
        ". {\n proxy . 8.8.8.8:53 {\n  protocol https_google\n }\n}",
        "*#53 | . -> Other(\"https_google\");\n",
    );
}
