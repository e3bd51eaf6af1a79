//! What a line looks like, for its schema.

#![expect(dead_code, reason = "only the schemas of these types are used")]

use std::net::IpAddr;

use schemars::JsonSchema;

use crate::render::json;
use crate::render::live::json::{CutForm, ReplyForm};
use crate::render::prediction::Unread;

/// The schema of a line: a prediction, or why there is none.
pub fn schema() -> schemars::Schema {
    json::schema::<Line<'static>>()
}

#[derive(JsonSchema)]
#[schemars(untagged)]
enum Line<'r> {
    Prediction(Prediction<'r>),
    Unread(Unread<'r>),
}

/// What a resolver is predicted to send for one scenario, and how it ends.
#[derive(JsonSchema)]
struct Prediction<'r> {
    /// The scenario's `id`, or its number among the scenarios, from 1.
    case: &'r str,
    /// The resolver's id.
    resolver: &'r str,
    /// The version that is predicted.
    version: &'r str,
    /// Every query that reaches a server, in order: where something is left to
    /// chance, one of the runs that can be.
    queries: Vec<QueryForm>,
    #[serde(flatten)]
    courses: CoursesForm<'r>,
    outcome: OutcomeForm<'r>,
    /// Bugs that were met, and what is left to chance and why, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    /// With `--live`: what came back for each of `queries`, in their order.
    #[serde(skip_serializing_if = "Option::is_none")]
    replies: Option<Vec<ReplyForm>>,
    /// With `--live`: how long the lookup took, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    ms: Option<f64>,
    /// With `--live`: what ended it before the resolver did.
    #[serde(skip_serializing_if = "Option::is_none")]
    cut: Option<CutForm>,
}

/// What may differ from `queries`, beside which it stands.
#[derive(JsonSchema)]
struct CoursesForm<'r> {
    /// Groups of queries that are sent in any order: their numbers, from 0.
    /// Numbers in a list of their own keep their order among themselves.
    #[serde(skip_serializing_if = "Option::is_none")]
    any_order: Option<Vec<Vec<LaneForm>>>,
    /// What can be instead of some of the queries. Of those that overlap at
    /// most one is.
    #[serde(skip_serializing_if = "Option::is_none")]
    one_of: Option<Vec<OtherForm<'r>>>,
    /// Set if more may differ than is listed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    more: bool,
}

#[derive(JsonSchema)]
#[schemars(untagged)]
enum LaneForm {
    One(usize),
    InOrder(Vec<usize>),
}

#[derive(JsonSchema)]
struct OtherForm<'r> {
    /// Number of the first query that differs, from 0.
    from: usize,
    /// Number of the first one after it that is the same again.
    to: usize,
    /// What is sent in their place.
    queries: Vec<QueryForm>,
    #[serde(flatten)]
    courses: CoursesForm<'r>,
    /// How the lookup then ends, if otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<OutcomeForm<'r>>,
}

#[derive(JsonSchema)]
struct QueryForm {
    proto: &'static str,
    /// Address of the server that is reached: `0.0.0.0` is `127.0.0.1`.
    server: IpAddr,
    /// Without the final dot; `.` is the root; `null`: a malformed message.
    qname: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    qtype: Option<String>,
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
struct EdnsForm {
    size: u16,
    #[serde(rename = "do", skip_serializing_if = "std::ops::Not::not")]
    dnssec_ok: bool,
    #[serde(skip_serializing_if = "<[u16]>::is_empty")]
    options: &'static [u16],
}

/// Where the name of a query comes from.
#[derive(JsonSchema)]
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

#[derive(JsonSchema)]
struct OutcomeForm<'r> {
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    addrs: Option<Vec<String>>,
    /// The error as the resolver spells it.
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'r str>,
}
