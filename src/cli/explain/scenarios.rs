//! `kdns explain --scenario FILE`: many questions, one after the other.

use std::io::{self, BufRead, BufReader, Read as _, Write};
use std::path::Path;

use super::format::{self, Format};
use crate::cli::output::{Outputs, Sink};
use crate::cli::streams::{Status, Streams};
use crate::explain::Context;
use crate::host::{self, io_reason};
use crate::render::Style;
use crate::render::explanation;
use crate::render::prediction;
use crate::render::timeline::{self, Page};
use crate::resolver::Resolver;
use crate::scenario::{Scenario, json};
use crate::text::{escaped, excerpt};

/// A scenario has at most so many bytes: whatever is piped in, memory is bounded.
const MAX_BYTES: u64 = 64 << 20;

/// So many broken scenarios are named one by one, each in so many bytes.
const MAX_TOLD: usize = 100;
const LONGEST: usize = 500;

/// So many scenarios are drawn: a document is made in memory.
const MAX_PAGES: usize = 50;

/// Reads scenarios one by one, explains each, and goes on after a broken one.
pub(super) fn run(
    path: &Path,
    resolvers: &[&'static Resolver],
    outputs: &Outputs<Format>,
    style: Style,
    streams: &mut Streams<'_>,
) -> anyhow::Result<Status> {
    let mut opened;
    let (name, input): (_, &mut dyn BufRead) = if path.as_os_str() == "-" {
        ("<stdin>".to_owned(), &mut *streams.input)
    } else {
        let file = host::open_named(path)?;
        opened = BufReader::with_capacity(1 << 16, file);
        (escaped(path.as_os_str().as_encoded_bytes()), &mut opened)
    };
    let mut out = Some(&mut *streams.out);
    let mut targets = Vec::new();
    for wanted in &outputs.wanted {
        let sink = match (&wanted.file, out.take()) {
            (Some(file), unused) => {
                out = unused;
                Sink::file(file, outputs.others)?
            }
            (None, Some(stream)) => Sink::stream(stream),
            (None, None) => anyhow::bail!("only one format can go to standard output"),
        };
        targets.push(Target {
            format: wanted.format,
            style: Style {
                colors: wanted.takes_colors(streams.colors),
                ..style
            },
            sink,
            first: None,
            pages: Vec::new(),
            count: 0,
        });
    }
    let mut scenarios = Scenarios {
        name: &name,
        resolvers,
        err: &mut *streams.err,
        targets,
        status: Status::Clean,
        count: 0,
        failures: 0,
        last: None,
    };
    scenarios.all(input)?;
    let more = scenarios.failures.saturating_sub(MAX_TOLD);
    if more > 0 {
        // A closed stderr leaves nobody to tell.
        let _ = writeln!(scenarios.err, "kdns: {name}: {more} more of this kind");
    }
    let status = scenarios.status;
    let finish = |target: Target<'_>| target.finish();
    scenarios.targets.into_iter().try_for_each(finish)?;
    Ok(status)
}

struct Scenarios<'s> {
    /// Of the input, safe to print.
    name: &'s str,
    resolvers: &'s [&'static Resolver],
    err: &'s mut dyn Write,
    targets: Vec<Target<'s>>,
    status: Status,
    count: usize,
    failures: usize,
    /// The last one that was explained: most have its files.
    last: Option<Scenario>,
}

/// One format of the results.
struct Target<'s> {
    format: Format,
    style: Style,
    sink: Sink<'s>,
    /// The first JSON document, while it can be the only one.
    first: Option<Vec<u8>>,
    /// Pictures, which are one document.
    pages: Vec<Page>,
    count: usize,
}

/// A piece of the input.
enum Piece {
    Text(Vec<u8>),
    End,
    /// It cannot be read on.
    Broken(String),
}

impl Scenarios<'_> {
    fn all(&mut self, input: &mut dyn BufRead) -> anyhow::Result<()> {
        let mut line = 0;
        loop {
            let mut text = match piece(input, |input, text| input.read_until(b'\n', text)) {
                Piece::Text(text) => text,
                Piece::End => break,
                Piece::Broken(why) => return self.fail(&why, None),
            };
            line += 1;
            if line == 1 && text.starts_with(b"\xef\xbb\xbf") {
                text.drain(..3);
            }
            if text.trim_ascii().is_empty() {
                continue;
            }
            // A document that ends in the middle of its first line is one
            // object over many lines.
            if self.count == 0 && ends_early(&text) {
                return match piece(input, |input, rest| input.read_to_end(rest)) {
                    Piece::Text(rest) => self.whole(&[text, rest].concat(), line),
                    Piece::End => self.one(&text, line),
                    Piece::Broken(why) => self.fail(&why, None),
                };
            }
            self.one(&text, line)?;
        }
        if self.count == 0 {
            self.fail(
                "no scenario in it: write one JSON object, or one a line",
                None,
            )?;
        }
        Ok(())
    }

    /// One object over many lines; if it is none, each line for itself.
    fn whole(&mut self, text: &[u8], first: usize) -> anyhow::Result<()> {
        let is_scenario = |text: &[u8]| json::parse(text, "1").is_ok();
        // Objects inside of an object are indented or no scenarios.
        let stands_alone =
            |line: &[u8]| is_scenario(line) || line.starts_with(b"{") && is_complete(line);
        let mut others = text.split(|&byte| byte == b'\n').skip(1);
        if is_scenario(text) || !others.any(stands_alone) {
            return self.one(text, first);
        }
        for (index, line) in text.split(|&byte| byte == b'\n').enumerate() {
            if !line.trim_ascii().is_empty() {
                self.one(line, first + index)?;
            }
        }
        Ok(())
    }

    /// Explains the scenario in `text`, which begins on line `first` of the file.
    fn one(&mut self, text: &[u8], first: usize) -> anyhow::Result<()> {
        self.count += 1;
        // Without the line's end, so that a missing brace is missing there.
        let mut scenario = match json::parse(text.trim_ascii_end(), &self.count.to_string()) {
            Ok(scenario) => scenario,
            Err(error) => {
                let at = (first + error.line - 1, error.column);
                return self.fail(&error.message, Some(at));
            }
        };
        if let Some(last) = &self.last {
            scenario.share_files(last);
        }
        let resolvers = self.resolvers;
        for target in &mut self.targets {
            if target.format == Format::Svg {
                target.draw(|| format::drawn(&scenario, Context::default(), resolvers));
                continue;
            }
            let style = target.style;
            let title = (target.format == Format::Text).then_some(scenario.id.as_str());
            target.add(title, |format, out| {
                format::write(&scenario, Context::default(), resolvers, format, style, out)
            })?;
        }
        self.last = Some(scenario);
        Ok(())
    }

    fn fail(&mut self, message: &str, at: Option<(usize, usize)>) -> anyhow::Result<()> {
        self.status = Status::Undecided;
        let message = excerpt(message.as_bytes(), LONGEST);
        let case = self.count.to_string();
        for target in &mut self.targets {
            if target.format == Format::Svg {
                target.draw(|| timeline::failed(&case, &message));
            } else if target.format != Format::Text {
                target.add(None, |format, out| match format {
                    Format::Text | Format::Svg => Ok(()),
                    Format::Json => explanation::json::write_error(&case, "", &message, at, out),
                    Format::Jsonl => prediction::error_line(&case, &message, at, out),
                })?;
            }
        }
        self.failures += 1;
        if self.failures > MAX_TOLD {
            return Ok(());
        }
        let place = at
            .map(|(line, column)| format!(":{line}:{column}"))
            .unwrap_or_default();
        // A closed stderr leaves nobody to tell.
        let _ = writeln!(self.err, "kdns: {}{place}: {message}", self.name);
        Ok(())
    }
}

impl Target<'_> {
    /// One result more: text below its title, a JSON document, lines. Several
    /// JSON documents are an array.
    fn add(
        &mut self,
        title: Option<&str>,
        write: impl FnOnce(Format, &mut dyn Write) -> io::Result<()>,
    ) -> anyhow::Result<()> {
        self.count += 1;
        let (format, count) = (self.format, self.count);
        if format != Format::Json {
            return self.sink.write(|out| {
                if let Some(title) = title {
                    let blank = if count > 1 { "\n" } else { "" };
                    writeln!(out, "{blank}Scenario {}\n", escaped(title.as_bytes()))?;
                }
                write(format, out)
            });
        }
        let mut document = Vec::new();
        write(format, &mut document)?;
        document.truncate(document.trim_ascii_end().len());
        if count == 1 {
            self.first = Some(document);
            return Ok(());
        }
        let first = self.first.take();
        self.sink.write(|out| {
            if let Some(first) = first {
                out.write_all(b"[\n")?;
                out.write_all(&first)?;
            }
            out.write_all(b",\n")?;
            out.write_all(&document)
        })
    }

    /// One picture more, as long as there are not too many.
    fn draw(&mut self, draw: impl FnOnce() -> Page) {
        self.count += 1;
        if self.count <= MAX_PAGES {
            self.pages.push(draw());
        }
    }

    fn finish(mut self) -> anyhow::Result<()> {
        if self.format == Format::Svg {
            let more = self.count - self.pages.len();
            self.sink
                .write(|out| timeline::write("explain", &self.pages, more, out))?;
            return self.sink.finish();
        }
        match self.first.take() {
            Some(only) => self.sink.write(|out| out.write_all(&only))?,
            None if self.count > 1 && self.format == Format::Json => {
                self.sink.write(|out| out.write_all(b"\n]"))?;
            }
            None => return self.sink.finish(),
        }
        self.sink.write(|out| out.write_all(b"\n"))?;
        self.sink.finish()
    }
}

/// A piece of the input, up to [`MAX_BYTES`].
fn piece(
    input: &mut dyn BufRead,
    read: impl FnOnce(&mut io::Take<&mut dyn BufRead>, &mut Vec<u8>) -> io::Result<usize>,
) -> Piece {
    let mut text = Vec::new();
    let mut limited = input.take(MAX_BYTES + 1);
    match read(&mut limited, &mut text) {
        Err(error) => Piece::Broken(format!("cannot be read on: {}", io_reason(&error))),
        Ok(0) => Piece::End,
        Ok(_) if limited.limit() == 0 => Piece::Broken(format!(
            "a scenario of more than {} MiB: nothing after it is read",
            MAX_BYTES >> 20
        )),
        Ok(_) => Piece::Text(text),
    }
}

/// Whether `text` is the beginning of a JSON value that goes on.
fn ends_early(text: &[u8]) -> bool {
    serde_json::from_slice::<serde::de::IgnoredAny>(text).is_err_and(|error| error.is_eof())
}

fn is_complete(text: &[u8]) -> bool {
    serde_json::from_slice::<serde::de::IgnoredAny>(text).is_ok()
}
