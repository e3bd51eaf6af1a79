//! Incidents that people reported, by their kind: is the cause on the first screen?

use std::collections::BTreeMap;
use std::fs;

use kdns::why::{Catalogue, recognise};

use crate::root;

/// So many causes are shown without `-v`: `render::why::SHOWN`.
const FIRST_SCREEN: usize = 4;

/// Less would be a step back.
const ENOUGH_PERCENT: usize = 85;

/// A report: what its author pasted, or, where that is no message, what was seen.
pub(crate) struct Incident {
    pub(crate) kind: String,
    pub(crate) causes: Vec<String>,
    pub(crate) address: String,
    pub(crate) text: String,
}

/// Where its cause stands.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Place {
    /// On the first screen, with the command that decides it and its fix.
    First,
    /// With `-v`.
    Later,
    /// Not at all.
    Missing,
    /// It is said to be no error of DNS.
    Wrong,
}

impl Place {
    /// Its words in a table.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::First => "on the first screen",
            Self::Later => "with -v",
            Self::Missing => "not there",
            Self::Wrong => "denied",
        }
    }
}

/// How many incidents of a kind are in each place.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Count {
    pub(crate) first: usize,
    pub(crate) later: usize,
    pub(crate) missing: usize,
}

pub(crate) fn all() -> Vec<Incident> {
    let text = fs::read_to_string(root().join("testdata/why/incidents.tsv")).unwrap();
    let incident = |line: &str| {
        let fields: Vec<&str> = line.splitn(4, '\t').collect();
        Incident {
            kind: fields[0].to_owned(),
            causes: fields[1].split('|').map(str::to_owned).collect(),
            address: fields[2].to_owned(),
            text: fields[3].to_owned(),
        }
    };
    text.lines().skip(1).map(incident).collect()
}

/// Where the cause stands, and what kdns takes the text for.
pub(crate) fn place(catalogue: &Catalogue, incident: &Incident) -> (Place, &'static str) {
    let Ok(found) = recognise(catalogue, &incident.text, None) else {
        return (Place::Missing, "");
    };
    let id = found.message.id;
    if found.causes.is_empty() {
        return (Place::Wrong, id);
    }
    let is_it = |code: &str| incident.causes.iter().any(|it| it == code);
    let place = match found.causes.iter().position(|it| is_it(it.1.code)) {
        Some(index) if index < FIRST_SCREEN => Place::First,
        Some(_) => Place::Later,
        None => Place::Missing,
    };
    (place, id)
}

/// The counts of each kind.
pub(crate) fn counts(catalogue: &Catalogue) -> BTreeMap<String, Count> {
    let mut counts: BTreeMap<String, Count> = BTreeMap::new();
    for incident in all() {
        let count = counts.entry(incident.kind.clone()).or_default();
        match place(catalogue, &incident).0 {
            Place::First => count.first += 1,
            Place::Later => count.later += 1,
            Place::Missing | Place::Wrong => count.missing += 1,
        }
    }
    counts
}

#[test]
fn causes_of_incidents_are_on_the_first_screen() {
    let catalogue = Catalogue::built_in();
    let incidents = all();
    let mut others = Vec::new();
    for incident in &incidents {
        for code in &incident.causes {
            assert!(catalogue.cause(code).is_some(), "there is no cause {code}");
        }
        let (place, id) = place(catalogue, incident);
        assert!(place != Place::Wrong, "{id}: {}", incident.text);
        if place != Place::First {
            others.push(format!("{place:?} {id}: {}", incident.text));
        }
    }
    let first = incidents.len() - others.len();
    let is_enough = first * 100 >= incidents.len() * ENOUGH_PERCENT;
    assert!(
        is_enough,
        "{first} of {}:\n{}",
        incidents.len(),
        others.join("\n")
    );
}
