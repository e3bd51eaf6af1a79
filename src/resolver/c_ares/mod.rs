//! c-ares

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
/// 1.18
pub const V1_18: Version = Version { version: "1.18" };
/// 1.34
pub const V1_34: Version = Version { version: "1.34" };

/// Which function is called.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Call {
    /// `ares_getaddrinfo`
    GetAddrInfo,
    /// `ares_search`
    Search,
}

/// The lookup of `scenario`.
pub async fn lookup(
    _io: Rc<Io>,
    _scenario: &Scenario,
    _version: &'static Version,
    _call: Call,
) -> Outcome {
    Outcome::Failed("NOT_MODELLED")
}

/// What it takes from the configuration.
pub fn reading<'a>(_scenario: &'a Scenario, _version: &'static Version) -> Reading<'a> {
    Reading::default()
}
