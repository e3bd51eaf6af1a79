//! c-ares 1.34.
use crate::engine::io::Io;
use crate::engine::machine::Outcome;
use crate::resolver::c_ares::Wanted;
use crate::resolver::reading::Reading;
use crate::scenario::Scenario;
use std::rc::Rc;
pub(super) async fn lookup(_io: Rc<Io>, _scenario: &Scenario, _wanted: Wanted) -> Outcome {
    Outcome::Failed("NOT_MODELLED")
}
pub(super) fn reading(_scenario: &Scenario) -> Reading<'_> {
    Reading::default()
}
