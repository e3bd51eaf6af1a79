//! A log of weeks with many servers: its report stays short, and is taken by
//! `report merge`.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

/// Every server does not answer at each of so many minutes, an hour apart.
const SERVERS: usize = 120;
const HOURS: usize = 5 * 7 * 24;

/// It is no longer than this, in bytes.
const SHORT: usize = 1 << 19;

/// A query a minute and, every hour, a time-out of each server, for five weeks.
fn log() -> String {
    let mut log = String::new();
    for minute in 0..HOURS * 60 {
        let (day, hour) = (minute / 1440, minute / 60 % 24);
        let date = format!("2026-{:02}-{:02}", 9 + day / 30, 1 + day % 30);
        let time = format!("{date}T{hour:02}:{:02}:07.5Z", minute % 60);
        let client = minute % 250;
        writeln!(
            log,
            "{time} [INFO] 10.244.{client}.9:4{client:04} - 7 \"A IN n{minute}.example.com. udp 40 false 512\" NOERROR qr,rd,ra 80 0.001s"
        )
        .unwrap();
        if minute % 60 != 0 {
            continue;
        }
        for server in 0..SERVERS {
            writeln!(
                log,
                "{time} [ERROR] plugin/errors: 2 n{minute}.example.com. A: read udp 10.244.0.2:41000->192.0.2.{server}:53: i/o timeout"
            )
            .unwrap();
        }
    }
    log
}

fn kdns(arguments: &[&str], file: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kdns"));
    command.args(arguments).arg(file).output().unwrap()
}

#[test]
fn the_report_of_weeks_stays_short_and_is_merged() {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let file = directory.join("weeks.log");
    fs::write(&file, log()).unwrap();
    let report = kdns(&["why", "--format", "json", "--log"], &file).stdout;
    assert!(report.len() < SHORT, "{} bytes", report.len());

    let document: Value = serde_json::from_slice(&report).unwrap();
    let minutes = document["latency"]["minutes"].as_array().unwrap();
    let queries: u64 = minutes
        .iter()
        .map(|it| it["queries"].as_u64().unwrap())
        .sum();
    assert_eq!(queries, HOURS as u64 * 60);
    assert_eq!(document["latency"]["step_minutes"], 180);

    let servers = document["timeouts"].as_array().unwrap();
    assert_eq!(servers.len(), SERVERS);
    for server in servers {
        let minutes = server["minutes"].as_object().unwrap();
        let count: u64 = minutes.values().map(|it| it.as_u64().unwrap()).sum();
        assert_eq!(count, HOURS as u64);
        assert_eq!(server["count"], HOURS);
        assert!(server["step_minutes"].as_u64() > Some(180));
    }

    let file = directory.join("weeks.json");
    fs::write(&file, report).unwrap();
    let merged = kdns(&["report", "merge", "--format", "json"], &file);
    let text = String::from_utf8(merged.stdout).unwrap();
    assert_eq!(merged.stderr, b"", "{text}");
    let merged: Value = serde_json::from_str(&text).unwrap();
    assert!(
        merged
            .to_string()
            .contains(&format!("\"queries\":{queries}")),
        "{text}"
    );
}

/// What `report merge` makes of the report that `why` writes of this log.
fn merged(log: &str, name: &str) -> (Value, Value) {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let file = directory.join(name);
    fs::write(&file, log).unwrap();
    let report = kdns(&["why", "--format", "json", "--log"], &file).stdout;
    fs::write(&file, &report).unwrap();
    let merged = kdns(&["report", "merge", "--format", "json"], &file);
    assert_eq!(String::from_utf8(merged.stderr).unwrap(), "");
    let read = |it: &[u8]| serde_json::from_slice(it).unwrap();
    (read(&report), read(&merged.stdout))
}

/// As many clients and names as a report lists, the names as long as names are, and
/// longer than any name.
#[test]
fn the_report_of_long_names_is_merged() {
    for (length, clients) in [(57, 100), (62, 100), (60_000, 2)] {
        let mut log = String::new();
        let mut queries = 0;
        for client in 0..clients {
            for name in 0..18 {
                let label = "\\".repeat(length);
                let name = format!("n{client}-{name}.{label}.{label}.{label}.example.com");
                let searches = ["", "default.svc.cluster.local."];
                for (at, search) in searches.iter().enumerate() {
                    let rcode = if search.is_empty() {
                        "NXDOMAIN"
                    } else {
                        "NOERROR"
                    };
                    queries += 1;
                    writeln!(
                        log,
                        "[INFO] 10.244.{client}.9:41000 - {at} \"A IN {name}.{search} udp 40 false 512\" {rcode} qr,rd,ra 80 0.001s"
                    )
                    .unwrap();
                }
            }
        }
        let (report, merged) = merged(&log, &format!("names-{length}.log"));
        assert_eq!(report["queries"], queries, "{length}");
        assert_eq!(merged["logs"]["queries"], queries, "{length}");
    }
}

/// Servers for which there is no room are counted together.
#[test]
fn time_outs_of_more_servers_than_are_kept_are_counted() {
    let mut log = String::new();
    for server in 0..300 {
        for _ in 0..2 {
            writeln!(
                log,
                "[ERROR] plugin/errors: 2 a.example.com. A: read udp 10.244.0.2:41000->192.0.{}.{}:53: i/o timeout",
                server / 200,
                server % 200
            )
            .unwrap();
        }
    }
    let (report, merged) = merged(&log, "servers.log");
    assert_eq!(report["timeouts"].as_array().unwrap().len(), 256);
    assert_eq!(report["left_out"]["timeouts"], 2 * (300 - 256));
    assert_eq!(merged["logs"]["timeouts"].as_object().unwrap().len(), 256);
    assert_eq!(merged["logs"]["other_timeouts"], 2 * (300 - 256));

    // The same where several logs have some each.
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let parts: Vec<_> = log.lines().collect();
    let files = parts.chunks(300).enumerate().map(|(number, lines)| {
        let file = directory.join(format!("servers-{number}.log"));
        fs::write(&file, lines.join("\n")).unwrap();
        file
    });
    let files: Vec<_> = files.collect();
    let output = kdns(
        &["why", "-v", "--log", files[0].to_str().unwrap(), "--log"],
        &files[1],
    );
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("88 time-outs are of servers not counted apart"),
        "{text}"
    );
}
