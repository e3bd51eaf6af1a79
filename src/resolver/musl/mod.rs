//! musl

use std::rc::Rc;

use crate::engine::io::Io;
use crate::engine::machine::Outcome;
use crate::resolver::reading::Reading;
use crate::scenario::Scenario;

/// What differs between versions.
#[derive(Clone, Copy, Debug)]
pub struct Version {
    /// The version.
    pub version: &'static str,
}
/// 1.2.3
pub const V1_2_3: Version = Version { version: "1.2.3" };
/// 1.2.5
pub const V1_2_5: Version = Version { version: "1.2.5" };

/// The lookup of `scenario`.
pub async fn lookup(_io: Rc<Io>, _scenario: &Scenario, _version: &'static Version) -> Outcome {
    Outcome::Failed("NOT_MODELLED")
}

/// What it takes from the configuration.
pub fn reading<'a>(_scenario: &'a Scenario) -> Reading<'a> {
    Reading::default()
}
