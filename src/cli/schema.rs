//! `kdns schema NAME`.

use clap::builder::{PossibleValue, PossibleValuesParser};
use flate2::bufread::GzDecoder;

use super::streams::{Status, Streams};

/// A format, what writes it, and its schema, which [`crate::render::schema`] made and
/// `build.rs` compressed.
type Kept = (&'static str, &'static str, &'static [u8]);

macro_rules! kept {
    ($name:literal, $written_by:literal) => {
        (
            $name,
            $written_by,
            include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".json")),
        )
    };
}

const SCHEMAS: [Kept; 18] = [
    kept!("why", "kdns why MESSAGE --format json"),
    kept!("why-log", "kdns why LOG --format json"),
    kept!("why-metrics", "kdns why --metrics FILE --format json"),
    kept!("explain", "kdns explain NAME --format json"),
    kept!("prediction", "A line of kdns explain --format jsonl"),
    kept!("pod-file", "kdns pod-file --format json"),
    kept!("check-loop", "kdns check-loop --format json"),
    kept!("upstream", "kdns upstream --format json"),
    kept!("doctor", "kdns doctor --format json"),
    kept!("path", "kdns path --format json"),
    kept!("pods", "kdns pods --format json"),
    kept!("dig", "A line of kdns dig +json"),
    kept!("diff", "kdns diff --format json"),
    kept!("lint", "kdns lint --format json"),
    kept!("rule", "kdns rule --format json"),
    kept!("report", "kdns report merge --format json"),
    kept!("watch", "kdns watch --format json"),
    kept!("lookup", "A line of kdns watch --format jsonl"),
];

#[derive(clap::Args, Debug)]
pub(super) struct SchemaArgs {
    /// Which format
    #[arg(value_parser = names())]
    name: String,
}

/// Takes the name of a format that has a schema.
fn names() -> PossibleValuesParser {
    SCHEMAS
        .map(|(name, written_by, _)| PossibleValue::new(name).help(written_by))
        .into()
}

/// Prints the schema of a format.
pub(super) fn run(args: &SchemaArgs, streams: &mut Streams<'_>) -> anyhow::Result<Status> {
    for (_, _, schema) in SCHEMAS.iter().filter(|it| it.0 == args.name) {
        let schema: serde_json::Value = serde_json::from_reader(GzDecoder::new(*schema))?;
        writeln!(streams.out, "{schema:#}")?;
    }
    Ok(Status::Clean)
}
