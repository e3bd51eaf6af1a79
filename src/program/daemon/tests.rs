use super::*;
use crate::config::{haproxy_cfg, nginx_conf};
use crate::scenario::own::Given;
use crate::text::Source;

fn read(daemon: Daemon, text: &str) -> Names {
    let source = Source {
        name: "f".to_owned(),
        bytes: text.as_bytes().to_vec(),
    };
    let statements = match daemon {
        Daemon::Nginx => nginx_conf::parse(&source, 0).statements,
        Daemon::Haproxy => haproxy_cfg::parse(&source, 0),
    };
    let files = vec![source];
    names(daemon, &NamedConf { files, statements }, Vec::new())
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
    let counting = names.counting().unwrap();
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
    assert!(none.counting().is_none());
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
    let counting = names.counting().unwrap();
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
    assert!(rule.counting().is_some());
    let unused = check(
        Daemon::Haproxy,
        "resolvers a\nbackend b\n server s x:1\n",
        "f:1:1 a: ",
    );
    assert!(unused.counting().is_none() && unused.is_whole());
    let condition = read(Daemon::Haproxy, "global\n.if defined(A)\n.endif\n");
    assert!(!condition.is_whole());
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
