//! systemd-resolved

use std::rc::Rc;

use crate::engine::io::Io;
use crate::engine::machine::Outcome;
use crate::resolver::reading::Reading;
use crate::scenario::Scenario;

/// How systemd-resolved is asked.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Door {
    /// ResolveHostname over Varlink, what nss-resolve calls.
    Varlink,
    /// The stub listener 127.0.0.53, asked by glibc.
    Stub,
}

/// The lookup of `scenario`.
pub async fn lookup(_io: Rc<Io>, _scenario: &Scenario, _door: Door) -> Outcome {
    Outcome::Failed("NOT_MODELLED")
}

/// What it takes from the configuration.
pub fn reading<'a>(_scenario: &'a Scenario, _door: Door) -> Reading<'a> {
    Reading::default()
}
