//! The fuzz targets. What they check stands in `tests/regressions/targets`,
//! where the ordinary tests run it too.

#[path = "../../tests/regressions/targets/mod.rs"]
mod targets;

/// Runs one input through a target.
///
/// # Panics
///
/// There is no such target, or something does not hold: libFuzzer keeps the
/// input.
pub fn run(target: &str, data: &[u8]) {
    let found = targets::ALL.iter().find(|it| it.0 == target);
    let (_, run) = found.expect("a target");
    run(data);
}
