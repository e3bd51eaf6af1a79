//! A prediction as JSON, one line for each scenario and resolver.

use std::io::{self, Write};
use std::net::IpAddr;

use hickory_proto::rr::RecordType;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use crate::address::{Address, Server};
use crate::engine::machine::Outcome;
use crate::engine::message::{Because, Edns, Question, SocketId, Transport};
use crate::name::Name;
use crate::render::json;
use crate::resolver::Resolver;
use crate::scenario::record_type::Shown;
use crate::simulation::{Run, Sent};

/// What a resolver is predicted to send for one scenario, and how it ends.
#[derive(Serialize, JsonSchema)]
struct Prediction<'r> {
    /// The scenario's `id`, or its number among the scenarios, from 1.
    case: &'r str,
    /// The resolver's id.
    resolver: &'r str,
    /// The version that is predicted.
    version: &'r str,
    /// Every query that reaches a server, in order.
    queries: Vec<QueryForm<'r>>,
    outcome: OutcomeForm<'r>,
    /// Bugs that were met and choices by lot, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct QueryForm<'r> {
    proto: &'static str,
    /// Address of the server that is reached: `0.0.0.0` is `127.0.0.1`.
    server: IpAddr,
    /// Without the final dot; `.` is the root; `null`: a malformed message.
    qname: Option<NameForm<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    qtype: Option<TypeForm>,
    /// A malformed message in hexadecimal, without its id.
    #[serde(skip_serializing_if = "Option::is_none")]
    bad: Option<String>,
    /// Source socket, numbered from 1 in order of use. Absent where one socket
    /// sends to several servers: what they see of it is then up to routing.
    #[serde(skip_serializing_if = "Option::is_none")]
    sock: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    edns: Option<EdnsForm>,
    /// Set if the AD bit is.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    ad: bool,
    because: BecauseForm,
}

#[derive(JsonSchema)]
#[schemars(with = "String")]
struct NameForm<'r>(&'r Name);

impl Serialize for NameForm<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.0.with_text(|text| to.serialize_str(text))
    }
}

#[derive(JsonSchema)]
#[schemars(with = "Vec<String>")]
struct AddressesForm<'r>(&'r [Address]);

impl Serialize for AddressesForm<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.0.iter().map(ToString::to_string))
    }
}

#[derive(JsonSchema)]
#[schemars(with = "String")]
struct TypeForm(RecordType);

impl Serialize for TypeForm {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            RecordType::A => to.serialize_str("A"),
            RecordType::AAAA => to.serialize_str("AAAA"),
            other => to.collect_str(&Shown(other)),
        }
    }
}

#[derive(Serialize, JsonSchema)]
struct EdnsForm {
    size: u16,
    #[serde(rename = "do", skip_serializing_if = "std::ops::Not::not")]
    dnssec_ok: bool,
    #[serde(skip_serializing_if = "<[u16]>::is_empty")]
    options: &'static [u16],
}

/// Where the name of a query comes from.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum BecauseForm {
    /// Index in the search list as the resolver holds it, from 0.
    Search(usize),
    AsIs,
    HostAlias,
    Cname,
    FollowUp,
    Reverse,
    NameServer,
}

#[derive(Serialize, JsonSchema)]
struct OutcomeForm<'r> {
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    addrs: Option<AddressesForm<'r>>,
    /// The error as the resolver spells it.
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
}

/// Appends the prediction of one run as a line of JSON.
///
/// # Errors
///
/// None that is known: memory is written to.
pub fn line(case: &str, resolver: &Resolver, run: &Run, out: &mut Vec<u8>) -> io::Result<()> {
    let sockets = socket_numbers(run);
    let prediction = Prediction {
        case,
        resolver: resolver.id,
        version: resolver.version,
        queries: run
            .sent
            .iter()
            .zip(sockets)
            .map(|(sent, socket)| query(sent, socket))
            .collect(),
        outcome: outcome(&run.outcome),
        note: (!run.notes.is_empty()).then(|| run.notes.join("; ")),
    };
    json::append(&prediction, out)
}

/// A scenario that could not be read, in place of its predictions.
#[derive(Serialize, JsonSchema)]
struct Unread<'r> {
    /// The scenario's number among the scenarios, from 1, or its name.
    case: &'r str,
    error: UnreadError<'r>,
}

#[derive(Serialize, JsonSchema)]
struct UnreadError<'r> {
    /// One sentence.
    message: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<usize>,
}

/// Writes a line that says why there is no prediction; `at` is line and column.
///
/// # Errors
///
/// Any error of `out`.
pub fn error_line(
    case: &str,
    message: &str,
    at: Option<(usize, usize)>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let unread = Unread {
        case,
        error: UnreadError {
            message,
            line: at.map(|(line, _)| line),
            column: at.map(|(_, column)| column),
        },
    };
    json::line(&unread, out)
}

/// The schema of a line: a prediction, or why there is none.
pub fn schema() -> schemars::Schema {
    #[derive(JsonSchema)]
    #[schemars(untagged)]
    #[expect(dead_code, reason = "only its schema is used")]
    enum Line<'r> {
        Prediction(Prediction<'r>),
        Unread(Unread<'r>),
    }
    json::schema::<Line<'static>>()
}

fn query(sent: &Sent, socket: Option<usize>) -> QueryForm<'_> {
    let query = &sent.query;
    QueryForm {
        proto: match query.transport {
            Transport::Udp => "udp",
            Transport::Tcp => "tcp",
        },
        server: query.server.address.reached(),
        qname: query.name().map(NameForm),
        qtype: query.record_type().map(TypeForm),
        bad: match &query.question {
            Question::Malformed(bytes) => Some(hexadecimal(bytes)),
            Question::Asked(..) => None,
        },
        sock: socket,
        edns: query.edns.as_ref().map(edns),
        ad: query.authentic_data,
        because: because(&query.because),
    }
}

/// The number of each query's socket, from 1 in order of use; none in a run
/// in which one socket sends to several servers.
fn socket_numbers(run: &Run) -> Vec<Option<usize>> {
    // Sockets are numbered from 0 as they are made, used or not.
    let mut seen: Vec<Option<(usize, &Server)>> = Vec::with_capacity(8);
    let mut numbers = Vec::with_capacity(run.sent.len());
    let mut used = 0;
    for sent in &run.sent {
        let (SocketId(socket), server) = (sent.query.socket, &sent.query.server);
        let index = socket as usize;
        if index >= seen.len() {
            seen.resize(index + 1, None);
        }
        let Some(place) = seen.get_mut(index) else {
            continue;
        };
        let (number, other) = *place.get_or_insert_with(|| {
            used += 1;
            (used, server)
        });
        if other != server {
            return vec![None; run.sent.len()];
        }
        numbers.push(Some(number));
    }
    numbers
}

fn edns(edns: &Edns) -> EdnsForm {
    EdnsForm {
        size: edns.size,
        dnssec_ok: edns.dnssec_ok,
        options: edns.options,
    }
}

fn because(because: &Because) -> BecauseForm {
    match because {
        Because::Search(index) => BecauseForm::Search(*index),
        Because::AsIs => BecauseForm::AsIs,
        Because::HostAlias => BecauseForm::HostAlias,
        Because::Cname => BecauseForm::Cname,
        Because::FollowUp => BecauseForm::FollowUp,
        Because::Reverse => BecauseForm::Reverse,
        Because::NameServer => BecauseForm::NameServer,
    }
}

fn outcome(outcome: &Outcome) -> OutcomeForm<'_> {
    match outcome {
        Outcome::Found(addresses) => OutcomeForm {
            status: "ok",
            addrs: Some(AddressesForm(addresses)),
            code: None,
        },
        Outcome::Failed(code) => OutcomeForm {
            status: "error",
            addrs: None,
            code: Some(code),
        },
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}
