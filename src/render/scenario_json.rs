//! A scenario in the form that `--scenario` reads: a question that anyone can
//! replay.

use std::io::{self, Write};

use crate::render::json;
use crate::scenario::Scenario;
use crate::scenario::json::form;

/// Writes `scenario` as one JSON object on one line.
///
/// # Errors
///
/// Any error of `out`.
pub fn write(scenario: &Scenario, out: &mut dyn Write) -> io::Result<()> {
    json::line(&form(scenario), out)
}
