//! The output formats of `kdns explain`.

use std::io::{self, Write};

use clap::ValueEnum;

use crate::explain::transition::Detail;
use crate::explain::{Context, explain};
use crate::render::Style;
use crate::render::explanation;
use crate::render::prediction;
use crate::render::timeline::{self, Page};
use crate::resolver::Resolver;
use crate::scenario::Scenario;

/// How to write an explanation.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub(super) enum Format {
    /// For people
    #[default]
    Text,
    /// One document; an array of documents for a file with several scenarios
    Json,
    /// One prediction a line
    Jsonl,
    /// A picture: the queries by server, in order of time
    Svg,
}

/// Explains one scenario in one format.
pub(super) fn write(
    scenario: &Scenario,
    context: Context,
    resolvers: &[&'static Resolver],
    format: Format,
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    match format {
        Format::Text => {
            let detail = if style.verbose {
                Detail::Full
            } else {
                Detail::Short
            };
            explanation::write(&explain(scenario, context, resolvers, detail), style, out)
        }
        Format::Json => {
            explanation::json::write(&explain(scenario, context, resolvers, Detail::Full), out)
        }
        Format::Jsonl => {
            // A line is one piece: small writes would cost more than the prediction.
            let mut line = Vec::with_capacity(1 << 10);
            for resolver in resolvers {
                let (run, courses) = resolver.predict_courses(scenario);
                line.clear();
                prediction::line(&scenario.id, resolver, (&run, &courses), &mut line)?;
                out.write_all(&line)?;
            }
            Ok(())
        }
        Format::Svg => timeline::write("explain", &[drawn(scenario, context, resolvers)], 0, out),
    }
}

/// Draws one scenario.
pub(super) fn drawn(
    scenario: &Scenario,
    context: Context,
    resolvers: &[&'static Resolver],
) -> Page {
    timeline::explained(&explain(scenario, context, resolvers, Detail::Short))
}
