//! Lookups in which nothing goes wrong.

use libtest_mimic::{Failed, Trial};
use serde_json::json;

use crate::lab::ResolverId;
use crate::run::Scene;
use crate::trial;

/// Resolvers that a program runs in the pod; the others need services of their own, or
/// this very test's program.
const RESOLVERS: &[&str] = &[
    "glibc",
    "glibc-res_search",
    "musl-1.2.3",
    "musl-1.2.5",
    "go-1.19",
    "go-1.27",
    "c-ares-1.18",
    "c-ares-1.34",
    "c-ares-1.34-search",
    "dig-search",
    "host",
    "nslookup",
    "busybox-nslookup",
    "hickory-0.26",
];

/// So many lookups of each.
const LOOKUPS: usize = 1000;

pub(crate) fn trials() -> Vec<Trial> {
    let all = RESOLVERS.iter().map(|&id| {
        let resolver: ResolverId = id.parse().unwrap();
        trial(&format!("healthy::{id}"), &[resolver], move || healthy(id))
    });
    all.collect()
}

fn healthy(id: &str) -> Result<(), Failed> {
    let names = (0..LOOKUPS).map(|number| match number % 3 {
        0 => format!("db{number}"),
        1 if id != "busybox-nslookup" => format!("api{number}.example.com"),
        _ => format!("nobody{number}"),
    });
    let scene = Scene {
        answers: json!([
            {"name": "db*.default.svc.cluster.local", "reply": "ANSWER", "a": ["10.100.0.1"], "aaaa": ["fd00::1"]},
            {"name": "api*.example.com", "reply": "ANSWER", "a": ["192.0.2.1"], "aaaa": ["2001:db8::1"]},
        ]),
        lookups: vec![(id.to_owned(), names.collect())],
        ..Scene::default()
    };
    let captured = scene.play()?;
    // Without its file BusyBox's names, asked all at once, are no list.
    let with_file = captured.healthy(id)?.into_iter().take(2);
    for (about, summary) in with_file {
        if summary["lookups"] != LOOKUPS {
            return Err(format!("{about}: {} lookups of {LOOKUPS}", summary["lookups"]).into());
        }
        let fits = summary["likeness"].as_f64().unwrap_or(1.0);
        let also = summary["also"].as_array().cloned().unwrap_or_default();
        let is_its = summary["resolver"] == id || also.iter().any(|it| it == id);
        if !is_its || fits < 0.95 {
            return Err(format!("{about}: {} by {fits}, {also:?}", summary["resolver"]).into());
        }
    }
    Ok(())
}
