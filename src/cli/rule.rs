//! `kdns rule`: what a rule finds and why, offline.

use anyhow::anyhow;
use clap::ValueEnum;
use clap_complete::engine::ArgValueCandidates;

use super::completions;
use crate::cli::streams::{Status, Streams};
use crate::lint::{Rule, rules};
use crate::render::lint::rule;

#[derive(clap::Args, Debug)]
pub(super) struct RuleArgs {
    /// The code or name of a rule; without it all are listed
    #[arg(value_name = "RULE", add = ArgValueCandidates::new(completions::rule_words))]
    rule: Option<String>,
    /// How to write it
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
}

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
enum Format {
    /// For people
    #[default]
    Text,
    /// A list with one object for each rule
    Json,
}

pub(super) fn run(args: &RuleArgs, streams: &mut Streams<'_>) -> anyhow::Result<Status> {
    let chosen: Vec<&'static Rule> = match &args.rule {
        Some(word) => vec![rules::find(word).ok_or_else(|| anyhow!(rules::unknown(word)))?],
        None => rules::all().collect(),
    };
    match (args.format, chosen.as_slice()) {
        (Format::Json, rules) => rule::write_json(rules, streams.out)?,
        (Format::Text, [one]) if args.rule.is_some() => write!(streams.out, "{}", one.page())?,
        (Format::Text, rules) => rule::write_list(rules, streams.out)?,
    }
    Ok(Status::Clean)
}
