//! `kdns explain --scenario FILE`: many questions, one after the other.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::Path;

use super::explain::{self, Format};
use super::output::{self, Outputs};
use super::{Status, Streams};
use crate::explain::Context;
use crate::render::explanation::Style;
use crate::render::{explanation_json, prediction};
use crate::resolver::Resolver;
use crate::scenario::json;
use crate::text::escaped;

/// Reads scenarios one by one, explains each, and goes on after a broken one.
pub(super) fn run(
    path: &Path,
    resolvers: &[&'static Resolver],
    outputs: &Outputs<Format>,
    style: Style,
    streams: &mut Streams<'_>,
) -> anyhow::Result<Status> {
    let name = if path.as_os_str() == "-" {
        "<stdin>".to_owned()
    } else {
        path.display().to_string()
    };
    let mut status = Status::Clean;
    for wanted in &outputs.wanted {
        let mut opened;
        let input: &mut dyn BufRead = if path.as_os_str() == "-" {
            &mut *streams.input
        } else {
            let file =
                File::open(path).map_err(|error| anyhow::anyhow!("cannot read {name}: {error}"))?;
            opened = BufReader::with_capacity(1 << 16, file);
            &mut opened
        };
        let mut scenarios = Scenarios {
            name: &name,
            resolvers,
            format: wanted.format,
            style,
            err: &mut *streams.err,
            status: Status::Clean,
            count: 0,
        };
        output::write(wanted.file.as_deref(), streams.out, |out| {
            scenarios.stream(input, &mut BufWriter::with_capacity(1 << 16, out))
        })?;
        status = status.max(scenarios.status);
    }
    Ok(status)
}

struct Scenarios<'s> {
    name: &'s str,
    resolvers: &'s [&'static Resolver],
    format: Format,
    style: Style,
    err: &'s mut dyn Write,
    status: Status,
    count: usize,
}

impl Scenarios<'_> {
    fn stream(&mut self, input: &mut dyn BufRead, out: &mut dyn Write) -> io::Result<()> {
        let mut text = Vec::new();
        let mut line = 0;
        while input.read_until(b'\n', &mut text)? > 0 {
            line += 1;
            if text.trim_ascii().is_empty() {
                text.clear();
                continue;
            }
            // A document that ends in the middle of its first line is one
            // object over many lines.
            if self.count == 0 && ends_early(&text) {
                return self.whole(input, text, out);
            }
            self.one(&text, line, out)?;
            text.clear();
        }
        if self.count == 0 {
            self.fail(
                "no scenario in it: write one JSON object, or one a line",
                None,
                out,
            )?;
        }
        out.flush()
    }

    /// One object over many lines; if it is none, each line for itself.
    fn whole(
        &mut self,
        input: &mut dyn BufRead,
        mut text: Vec<u8>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        input.read_to_end(&mut text)?;
        if text.trim_ascii().ends_with(b"}")
            && !ends_early(&text)
            && json::parse(&text, "1").is_ok()
            || !text
                .split(|&byte| byte == b'\n')
                .skip(1)
                .any(|line| json::parse(line, "1").is_ok())
        {
            self.one(&text, 1, out)?;
            return out.flush();
        }
        for (index, line) in text.split(|&byte| byte == b'\n').enumerate() {
            if !line.trim_ascii().is_empty() {
                self.one(line, index + 1, out)?;
            }
        }
        out.flush()
    }

    /// Explains the scenario in `text`, which begins on line `first` of the file.
    fn one(&mut self, text: &[u8], first: usize, out: &mut dyn Write) -> io::Result<()> {
        self.count += 1;
        match json::parse(text, &self.count.to_string()) {
            Ok(scenario) => explain::write(
                &scenario,
                Context::default(),
                self.resolvers,
                self.format,
                self.style,
                out,
            ),
            Err(error) => {
                let at = (first + error.line().max(1) - 1, error.column());
                let message = error.to_string();
                // serde_json ends with a place in its own counting.
                let message = message.split(" at line ").next().unwrap_or_default();
                self.fail(message, Some(at), out)
            }
        }
    }

    fn fail(
        &mut self,
        message: &str,
        at: Option<(usize, usize)>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        self.status = Status::Undecided;
        let message = escaped(message.as_bytes());
        match self.format {
            Format::Text => {}
            Format::Json => explanation_json::write_error("", &message, out)?,
            Format::Jsonl => prediction::error_line(&self.count.to_string(), &message, at, out)?,
        }
        let place = at
            .map(|(line, column)| format!(":{line}:{column}"))
            .unwrap_or_default();
        // A closed stderr leaves nobody to tell.
        let _ = writeln!(
            self.err,
            "kdns: {}{place}: {message}",
            escaped(self.name.as_bytes())
        );
        Ok(())
    }
}

/// Whether `text` is the beginning of a JSON value that goes on.
fn ends_early(text: &[u8]) -> bool {
    serde_json::from_slice::<serde::de::IgnoredAny>(text).is_err_and(|error| error.is_eof())
}
