//! The JSON Schemas of the machine formats, made from the types that are written.
//!
//! The program prints what `docs/schemas` keeps of them, so it need not carry what
//! makes them.

use schemars::Schema;

/// A format's name, as `kdns schema` takes it, and what makes its schema.
pub type Format = (&'static str, fn() -> Schema);

/// Every format that has a schema.
pub const ALL: &[Format] = &[
    ("why", super::why::json::schema),
    ("why-log", super::why::log::json::schema),
    ("why-metrics", super::why::metrics::json::schema),
    ("explain", super::explanation::json::schema),
    ("prediction", super::prediction::schema),
    ("pod-file", super::pod_file::json::schema),
    ("check-loop", super::check_loop::json::schema),
    ("upstream", super::upstream::json::schema),
    ("doctor", super::doctor::json::schema),
    ("path", super::path::json::schema),
    ("pods", super::pods::json::schema),
    ("dig", super::dig::json::schema),
    ("diff", super::diff::json::schema),
    ("lint", super::lint::json::schema),
    ("rule", super::lint::rule::schema),
    ("report", super::report::json::schema),
    ("watch", super::watch::json::schema),
    ("lookup", super::watch::json::line_schema),
];
