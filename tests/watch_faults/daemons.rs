//! nginx, HAProxy and systemd-resolved as clients: what they do is no fault.

use libtest_mimic::{Failed, Trial};
use serde_json::json;

use crate::lab::{ResolverId, real};
use crate::run::Scene;
use crate::trial;

/// Those that are asked over sockets of their own.
pub(crate) const DAEMONS: &[&str] = &["haproxy", "nginx"];

/// So many names each.
const NAMES: usize = 1000;

pub(crate) fn trials() -> Vec<Trial> {
    let of = |id: &str, run: fn() -> Result<(), Failed>| {
        let resolver: ResolverId = id.parse().unwrap();
        trial(&format!("daemons::{id}"), &[resolver], run)
    };
    vec![
        of("haproxy", || daemon("haproxy")),
        of("nginx", || daemon("nginx")),
        of("systemd-resolved", resolved),
    ]
}

/// Names with an address, without one, and that nobody has.
fn scene() -> Scene {
    Scene {
        answers: json!([
            {"name": "db*.example.com", "reply": "ANSWER", "a": ["10.100.0.1"], "aaaa": ["fd00::1"]},
            {"name": "v4*.example.com", "type": "A", "reply": "ANSWER", "a": ["10.100.0.1"]},
            {"name": "v4*.example.com", "reply": "NODATA"},
            {"name": "db*.default.svc.cluster.local", "reply": "ANSWER", "a": ["10.100.0.1"], "aaaa": ["fd00::1"]},
        ]),
        ..Scene::default()
    }
}

fn names() -> Vec<String> {
    let name = |number: usize| match number % 3 {
        0 => format!("db{number}.example.com"),
        1 => format!("v4{number}.example.com"),
        _ => format!("nobody{number}.example.com"),
    };
    (0..NAMES).map(name).collect()
}

fn daemon(id: &str) -> Result<(), Failed> {
    let resolver: ResolverId = id.parse()?;
    let program = resolver.needs(&real::folder()).ok_or("no program")?.1;
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/watch_faults/daemons.py");
    let words = ["python3", script, id, &program.display().to_string(), "3"];
    let mut command = words.map(str::to_owned).to_vec();
    command.extend(names());
    let mut scene = scene();
    scene.commands = vec![command];
    no_finding(&scene, id)
}

fn resolved() -> Result<(), Failed> {
    let mut scene = scene();
    let mut names = names();
    names.extend((0..NAMES).map(|it| format!("db{it}")));
    scene.lookups = vec![("systemd-resolved".to_owned(), names)];
    no_finding(&scene, "systemd-resolved")
}

fn no_finding(scene: &Scene, id: &str) -> Result<(), Failed> {
    let captured = scene.play()?;
    for (about, summary) in captured.healthy(id)? {
        let lookups = summary["lookups"].as_u64().unwrap_or_default();
        if lookups < NAMES as u64 {
            return Err(format!("{about}: {lookups} lookups").into());
        }
    }
    Ok(())
}
