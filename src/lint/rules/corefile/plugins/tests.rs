use super::*;
use crate::config::corefile;
use crate::text::Source;

/// What is wrong with the first directive of a server block that holds `text`.
fn wrong(text: &str, version: Option<Version>) -> bool {
    let source = Source::new("Corefile", format!(".:53 {{\n{text}\n}}\n"));
    let corefile = corefile::parse(source, &[]);
    let Some(block) = corefile.blocks.first() else {
        return true;
    };
    let Some(directive) = block.directives.first() else {
        return true;
    };
    refused_arguments(directive, version).is_some()
        || refused_together(block, directive, version).is_some()
        || missing_property(directive, version).is_some()
        || !wrong_lines(directive, version).is_empty()
}

/// Directives, and whether they are refused.
const DIRECTIVES: &[(&str, bool)] = &[
    ("cache 30", false),
    ("cache 0", true),
    ("cache example.org", false),
    ("cache 30 {\n success 5000 3600 60\n denial 2500\n}", false),
    ("cache {\n success\n}", true),
    ("cache {\n prefetch 10 1m 10%\n}", false),
    ("cache {\n prefetch 10 1m 5%\n}", true),
    ("cache {\n serve_stale 1h verify\n}", false),
    ("cache {\n serve_stale 1h Verify 3s\n}", false),
    ("cache {\n serve_stale 1h later\n}", true),
    ("cache {\n servfail 6m\n}", true),
    ("cache {\n disable success a.example\n}", false),
    ("health {\n lameduck 5s\n}", false),
    ("health {\n lameduck 5\n}", true),
    ("health 8080", true),
    ("health :8080", false),
    ("health {$ADDRESS}", false),
    ("ready 127.0.0.1:8181", false),
    ("ready [::1]:8181", false),
    ("loop now", true),
    ("errors stderr", true),
    (
        "errors {\n consolidate 5m \".*i/o timeout$\" warning\n}",
        false,
    ),
    ("errors {\n consolidate 5m\n}", true),
    (
        "kubernetes cluster.local {\n pods verified\n ttl 30\n}",
        false,
    ),
    ("kubernetes cluster.local {\n pods yes\n}", true),
    ("kubernetes cluster.local {\n ttl 3601\n}", true),
    ("kubernetes cluster.local {\n TTL 30\n}", true),
    (
        "kubernetes cluster.local {\n endpoint_pod_names yes\n}",
        true,
    ),
    ("forward . 192.0.2.1 {\n max_concurrent 1000\n}", false),
    ("forward . 192.0.2.1 {\n max_concurrent many\n}", true),
    (
        "forward . 192.0.2.1 {\n health_check 5s no_rec domain a.example\n}",
        false,
    ),
    ("forward . 192.0.2.1 {\n health_check 5s domain\n}", true),
    ("forward . 192.0.2.1 {\n policy first\n}", true),
    ("forward . 192.0.2.1 {\n force_tcp yes\n}", true),
    ("hosts {\n 192.0.2.1 a.example\n fallthrough\n}", false),
    ("hosts {\n fallthrough\n 192.0.2.1 a.example\n}", true),
    ("hosts {\n ttl 0\n}", true),
    ("reload 1s", true),
    ("reload 10s 500ms", true),
    ("reload 30s 0s", false),
    ("bufsize 1232", false),
    ("bufsize 100", true),
    (
        "template IN A {\n answer \"{{ .Name }} 60 IN A 192.0.2.1\"\n}",
        false,
    ),
    ("template A IN", true),
    ("acl {\n BLOCK type A net 192.0.2.0/24\n}", false),
    ("acl {\n deny net *\n}", true),
    ("azure group:example.org", false),
    ("azure :", true),
    ("clouddns example.org.:project:", true),
    ("route53 example.org.:Z1:Z2", false),
    ("route53 example.org.:Z1 example.org.:Z1", true),
    ("route53 a.example.:Z1 {\n refresh 60\n}", false),
    ("route53 a.example.:Z1 {\n refresh -1m\n}", true),
    ("route53 a.example.:Z1 {\n credentials a b c\n}", true),
    ("dnssec {\n key file\n}", true),
    ("errors {\n consolidate 1m ())\n}", true),
    ("errors {\n consolidate 1m [])(]x[[:^alpha:]\\d]\n}", false),
    ("errors {\n consolidate 1m *timeout\n}", true),
    ("errors {\n consolidate 1m [^[:]+[[:]\n}", false),
    ("https {\n max_connections 1\n max_connections 2\n}", true),
    ("kubernetes {\n pods insecure\n pods verified\n}", false),
    ("template ANY X", true),
    ("template IN NSAP-PTR", false),
    ("template IN A {\n match [a\n}", true),
    ("rewrite stop name regex (.*)\\.a) {1}.b.example", true),
    (
        "rewrite stop name regex (.*)\\.a {1}.b.example answer auto",
        false,
    ),
    ("rewrite name a.example b.example", false),
    (
        "rewrite stop {\n name regex (.*) {1}\n answer auto\n}",
        false,
    ),
    ("rewrite name a.example", true),
    ("rewrite names a.example b.example", true),
    ("rewrite class IN CH more", true),
    ("transfer a.example {\n source 192.0.2.1\n}", true),
    ("timeouts {\n read 10s\n idle 30\n}", false),
    ("timeouts {\n read 0\n}", true),
    ("metadata a.example", false),
    ("metadata a.example {\n some\n}", true),
    ("loadbalance round_robin", false),
    ("loadbalance weighted weights.txt", false),
    ("loadbalance weighted", true),
    ("timeouts {\n maxtcpqueries -1\n}", false),
    ("transfer {\n to *\n}", false),
    ("transfer {\n to [fe80::1%eth0]:53 192.0.2.1\n}", false),
    ("transfer {\n to ns.example\n}", true),
    ("dns64 64:ff9b::/96", false),
    ("dns64 64:ff9b::/100", true),
    ("acl {\n block type A net 192.0.2.0/33\n}", true),
    ("acl {\n block type ABC net *\n}", true),
    ("acl {\n block A net *\n}", true),
    ("acl {\n block net\n}", true),
    ("acl {\n allow net 2001:db8::1 192.0.2.1 type A *\n}", false),
    ("autopath kubernetes", true),
    ("autopath @kubernetes", false),
    ("autopath resolv.conf", false),
    ("auto {\n directory /zones .* {1}\n}", true),
    ("auto {\n directory /zones (.*) {1}\n}", false),
    ("auto {\n directory /zones (.*)\n}", true),
    ("forward . https://192.0.2.1/dns-query", true),
    ("forward . https://192.0.2.1", false),
    ("forward . grpc://192.0.2.1", true),
    ("forward . 192.0.2.1 {\n max_age 5s\n}", true),
    ("forward . 192.0.2.1 {\n max_age 5s\n expire 5s\n}", false),
    ("forward . 192.0.2.1 {\n read_timeout 0s\n}", true),
    (
        "forward . 192.0.2.1 {\n health_check 1s domain a..b\n}",
        true,
    ),
    ("forward . 192.0.2.1 {\n health_check 1s domain .\n}", false),
    ("kubernetes {\n labels a in (b, c\n}", true),
    ("kubernetes {\n namespaces a\n namespace_labels b\n}", true),
    ("kubernetes a.example {\n multicluster b.example\n}", true),
    (
        "kubernetes a.example b.example {\n multicluster b.example.\n}",
        false,
    ),
    ("hosts {\n fallthrough_unsupported\n}", true),
    ("cache {\n serve_stale_policy prefer_positive\n}", true),
    ("cache {\n serve_stale 1h immediate 100ms\n}", true),
    ("cache {\n serve_stale 1h verify 100ms 30s\n}", false),
    ("trace jaeger localhost:1", true),
    ("trace localhost:1", false),
    ("geoip a.mmdb b.mmdb", true),
    ("header {\n set ra\n}", false),
    ("secondary", false),
    ("grpc . a27.0.0.1", true),
    ("grpc . 192.0.2.1:50051 /etc/resolv.conf", false),
    ("nobodys plugin {\n at all\n}", false),
];

#[test]
fn what_stands_behind_plugins() {
    for (text, is_refused) in DIRECTIVES {
        assert_eq!(wrong(text, None), *is_refused, "{text}");
    }
}

#[test]
fn properties_have_versions() {
    let of = |minor| Some(Version::release(1, minor, 0));
    for (text, version, is_refused) in [
        ("cache {\n keepttl\n}", None, false),
        ("cache {\n keepttl\n}", of(9), true),
        ("cache {\n keepttl\n}", of(11), false),
        ("kubernetes {\n resyncperiod 5m\n}", of(6), false),
        ("kubernetes {\n resyncperiod 5m\n}", of(9), true),
        ("etcd {\n min-lease-ttl 10s\n}", of(13), false),
        ("etcd {\n min-lease-ttl 10s\n}", of(12), true),
        ("dnstap a.sock full 1025", of(12), false),
        ("dnstap a.sock full 1025", of(13), true),
        ("dnstap a.sock full 1024 4096", of(13), false),
        ("dnstap listen", of(14), false),
        ("secondary", of(12), false),
        ("secondary", of(13), true),
        ("header {\n set ra\n}", of(12), false),
        ("header {\n set ra\n}", of(13), true),
        ("forward . https://192.0.2.1", of(13), true),
        ("cache {\n serve_stale 1h verify 100ms\n}", of(13), true),
        (
            "rewrite name regex a b answer name c d name e",
            of(13),
            true,
        ),
        (
            "rewrite name regex a b answer name c d value e f",
            of(13),
            false,
        ),
    ] {
        assert_eq!(wrong(text, version), is_refused, "{text} {version:?}");
    }
}

#[test]
fn durations_are_those_of_go() {
    use super::kind::Kind;
    let duration = Kind::named("duration");
    for word in ["5s", "1h30m", "0", "-1.5h", "100ms", ".5s", "2\u{b5}s"] {
        assert!(duration.is_met(word), "{word}");
    }
    for word in ["5", "", "s", "5 s", "1d", "5S", "1h30", "-"] {
        assert!(!duration.is_met(word), "{word}");
    }
}
