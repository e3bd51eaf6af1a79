//! `--read FILE`: frames of a capture.

use std::fmt;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use super::args::InputArgs;
use super::counters;
use super::input::{Ended, Feed, Take};
use super::keep::ASKER;
use crate::cli::streams::Streams;
use crate::host::interrupt::Interrupt;
use crate::host::{capture, io_reason, shown};
use crate::node::asker::Asker;
use crate::packet::{CaptureError, Carried, Frame, Reader, Steady};

/// A capture whose header was read.
pub(super) struct Capture<'s> {
    name: String,
    carried: Carried,
    reader: Reader<Box<dyn Read + 's>>,
    interrupt: Interrupt,
    how_long: Option<Duration>,
}

impl<'s> Capture<'s> {
    /// Opens the capture at `path`; with what it carries of whoever sent its
    /// packets.
    pub(super) fn open(
        path: &Path,
        args: &InputArgs,
        streams: &mut Streams<'s>,
    ) -> anyhow::Result<(Self, Carried)> {
        let interrupt = Interrupt::catch()?;
        let (name, source): (String, Box<dyn Read + 's>) = if path.as_os_str() == "-" {
            streams.take_input()?;
            // Standard output is still needed while packets come.
            let nothing: &'s mut io::Empty = Box::leak(Box::new(io::empty()));
            let input = std::mem::replace(&mut streams.input, nothing);
            let source = capture::standard_input(input, interrupt.clone());
            ("<stdin>".to_owned(), Box::new(source))
        } else {
            let source = capture::open(path, interrupt.clone())?;
            (shown(path), Box::new(source))
        };
        let failed =
            |error: CaptureError| anyhow::anyhow!("cannot read {name}: {}", reason(&error));
        let source = capture::decompressed(source).map_err(|error| failed(error.into()))?;
        let mut reader = Reader::open(source).map_err(failed)?;
        let carried = Carried::of_comments(&reader.take_comments());
        let capture = Self {
            name,
            carried: carried.clone(),
            reader,
            interrupt,
            how_long: args.how_long,
        };
        Ok((capture, carried))
    }

    /// Gives all frames to `feed`.
    pub(super) fn each(mut self, mut feed: Feed, take: Take<'_>) -> Ended {
        let mut notes = Vec::new();
        let how_long = self
            .how_long
            .map(|it| i64::try_from(it.as_nanos()).unwrap_or(i64::MAX));
        let mut until = None;
        let mut steady = Steady::default();
        let mut give = |feed: &mut Feed, frame: &Frame<'_>, take: Take<'_>| {
            let end = *until.get_or_insert(how_long.map(|it| frame.time.saturating_add(it)));
            match end {
                Some(end) if frame.time > end => ControlFlow::Break(()),
                _ => feed.frame(frame, take),
            }
        };
        loop {
            match self.reader.advance() {
                Ok(true) => {}
                Ok(false) => break,
                // It did not end by itself.
                Err(CaptureError::Cut { .. }) if self.interrupt.has_come() => break,
                Err(error) => {
                    notes.push(format!("{}: {}", self.name, reason(&error)));
                    break;
                }
            }
            // With the next packet a lookup can end.
            self.comments(&mut feed, take);
            let Some(frame) = self.reader.frame() else {
                break;
            };
            let flow = steady.push(&frame, &mut |it| give(&mut feed, it, take));
            if flow.is_break() {
                break;
            }
        }
        let _ = steady.end(&mut |it| give(&mut feed, it, take));
        self.comments(&mut feed, take);
        let (carried, drops) = (&self.carried, self.reader.drops());
        let mut counters = feed.end(drops, &counters::after(carried), take);
        counters.mistimed = steady.mistimed;
        Ended {
            counters,
            drops,
            own: counters::pair(carried, counters::OWN),
            node: counters::pair(carried, counters::NODE),
            notes,
        }
    }

    /// What stands behind packets: processes that asked, and at the end counters.
    fn comments(&mut self, feed: &mut Feed, take: Take<'_>) {
        for comment in self.reader.take_comments() {
            // Each is whole, and there are many askers.
            let carried = Carried::of_comments(&[comment]);
            if let Some(asker) = carried.text(ASKER).and_then(Asker::of_text) {
                feed.asker(asker, take);
            }
            let after = counters::after(&carried);
            self.carried.things.extend(after.things);
        }
    }
}

/// Why there are no more frames.
fn reason(error: &CaptureError) -> String {
    match error {
        CaptureError::Read(error) if error.raw_os_error().is_some() => io_reason(error),
        CaptureError::Read(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            "the compressed capture is cut: its end is missing".to_owned()
        }
        error => error.to_string(),
    }
}

impl fmt::Debug for Capture<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Capture")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
