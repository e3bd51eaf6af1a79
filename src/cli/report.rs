//! `kdns report merge`: reads reports line by line, writes what they say
//! together.

use std::io::{BufRead, BufReader};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use clap::Subcommand;

use super::output::{Outputs, TextOrJson};
use super::threshold::{Level, Threshold};
use crate::check_loop::Verdict;
use crate::cli::streams::{Status, Streams};
use crate::host::{self, io_reason};
use crate::render::report as text;
use crate::report::{MAX_BARREN, MAX_RECORD, Merge, Stream, Summary};
use crate::text::escaped;

#[derive(clap::Args, Debug)]
pub(super) struct ReportArgs {
    #[command(subcommand)]
    command: ReportCommand,
}

#[derive(Subcommand, Debug)]
enum ReportCommand {
    /// Tell which nodes are alike, what differs between them, and who is the odd one out
    Merge(MergeArgs),
}

#[derive(clap::Args, Debug)]
struct MergeArgs {
    /// Files with reports, one a line, or each over many lines; - is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Also how the nodes of each group are set up
    #[arg(long, short)]
    verbose: bool,
    #[command(flatten)]
    threshold: Threshold,
    #[command(flatten)]
    outputs: Outputs<TextOrJson>,
}

/// Reads every file, writes what they say together.
pub(super) fn run(args: &ReportArgs, streams: &mut Streams<'_>) -> anyhow::Result<Status> {
    let ReportCommand::Merge(args) = &args.command;
    let mut merge = Merge::default();
    for path in &args.files {
        merge_file(path, &mut merge, streams);
    }
    let summary = merge.finish();
    args.outputs
        .write(args.verbose, streams, |format, style, out| match format {
            TextOrJson::Text => text::write(&summary, style, out),
            TextOrJson::Json => text::json::write(&summary, out),
        })?;
    streams.out.flush()?;
    if summary.nodes == 0 && summary.logs.reports == 0 {
        streams.tell(
            "there is no report of a node in the input; kdns check-loop --format jsonl writes one",
        );
    }
    Ok(status(&summary, &args.threshold))
}

/// Reads one file; what is wrong with it is noted.
fn merge_file(path: &Path, merge: &mut Merge, streams: &mut Streams<'_>) {
    if path.as_os_str() == "-" {
        let stream = Stream::new(merge, "<stdin>".to_owned());
        match streams.take_input() {
            Ok(input) => lines(input, stream),
            Err(error) => stream.end(Some(error.to_string())),
        }
        return;
    }
    let stream = Stream::new(merge, escaped(path.as_os_str().as_bytes()));
    match host::open_named(path) {
        Ok(file) => lines(&mut BufReader::with_capacity(1 << 16, file), stream),
        Err(error) => stream.end(Some(error.to_string())),
    }
}

/// A line, as far as it is kept.
#[derive(Default)]
struct Line {
    bytes: Vec<u8>,
    /// Also of what is not kept.
    length: u64,
}

impl Line {
    /// Whether it is longer than a report can be.
    fn is_long(&self) -> bool {
        self.length > MAX_RECORD as u64
    }
}

fn lines(input: &mut dyn BufRead, mut stream: Stream<'_>) {
    let mut line = Line::default();
    let failure = loop {
        match next(input, &mut line) {
            Ok(false) => break None,
            Ok(true) if line.is_long() => stream.long_line(line.length),
            Ok(true) => stream.line(&line.bytes),
            Err(error) => {
                let name = stream.file();
                break Some(format!("cannot read {name}: {}", io_reason(&error)));
            }
        }
        if let Some(reason) = stream.is_over() {
            break Some(reason);
        }
    };
    stream.end(failure);
}

/// Reads the next line without keeping what is too long; false at the end. One
/// that does not end is left.
fn next(input: &mut dyn BufRead, line: &mut Line) -> std::io::Result<bool> {
    line.bytes.clear();
    line.length = 0;
    let mut is_any = false;
    loop {
        let chunk = match input.fill_buf() {
            Ok(chunk) => chunk,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if chunk.is_empty() {
            return Ok(is_any);
        }
        is_any = true;
        let end = memchr::memchr(b'\n', chunk);
        let taken = end.map_or(chunk.len(), |it| it + 1);
        line.length += taken as u64;
        if !line.is_long() {
            line.bytes
                .extend_from_slice(chunk.get(..taken).unwrap_or_default());
        }
        input.consume(taken);
        if end.is_some() || line.length > MAX_BARREN {
            return Ok(true);
        }
    }
}

fn status(summary: &Summary, threshold: &Threshold) -> Status {
    if !summary.conflicts.is_empty() {
        return threshold.undecided();
    }
    if summary.groups.iter().any(|it| it.kind.is_bad()) {
        return threshold.status(Some(Level::Error));
    }
    let is_unknown = summary.with(Verdict::Unknown) > 0;
    if is_unknown || summary.error_count > 0 || summary.nodes + summary.logs.reports == 0 {
        return threshold.undecided();
    }
    let is_plain = summary.groups.len() < 2 && summary.groups.iter().all(|it| it.remarked == 0);
    threshold.status((!is_plain).then_some(Level::Info))
}
