//! What people see of lookups on the wire, and how kdns ends.

use std::os::unix::process::CommandExt as _;
use std::process::Command;

use libtest_mimic::{Failed, Trial};
use serde_json::Value;

use crate::run::{INTERRUPT, KDNS, Ran, SAVED, beside, lines, replayed, run};
use crate::shown::{FOUND, SHOWN, SILENT, Scene};
use crate::trial;

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
    let mut lines = said.lines();
    let is_sentence = lines
        .next()
        .is_some_and(|it| it.starts_with("kdns: cannot "));
    let sudo = lines.next().unwrap_or_default();
    let is_sentence = is_sentence
        && sudo.starts_with("kdns: as root: sudo kdns explain db --live --target ")
        && lines.next().is_none();
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
