//! Lookups whose text is looked at.

/// One server that is silent about everything.
pub(crate) const SILENT: &str = r#"{"name": "x", "resolv_conf": "nameserver 10.96.0.10\noptions timeout:2 attempts:1\n",
    "answers": [{"reply": "TIMEOUT"}]}"#;
/// One that knows `db.b.test`.
pub(crate) const FOUND: &str = r#"{"name": "x", "resolv_conf": "search a.test b.test c.test\nnameserver 10.96.0.10\n",
    "answers": [{"name": "db.b.test", "reply": "ANSWER", "a": ["192.0.2.9"]}]}"#;

/// A lookup as text.
pub(crate) struct Scene {
    pub(crate) name: &'static str,
    pub(crate) scenario: &'static str,
    pub(crate) words: &'static [&'static str],
    pub(crate) status: i64,
    /// Parts of the text, in order, blanks put together.
    pub(crate) parts: &'static [&'static str],
}

pub(crate) const SHOWN: &[Scene] = &[
    Scene {
        name: "an_answer_ends_the_search",
        scenario: FOUND,
        words: &["--resolver", "glibc", "-v", "db"],
        status: 0,
        parts: &[
            "db as glibc (2.36): after",
            "4 queries (planned: 8 if the name does not exist)",
            "1 db.a.test. (search 1)",
            "A 10.96.0.10 NXDOMAIN in",
            "2 db.b.test. (search 2)",
            "A 10.96.0.10 192.0.2.9 in",
            "AAAA 10.96.0.10 NODATA in",
            "answer at candidate 2: glibc stops here, 4 of 8 queries",
            "db is found in",
            "with 4 queries: 192.0.2.9.",
        ],
    },
    Scene {
        name: "a_line_as_each_query_is_answered",
        scenario: FOUND,
        words: &["--resolver", "glibc", "db"],
        status: 0,
        parts: &[
            "db as glibc (2.36) db.a.test.",
            "10.96.0.10 NXDOMAIN in",
            "db.b.test.",
            "192.0.2.9 in",
            "db is found in",
            "with 4 queries: 192.0.2.9.",
        ],
    },
    Scene {
        name: "a_wildcard_takes_a_name_of_the_world",
        scenario: r#"{"name": "x", "resolv_conf": "search x.svc.cluster.local svc.cluster.local cluster.local corp.test\nnameserver 10.96.0.10\noptions ndots:5\n",
            "answers": [{"name": "quay.io.corp.test", "reply": "ANSWER", "a": ["192.0.2.9"]}]}"#,
        words: &["--resolver", "glibc", "--type", "A", "quay.io"],
        status: 0,
        parts: &[
            "quay.io is answered as quay.io.corp.test; quay.io itself is never asked.",
            "Why: corp.test (/etc/resolv.conf:1:60) is in the search list",
            "kdns dig kdns-check.corp.test tells",
            "Fix: write quay.io. with its final dot",
        ],
    },
    Scene {
        name: "a_silent_first_server_is_the_conclusion",
        scenario: r#"{"name": "x", "resolv_conf": "nameserver 10.96.0.99\nnameserver 10.96.0.10\noptions timeout:1\n", "answers": [
            {"server": "10.96.0.99", "reply": "TIMEOUT"}, {"reply": "ANSWER", "a": ["192.0.2.9"]}]}"#,
        words: &["--resolver", "glibc", "--type", "A", "db.x"],
        status: 0,
        parts: &[
            "A 10.96.0.99 no answer in 1",
            "A 10.96.0.10 192.0.2.9 in",
            "A 10.96.0.99 ██",
            "no answer A 10.96.0.10",
            "db.x is found in 1",
            "with 2 queries: 192.0.2.9; the first name server, 10.96.0.99, never answers.",
            "Why: glibc waits 1",
            "s for 10.96.0.99 (/etc/resolv.conf:1:12), then 10.96.0.10 answers in",
            "Fix: make 10.96.0.99 answer, or take it out of /etc/resolv.conf:1:12",
        ],
    },
    Scene {
        name: "a_record_type_without_answers_is_the_conclusion",
        scenario: r#"{"name": "x", "resolv_conf": "nameserver 10.96.0.10\noptions timeout:3 attempts:1\n", "answers": [
            {"type": "AAAA", "reply": "TIMEOUT"}, {"reply": "ANSWER", "a": ["192.0.2.9"]}]}"#,
        words: &["--resolver", "musl", "db.x"],
        status: 1,
        parts: &[
            "AAAA 10.96.0.10 no answer in 3",
            "the name server 10.96.0.10 does not answer AAAA queries.",
            "musl-1.2.5 waits 3",
            "s for the AAAA answer of 10.96.0.10",
        ],
    },
    Scene {
        name: "one_of_many_lookups_is_slow",
        scenario: r#"{"name": "x", "resolv_conf": "nameserver 10.96.0.10\noptions timeout:1\n", "answers": [
            {"upto": 1, "reply": "ANSWER", "a": ["192.0.2.9"]}, {"nth": 2, "reply": "TIMEOUT"},
            {"reply": "ANSWER", "a": ["192.0.2.9"]}]}"#,
        words: &[
            "--resolver",
            "glibc",
            "--type",
            "A",
            "--repeat",
            "4",
            "db.x",
        ],
        status: 0,
        parts: &[
            "lookup 3 is found in 1",
            "with 2 queries: 192.0.2.9",
            "db.x as glibc (2.36), 4 lookups: 3 take",
            "1 went wrong.",
            "the name server 10.96.0.10 does not answer every query.",
            "Why: 1 of 2 queries to 10.96.0.10",
        ],
    },
    Scene {
        name: "truncation_leads_to_tcp",
        scenario: r#"{"name": "x", "resolv_conf": "nameserver 10.96.0.10\n", "answers": [
            {"proto": "udp", "reply": "TC"}, {"reply": "ANSWER", "a": ["192.0.2.9"]}]}"#,
        words: &["--resolver", "glibc", "-v", "--type", "A", "db.x"],
        status: 0,
        parts: &[
            "A 10.96.0.10 truncated in",
            "truncated: glibc asks again over TCP",
            "A 10.96.0.10 TCP 192.0.2.9 in",
        ],
    },
    Scene {
        name: "a_closed_tcp_port",
        scenario: r#"{"name": "x", "resolv_conf": "nameserver 10.96.0.10\noptions attempts:1\n", "answers": [
            {"proto": "tcp", "reply": "ICMP"}, {"reply": "TC"}]}"#,
        words: &["--resolver", "glibc", "--type", "A", "db.x"],
        status: 1,
        parts: &["truncated in", "TCP no connection: connection refused"],
    },
    Scene {
        name: "a_closed_port_leads_to_the_next_server",
        scenario: r#"{"name": "x", "resolv_conf": "nameserver 10.96.0.10\nnameserver 10.96.0.11\n", "answers": [
            {"server": "10.96.0.10", "reply": "ICMP"}, {"reply": "ANSWER", "a": ["192.0.2.9"]}]}"#,
        words: &["--resolver", "glibc", "-v", "db.x"],
        status: 0,
        parts: &[
            "10.96.0.10 closed port (connection refused) in",
            "closed port: glibc goes on to the next server, 10.96.0.11",
            "10.96.0.11 192.0.2.9 in",
            "the first name server, 10.96.0.10, has a closed port.",
            "Why: port 53 of 10.96.0.10 is closed (/etc/resolv.conf:1:12): nobody listens there, or a rule rejects packets to it, as that of a Service without endpoints does.",
            "Fix: see which it is: kdns path 10.96.0.10, or take it out of /etc/resolv.conf:1:12",
        ],
    },
    Scene {
        name: "a_closed_port_that_musl_does_not_hear",
        scenario: r#"{"name": "x", "resolv_conf": "nameserver 10.96.0.10\noptions timeout:1 attempts:1\n", "answers": [
            {"reply": "ICMP"}]}"#,
        words: &["--resolver", "musl", "db.x"],
        status: 1,
        parts: &[
            "10.96.0.10 closed port (connection refused) in",
            "is not found: EAI_AGAIN after 1",
            "the only name server, 10.96.0.10, has a closed port.",
            "Fix: see whether nobody listens there, or a rule rejects packets to it, as that of a Service without endpoints does: kdns path 10.96.0.10",
        ],
    },
    Scene {
        name: "failures_lead_to_the_next_server",
        scenario: r#"{"name": "x", "resolv_conf": "nameserver 10.96.0.10\nnameserver 10.96.0.11\n", "answers": [
            {"server": "10.96.0.10", "reply": "SERVFAIL"}, {"reply": "ANSWER", "a": ["192.0.2.9"]}]}"#,
        words: &["--resolver", "glibc", "-v", "db.x"],
        status: 0,
        parts: &[
            "SERVFAIL in",
            "SERVFAIL: glibc goes on to the next server, 10.96.0.11",
            "the first name server, 10.96.0.10, answers SERVFAIL.",
        ],
    },
    Scene {
        name: "silence",
        scenario: SILENT,
        words: &["--resolver", "glibc", "--type", "A", "db.x"],
        status: 1,
        parts: &[
            "A 10.96.0.10 no answer in",
            "is not found: EAI_AGAIN after",
            "the only name server, 10.96.0.10, does not answer.",
            "Why: 10.96.0.10 (/etc/resolv.conf:1:12) does not answer.",
        ],
    },
    Scene {
        name: "a_budget_cuts",
        scenario: SILENT,
        words: &["--resolver", "glibc,musl", "--budget", "0.6", "db.x"],
        status: 2,
        parts: &[
            "10.96.0.10 no answer in",
            "no end within 600 ms",
            "db.x was not looked up as musl",
        ],
    },
    Scene {
        name: "a_server_on_ipv6",
        scenario: r#"{"name": "x", "resolv_conf": "nameserver fd00:10:96::a\n", "answers": [
            {"reply": "ANSWER", "aaaa": ["2001:db8::9"]}]}"#,
        words: &["--resolver", "go", "db.x"],
        status: 0,
        parts: &["AAAA fd00:10:96::a 2001:db8::9 in"],
    },
    Scene {
        name: "no_way_to_a_server",
        scenario: r#"{"name": "x", "resolv_conf": "nameserver 10.96.0.10\n", "answers": [
            {"server": "10.96.0.10", "reply": "UNREACHABLE"}]}"#,
        words: &["--resolver", "musl", "--type", "A", "db.x"],
        status: 1,
        parts: &[
            "not sent: ",
            "the only name server, 10.96.0.10, cannot be reached from here.",
        ],
    },
    Scene {
        name: "nothing_to_ask",
        scenario: FOUND,
        words: &["--resolver", "glibc", "127.0.0.1"],
        status: 0,
        parts: &[
            "127.0.0.1 as glibc (2.36)",
            "is found in",
            "without a query: 127.0.0.1.",
        ],
    },
    Scene {
        name: "an_alias",
        scenario: r#"{"name": "x", "resolv_conf": "nameserver 10.96.0.10\n", "answers": [
            {"name": "db.x", "reply": "ANSWER", "cname": "real.x", "a": ["192.0.2.9"]}]}"#,
        words: &["--resolver", "glibc", "--type", "A", "db.x"],
        status: 0,
        parts: &["alias of real.x., 192.0.2.9 in"],
    },
];
