//! hickory

use std::rc::Rc;

use crate::engine::io::Io;
use crate::engine::machine::Outcome;
use crate::resolver::reading::Reading;
use crate::scenario::Scenario;

/// The lookup of `scenario`.
pub async fn lookup(_io: Rc<Io>, _scenario: &Scenario) -> Outcome {
    Outcome::Failed("NOT_MODELLED")
}

/// What it takes from the configuration.
pub fn reading<'a>(_scenario: &'a Scenario) -> Reading<'a> {
    Reading::default()
}
