//! `kdns explain NAME`: the queries each stub resolver would send, and why.

mod answer;
mod caution;
mod format;
mod live;
mod scenarios;
pub(super) mod words;

use std::path::PathBuf;
use std::time::Duration;

use clap::value_parser;
use clap_complete::engine::ArgValueCandidates;
use hickory_proto::rr::RecordType;

use self::format::{Format, write};
use self::live::Live;
use super::completions;
use super::output::{self, Outputs};
use super::question::{self, Question, QuestionArgs};
use crate::cli::files::typed;
use crate::cli::streams::{Status, Streams};
use crate::explain::live::Lived;
use crate::host::ReadError;
use crate::netns::EnterError;
use crate::render::explanation;
use crate::render::timeline;
use crate::render::{prediction, scenario_json};
use crate::scenario::Scenario;
use crate::text::escaped;
use crate::world::Rule;

#[derive(clap::Args, Debug)]
pub(super) struct ExplainArgs {
    /// The name, as a program would pass it
    #[arg(required_unless_present = "scenario", conflicts_with = "scenario")]
    name: Option<String>,
    /// Read scenarios from this file, one JSON object or one a line; - is standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["live", "target", "file", "root", "namespace", "pod", "env", "hostname", "answer", "types"])]
    scenario: Option<PathBuf>,
    /// Resolvers to explain: ids or short names, comma-separated, or all [default: the target's own, else glibc,musl,go]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = words::parse, long_help = words::help(), add = ArgValueCandidates::new(completions::resolver_words))]
    resolver: Vec<String>,
    /// Record types: A, AAAA, A,AAAA, or one other type, looked up as res_search would
    #[arg(long = "type", value_name = "TYPE", value_delimiter = ',', value_parser = answer::parse_type)]
    types: Vec<RecordType>,
    /// Assume this answer; the first that fits counts, and without one a name does not exist
    #[arg(long, value_name = "NAME[/TYPE][@SERVER]=REPLY", value_parser = answer::parse)]
    answer: Vec<Rule>,
    /// Really ask, as each resolver does, and show what comes back
    ///
    /// One resolver after the other, from the target's network where there is a target, else from
    /// here. Each takes as long as its own time-outs, at most five minutes. Only queries are sent.
    #[arg(long, conflicts_with = "answer")]
    live: bool,
    /// With --live: ask although the queries go round between DNS servers
    #[arg(long, requires = "live")]
    even_if_it_loops: bool,
    /// With --live: all lookups together take no longer
    #[arg(long, value_name = "SECONDS", requires = "live", value_parser = parse_seconds)]
    budget: Option<Duration>,
    /// With --live: look it up so many times, for faults that come now and then
    #[arg(long, value_name = "N", requires = "live", conflicts_with = "save_scenario", default_value_t = 1, value_parser = value_parser!(u16).range(1..=1000))]
    repeat: u16,
    /// Write the question as a scenario that others can replay; with --live also what was answered
    #[arg(long, value_name = "FILE", conflicts_with = "scenario")]
    save_scenario: Option<PathBuf>,
    #[command(flatten)]
    outputs: Outputs<Format>,
    /// Also errors, what each answer leads to, what happens to other names
    #[arg(long, short)]
    verbose: bool,
    #[command(flatten)]
    question: QuestionArgs,
}

fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|it: &f64| *it > 0.0);
    seconds
        .and_then(|it| Duration::try_from_secs_f64(it).ok())
        .ok_or_else(|| "write seconds, as in 10 or 0.5".to_owned())
}

/// Reads the question, explains it, writes it.
pub(super) fn run(args: &ExplainArgs, streams: &mut Streams<'_>) -> anyhow::Result<Status> {
    let style = streams.style(args.verbose);
    words::tell(&args.resolver, streams);
    if let Some(path) = &args.scenario {
        let resolvers = words::resolvers(&args.resolver, None, &[]);
        return match scenarios::run(path, &resolvers, &args.outputs, style, streams) {
            Err(error) if error.is::<ReadError>() => report(&error, args, streams),
            result => result,
        };
    }
    let name = args.name.as_deref().unwrap_or_default();
    let question = match question::ask(name, &args.types, &args.answer, &args.question, streams) {
        Ok(read) => read,
        Err(error) => return report(&error, args, streams),
    };
    let resolvers = words::resolvers(&args.resolver, question.resolver, &question.versions);
    let Question {
        scenario,
        context,
        namespace,
        ..
    } = question;
    if args.live {
        if !args.even_if_it_loops
            && let Err(error) = caution::admit(&scenario, namespace.as_ref(), &args.question)
        {
            return report(&error, args, streams);
        }
        let live = match namespace.transpose() {
            Ok(namespace) => Live {
                scenario: &scenario,
                context,
                namespace,
                resolvers: &resolvers,
                target: args.question.target(),
                budget: args.budget,
                repeat: usize::from(args.repeat),
                style,
                outputs: &args.outputs,
                save: args.save_scenario.as_deref(),
            },
            Err(error) => return report(&error.into(), args, streams),
        };
        return match live.run(streams) {
            Err(error) if error.is::<EnterError>() => report(&error, args, streams),
            result => result,
        };
    }
    if let Some(path) = &args.save_scenario {
        output::write(Some(path), args.outputs.others, streams.out, |out| {
            scenario_json::write(&scenario, out)
        })?;
    }
    args.outputs
        .write(args.verbose, streams, |format, style, out| {
            write(&scenario, context.clone(), &resolvers, format, style, out)
        })?;
    Ok(Status::Clean)
}

/// A lookup on the wire with these words behind `kdns explain`, as the first of
/// their resolvers makes it; nothing of it is written.
///
/// # Errors
///
/// It was not looked up; why.
pub(super) fn look_up(
    words: &[String],
    streams: &mut Streams<'_>,
) -> anyhow::Result<(Scenario, Lived)> {
    let args: ExplainArgs = typed(words)?;
    let name = args.name.as_deref().unwrap_or_default();
    let question = question::ask(name, &args.types, &args.answer, &args.question, streams)?;
    let Question {
        scenario,
        context,
        namespace,
        resolver,
        versions,
    } = question;
    caution::admit(&scenario, namespace.as_ref(), &args.question)?;
    let resolvers = words::resolvers(&args.resolver, resolver, &versions);
    let live = Live {
        scenario: &scenario,
        context,
        namespace: namespace.transpose()?,
        resolvers: &resolvers,
        target: args.question.target(),
        budget: args.budget,
        repeat: 1,
        style: streams.style(args.verbose),
        outputs: &args.outputs,
        save: None,
    };
    let lived = live.silently(streams)?;
    Ok((scenario, lived))
}

/// Says in every wanted format what could not be done, and to people always.
fn report(
    error: &anyhow::Error,
    args: &ExplainArgs,
    streams: &mut Streams<'_>,
) -> anyhow::Result<Status> {
    let message = escaped(format!("{error:#}").as_bytes());
    let name = args.name.clone().unwrap_or_default();
    let outputs = args.outputs.of_failures(&[Format::Text]);
    outputs.write(false, streams, |format, _, out| match format {
        Format::Text => Ok(()),
        Format::Json => explanation::json::write_error(&name, &name, &message, None, out),
        Format::Jsonl => prediction::error_line(&name, &message, None, out),
        Format::Svg => timeline::write("explain", &[timeline::failed(&name, &message)], 0, out),
    })?;
    streams.tell(message);
    Ok(Status::Undecided)
}

impl ExplainArgs {
    /// Whether a process, container or pod of a node is to be looked at.
    pub(super) fn has_target(&self) -> bool {
        self.question.has_target()
    }
}
