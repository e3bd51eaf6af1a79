//! What `kdns why` says about logs, held against logs whose truth is known.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may stop at the first surprise"
)]

mod made;

use kdns::why::log::{Pods, Reading, Settings, Summary, Tally, Waste};

use self::made::{Made, Random, make};

fn tally(log: &str, settings: &Settings) -> Tally {
    let mut reading = Reading::new("log".to_owned(), settings);
    // As pipes give it.
    for chunk in log.as_bytes().chunks(4099) {
        reading.push(chunk);
    }
    reading.end()
}

fn summary(log: &str) -> Summary {
    let settings = Settings::default();
    tally(log, &settings).finish(&settings, &Pods::default())
}

fn plain(made: &Made) -> String {
    made.lines
        .iter()
        .map(|it| format!("{}\n", it.text))
        .collect()
}

#[test]
fn the_waste_found_is_the_waste_made() {
    for seed in 1..=20 {
        let made = make(seed, 1500);
        assert!(made.failed_lookups > 100 && made.waste > 1000);
        let found = summary(&plain(&made));
        assert_eq!(found.queries, made.lines.len() as u64, "seed {seed}");
        let mut wrong = Vec::new();
        for row in &found.clients.first {
            let address = match row.address.contains(':') {
                true => format!("[{}]", row.address),
                false => row.address.clone(),
            };
            let truth = made.waste_of.get(&address).copied().unwrap_or(0);
            if truth != row.waste {
                wrong.push(format!("{address}: {} for {truth}", row.waste));
            }
        }
        for row in &found.names.first {
            let truth = made.waste_for.get(&row.name).copied().unwrap_or(0);
            if row.waste != truth {
                wrong.push(format!("{}: {} for {truth}", row.name, row.waste));
            }
        }
        if found.waste != Waste::Known(made.waste) {
            std::fs::write("/tmp/y2dump", plain(&made)).unwrap();
        }
        assert_eq!(
            found.waste,
            Waste::Known(made.waste),
            "seed {seed}: {wrong:#?}"
        );
    }
}
