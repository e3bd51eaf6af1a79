//! What people see of lookups on the wire, and how kdns ends.

use std::os::unix::process::CommandExt as _;
use std::process::Command;

use libtest_mimic::{Failed, Trial};
use serde_json::Value;

use crate::run::{INTERRUPT, KDNS, Ran, SAVED, beside, lines, replayed, run};
use crate::trial;

/// One server that is silent about everything.
const SILENT: &str = r#"{"name": "x", "resolv_conf": "nameserver 10.96.0.10\noptions timeout:2 attempts:1\n",
    "answers": [{"reply": "TIMEOUT"}]}"#;
/// One that knows `db.b.test`.
const FOUND: &str = r#"{"name": "x", "resolv_conf": "search a.test b.test c.test\nnameserver 10.96.0.10\n",
    "answers": [{"name": "db.b.test", "reply": "ANSWER", "a": ["192.0.2.9"]}]}"#;

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials: Vec<Trial> = SHOWN
        .iter()
        .map(|scene| trial(&format!("scenes::{}", scene.name), || shown(scene)))
        .collect();
    trials.extend([
        trial("scenes::ctrl_c_shows_what_there_is", ctrl_c),
        trial("scenes::a_target_is_entered", target),
        trial("scenes::a_strangers_process_is_one_sentence", stranger),
        trial("scenes::json_is_as_its_schema_says", json),
        trial("scenes::one_scenario_replays_all", one_scenario),
        trial(
            "scenes::servers_that_change_make_more_scenarios",
            more_scenarios,
        ),
    ]);
    trials
}

/// A lookup as text.
struct Scene {
    name: &'static str,
    scenario: &'static str,
    words: &'static [&'static str],
    status: i64,
    /// Parts of the text, in order, blanks put together.
    parts: &'static [&'static str],
}

const SHOWN: &[Scene] = &[
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
        name: "a_silent_first_server_is_the_conclusion",
        scenario: r#"{"name": "x", "resolv_conf": "nameserver 10.96.0.99\nnameserver 10.96.0.10\noptions timeout:1\n", "answers": [
            {"server": "10.96.0.99", "reply": "TIMEOUT"}, {"reply": "ANSWER", "a": ["192.0.2.9"]}]}"#,
        words: &["--resolver", "glibc", "--type", "A", "db.x"],
        status: 0,
        parts: &[
            "A 10.96.0.99 no answer in 1 s",
            "A 10.96.0.10 192.0.2.9 in",
            "A 10.96.0.99 ██",
            "no answer A 10.96.0.10",
            "db.x is found in 1",
            "with 2 queries: 192.0.2.9; the first name server, 10.96.0.99, never answers.",
            "Why: glibc waits 1 s for 10.96.0.99 (/etc/resolv.conf:1:12), then 10.96.0.10 answers in",
            "Fix: make 10.96.0.99 answer, or take it out of /etc/resolv.conf:1:12.",
        ],
    },
    Scene {
        name: "a_record_type_without_answers_is_the_conclusion",
        scenario: r#"{"name": "x", "resolv_conf": "nameserver 10.96.0.10\noptions timeout:1 attempts:1\n", "answers": [
            {"type": "AAAA", "reply": "TIMEOUT"}, {"reply": "ANSWER", "a": ["192.0.2.9"]}]}"#,
        words: &["--resolver", "musl", "db.x"],
        status: 1,
        parts: &[
            "AAAA 10.96.0.10 no answer in 1 s",
            "the name server 10.96.0.10 does not answer AAAA queries.",
            "musl-1.2.5 waits 1 s for the AAAA answer of 10.96.0.10",
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
            "lookup 2 is found in 1",
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
            "Fix: start a server on 10.96.0.10, or take it out of /etc/resolv.conf:1:12.",
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
        parts: &["2001:db8::9", "AAAA fd00:10:96::a 2001:db8::9 in"],
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

fn shown(scene: &Scene) -> Result<(), Failed> {
    let words: Vec<&str> = ["explain", "--live"]
        .iter()
        .chain(scene.words)
        .copied()
        .collect();
    let ran = run(scene.scenario, &words)?;
    let text: Vec<&str> = ran.stdout.split_whitespace().collect();
    let text = text.join(" ");
    let mut rest = text.as_str();
    for part in scene.parts {
        match rest.split_once(part) {
            Some((_, after)) => rest = after,
            None => return Err(format!("`{part}` is not in\n{}{}", ran.stdout, ran.stderr).into()),
        }
    }
    expect_status(&ran, scene.status)
}

fn expect_status(ran: &Ran, status: i64) -> Result<(), Failed> {
    if ran.status == status {
        return Ok(());
    }
    Err(format!(
        "status {}, not {status}\n{}{}",
        ran.status, ran.stdout, ran.stderr
    )
    .into())
}

fn ctrl_c() -> Result<(), Failed> {
    let interrupt = format!("{INTERRUPT}1000");
    let words = [
        "explain",
        "--live",
        "db.x",
        "--resolver",
        "glibc,musl",
        &interrupt,
    ];
    let words: Vec<&str> = words
        .into_iter()
        .chain(["--save-scenario", SAVED])
        .collect();
    let ran = run(SILENT, &words)?;
    expect_status(&ran, 130)?;
    for part in [
        "interrupted",
        "no answer in",
        "db.x was not looked up as musl",
    ] {
        if !ran.stdout.contains(part) {
            return Err(format!("`{part}` is not in\n{}", ran.stdout).into());
        }
    }
    // What there is is saved too.
    let saved = ran.saved.ok_or("nothing was saved")?;
    if saved.contains("TIMEOUT") {
        return Ok(());
    }
    Err(saved.into())
}

/// From outside: the target's file, and its network.
fn target() -> Result<(), Failed> {
    let (output, observed) = beside(FOUND, |pid| {
        let pid = pid.to_string();
        Command::new(KDNS)
            .args([
                "nsenter",
                &pid,
                "explain",
                "db",
                "--live",
                "--resolver",
                "glibc",
            ])
            .output()
    })?;
    let output = output?;
    let text = String::from_utf8_lossy(&output.stdout);
    let is_found = text.contains("with 4 queries: 192.0.2.9.");
    let asked: Vec<&str> = observed
        .queries
        .iter()
        .filter_map(|it| it.qname.as_deref())
        .collect();
    let expected = ["db.a.test", "db.a.test", "db.b.test", "db.b.test"];
    if is_found && asked == expected && output.status.code() == Some(0) {
        return Ok(());
    }
    Err(format!("{asked:?}\n{output:?}").into())
}

/// A process of root, for nobody.
fn stranger() -> Result<(), Failed> {
    let folder = tempfile::Builder::new()
        .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .tempdir()?;
    let program = folder.path().join("kdns");
    std::fs::copy(KDNS, &program)?;
    let (output, observed) = beside(FOUND, |pid| {
        Command::new(&program)
            .args(["explain", "db", "--live", "--target", &pid.to_string()])
            .uid(65534)
            .gid(65534)
            .output()
    })?;
    let output = output?;
    let said = String::from_utf8_lossy(&output.stderr);
    let is_sentence = said.starts_with("kdns: cannot ") && said.lines().count() == 1;
    let is_silent = observed.queries.is_empty() && output.stdout.is_empty();
    if is_sentence && is_silent && output.status.code() == Some(2) {
        return Ok(());
    }
    Err(format!("{output:?}").into())
}

fn json() -> Result<(), Failed> {
    let scenario = r#"{"name": "x", "resolv_conf": "nameserver 10.96.0.10\nnameserver 10.96.0.11\noptions timeout:1\n",
        "answers": [{"server": "10.96.0.10", "reply": "ICMP"}, {"proto": "udp", "type": "A", "reply": "TC"},
        {"type": "A", "reply": "ANSWER", "a": ["192.0.2.9"], "cname": "real.x"}, {"reply": "SERVFAIL"}]}"#;
    for (format, name) in [("json", "explain"), ("jsonl", "prediction")] {
        let words = [
            "explain",
            "--live",
            "--format",
            format,
            "--resolver",
            "all",
            "db.x",
        ];
        let ran = run(scenario, &words)?;
        let schema = Command::new(KDNS).args(["schema", name]).output()?;
        let schema: Value = serde_json::from_slice(&schema.stdout)?;
        let validator = jsonschema::validator_for(&schema)?;
        let values = if format == "json" {
            vec![serde_json::from_str(&ran.stdout)?]
        } else {
            lines(&ran.stdout)?
        };
        for value in &values {
            if let Some(error) = validator.iter_errors(value).next() {
                return Err(format!("{error} in {value}").into());
            }
            let queries = value["queries"].as_array().map(Vec::len);
            if value["replies"].as_array().map(Vec::len) != queries {
                return Err(format!("replies are missing in {value}").into());
            }
        }
    }
    Ok(())
}

fn one_scenario() -> Result<(), Failed> {
    let resolvers = "glibc,musl,go,c-ares,dig,busybox-nslookup,hickory";
    let words = [
        "explain",
        "--live",
        "--format",
        "jsonl",
        "db",
        "--resolver",
        resolvers,
    ];
    let words: Vec<&str> = words
        .into_iter()
        .chain(["--save-scenario", SAVED])
        .collect();
    let ran = run(FOUND, &words)?;
    let saved = ran.saved.ok_or("nothing was saved")?;
    if saved.lines().count() != 1 || !ran.stderr.is_empty() {
        return Err(format!("{saved}{}", ran.stderr).into());
    }
    for live in lines(&ran.stdout)? {
        let resolver = live["resolver"].as_str().ok_or("no resolver")?;
        let replayed = replayed(&saved, resolver)?;
        let is_same = |key: &str| replayed[0][key].to_string().len() == live[key].to_string().len();
        if replayed[0]["queries"] != live["queries"] || !is_same("outcome") {
            return Err(format!("live {live}\nreplayed {}", replayed[0]).into());
        }
    }
    Ok(())
}

/// The first who asks gets another answer than the second.
fn more_scenarios() -> Result<(), Failed> {
    let scenario = r#"{"name": "x", "resolv_conf": "nameserver 10.96.0.10\noptions attempts:1\n", "answers": [
        {"upto": 2, "reply": "NXDOMAIN"}, {"reply": "ANSWER", "a": ["192.0.2.9"], "aaaa": ["2001:db8::9"]}]}"#;
    let words = [
        "explain",
        "--live",
        "db.x",
        "--resolver",
        "glibc,musl",
        "--save-scenario",
        SAVED,
    ];
    let ran = run(scenario, &words)?;
    expect_status(&ran, 1)?;
    let saved = ran.saved.ok_or("nothing was saved")?;
    let replayed = replayed(&saved, "musl")?;
    let outcomes: Vec<&Value> = replayed.iter().map(|it| &it["outcome"]["status"]).collect();
    let is_said = ran
        .stderr
        .contains("did not say the same to every resolver");
    if outcomes == ["error", "ok"] && is_said {
        return Ok(());
    }
    Err(format!("{saved}{}", ran.stderr).into())
}
