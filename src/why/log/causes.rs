//! Which known message the worst of a log is.

use super::{Advice, Rcode, Summary};
use crate::why::{Catalogue, Recognised, recognise};

/// What answers came to that no line of an error is about, the worst first, with the
/// message that says so.
const ANSWERS: [(Rcode, &str); 2] = [
    (Rcode::Unanswered, "coredns-log-unanswered"),
    (Rcode::ServFail, "coredns-log-servfail"),
];

impl Summary {
    /// The message of the strongest error in the log, with its causes. If no line has one:
    /// that of its failed answers, of a name that is there by turns, or of its slow answers.
    /// `None`: nothing failed that is known to be an error of DNS.
    pub fn worst<'c>(&self, catalogue: &'c Catalogue) -> Option<Recognised<'c>> {
        let mut said = self.sightings.iter().filter_map(|it| {
            let recognised = recognise(catalogue, &it.text, None).ok()?;
            (!recognised.causes.is_empty()).then_some(recognised)
        });
        said.next().or_else(|| {
            let has = |rcode| self.rcodes.iter().any(|it| it.0 == rcode && it.1 > 0);
            let failed = ANSWERS.into_iter().find(|it| has(it.0));
            let failed = failed.map(|it| it.1);
            let turns = self.advice.iter().find_map(by_turns);
            let slow = (self.latency.slow > 0).then_some("coredns-log-slow");
            let message = catalogue.message(failed.or(turns).or(slow)?)?;
            Some(Recognised {
                message,
                others: Vec::new(),
                besides: Vec::new(),
                is_near: true,
                asked: None,
                causes: catalogue.causes_of(message, None, None),
                name: None,
                shown: None,
            })
        })
    }
}

fn by_turns(advice: &Advice) -> Option<&'static str> {
    match advice {
        Advice::ByTurns { is_service, .. } if *is_service => Some("symptom-headless-now-and-then"),
        Advice::ByTurns { .. } => Some("symptom-now-and-then-nxdomain"),
        _ => None,
    }
}
