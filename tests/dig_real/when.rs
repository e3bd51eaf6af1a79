//! The line with the time, in the zones that people set.

use libtest_mimic::{Failed, Trial};

use crate::compare;

const ZONES: &[&str] = &[
    "Europe/Berlin",
    ":America/St_Johns",
    "Asia/Kathmandu",
    "EST5EDT",
    "<+03>-3",
    "CET-1CEST,M3.5.0,M10.5.0/3",
    "ABC-5:30",
    "/usr/share/zoneinfo/Asia/Tokyo",
    "UTC0",
    ":",
    "",
];

pub(crate) fn trials() -> Vec<Trial> {
    let trial = |zone: &&'static str| {
        let zone = *zone;
        Trial::test(format!("when TZ={zone}"), move || check(zone))
    };
    ZONES.iter().map(trial).collect()
}

/// A second may begin between the two.
fn check(zone: &str) -> Result<(), Failed> {
    let words = ["@127.0.0.1", "www.example.test"];
    let mut last = String::new();
    for _ in 0..10 {
        let [theirs, ours] = compare::lines(&words, ";; WHEN: ", &[("TZ", zone)])?;
        if theirs == ours && !ours.is_empty() {
            return Ok(());
        }
        last = format!("dig: {theirs}\nkdns: {ours}");
    }
    Err(last.into())
}
