//! Trials that need root, a program or something else that not every machine
//! has.

use libtest_mimic::{Failed, Trial};

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
