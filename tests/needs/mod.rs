//! Trials that need root, a program or something else that not every machine
//! has.

use std::collections::HashSet;
use std::fs;
use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};

/// A trial that runs if nothing is `missing`. Else it is ignored, with the
/// reason in its name; with `KDNS_REQUIRE_REAL=1` it fails for this reason.
pub(crate) fn trial(
    name: &str,
    missing: Option<String>,
    run: impl FnOnce() -> Result<(), Failed> + Send + 'static,
) -> Trial {
    let Some(reason) = missing else {
        return Trial::test(name, run);
    };
    if std::env::var("KDNS_REQUIRE_REAL").is_ok_and(|it| it == "1") {
        return Trial::test(name, || Err(Failed::from(reason)));
    }
    Trial::test(format!("{name} ({reason})"), || Ok(())).with_ignored_flag(true)
}

/// Runs the trials, but for those that the file `KDNS_PASSED` names, one
/// `PROGRAM TRIAL` a line: they passed before what was missing was installed.
pub(crate) fn run(arguments: &Arguments, mut trials: Vec<Trial>) -> ExitCode {
    let passed = std::env::var_os("KDNS_PASSED").and_then(|file| fs::read_to_string(file).ok());
    let passed = passed.unwrap_or_default();
    let passed: HashSet<&str> = passed.lines().collect();
    let program = env!("CARGO_CRATE_NAME");
    trials.retain(|trial| !passed.contains(format!("{program} {}", trial.name()).as_str()));
    libtest_mimic::run(arguments, trials).exit_code()
}
