//! A name that was really looked up.

use std::time::Duration;

use super::State;
use crate::engine::machine::Outcome;
use crate::explain::elsewhere::Elsewhere;
use crate::explain::live::Lived;
use crate::scenario::Scenario;

/// A lookup of a name of the cluster is over in a few milliseconds. People notice
/// one that takes longer than this.
const SLOW: Duration = Duration::from_secs(1);

/// A lookup as a program on the target makes it.
#[derive(Debug)]
pub struct Lookup {
    /// Who looked up: a pod as `NAMESPACE/NAME`, or the TARGET as it was given; `None`:
    /// the pod that kdns is in.
    pub target: Option<String>,
    /// The name and the files.
    pub scenario: Scenario,
    /// How it went.
    pub lived: Lived,
}

impl Lookup {
    /// Who looked up, in words.
    pub fn whom(&self) -> &str {
        self.target.as_deref().unwrap_or("this pod")
    }

    /// The name outside of the cluster that was answered in the place of one of the
    /// cluster: whoever answers does not know that.
    pub fn elsewhere(&self) -> Option<Elsewhere> {
        Elsewhere::outside(&self.scenario, &self.lived.played.run())
    }

    /// What the lookup says of the target's DNS.
    pub fn state(&self) -> State {
        let played = &self.lived.played;
        match (&played.outcome, played.cut) {
            (_, Some(_)) => State::Error,
            _ if played.no_socket().is_some() => State::Unknown,
            _ if self.elsewhere().is_some() => State::Error,
            (Outcome::Found(_), None) if played.elapsed > SLOW => State::Warning,
            (Outcome::Found(_), None) => State::Ok,
            (_, None) => State::Error,
        }
    }
}
