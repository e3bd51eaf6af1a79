//! An explanation as one JSON document.

use std::io::{self, Write};

use schemars::JsonSchema;
use serde::Serialize;

use crate::engine::machine::Outcome;
use crate::explain::advice::{Advice, Change, Harm};
use crate::explain::decision::{Decision, Order};
use crate::explain::transition::{Reply, Then};
use crate::explain::{Explanation, Group, Member, PlacedLead, Row};
use crate::render::words;
use crate::resolver::reading::Setting;
use crate::scenario::Scenario;
use crate::text::escaped;

/// What `kdns explain NAME --format json` writes. Fields are only added
/// within a format version.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Document {
    /// Version of this format.
    format: u32,
    /// The name that was explained.
    name: String,
    /// The file that was read; absent where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    /// What was assumed or could not be read.
    about: Vec<String>,
    /// Servers of the file that are not what they seem: loopback addresses
    /// and their relatives.
    leads: Vec<LeadForm>,
    /// The Kubernetes search path, if the file has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    cluster: Option<ClusterForm>,
    /// Resolvers that send the same.
    groups: Vec<GroupForm>,
    /// What would save queries, with its price.
    advice: Vec<AdviceForm>,
    /// What could not be done; the exit status is then 2.
    errors: Vec<ErrorForm>,
}

/// Something that could not be done.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ErrorForm {
    /// One sentence.
    pub message: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct LeadForm {
    address: String,
    /// `FILE:LINE:COLUMN`
    at: String,
    sentence: String,
    /// Whether nothing but the address says so.
    guess: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ClusterForm {
    namespace: String,
    domain: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct GroupForm {
    resolvers: Vec<ResolverForm>,
    candidates: Vec<CandidateForm>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct CandidateForm {
    /// From 1.
    number: usize,
    /// With its final dot; absent for a malformed message.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    types: Vec<String>,
    servers: Vec<String>,
    /// `search N`, `as is`, …
    from: String,
    /// Whether it is asked, given the answers that were assumed.
    asked: bool,
    /// What the name would be in the cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    meaning: Option<String>,
    /// Whether this is what the user most likely means.
    useful: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ResolverForm {
    id: &'static str,
    version: &'static str,
    decision: DecisionForm,
    /// Queries sent in all.
    queries: usize,
    outcome: OutcomeForm,
    silent: SilentForm,
    /// What each answer leads to, by candidate.
    transitions: Vec<TransitionForm>,
    reading: ReadingForm,
    /// Bugs that were met and choices by lot.
    notes: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct DecisionForm {
    order: &'static str,
    /// Dots in the name, a final one not counted.
    dots: usize,
    sentence: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct OutcomeForm {
    #[serde(skip_serializing_if = "Option::is_none")]
    addresses: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct SilentForm {
    queries: usize,
    /// Time until it gives up; absent: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct TransitionForm {
    /// Number of the candidate.
    candidate: usize,
    reply: &'static str,
    /// Number of the candidate that follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<usize>,
    /// The error that the lookup ends with.
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ReadingForm {
    servers: Vec<SettingForm>,
    search: Vec<SettingForm>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ndots: Option<SettingForm>,
    timeout_seconds: SettingForm,
    attempts: SettingForm,
    flags: Vec<SettingForm>,
    /// Words of the file that have no effect for this resolver.
    unused: Vec<UnusedForm>,
    /// Why it refuses the whole file.
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<UnusedForm>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct SettingForm {
    value: String,
    /// `FILE:LINE:COLUMN`, an environment variable, `host name …`, or `default`.
    from: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct UnusedForm {
    line: usize,
    column: usize,
    text: String,
    why: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct AdviceForm {
    /// `final-dot` or `ndots`.
    change: &'static str,
    /// The name to write, or the number to set.
    to: String,
    sentence: String,
    savings: Vec<SavingForm>,
    price: Vec<String>,
    /// What it does to other names.
    costs: Vec<CostForm>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct SavingForm {
    resolver: &'static str,
    before: usize,
    after: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
struct CostForm {
    name: String,
    resolver: &'static str,
    /// Whether the name is not found any more.
    lost: bool,
    /// Queries that it takes more.
    more_queries: usize,
}

/// Writes the document of `explanation`.
///
/// # Errors
///
/// Any error of `out`.
pub fn write(explanation: &Explanation<'_>, out: &mut dyn Write) -> io::Result<()> {
    let scenario = explanation.scenario;
    let document = Document {
        format: 1,
        name: scenario.name.clone(),
        file: scenario
            .resolv_conf
            .as_ref()
            .map(|conf| conf.source.name.clone()),
        about: explanation.context.about.clone(),
        leads: explanation.context.leads.iter().map(lead).collect(),
        cluster: explanation.cluster.as_ref().map(|cluster| ClusterForm {
            namespace: cluster.namespace.clone(),
            domain: cluster.domain.clone(),
        }),
        groups: explanation
            .groups
            .iter()
            .map(|it| group(scenario, it))
            .collect(),
        advice: explanation.advice.iter().map(advice).collect(),
        errors: Vec::new(),
    };
    serde_json::to_writer_pretty(&mut *out, &document)?;
    out.write_all(b"\n")
}

/// Writes a document that says only what went wrong.
///
/// # Errors
///
/// Any error of `out`.
pub fn write_error(name: &str, message: &str, out: &mut dyn Write) -> io::Result<()> {
    let document = Document {
        format: 1,
        name: name.to_owned(),
        file: None,
        about: Vec::new(),
        leads: Vec::new(),
        cluster: None,
        groups: Vec::new(),
        advice: Vec::new(),
        errors: vec![ErrorForm {
            message: message.to_owned(),
        }],
    };
    serde_json::to_writer_pretty(&mut *out, &document)?;
    out.write_all(b"\n")
}

fn lead(lead: &PlacedLead) -> LeadForm {
    LeadForm {
        address: lead.lead.address.to_string(),
        at: lead.place.clone(),
        sentence: lead.lead.sentence(),
        guess: lead.lead.is_guess(),
    }
}

/// The schema of the document.
pub fn schema() -> schemars::Schema {
    schemars::schema_for!(Document)
}

fn group(scenario: &Scenario, group: &Group<'_>) -> GroupForm {
    GroupForm {
        resolvers: group
            .members
            .iter()
            .map(|it| resolver(scenario, it))
            .collect(),
        candidates: group
            .candidates
            .iter()
            .enumerate()
            .map(|(index, row)| candidate(index, row))
            .collect(),
    }
}

fn candidate(index: usize, row: &Row) -> CandidateForm {
    let candidate = &row.candidate;
    let fqdn = |name: &crate::name::Name| match name.to_string().as_str() {
        "." => ".".to_owned(),
        text => format!("{text}."),
    };
    CandidateForm {
        number: index + 1,
        name: candidate.name.as_ref().map(fqdn),
        types: candidate
            .record_types()
            .iter()
            .map(ToString::to_string)
            .collect(),
        servers: candidate
            .servers()
            .iter()
            .map(ToString::to_string)
            .collect(),
        from: words::because(&candidate.because),
        asked: row.is_asked,
        meaning: row.meaning.as_ref().map(words::meaning),
        useful: row.is_useful,
    }
}

fn resolver(scenario: &Scenario, member: &Member<'_>) -> ResolverForm {
    let silence = &member.silence;
    ResolverForm {
        id: member.resolver.id,
        version: member.resolver.version,
        decision: decision(scenario, &member.decision),
        queries: member.run.sent.len(),
        outcome: match &member.run.outcome {
            Outcome::Found(addresses) => OutcomeForm {
                addresses: Some(addresses.iter().map(ToString::to_string).collect()),
                code: None,
            },
            Outcome::Failed(code) => OutcomeForm {
                addresses: None,
                code: Some(code),
            },
        },
        silent: SilentForm {
            queries: silence.queries,
            seconds: silence.after.map(|after| after.as_secs_f64()),
            code: silence.code,
        },
        transitions: transitions(member),
        reading: reading(scenario, member),
        notes: member.run.notes.clone(),
    }
}

fn decision(scenario: &Scenario, decision: &Decision) -> DecisionForm {
    DecisionForm {
        order: match decision.order {
            Order::Nothing(_) => "nothing",
            Order::Rooted => "rooted",
            Order::AsIsFirst => "as-is-first",
            Order::SearchFirst => "search-first",
            Order::SearchOnly => "search-only",
            Order::AsIsOnly => "as-is-only",
            Order::NoSearchList => "no-search-list",
            Order::Other => "other",
        },
        dots: decision.dots,
        sentence: words::decision(scenario, decision),
    }
}

fn transitions(member: &Member<'_>) -> Vec<TransitionForm> {
    let form = |index: usize, reply: Reply, then: Then| TransitionForm {
        candidate: index + 1,
        reply: words::reply(reply),
        next: match then {
            Then::Candidate(next) => Some(next + 1),
            _ => None,
        },
        code: match then {
            Then::Fails(code) => Some(code),
            _ => None,
        },
    };
    let candidates = member.transitions.iter().enumerate();
    candidates
        .flat_map(|(index, replies)| {
            replies
                .iter()
                .map(move |(reply, then)| form(index, *reply, *then))
        })
        .collect()
}

fn reading(scenario: &Scenario, member: &Member<'_>) -> ReadingForm {
    let reading = &member.reading;
    let conf = scenario.resolv_conf.as_ref();
    let unused = |dropped: &crate::resolver::reading::Dropped| {
        let at = conf?.source.position(dropped.span.start);
        Some(UnusedForm {
            line: at.line,
            column: at.column,
            text: escaped(conf?.bytes(dropped.span)),
            why: dropped.why.clone().into_owned(),
        })
    };
    let text = |value: String, origin| SettingForm {
        value,
        from: words::origin(scenario, origin),
    };
    ReadingForm {
        servers: reading
            .servers
            .iter()
            .map(|it| text(it.value.to_string(), it.origin))
            .collect(),
        search: reading
            .search
            .iter()
            .map(|it| text(escaped(&it.value), it.origin))
            .collect(),
        ndots: reading
            .ndots
            .map(|it| text(it.value.to_string(), it.origin)),
        timeout_seconds: seconds(scenario, &reading.timeout),
        attempts: text(reading.attempts.value.to_string(), reading.attempts.origin),
        flags: reading
            .flags
            .iter()
            .map(|it| text(it.value.to_owned(), it.origin))
            .collect(),
        unused: reading.dropped.iter().filter_map(unused).collect(),
        refused: reading.refused.as_ref().and_then(unused),
    }
}

fn seconds(scenario: &Scenario, setting: &Setting<std::time::Duration>) -> SettingForm {
    SettingForm {
        value: setting.value.as_secs_f64().to_string(),
        from: words::origin(scenario, setting.origin),
    }
}

fn advice(advice: &Advice) -> AdviceForm {
    let (change, to) = match &advice.change {
        Change::FinalDot(name) => ("final-dot", name.clone()),
        Change::Ndots(ndots) => ("ndots", ndots.to_string()),
    };
    AdviceForm {
        change,
        to,
        sentence: words::change(&advice.change),
        savings: advice
            .savings
            .iter()
            .map(|saving| SavingForm {
                resolver: saving.resolver,
                before: saving.before,
                after: saving.after,
            })
            .collect(),
        price: vec![words::price(&advice.change).to_owned()],
        costs: advice
            .costs
            .iter()
            .map(|cost| CostForm {
                name: cost.name.clone(),
                resolver: cost.resolver,
                lost: cost.effect == Harm::Lost,
                more_queries: match cost.effect {
                    Harm::Lost => 0,
                    Harm::Slower(more) => more,
                },
            })
            .collect(),
    }
}
