//! glibc

use std::rc::Rc;

use crate::engine::io::Io;
use crate::engine::machine::Outcome;
use crate::resolver::reading::Reading;
use crate::scenario::Scenario;

/// Which function of glibc is called.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Call {
    /// `getaddrinfo`
    GetAddrInfo,
    /// `res_search`
    ResSearch,
    /// `res_query`
    ResQuery,
}

/// The lookup of `scenario`.
pub async fn lookup(_io: Rc<Io>, _scenario: &Scenario, _call: Call) -> Outcome {
    Outcome::Failed("NOT_MODELLED")
}

/// What it takes from the configuration.
pub fn reading<'a>(_scenario: &'a Scenario) -> Reading<'a> {
    Reading::default()
}
