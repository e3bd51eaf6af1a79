use super::*;

/// `KIND COUNT LINE:COLUMN FIRST LAST` for each sighting.
fn shown(sightings: &[Sighting]) -> Vec<String> {
    let time = |time: &Option<String>| time.clone().unwrap_or_else(|| "-".to_owned());
    sightings
        .iter()
        .map(|it| {
            let (first, last) = (time(&it.first), time(&it.last));
            let place = format!("{}:{}", it.place.line, it.place.column);
            format!("{} {} {place} {first} {last}", it.kind.word(), it.count)
        })
        .collect()
}

fn check(log: &[u8], expected: &[&str]) {
    let source = Source::new("log", log);
    let found = shown(&sightings(&source));
    assert_eq!(found, expected, "{}", String::from_utf8_lossy(log));
}

macro_rules! check_file {
    ($name:literal, $expected:expr) => {
        check(
            include_bytes!(concat!("../../../testdata/logs/", $name)),
            &$expected,
        );
    };
}

#[test]
fn logs_of_real_programs() {
    check_file!("healthy.log", []);
    check_file!("loop-fatal.log", ["loop-fatal 1 5:1 - -"]);
    check_file!("loop-fatal-own-address.log", ["loop-fatal 1 5:1 - -"]);
    check_file!("loop-fatal-zone.log", ["loop-fatal 1 5:1 - -"]);
    check_file!("corefile-bad-dup.log", ["loop-fatal 1 4:1 - -"]);
    check_file!(
        "cri-loop-fatal.log",
        ["loop-fatal 1 5:41 2026-11-21T02:07:12.831987544Z 2026-11-21T02:07:12.831987544Z"]
    );
    check_file!("coredns-dnsmasq.log", ["loop-fatal 4 4:1 - -"]);
    check_file!("loop-undetected.log", ["too-many-queries 1 6:1 - -"]);
    check_file!(
        "upstream-refused.log",
        ["upstream-timeout 1 12:1 - -", "upstream-refused 3 6:1 - -"]
    );
    check_file!("upstream-timeout.log", ["upstream-timeout 6 6:1 - -"]);
    check_file!(
        "upstream-unreachable.log",
        ["upstream-unreachable 2 6:1 - -"]
    );
    check_file!("empty-resolv-conf.log", ["start-failed 1 1:1 - -"]);
    check_file!("corefile-bad-proxy.log", ["start-failed 1 1:1 - -"]);
    check_file!("bind-missing-address.log", ["start-failed 1 1:1 - -"]);
    check_file!(
        "dnsmasq-loop-detect.log",
        ["loop-detected 2 7:1 Nov 21 02:12:22 Nov 21 02:12:22"]
    );
    check_file!("unbound-self.log", []);
    check_file!("named-self.log", []);
}

#[test]
fn the_loop_plugin_of_each_version() {
    let new = "[FATAL] plugin/loop: Loop ([::1]:40 -> [::1]:53) detected for zone \".\", see u. \
               Query: \"HINFO 1.2.\"";
    check(new.as_bytes(), &["loop-fatal 1 1:1 - -"]);
    check(
        b"2018-11-21T02:07:12.831Z [FATAL] plugin/loop: Forwarding loop detected in \".\" zone. \
          Exiting. See u. Probe query: \"HINFO 1.2.\".",
        &["loop-fatal 1 1:1 2018-11-21T02:07:12.831Z 2018-11-21T02:07:12.831Z"],
    );
    check(
        b"2018/09/11 07:12:47 [FATAL] plugin/loop: Forwarding loop detected in \".\" zone.",
        &["loop-fatal-doubtful 1 1:1 2018/09/11 07:12:47 2018/09/11 07:12:47"],
    );
    check(
        b"2018/08/11 07:12:47 [FATAL] plugin/loop: Seen \"HINFO IN 1.2.\" more than twice, loop \
          detected",
        &["loop-fatal-doubtful 1 1:1 2018/08/11 07:12:47 2018/08/11 07:12:47"],
    );
    check(
        b"CoreDNS-1.2.6\n [FATAL] plugin/loop: Forwarding loop detected in \".\" zone.",
        &["loop-fatal 1 2:1 - -"],
    );
    check(
        b"2018/09/11 07:12:46 [INFO] CoreDNS-1.2.5\n\
          [FATAL] plugin/loop: Forwarding loop detected in \".\" zone.",
        &["loop-fatal-doubtful 1 2:1 - -"],
    );
}

/// The error of a query in the log of CoreDNS.
fn check_error(error: &str, kind: &str) {
    let line = format!("[ERROR] plugin/errors: 2 a.example. A: {error}");
    check(line.as_bytes(), &[format!("{kind} 1 1:1 - -").as_str()]);
}

#[test]
fn network_errors_tell_loopback_from_upstream() {
    let check = check_error;
    check(
        "read udp 127.0.0.1:40->127.0.0.53:53: i/o timeout",
        "loopback-timeout",
    );
    check(
        "read udp [::1]:40->[::1]:53: i/o timeout",
        "loopback-timeout",
    );
    check(
        "read udp 10.0.0.7:40->10.0.0.7:53: i/o timeout",
        "loopback-timeout",
    );
    check(
        "read udp [fe80::1%eth0]:40->[fe80::1%eth0]:53: i/o timeout",
        "loopback-timeout",
    );
    check(
        "read udp 10.0.0.7:40->10.0.0.1:53: i/o timeout",
        "upstream-timeout",
    );
    check(
        "unreachable backend: read udp 127.0.0.1:40->127.0.0.1:53: i/o timeout",
        "loopback-timeout",
    );
    check("dial tcp 10.0.0.1:53: i/o timeout", "upstream-timeout");
    check("dial tcp 127.0.0.53:53: i/o timeout", "loopback-timeout");
    check(
        "read udp 127.0.0.1:40->127.0.0.53:53: read: connection refused",
        "loopback-refused",
    );
    check(
        "dial tcp [::1]:53: connect: connection refused",
        "loopback-refused",
    );
    check(
        "read udp 10.0.0.7:40->10.0.0.1:53: read: connection refused",
        "upstream-refused",
    );
    check(
        "dial udp [fe80::1%eth0]:53: connect: invalid argument",
        "upstream-unreachable",
    );
    check(
        "read udp 10.0.0.7:40->10.0.0.1:53: read: no route to host",
        "upstream-unreachable",
    );
    check(
        "write udp 10.0.0.7:40->10.96.0.10:53: write: operation not permitted",
        "upstream-unreachable",
    );
}

#[test]
fn other_errors_of_queries_are_told_apart() {
    let check = check_error;
    check("no healthy proxies", "upstream-down");
    check("no healthy upstreams", "upstream-down");
    for error in [
        "dns: overflow unpacking uint16",
        "dns: overflowing header size",
        "dns: bad rdata",
        "dns: short read",
        "dns: id mismatch",
    ] {
        check(error, "upstream-malformed");
    }
    check("EOF", "upstream-closed");
    check("unexpected EOF", "upstream-closed");
    check(
        "read tcp 10.0.0.7:40->10.0.0.1:853: read: connection reset by peer",
        "upstream-closed",
    );
    check(
        "write tcp 10.0.0.7:4->10.0.0.1:53: write: broken pipe",
        "upstream-closed",
    );
    check("tls: DialWithDialer timed out", "upstream-timeout");
    check("x509: certificate is valid for a, not b", "upstream-tls");
    check("context deadline exceeded", "upstream-timeout");
    check(
        "dial tcp 10.0.0.1:53: connect: connection timed out",
        "upstream-timeout",
    );
    check(
        "dial tcp 10.0.0.1:53: connect: host is down",
        "upstream-unreachable",
    );
    check(
        "concurrent queries exceeded maximum 1000",
        "too-many-queries",
    );
}

#[test]
fn other_formats() {
    check(
        b"[ERROR] plugin/errors: 7 errors like '^read udp .* i/o timeout$' occurred in last 30s\n\
          [ERROR] plugin/errors: 3 errors like '^.* i/o timeout$' occured in last 1m0s\n",
        &["upstream-timeout 10 1:1 - -"],
    );
    check(
        br#"{"log":"[ERROR] 2 a. A: read udp 127.0.0.1:1-\u003e127.0.0.1:53: i/o timeout\n","stream":"stdout","time":"2026-11-21T02:07:12.8Z"}"#,
        &["loopback-timeout 1 1:1 2026-11-21T02:07:12.8Z 2026-11-21T02:07:12.8Z"],
    );
    check(
        b"2018/01/11 07:12:47 [ERROR 2 a. A] read udp 127.0.0.1:1->127.0.0.1:53: i/o timeout\r\n\
          2018/01/11 07:12:49 [ERROR 2 b. A] read udp 127.0.0.1:1->127.0.0.1:53: i/o timeout\r\n",
        &["loopback-timeout 2 1:1 2018/01/11 07:12:47 2018/01/11 07:12:49"],
    );
    check(
        b"I0909 12:34:56.789012       1 nanny.go:116] dnsmasq[12]: Maximum number of concurrent \
          DNS queries reached (max: 150)\n",
        &["too-many-queries 1 1:1 I0909 12:34:56.789012 I0909 12:34:56.789012"],
    );
    check(
        b"I0909 12:34:56.789012 1 logs.go:41] skydns: failure to forward request \"read udp \
          10.244.0.5:4->127.0.0.1:53: i/o timeout\"\n",
        &["loopback-timeout 1 1:1 I0909 12:34:56.789012 I0909 12:34:56.789012"],
    );
    check(
        b"21-Nov-2026 02:12:50.103 lame-servers: info: timed out resolving 'a/A/IN': 127.0.0.1#53",
        &["loopback-timeout 1 1:1 21-Nov-2026 02:12:50.103 21-Nov-2026 02:12:50.103"],
    );
    check(
        b"[1795227163] unbound[195:0] error: SERVFAIL <a. A IN>: all the configured stub or forward \
          servers failed, at zone . from 127.0.0.1 upstream server timeout",
        &["loopback-timeout 1 1:1 1795227163 1795227163"],
    );
    check(
        b"Nov  1 02:12:22 node-a dnsmasq[67]: ignoring nameserver 127.0.0.1 - local interface",
        &["own-address 1 1:1 Nov 1 02:12:22 Nov 1 02:12:22"],
    );
    check(
        b"2026-11-21T02:07:12Z stderr F plugin/forward: no valid upstream addresses found",
        &["start-failed 1 1:31 2026-11-21T02:07:12Z 2026-11-21T02:07:12Z"],
    );
}

/// What CoreDNS says of a reload that failed it says twice, the second time with the
/// reason in other words; the next one that does not fail is the end of it.
#[test]
fn reloads() {
    let failed = "[INFO] Reloading\n[ERROR] Restart failed: listen tcp :9153: bind: address already \
                  in use\n[ERROR] plugin/reload: Corefile changed but reload failed: listen tcp \
                  :9153: bind: address already in use\n";
    check(failed.as_bytes(), &["start-failed 1 3:1 - -"]);
    let complete = format!("{failed}[INFO] Reloading\n[INFO] Reloading complete\n");
    check(complete.as_bytes(), &[]);
    check(
        format!("{complete}{failed}").as_bytes(),
        &["start-failed 1 8:1 - -"],
    );
    let asked = format!("{failed}[INFO] 10.0.0.7:4 - 3 \"A IN Reloading\\032complete. udp 3\"");
    check(asked.as_bytes(), &["start-failed 1 3:1 - -"]);
}

/// Services are then answered from what was heard before, or with SERVFAIL: no server loops.
#[test]
fn a_lost_kubernetes_api_is_no_upstream_server() {
    for error in [
        "[WARNING] plugin/kubernetes: Kubernetes API connection failure: Get \
         \"https://10.96.0.1:443/version\": dial tcp 10.96.0.1:443: connect: connection refused",
        "[ERROR] plugin/kubernetes: Unhandled Error: Failed to list *v1.Service: Get \
         \"https://[fd00::1]:443/api\": dial tcp [fd00::1]:443: connect: no route to host",
        "pkg/client-go/tools/cache/reflector.go:243: failed to list *v1.Service: Get \
         \"https://127.0.0.1:6443/api\": dial tcp 127.0.0.1:6443: i/o timeout",
    ] {
        check(error.as_bytes(), &["api-unreachable 1 1:1 - -"]);
    }
    for error in [
        "client-go/tools/cache/reflector.go:167: Failed to watch *v1.EndpointSlice: failed to list \
         *v1.EndpointSlice: endpointslices.discovery.k8s.io is forbidden: User \
         \"system:serviceaccount:kube-system:coredns\" cannot list resource",
        "[ERROR] plugin/kubernetes: Unhandled Error: Failed to list *v1.Service: Unauthorized",
    ] {
        check(error.as_bytes(), &["api-forbidden 1 1:1 - -"]);
    }
    check(
        b"[ERROR] plugin/kubernetes: Failed to list *v1.Service: dial tcp: lookup api.test on \
          127.0.0.53:53: read udp 127.0.0.1:4->127.0.0.53:53: i/o timeout",
        &["loopback-timeout 1 1:1 - -"],
    );
    check(
        b"[INFO] plugin/kubernetes: waiting for Kubernetes API before starting server",
        &[],
    );
}

#[test]
fn names_in_queries_show_nothing() {
    check(
        b"[INFO] 10.0.0.7:4 - 3 \"A IN i/o\\032timeout.plugin/loop:. udp 3 false 512\" NXDOMAIN",
        &[],
    );
    check(
        b"[INFO] 10.0.0.7:4 - 3 \"A IN dns:.EOF. udp 3 false 512\" NOERROR",
        &[],
    );
    check(b"[INFO] plugin/x: dns: EOF", &[]);
    check(b"\xff\x00{\"log\":\n\n{\"log\":1}\n{\"log\":\"x", &[]);
    check(
        b"2026-11-21T02:07:12Z stdout \xc3\xa9\xff i/o timeout",
        &["upstream-timeout 1 1:1 2026-11-21T02:07:12Z 2026-11-21T02:07:12Z"],
    );
}

#[test]
fn long_lines_are_cut() {
    let mut line = b"[ERROR] i/o timeout ".to_vec();
    line.resize(100_000, b'x');
    let log = Source::new("log", line);
    assert_eq!(sightings(&log)[0].text.chars().count(), MAX_SHOWN);
}
