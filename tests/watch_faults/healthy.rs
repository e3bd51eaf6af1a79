//! Lookups in which nothing goes wrong.

use libtest_mimic::{Failed, Trial};
use serde_json::json;

use crate::daemons::DAEMONS;
use crate::lab::{ResolverId, real};
use crate::run::Scene;
use crate::trial;

/// Lookups of each resolver that packets are compared with, and of each other version;
/// `KDNS_LOOKUPS` says another number, of all.
const LOOKUPS: [usize; 2] = [300, 100];

/// Of so many lookups one may be taken for two, where a program waits long for a processor
/// between an answer and its next query: one in a hundred was seen, and of `host` one in five,
/// on a machine with ten times as much to do as it has processors.
fn split_in(id: &str) -> usize {
    if id == "host" { 5 } else { 50 }
}

/// How well the queries fit their own resolver at least; 0.91 to 0.95 were seen of
/// systemd-resolved.
fn least_likeness(id: &str) -> f64 {
    if id.starts_with("systemd-resolved") {
        0.9
    } else {
        0.95
    }
}

/// So many programs run at the same time.
const TOGETHER: usize = 4;

pub(crate) fn trials() -> Vec<Trial> {
    let wanted = std::env::var("KDNS_LOOKUPS").ok();
    let wanted: Option<usize> = wanted.and_then(|it| it.parse().ok());
    let is_daemon = |it: &ResolverId| DAEMONS.contains(&it.as_str());
    let programs = ResolverId::all().filter(|it| !is_daemon(it));
    let here = programs.filter(|it| !it.is_made_by_hand() || real::missing(*it).is_none());
    let trial_of = |it: ResolverId| {
        let is_usual = kdns::resolver::find(it.as_str()).is_some_and(|it| it.is_usual);
        let count = wanted.unwrap_or(LOOKUPS[usize::from(!is_usual)]);
        // A program that waited for a processor is given another chance.
        trial(&format!("healthy::{it}"), &[it], move || {
            healthy(it.as_str(), count).or_else(|_| healthy(it.as_str(), count))
        })
    };
    here.map(trial_of).collect()
}

fn healthy(id: &str, count: usize) -> Result<(), Failed> {
    let names = (0..count).map(|number| match number % 3 {
        0 => format!("db{number}"),
        1 if !id.starts_with("busybox") => format!("api{number}.example.com"),
        _ => format!("nobody{number}"),
    });
    let scene = Scene {
        answers: json!([
            {"name": "db*.default.svc.cluster.local", "reply": "ANSWER", "a": ["10.100.0.1"], "aaaa": ["fd00::1"]},
            {"name": "api*.example.com", "reply": "ANSWER", "a": ["192.0.2.1"], "aaaa": ["2001:db8::1"]},
        ]),
        lookups: vec![(id.to_owned(), names.collect())],
        together: TOGETHER,
        ..Scene::default()
    };
    let captured = scene.play()?;
    // Without its file BusyBox's names, asked all at once, are no list.
    let with_file = captured.healthy(id)?.into_iter().take(2);
    let model = kdns::resolver::find(id).ok_or("no model")?;
    for (about, summary) in with_file {
        let lookups = summary["lookups"].as_u64().unwrap_or_default();
        let most = count + count.div_ceil(split_in(id));
        if !(count..=most).contains(&usize::try_from(lookups)?) {
            return Err(format!("{about}: {lookups} lookups of {count}").into());
        }
        let fits = summary["likeness"].as_f64().unwrap_or(1.0);
        let also = summary["also"].as_array().cloned().unwrap_or_default();
        let is_its = summary["resolver"] == model.id || also.iter().any(|it| it == model.id);
        // Others are only taken where they are named.
        if model.is_usual && (!is_its || fits < least_likeness(id)) {
            return Err(format!("{about}: {} by {fits}, {also:?}", summary["resolver"]).into());
        }
    }
    Ok(())
}
