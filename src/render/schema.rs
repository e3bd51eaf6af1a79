//! The JSON Schemas of the machine formats, made from the types that are written.
//!
//! The program prints what `docs/schemas` keeps of them, so it need not carry what
//! makes them.

use schemars::Schema;

use super::json::schema;

/// A format's name, as `kdns schema` takes it, and what makes its schema.
pub type Format = (&'static str, fn() -> Schema);

/// Every format that has a schema.
pub const ALL: &[Format] = &[
    ("why", schema::<super::why::json::Why<'_>>),
    ("why-log", schema::<super::why::log::json::LogDocument<'_>>),
    (
        "why-metrics",
        schema::<super::why::metrics::json::MetricsDocument<'_>>,
    ),
    ("explain", schema::<super::explanation::json::Output>),
    ("prediction", schema::<super::prediction::Line<'_>>),
    ("pod-file", schema::<super::pod_file::json::PodFileDocument>),
    (
        "check-loop",
        schema::<super::check_loop::json::CheckLoopDocument<'_>>,
    ),
    ("upstream", schema::<super::upstream::json::Report<'_>>),
    ("doctor", schema::<super::doctor::json::DoctorDocument<'_>>),
    ("path", schema::<super::path::json::PathDocument>),
    ("pods", schema::<super::pods::json::PodsDocument>),
    ("dig", schema::<super::dig::json::MessageForm>),
    ("diff", schema::<super::diff::json::DiffDocument<'_>>),
    ("lint", schema::<super::lint::json::Document<'_>>),
    ("rule", schema::<Vec<super::lint::rule::RuleJson>>),
    ("report", schema::<super::report::json::MergedDocument<'_>>),
    ("watch", schema::<super::watch::json::SummaryForm>),
    ("lookup", schema::<super::watch::json::LookupForm>),
];
