use super::*;
use crate::config::{haproxy_cfg, nginx_conf};
use crate::scenario::own::{Given, Order};
use crate::text::Source;

fn read(daemon: Daemon, text: &str) -> Names {
    let source = Source {
        name: "f".to_owned(),
        bytes: text.as_bytes().to_vec(),
    };
    let statements = match daemon {
        Daemon::Nginx => nginx_conf::parse(&source, 0).statements,
        Daemon::Haproxy => haproxy_cfg::parse(&source, 0),
        Daemon::Envoy => Vec::new(),
    };
    let files = vec![source];
    names(daemon, &Statements { files, statements }, Vec::new())
}

fn shown(names: &Names) -> String {
    let given = |it: &Given| match it {
        Given::Server(server) => server.to_string(),
        Given::Name(name, port) => format!("{name}!{port}"),
        Given::ResolvConf => "resolv.conf".to_owned(),
        Given::Unknown(word) => format!("?{word}"),
    };
    let one = |it: &Section| {
        let servers: Vec<String> = it.own.servers.iter().map(|it| given(&it.value)).collect();
        let place = &it.place;
        format!("{place} {}: {}", it.label, servers.join(" "))
    };
    let all: Vec<String> = names.sections.iter().map(one).collect();
    all.join("|")
}

fn check(daemon: Daemon, text: &str, expected: &str) -> Names {
    let names = read(daemon, text);
    assert_eq!(shown(&names), expected, "{text:?}");
    names
}

#[test]
fn nginx_has_directives_where_they_hold() {
    let names = check(
        Daemon::Nginx,
        "http {\n server { location /a { resolver 10.0.0.2:5353 [fd00::10]:53 [::1] dns.test; } }\n \
         resolver 10.0.0.1 valid=30s ipv6=off;\n resolver_timeout 1m5s;\n}\n",
        "f:2:25 location /a: 10.0.0.2#5353 fd00::10 ::1 dns.test!53|f:3:2 http: 10.0.0.1",
    );
    let counting = names.counting("a").unwrap();
    assert_eq!(counting.label, "http");
    assert_eq!(counting.settings, ["valid=30s", "ipv6=off"]);
    assert!(counting.own.has_ipv4 && !counting.own.has_ipv6);
    let times = names.sections.iter().map(|it| it.own.timeout);
    assert!(
        times
            .into_iter()
            .all(|it| it.is_some_and(|it| it.as_secs() == 65))
    );
    assert!(names.is_whole() && names.scripts.is_none());
    let none = check(
        Daemon::Nginx,
        "http { server { proxy_pass http://a; } }",
        "",
    );
    assert!(none.counting("a").is_none());
    let scripts = check(Daemon::Nginx, "http { content_by_lua_block { x } }", "");
    assert_eq!(scripts.scripts.unwrap().to_string(), "f:1:8");
    check(
        Daemon::Nginx,
        "resolver $a 10.0.0.1:x 10.0.0.1:0 [x] \u{1b};",
        "f:1:1 main: ?$a ?10.0.0.1:x ?10.0.0.1:0 ?[x] ?\\u{1b}",
    );
}

#[test]
fn haproxy_has_sections_that_are_used() {
    let names = check(
        Daemon::Haproxy,
        "resolvers a\n nameserver x 10.0.0.1:53\nresolvers b\n parse-resolv-conf\n \
         nameserver y udp@[::1]:5353\n nameserver z dns.test:53\n nameserver t tcp@10.0.0.1:53\n \
         nameserver u ${DNS}:53\n nameserver v 10.0.0.1\n timeout retry 500\n resolve_retries 5\n \
         accepted_payload_size 8192\n hold valid 10s\nbackend c\n server s app:80 check resolvers b\n",
        "f:1:1 a: 10.0.0.1|f:3:1 b: resolv.conf ::1#5353 dns.test!53 ?tcp@10.0.0.1:53 ?${DNS}:53 ?10.0.0.1",
    );
    let counting = names.counting("a").unwrap();
    assert_eq!(counting.label, "b");
    let used = counting.used.as_ref().map(ToString::to_string);
    assert_eq!(used.as_deref(), Some("f:15:34"));
    assert_eq!(counting.own.retry.map(|it| it.as_millis()), Some(500));
    assert_eq!(counting.own.retries, Some(5));
    assert_eq!(counting.own.edns_size, Some(8192));
    assert!(counting.own.has_resolv_conf() && counting.own.has_unknown());
    let rule = check(
        Daemon::Haproxy,
        "resolvers a\nfrontend f\n http-request do-resolve(txn.a,a,ipv4) req.hdr(host)\n",
        "f:1:1 a: ",
    );
    assert!(rule.counting("a").is_some());
    let unused = check(
        Daemon::Haproxy,
        "resolvers a\nbackend b\n server s x:1\n",
        "f:1:1 a: ",
    );
    assert!(unused.counting("a").is_none() && unused.is_whole());
    let condition = read(Daemon::Haproxy, "global\n.if defined(A)\n.endif\n");
    assert!(!condition.is_whole());
    let many = ".if defined(A)\n.endif\n".repeat(MAX_SERVERS + 1);
    let many = read(Daemon::Haproxy, &format!("global\n{many}"));
    assert_eq!(many.unread.len(), MAX_SERVERS);
}

#[test]
fn a_command_line_tells_where_the_configuration_is() {
    let check = |daemon, words: &[&str], built: Option<&str>, expected: Option<(&str, &str)>| {
        let words: Vec<String> = words.iter().map(|&it| it.to_owned()).collect();
        let found = start(daemon, &words, built);
        let found = found.map(|it| (it.paths.join(" "), it.prefix.unwrap_or_default()));
        let found = found.as_ref().map(|it| (it.0.as_str(), it.1.as_str()));
        assert_eq!(found, expected, "{words:?}");
    };
    let built = Some("--with-x='a b' --prefix=/usr/share/nginx --conf-path=/etc/n/nginx.conf");
    let of_build = Some(("/etc/n/nginx.conf", "/usr/share/nginx"));
    check(
        Daemon::Nginx,
        &["nginx", "-g", "daemon off;"],
        built,
        of_build,
    );
    check(
        Daemon::Nginx,
        &["nginx: master process nginx -c conf/a.conf -p /srv -g daemon off;"],
        built,
        Some(("conf/a.conf", "/srv")),
    );
    check(Daemon::Nginx, &["nginx: worker process"], built, None);
    check(
        Daemon::Nginx,
        &["/usr/sbin/nginx"],
        None,
        Some(("/etc/nginx/nginx.conf", "/usr/local/nginx")),
    );
    check(
        Daemon::Haproxy,
        &[
            "haproxy", "-W", "-C", "/etc", "-f", "a.cfg", "-f", "b", "-sf", "8", "--", "c",
        ],
        None,
        Some(("a.cfg b c", "/etc")),
    );
    check(Daemon::Haproxy, &["haproxy", "-v"], None, None);
}

fn envoy(texts: &[&str]) -> Names {
    let files = texts.iter().map(|it| Source::new("f", it.as_bytes()));
    let files = files.collect();
    let statements = Vec::new();
    names(Daemon::Envoy, &Statements { files, statements }, Vec::new())
}

const CLUSTERS: &str = "\
static_resources:
  clusters:
  - name: db
    type: STRICT_DNS
    dns_lookup_family: V4_ONLY
    dns_refresh_rate: 30s
    load_assignment:
      endpoints:
      - lb_endpoints:
        - endpoint: {address: {socket_address: {address: db.shop, port_value: 80}}}
        - endpoint: {address: {socket_address: {address: 10.0.0.9, port_value: 80}}}
  - name: fixed
    type: STATIC
  - name: cache
    cluster_type:
      name: envoy.cluster.dns
      typed_config:
        dns_lookup_family: ALL
        typed_dns_resolver_config:
          typed_config:
            '@type': type.googleapis.com/envoy.extensions.network.dns_resolver.cares.v3.CaresDnsResolverConfig
            resolvers: [{socket_address: {address: 10.0.0.2, port_value: 5353}}, {socket_address: {address: x.test}}]
            use_resolvers_as_fallback: true
            query_timeout_seconds: 2
            dns_resolver_options: {no_default_search_domain: true}
  - name: libc
    type: LOGICAL_DNS
    typed_dns_resolver_config:
      typed_config: {'@type': a/GetAddrInfoDnsResolverConfig}
dynamic_resources: {}
";

#[test]
fn envoy_asks_for_each_cluster_by_itself() {
    let names = envoy(&[CLUSTERS]);
    let expected = "f:3:11 db: resolv.conf|f:14:11 cache: resolv.conf 10.0.0.2#5353 ?x.test\
                    |f:26:11 libc: resolv.conf";
    assert_eq!(shown(&names), expected);
    let [db, cache, libc] = names.sections.as_slice() else {
        panic!("{names:?}");
    };
    assert_eq!(db.names, ["db.shop"]);
    assert_eq!(
        db.settings,
        [
            "STRICT_DNS",
            "dns_lookup_family: V4_ONLY",
            "dns_refresh_rate: 30s"
        ]
    );
    assert!(db.own.has_ipv4 && !db.own.has_ipv6 && db.own.has_search && !db.is_libc);
    assert_eq!(cache.own.order, Order::Together);
    assert_eq!(cache.own.retry.map(|it| it.as_secs()), Some(2));
    assert!(cache.own.has_ipv6 && !cache.own.has_search);
    assert!(libc.is_libc && libc.own.order == Order::Ipv6First);
    assert_eq!(names.counting("db.shop").unwrap().label, "db");
    let place = names.scripts.as_ref().map(ToString::to_string);
    assert_eq!(place.as_deref(), Some("f:30:20"));
    assert!(names.is_whole());
}

#[test]
fn envoys_command_line_is_laid_over_its_file() {
    let json = r#"{"typedDnsResolverConfig": {"typedConfig": {"@type": "a/CaresDnsResolverConfig", "resolvers": [{"socketAddress": {"address": "10.0.0.3"}}]}},
        "staticResources": {"clusters": [{"name": "x", "type": "STRICT_DNS"}]}}"#;
    let names = envoy(&[CLUSTERS, json]);
    let last = "|f:2:51 x: 10.0.0.3";
    assert!(shown(&names).ends_with(last), "{}", shown(&names));
    assert!(shown(&names).starts_with("f:3:11 db: 10.0.0.3|"));
}

#[test]
fn what_is_no_bootstrap_is_said() {
    let deep = "[".repeat(100_000);
    let long = "a".repeat(1 << 20);
    for text in [
        "",
        "- a\n",
        "a: [\n",
        "\u{1b}[0m",
        &deep,
        &long,
        "a: 1\r\n- b\r\n",
    ] {
        let names = envoy(&[text]);
        assert!(!names.is_whole() && names.sections.is_empty());
        let said = names.unread.concat();
        assert!(!said.contains(char::is_control) && said.len() < 1000);
    }
    let names =
        envoy(&["static_resources: {clusters: [1, {type: STRICT_DNS, dns_lookup_family: X\\}]}"]);
    assert!(!names.is_whole());
}

#[test]
fn envoys_configuration_is_where_its_options_say() {
    let check = |words: &[&str], expected: Option<(&[&str], &[&str])>| {
        let words: Vec<String> = words.iter().map(|&it| it.to_owned()).collect();
        let found = start(Daemon::Envoy, &words, None).map(|it| (it.paths, it.texts));
        let owned = |it: &[&str]| it.iter().map(|&it| it.to_owned()).collect::<Vec<_>>();
        assert_eq!(
            found,
            expected.map(|(a, b)| (owned(a), owned(b))),
            "{words:?}"
        );
    };
    check(
        &["envoy", "-c", "a.yaml", "-l", "info"],
        Some((&["a.yaml"], &[])),
    );
    check(
        &[
            "envoy",
            "--config-path",
            "a",
            "--config-yaml",
            "a: 1\\u{a}b: 2",
        ],
        Some((&["a"], &["a: 1\nb: 2"])),
    );
    check(&["envoy", "--", "-c", "a"], None);
    check(&["envoy", "-c"], None);
}
