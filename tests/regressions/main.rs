//! What fuzzing found, once and for all: every input that broke something is
//! kept, and run again through its target; so are the seeds that fuzzing
//! begins with.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test may stop at the first surprise"
)]

mod seeds;
mod targets;

use std::fs;
use std::path::Path;

/// The inputs in `testdata/fuzz/TARGET`.
#[test]
fn what_was_found_stays_fixed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/fuzz");
    for (name, run) in targets::ALL {
        let Ok(inputs) = fs::read_dir(root.join(name)) else {
            continue;
        };
        for input in inputs {
            let path = input.unwrap().path();
            run(&fs::read(&path).unwrap());
        }
    }
}

/// Some seeds of every target; with `KDNS_SEEDS=DIR` all of them are written
/// into `DIR/TARGET`, where `.ci/fuzz` begins with them.
#[test]
fn seeds_hold() {
    let directory = std::env::var_os("KDNS_SEEDS");
    for (name, run) in targets::ALL {
        let seeds = seeds::of(name);
        assert!(seeds.len() >= 5, "{} seeds for {name}", seeds.len());
        if let Some(directory) = &directory {
            let directory = Path::new(directory).join(name);
            fs::create_dir_all(&directory).unwrap();
            for (number, seed) in seeds.iter().enumerate() {
                fs::write(directory.join(format!("seed-{number:04}")), seed).unwrap();
            }
            continue;
        }
        let step = seeds.len().div_ceil(60);
        seeds.iter().step_by(step).for_each(|seed| run(seed));
    }
}
