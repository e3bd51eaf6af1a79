//! go

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
/// 1.19
pub const V1_19: Version = Version { version: "1.19" };
/// 1.27
pub const V1_27: Version = Version { version: "1.27" };

/// The lookup of `scenario`.
pub async fn lookup(_io: Rc<Io>, _scenario: &Scenario, _version: &'static Version) -> Outcome {
    Outcome::Failed("NOT_MODELLED")
}

/// What it takes from the configuration.
pub fn reading<'a>(_scenario: &'a Scenario, _version: &'static Version) -> Reading<'a> {
    Reading::default()
}
