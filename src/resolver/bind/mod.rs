//! BIND

use std::rc::Rc;

use crate::engine::io::Io;
use crate::engine::machine::Outcome;
use crate::resolver::reading::Reading;
use crate::scenario::Scenario;

/// Which tool.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Tool {
    /// `dig NAME`
    Dig,
    /// `dig +search NAME`
    DigSearch,
    /// `host NAME`
    Host,
    /// `nslookup NAME`
    Nslookup,
}

/// The lookup of `scenario`.
pub async fn lookup(_io: Rc<Io>, _scenario: &Scenario, _tool: Tool) -> Outcome {
    Outcome::Failed("NOT_MODELLED")
}

/// What it takes from the configuration.
pub fn reading<'a>(_scenario: &'a Scenario, _tool: Tool) -> Reading<'a> {
    Reading::default()
}
