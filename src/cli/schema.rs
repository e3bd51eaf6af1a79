//! `kdns schema NAME`.

use clap::ValueEnum;

use super::streams::{Status, Streams};

/// The formats that have a schema.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum SchemaName {
    /// kdns why MESSAGE --format json
    Why,
    /// kdns why LOG --format json
    WhyLog,
    /// kdns why --metrics FILE --format json
    WhyMetrics,
    /// kdns explain NAME --format json
    Explain,
    /// A line of kdns explain --format jsonl
    Prediction,
    /// kdns pod-file --format json
    PodFile,
    /// kdns check-loop --format json
    CheckLoop,
    /// kdns upstream --format json
    Upstream,
    /// kdns doctor --format json
    Doctor,
    /// kdns path --format json
    Path,
    /// kdns pods --format json
    Pods,
    /// A line of kdns dig +json
    Dig,
    /// kdns diff --format json
    Diff,
    /// kdns lint --format json
    Lint,
    /// kdns rule --format json
    Rule,
    /// kdns report merge --format json
    Report,
    /// kdns watch --format json
    Watch,
    /// A line of kdns watch --format jsonl
    Lookup,
}

macro_rules! kept {
    ($name:literal) => {
        include_str!(concat!(env!("OUT_DIR"), "/", $name, ".json"))
    };
}

/// Prints the schema of a format, which [`crate::render::schema`] made and `build.rs` folded.
pub(super) fn run(name: SchemaName, streams: &mut Streams<'_>) -> anyhow::Result<Status> {
    let schema = match name {
        SchemaName::Why => kept!("why"),
        SchemaName::WhyLog => kept!("why-log"),
        SchemaName::WhyMetrics => kept!("why-metrics"),
        SchemaName::Explain => kept!("explain"),
        SchemaName::Prediction => kept!("prediction"),
        SchemaName::PodFile => kept!("pod-file"),
        SchemaName::CheckLoop => kept!("check-loop"),
        SchemaName::Upstream => kept!("upstream"),
        SchemaName::Doctor => kept!("doctor"),
        SchemaName::Path => kept!("path"),
        SchemaName::Pods => kept!("pods"),
        SchemaName::Dig => kept!("dig"),
        SchemaName::Diff => kept!("diff"),
        SchemaName::Lint => kept!("lint"),
        SchemaName::Rule => kept!("rule"),
        SchemaName::Report => kept!("report"),
        SchemaName::Watch => kept!("watch"),
        SchemaName::Lookup => kept!("lookup"),
    };
    let schema: serde_json::Value = serde_json::from_str(schema)?;
    writeln!(streams.out, "{schema:#}")?;
    Ok(Status::Clean)
}
