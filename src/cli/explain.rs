//! `kdns explain NAME`: the queries each stub resolver would send, and why.

use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::{Context as _, bail};
use clap::ValueEnum;
use clap::builder::PossibleValuesParser;
use hickory_proto::rr::RecordType;

use super::output::{self, Outputs};
use super::{Status, Streams, answer, scenarios};
use crate::explain::explain;
use crate::explain::transition::Detail;
use crate::render::explanation::{self, Style};
use crate::render::{explanation_json, prediction};
use crate::resolver::{self, Resolver};
use crate::scenario::{Family, Lookup, Scenario, default_hosts, file};
use crate::world::Rule;

/// Show the queries each stub resolver would send for a name, in order, and why
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  kdns explain kubernetes.default
  kdns explain db.prod --namespace web --resolver glibc,musl
  kdns explain api.example.com --file pod-resolv.conf --answer '*=TIMEOUT'
  kdns explain --scenario cases.jsonl --resolver all --format jsonl")]
pub(super) struct ExplainArgs {
    /// The name, as a program would pass it
    #[arg(required_unless_present = "scenario", conflicts_with = "scenario")]
    name: Option<String>,
    /// Explain with this resolv.conf; - is standard input
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Read scenarios from this file, one JSON object or one a line; - is standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["file", "env", "hostname", "answer", "types"])]
    scenario: Option<PathBuf>,
    /// Resolvers to explain: ids or short names, comma-separated, or all [default: glibc,musl,go]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = PossibleValuesParser::new(resolver_words()))]
    resolver: Vec<String>,
    /// Record types: A, AAAA, A,AAAA, or one other type, looked up as res_search would
    #[arg(long = "type", value_name = "TYPE", value_delimiter = ',', value_parser = answer::parse_type)]
    types: Vec<RecordType>,
    /// Assume this answer; the first that fits counts, and without one a name does not exist
    #[arg(long, value_name = "NAME[/TYPE]=REPLY", value_parser = answer::parse)]
    answer: Vec<Rule>,
    /// Environment variable of the program: LOCALDOMAIN, RES_OPTIONS, HOSTALIASES
    #[arg(long, value_name = "KEY=VALUE", value_parser = parse_variable)]
    env: Vec<(String, String)>,
    /// Host name of the machine
    #[arg(long, value_name = "NAME")]
    hostname: Option<String>,
    #[command(flatten)]
    outputs: Outputs<Format>,
    /// More detail
    #[arg(long, short)]
    verbose: bool,
}

/// How to write an explanation.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(super) enum Format {
    /// For people
    #[default]
    Text,
    /// One document
    Json,
    /// One prediction a line
    Jsonl,
}

/// The resolvers of a run without `--resolver`.
const DEFAULT_RESOLVERS: &[&str] = &["glibc", "musl", "go"];

fn resolver_words() -> Vec<&'static str> {
    std::iter::once("all").chain(resolver::names()).collect()
}

fn parse_variable(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("write KEY=VALUE")?;
    Ok((key.to_owned(), value.to_owned()))
}

/// Reads the question, explains it, writes it.
pub(super) fn run(args: &ExplainArgs, streams: &mut Streams<'_>) -> anyhow::Result<Status> {
    let resolvers = resolvers(&args.resolver);
    if let Some(path) = &args.scenario {
        return scenarios::run(
            path,
            &resolvers,
            &args.outputs,
            args.style(streams),
            streams,
        );
    }
    let scenario = match args.scenario(streams) {
        Ok(scenario) => scenario,
        Err(error) => return report(&error, args, streams).map(|()| Status::Undecided),
    };
    let style = args.style(streams);
    for wanted in &args.outputs.wanted {
        output::write(wanted.file.as_deref(), streams.out, |out| {
            write(&scenario, &resolvers, wanted.format, style, out)
        })?;
    }
    Ok(Status::Clean)
}

/// Explains one scenario in one format.
pub(super) fn write(
    scenario: &Scenario,
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
            explanation::write(&explain(scenario, resolvers, detail), style, out)
        }
        Format::Json => explanation_json::write(&explain(scenario, resolvers, Detail::Full), out),
        Format::Jsonl => resolvers.iter().try_for_each(|resolver| {
            prediction::line(&scenario.id, resolver, &resolver.predict(scenario), out)
        }),
    }
}

/// Says in every wanted format what could not be done, and to people always.
fn report(
    error: &anyhow::Error,
    args: &ExplainArgs,
    streams: &mut Streams<'_>,
) -> anyhow::Result<()> {
    let message = crate::render::printable::text(&format!("{error:#}")).into_owned();
    let name = args.name.clone().unwrap_or_default();
    for wanted in &args.outputs.wanted {
        output::write(wanted.file.as_deref(), streams.out, |out| {
            match wanted.format {
                Format::Text => Ok(()),
                Format::Json => explanation_json::write_error(&name, &message, out),
                Format::Jsonl => prediction::error_line(&name, &message, None, out),
            }
        })?;
    }
    // A closed stderr leaves nobody to tell.
    let _ = writeln!(streams.err, "kdns: {message}");
    Ok(())
}

/// The resolvers of these words, in the order given, each once.
fn resolvers(words: &[String]) -> Vec<&'static Resolver> {
    let mut found: Vec<&'static Resolver> = Vec::new();
    let given = words.iter().map(String::as_str);
    let words: Vec<&str> = if words.is_empty() {
        DEFAULT_RESOLVERS.to_vec()
    } else {
        given.collect()
    };
    for word in words {
        let named = resolver::ALL
            .iter()
            .filter(|_| word == "all")
            .chain(resolver::find(word));
        for resolver in named {
            if !found.iter().any(|other| other.id == resolver.id) {
                found.push(resolver);
            }
        }
    }
    found
}

impl ExplainArgs {
    fn style(&self, streams: &Streams<'_>) -> Style {
        Style {
            colors: streams.colors,
            verbose: self.verbose,
        }
    }

    fn scenario(&self, streams: &mut Streams<'_>) -> anyhow::Result<Scenario> {
        let name = self.name.clone().unwrap_or_default();
        check_name(&name)?;
        let mut scenario = Scenario::new(name.clone(), name);
        scenario.lookup = lookup(&self.types)?;
        scenario.env = self.env.iter().cloned().collect();
        scenario.answers.clone_from(&self.answer);
        if let Some(hostname) = &self.hostname {
            scenario.hosts = Some(default_hosts(hostname));
            scenario.hostname.clone_from(hostname);
        }
        scenario.resolv_conf = match &self.file {
            Some(path) if path.as_os_str() == "-" => {
                let mut bytes = Vec::new();
                streams
                    .input
                    .read_to_end(&mut bytes)
                    .context("cannot read standard input")?;
                Some(file("<stdin>", bytes))
            }
            Some(path) => {
                let bytes = std::fs::read(path)
                    .with_context(|| format!("cannot read {}", path.display()))?;
                Some(file(&path.to_string_lossy(), bytes))
            }
            None => std::fs::read("/etc/resolv.conf")
                .ok()
                .map(|bytes| file("/etc/resolv.conf", bytes)),
        };
        Ok(scenario)
    }
}

/// What of A, AAAA or another type is looked up.
fn lookup(types: &[RecordType]) -> anyhow::Result<Lookup> {
    let has = |record_type| types.contains(&record_type);
    Ok(match types {
        [] => Lookup::Addresses(Family::Both),
        _ if types.iter().all(|it| *it == RecordType::A) => Lookup::Addresses(Family::Inet),
        _ if types.iter().all(|it| *it == RecordType::AAAA) => Lookup::Addresses(Family::Inet6),
        [one] => Lookup::Records(*one),
        [_, _] if has(RecordType::A) && has(RecordType::AAAA) => Lookup::Addresses(Family::Both),
        _ => bail!("--type takes A and AAAA together, or one other type at a time"),
    })
}

/// Refuses what cannot be a name, before anybody is asked about it.
fn check_name(name: &str) -> anyhow::Result<()> {
    if name.is_empty() {
        bail!("the name is empty; write a name such as kubernetes.default");
    }
    let text = name.strip_suffix('.').unwrap_or(name);
    let longest = text
        .split('.')
        .max_by_key(|label| label.len())
        .unwrap_or_default();
    if longest.len() > crate::name::MAX_LABEL_BYTES {
        bail!(
            "the label `{longest}` has {} bytes; a label has at most 63 (RFC 1035, section 3.1)",
            longest.len()
        );
    }
    if text.len() > 253 {
        bail!(
            "the name has {} bytes; a name has at most 253 (RFC 1035, section 3.1)",
            text.len()
        );
    }
    Ok(())
}
