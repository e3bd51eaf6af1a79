//! Lookups in which nothing goes wrong.

use libtest_mimic::{Failed, Trial};
use serde_json::json;

use crate::lab::ResolverId;
use crate::run::Scene;
use crate::trial;

/// Resolvers that a program runs in the pod, and how many lookups; the others
/// need services of their own, or this very test's program.
const RESOLVERS: &[(&str, usize)] = &[
    ("glibc", 1000),
    ("glibc-res_search", 200),
    ("musl-1.2.3", 200),
    ("musl-1.2.5", 1000),
    ("go-1.19", 200),
    ("go-1.27", 400),
    ("c-ares-1.18", 200),
    ("c-ares-1.34", 400),
    ("c-ares-1.34-search", 200),
    ("dig-search", 100),
    ("host", 100),
    ("nslookup", 100),
    ("busybox-nslookup", 100),
    ("hickory-0.26", 200),
];

pub(crate) fn trials() -> Vec<Trial> {
    let all = RESOLVERS.iter().map(|&(id, count)| {
        let resolver: ResolverId = id.parse().unwrap();
        trial(&format!("healthy::{id}"), &[resolver], move || {
            healthy(id, count)
        })
    });
    all.collect()
}

fn healthy(id: &str, count: usize) -> Result<(), Failed> {
    let names = (0..count).map(|number| match number % 3 {
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
        if summary["lookups"] != count {
            return Err(format!("{about}: {} lookups of {count}", summary["lookups"]).into());
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
