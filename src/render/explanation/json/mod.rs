//! An explanation as one JSON document.

mod forms;

use std::fmt::Display;
use std::io::{self, Write};

use schemars::JsonSchema;

use self::forms::{
    AdviceForm, CandidateForm, ClusterForm, CostForm, DecisionForm, ErrorForm, ExplanationForm,
    GroupForm, LeadForm, OutcomeForm, ReadingForm, ResolverForm, SavingForm, SettingForm,
    SilentForm, TransitionForm, UnusedForm,
};
use crate::doctor::Route;
use crate::explain::advice::{Advice, Change, Harm};
use crate::explain::decision::{Decision, Order};
use crate::explain::transition::{Reply, Then};
use crate::explain::{Explanation, Group, Member, PlacedLead, Row};
use crate::render::explanation::MAX_LISTED;
use crate::render::live::Lived;
use crate::render::path::service;
use crate::render::{json, live, loopback, words};
use crate::resolver::reading::{Origin, Setting};
use crate::scenario::Scenario;
use crate::scenario::record_type::Shown;
use crate::text::excerpt;

/// Version of the format; it rises when a field goes or changes its meaning.
const FORMAT: u32 = 2;

/// So many bytes of a word are in a document: no name has more.
const LONGEST: usize = 1000;

/// Writes the document of `explanation`.
///
/// # Errors
///
/// Any error of `out`.
pub fn write(explanation: &Explanation<'_>, out: &mut dyn Write) -> io::Result<()> {
    json::document(&document(explanation), out)
}

/// Writes the document of `explanation` with the lookups that were made, and
/// with what is known of Services that did not respond.
///
/// # Errors
///
/// Any error of `out`.
pub fn write_live(
    explanation: &Explanation<'_>,
    lived: &[Lived],
    services: &[Result<Route, String>],
    out: &mut dyn Write,
) -> io::Result<()> {
    let document = ExplanationForm {
        live: Some(lived.iter().map(live::json::form).collect()),
        services: Some(service::forms(services)),
        ..document(explanation)
    };
    json::document(&document, out)
}

fn document(explanation: &Explanation<'_>) -> ExplanationForm {
    let scenario = explanation.scenario;
    ExplanationForm {
        format: FORMAT,
        case: scenario.id.clone(),
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
        ..ExplanationForm::default()
    }
}

/// Writes a document that says only what went wrong; `at` is line and column.
///
/// # Errors
///
/// Any error of `out`.
pub fn write_error(
    case: &str,
    name: &str,
    message: &str,
    at: Option<(usize, usize)>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let document = ExplanationForm {
        format: FORMAT,
        case: case.to_owned(),
        name: name.to_owned(),
        errors: vec![ErrorForm {
            message: message.to_owned(),
            line: at.map(|(line, _)| line),
            column: at.map(|(_, column)| column),
        }],
        ..ExplanationForm::default()
    };
    json::document(&document, out)
}

fn lead(lead: &PlacedLead) -> LeadForm {
    LeadForm {
        address: lead.lead.address.to_string(),
        at: lead.place.clone(),
        sentence: loopback::lead(&lead.lead),
        guess: lead.lead.is_guess(),
    }
}

// The output: a document, or an array of them where a file has several scenarios.
#[derive(JsonSchema)]
#[schemars(untagged, title = "Explanation")]
#[expect(dead_code, reason = "only its schema is used")]
pub(in crate::render) enum Output {
    One(Box<ExplanationForm>),
    Several(Vec<ExplanationForm>),
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
            .map(|it| Shown(*it).to_string())
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
        outcome: OutcomeForm {
            addresses: member.run.outcome.found().map(live::json::texts),
            code: member.run.outcome.code(),
        },
        answered_as: member.elsewhere.as_ref().map(|it| it.name.to_string()),
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
        let at = conf?.position(dropped.span.start);
        Some(UnusedForm {
            line: at.line,
            column: at.column,
            text: excerpt(conf?.bytes(dropped.span), LONGEST),
            why: dropped.why.clone().into_owned(),
        })
    };
    let search = reading.search.iter().take(MAX_LISTED);
    let timeout = &reading.timeout;
    ReadingForm {
        servers: settings(scenario, &reading.servers),
        search: search
            .map(|it| setting(scenario, excerpt(&it.value, LONGEST), it.origin))
            .collect(),
        search_more: reading.search.len().saturating_sub(MAX_LISTED),
        ndots: reading
            .ndots
            .map(|it| setting(scenario, it.value, it.origin)),
        timeout_seconds: setting(scenario, timeout.value.as_secs_f64(), timeout.origin),
        attempts: setting(scenario, reading.attempts.value, reading.attempts.origin),
        flags: settings(scenario, &reading.flags),
        unused: reading.dropped.first().iter().filter_map(unused).collect(),
        unused_more: reading.dropped.more(),
        refused: reading.refused.as_ref().and_then(unused),
    }
}

fn settings<T: Display>(scenario: &Scenario, all: &[Setting<T>]) -> Vec<SettingForm> {
    let forms = all.iter().map(|it| setting(scenario, &it.value, it.origin));
    forms.collect()
}

fn setting(scenario: &Scenario, value: impl Display, origin: Origin) -> SettingForm {
    SettingForm {
        value: value.to_string(),
        from: words::origin(scenario, origin),
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
        trade_offs: vec![words::trade_off(&advice.change).to_owned()],
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
