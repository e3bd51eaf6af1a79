//! The candidates of a run: its queries, name by name.

use std::collections::BTreeMap;

use hickory_proto::rr::RecordType;

use crate::address::Server;
use crate::engine::message::{Because, Question, Transport};
use crate::name::Name;
use crate::order::once;
use crate::simulation::{Run, Sent};

/// A name that is tried, and the queries for it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Candidate {
    /// The name; `None`: a message that no server can read.
    pub name: Option<Name>,
    /// Why this name is tried: the search entry, or the name as it is.
    pub because: Because,
    /// Its queries, in order.
    pub queries: Vec<Asked>,
}

/// One query for a candidate.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Asked {
    /// Type asked for; 0 in a malformed message.
    pub record_type: u16,
    /// The server that is asked.
    pub server: Server,
    /// Over UDP or TCP.
    pub transport: Transport,
}

impl Candidate {
    /// Whether both are the same name for the same reason.
    pub fn is_same_name(&self, other: &Self) -> bool {
        self.key() == other.key()
    }

    /// The name and its reason, which no other candidate of a run shares.
    pub fn key(&self) -> (Option<&Name>, &Because) {
        (self.name.as_ref(), &self.because)
    }

    /// The record types asked for, each once, in order of asking.
    pub fn record_types(&self) -> Vec<RecordType> {
        let queries = self.queries.iter();
        once(queries.map(|it| RecordType::from(it.record_type)))
    }

    /// The servers asked, each once, in order of asking.
    pub fn servers(&self) -> Vec<&Server> {
        once(self.queries.iter().map(|it| &it.server))
    }
}

/// The candidates of `run`, in order of their first query. A resolver that
/// comes back to an earlier name (busybox asks all A, then all AAAA) adds to
/// that candidate, except when the name was left for another one and is then
/// tried for another reason.
pub fn candidates(run: &Run) -> Vec<Candidate> {
    let mut candidates: Vec<Candidate> = Vec::new();
    let mut known: BTreeMap<(Option<&Name>, &Because), usize> = BTreeMap::new();
    for sent in &run.sent {
        let (name, because) = (sent.query.name(), &sent.query.because);
        let index = match candidates.last() {
            // Most names are asked for twice in a row.
            Some(last) if last.key() == (name, because) => candidates.len() - 1,
            _ => *known.entry((name, because)).or_insert(candidates.len()),
        };
        match candidates.get_mut(index) {
            Some(candidate) => candidate.queries.push(asked(sent)),
            None => candidates.push(Candidate {
                name: name.cloned(),
                because: because.clone(),
                queries: vec![asked(sent)],
            }),
        }
    }
    candidates
}

fn asked(sent: &Sent) -> Asked {
    Asked {
        record_type: match &sent.query.question {
            Question::Asked(_, record_type) => u16::from(*record_type),
            Question::Malformed(_) => 0,
        },
        server: sent.query.server.clone(),
        transport: sent.query.transport,
    }
}
