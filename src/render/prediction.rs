//! A prediction as JSON, one line for each scenario and resolver.

use std::borrow::Cow;
use std::io::{self, Write};
use std::net::IpAddr;

use hickory_proto::rr::RecordType;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use smallvec::SmallVec;

use crate::address::{Address, Server};
use crate::engine::machine::Outcome;
use crate::engine::message::{Because, Edns, Query, Question, SocketId};
use crate::name::{MAX_WIRE_BYTES, Name};
use crate::render::json;
use crate::render::live::json::ReplyForm;
use crate::resolver::Resolver;
use crate::scenario::record_type::Shown;
use crate::simulation::courses::{Courses, Group, Other};
use crate::simulation::{Run, Sent};

#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
pub(in crate::render) enum Line<'r> {
    Prediction(Box<Prediction<'r>>),
    Unread(Unread<'r>),
}

/// What a resolver is predicted to send for one scenario, and how it ends.
#[derive(Serialize, JsonSchema)]
pub(in crate::render) struct Prediction<'r> {
    /// The scenario's `id`, or its number among the scenarios, from 1.
    case: &'r str,
    /// The resolver's id.
    resolver: &'r str,
    /// The version that is predicted.
    version: &'r str,
    /// Every query that reaches a server, in order: where something is left to
    /// chance, one of the runs that can be.
    #[schemars(with = "Vec<QueryForm<'r>>")]
    queries: Queries<'r>,
    #[serde(flatten)]
    courses: CoursesForm<'r>,
    outcome: OutcomeForm<'r>,
    /// Bugs that were met, and what is left to chance and why, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    /// With `--live`: what came back for each of `queries`, in their order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::render) replies: Option<Vec<ReplyForm>>,
    /// With `--live`: how long the lookup took, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::render) ms: Option<f64>,
    /// With `--live`: what ended it before the resolver did: the time allowed for it, more
    /// queries than any resolver should send, that it would wait for ever, or Ctrl-C.
    #[schemars(extend("enum" = ["time", "queries", "hangs", "interrupt", null]))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::render) cut: Option<&'static str>,
}

/// What may differ from `queries`, beside which it stands.
#[derive(Serialize, JsonSchema)]
struct CoursesForm<'r> {
    /// Groups of queries that are sent in any order: their numbers, from 0.
    /// Numbers in a list of their own keep their order among themselves.
    #[serde(skip_serializing_if = "Option::is_none")]
    any_order: Option<Vec<Vec<LaneForm<'r>>>>,
    /// What can be instead of some of the queries. Of those that overlap at
    /// most one is.
    #[serde(skip_serializing_if = "Option::is_none")]
    one_of: Option<Vec<OtherForm<'r>>>,
    /// Set if more may differ than is listed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    more: bool,
}

#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
enum LaneForm<'r> {
    One(usize),
    InOrder(&'r [usize]),
}

#[derive(Serialize, JsonSchema)]
struct OtherForm<'r> {
    /// Number of the first query that differs, from 0.
    from: usize,
    /// Number of the first one after it that is the same again.
    to: usize,
    /// What is sent in their place.
    #[schemars(with = "Vec<QueryForm<'r>>")]
    queries: Queries<'r>,
    #[serde(flatten)]
    courses: CoursesForm<'r>,
    /// How the lookup then ends, if otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<OutcomeForm<'r>>,
}

#[derive(Serialize, JsonSchema)]
struct QueryForm<'r> {
    proto: &'static str,
    /// Address of the server that is reached: `0.0.0.0` is `127.0.0.1`.
    server: IpAddr,
    /// Without the final dot; `.` is the root; `null`: a malformed message.
    #[schemars(with = "Option<String>")]
    qname: Option<Text<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    qtype: Option<Cow<'static, str>>,
    /// A malformed message in hexadecimal, without its id.
    #[serde(skip_serializing_if = "Option::is_none")]
    bad: Option<String>,
    /// Source socket, numbered from 1 in order of use. Absent where one socket
    /// sends to several servers: what they see of it is then up to routing; and
    /// where chance decides whether a socket is used again.
    #[serde(skip_serializing_if = "Option::is_none")]
    sock: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    edns: Option<EdnsForm>,
    /// Set if the AD bit is.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    ad: bool,
    because: BecauseForm,
}

/// A name as text.
struct Text<'r>(&'r Name);

impl Serialize for Text<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.plain_text(&mut [0; MAX_WIRE_BYTES]) {
            Some(text) => serializer.serialize_str(text),
            None => serializer.collect_str(self.0),
        }
    }
}

/// An address as text.
struct AddressText<'r>(&'r Address);

impl Serialize for AddressText<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Address {
                ip,
                scope: None,
                written: None,
            } => ip.serialize(serializer),
            address => serializer.collect_str(address),
        }
    }
}

/// Queries, with the numbers of their sockets where these are known.
struct Queries<'r> {
    sent: &'r [Sent],
    sockets: Option<Sockets<'r>>,
}

/// What sockets are used for, by the number of their making.
type Sockets<'r> = SmallVec<[Socket<'r>; 8]>;

/// The number of a socket, from 1 in order of use, and its server; `None`: it is not used.
type Socket<'r> = Option<(usize, &'r Server)>;

impl Serialize for Queries<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let number = |SocketId(socket)| {
            let (number, _) = (*self.sockets.as_ref()?.get(socket as usize)?)?;
            Some(number)
        };
        let sent = self.sent.iter().map(|it| &it.query);
        serializer.collect_seq(sent.map(|it| query(it, number(it.socket))))
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
    Module,
}

#[derive(Serialize, JsonSchema)]
struct OutcomeForm<'r> {
    status: &'static str,
    #[schemars(with = "Option<Vec<String>>")]
    #[serde(skip_serializing_if = "Option::is_none")]
    addrs: Option<Vec<AddressText<'r>>>,
    /// The error as the resolver spells it.
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
}

/// A scenario that could not be read, in place of its predictions.
#[derive(Serialize, JsonSchema)]
pub(in crate::render) struct Unread<'r> {
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

/// Appends the prediction of one run, and of what may differ, as a line of JSON.
///
/// # Errors
///
/// None: writing to memory does not fail.
pub fn line(
    case: &str,
    resolver: &Resolver,
    (run, courses): (&Run, &Courses),
    line: &mut Vec<u8>,
) -> io::Result<()> {
    json::append(&prediction(case, resolver, run, courses), line)
}

/// The form of a line.
pub(in crate::render) fn prediction<'r>(
    case: &'r str,
    resolver: &Resolver,
    run: &'r Run,
    differs: &'r Courses,
) -> Prediction<'r> {
    let notes = run.notes.iter().map(String::as_str);
    let notes: Vec<&str> = notes.chain(differs.why.iter().copied()).collect();
    Prediction {
        case,
        resolver: resolver.id,
        version: resolver.version,
        queries: Queries {
            sent: &run.sent,
            sockets: sockets(run, differs),
        },
        courses: courses(differs),
        outcome: outcome(&run.outcome),
        note: (!notes.is_empty()).then(|| notes.join("; ")),
        replies: None,
        ms: None,
        cut: None,
    }
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

fn courses(courses: &Courses) -> CoursesForm<'_> {
    let (groups, others) = (&courses.any_order, &courses.one_of);
    CoursesForm {
        any_order: (!groups.is_empty()).then(|| groups.iter().map(group).collect()),
        one_of: (!others.is_empty()).then(|| others.iter().map(other).collect()),
        more: courses.is_open,
    }
}

/// Lanes of one query are written as its number.
fn group(group: &Group) -> Vec<LaneForm<'_>> {
    let lanes = group.lanes.iter().map(|lane| match lane.as_slice() {
        [only] => LaneForm::One(*only),
        _ => LaneForm::InOrder(lane),
    });
    lanes.collect()
}

fn other(other: &Other) -> OtherForm<'_> {
    OtherForm {
        from: other.from,
        to: other.to,
        queries: Queries {
            sent: &other.sent,
            sockets: None,
        },
        courses: courses(&other.courses),
        outcome: other.outcome.as_ref().map(outcome),
    }
}

fn query(query: &Query, sock: Option<usize>) -> QueryForm<'_> {
    let (qtype, bad) = match &query.question {
        Question::Asked(_, RecordType::A) => (Some(Cow::Borrowed("A")), None),
        Question::Asked(_, RecordType::AAAA) => (Some(Cow::Borrowed("AAAA")), None),
        Question::Asked(_, other) => (Some(Shown(*other).to_string().into()), None),
        Question::Malformed(bytes) => {
            let hex = bytes.iter().map(|byte| format!("{byte:02x}"));
            (None, Some(hex.collect()))
        }
    };
    QueryForm {
        proto: query.transport.word(),
        server: query.server.address.reached(),
        qname: query.name().map(Text),
        qtype,
        bad,
        sock,
        edns: query.edns.as_ref().map(edns),
        ad: query.authentic_data,
        because: because(&query.because),
    }
}

/// The sockets by the number of their making; `None` where one socket sends to several servers, or
/// the same queries can come from others.
fn sockets<'r>(Run { sent, .. }: &'r Run, differs: &Courses) -> Option<Sockets<'r>> {
    if differs.sockets_differ {
        return None;
    }
    // Not every socket that is made is used.
    let mut sockets = Sockets::new();
    let mut used = 0;
    for sent in sent {
        let (SocketId(socket), server) = (sent.query.socket, &sent.query.server);
        let index = socket as usize;
        if index >= sockets.len() {
            sockets.resize(index + 1, None);
        }
        let (_, other) = *sockets.get_mut(index)?.get_or_insert_with(|| {
            used += 1;
            (used, server)
        });
        if other != server {
            return None;
        }
    }
    Some(sockets)
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
        Because::Module => BecauseForm::Module,
    }
}

fn outcome(outcome: &Outcome) -> OutcomeForm<'_> {
    let found = outcome.found();
    OutcomeForm {
        status: if found.is_some() { "ok" } else { "error" },
        addrs: found.map(|it| it.iter().map(AddressText).collect()),
        code: outcome.code(),
    }
}
