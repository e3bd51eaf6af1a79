//! node-problem-detector: the configuration as it checks it, and the contract
//! of a plugin.
//!
//! Sources: kubernetes/node-problem-detector
//! pkg/custompluginmonitor/types/config.go `Validate`,
//! pkg/custompluginmonitor/plugin/plugin.go `run`.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::{KDNS, Outcome, deploy, root};

fn read() -> Value {
    let text = fs::read(deploy("node-problem-detector/kdns-monitor.json")).unwrap();
    serde_json::from_slice(&text).unwrap()
}

/// `2s`, `5m`.
fn duration(text: &Value) -> Duration {
    let text = text.as_str().unwrap();
    let (number, unit) = text.split_at(text.len() - 1);
    let seconds = if unit == "m" { 60 } else { 1 };
    Duration::from_secs(number.parse::<u64>().unwrap() * seconds)
}

#[expect(clippy::unnecessary_wraps, reason = "checks are alike")]
pub(crate) fn configuration() -> Outcome {
    let all = read();
    // What the program does not know it passes over in silence.
    let known = [
        "plugin",
        "pluginConfig",
        "source",
        "metricsReporting",
        "conditions",
        "rules",
    ];
    assert!(
        all.as_object()
            .unwrap()
            .keys()
            .all(|it| known.contains(&it.as_str()))
    );
    assert_eq!(all["plugin"], json!("custom"));
    let global = &all["pluginConfig"];
    let known = [
        "invoke_interval",
        "timeout",
        "max_output_length",
        "concurrency",
        "enable_message_change_based_condition_update",
        "skip_initial_status",
    ];
    assert!(
        global
            .as_object()
            .unwrap()
            .keys()
            .all(|it| known.contains(&it.as_str()))
    );
    assert!(duration(&global["timeout"]) <= Duration::from_secs(2));
    assert_eq!(global["max_output_length"], json!(80));
    for rule in all["rules"].as_array().unwrap() {
        assert!(duration(&rule["timeout"]) <= duration(&global["timeout"]));
        assert_eq!(rule["type"], json!("permanent"));
        let conditions = all["conditions"].as_array().unwrap();
        assert!(conditions.iter().any(|it| it["type"] == rule["condition"]));
    }
    Ok(())
}

/// Every node gives one line in time, and a status that is known.
#[expect(clippy::unnecessary_wraps, reason = "checks are alike")]
pub(crate) fn contract() -> Outcome {
    let all = read();
    let limit = duration(&all["pluginConfig"]["timeout"]);
    let longest = all["pluginConfig"]["max_output_length"].as_u64().unwrap();
    let nodes = root().join("testdata/nodes");
    let entries = fs::read_dir(&nodes).unwrap().map(|it| it.unwrap().path());
    let mut roots: Vec<PathBuf> = entries.filter(|it| it.is_dir()).collect();
    roots.sort();
    roots.push(nodes.join("not-there \n\u{1b}é"));
    let directory = tempfile::tempdir().unwrap();
    let corefile = directory.path().join("Corefile");
    fs::write(&corefile, ".:53 {\n    forward . /etc/resolv.conf\n}\n").unwrap();
    let mut seen = [0; 3];
    for root in &roots {
        let words = all["rules"][0]["args"].as_array().unwrap();
        let words = words.iter().map(|it| it.as_str().unwrap());
        let words = words.map(|it| match it {
            "/host" => root.as_os_str(),
            "/corefile/Corefile" => corefile.as_os_str(),
            it => it.as_ref(),
        });
        let begun = Instant::now();
        let output = Command::new(KDNS).args(words).output().unwrap();
        let took = begun.elapsed();
        let name = root.display();
        assert!(took < limit, "{name}: {took:?}");
        let status = output.status.code().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let line = text.strip_suffix('\n').unwrap();
        assert!(line.len() as u64 <= longest, "{name}: {line}");
        assert!(
            !line.is_empty() && line.bytes().all(|it| matches!(it, b' '..=b'~')),
            "{name}: {line:?}"
        );
        // OK, NonOK, Unknown: anything else were Unknown too, whatever it means.
        let start = ["no loop", "", "unknown"][usize::try_from(status).unwrap()];
        assert!(line.starts_with(start), "{name}: {status}: {line}");
        seen[usize::try_from(status).unwrap()] += 1;
    }
    assert!(seen.iter().all(|it| *it > 3), "{seen:?}");
    Ok(())
}
