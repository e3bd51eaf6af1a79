//! `--write FILE`: keeps the packets, with what is needed to read them again.

use std::fs::File;
use std::io::{self, BufWriter, Seek as _};
use std::path::{Path, PathBuf};

use crate::cli::output::failure;
use crate::host::write::{self, Others};
use crate::host::{io_reason, shown};
use crate::node::asker::Asker;
use crate::packet::{Carried, Frame, Writer};

/// What wrote a capture, as it says itself.
const PROGRAM: &str = concat!("kdns ", env!("CARGO_PKG_VERSION"));

/// What a process that asked is called in a capture.
pub(super) const ASKER: &str = "process that asked";

/// The capture that is being written.
#[derive(Debug)]
pub(super) struct Keep {
    /// For messages.
    name: String,
    writer: Option<Writer<BufWriter<File>>>,
    /// With `--rotate`: the file that was written before, or is to be next, and how
    /// long a file becomes. Both are opened before any privilege is given up.
    other: Option<(File, u64)>,
    comments: Vec<String>,
}

impl Keep {
    /// Makes the files at `path`, and beside it with `rotate`.
    pub(super) fn begin(
        path: &Path,
        rotate: Option<u64>,
        carried: &Carried,
    ) -> anyhow::Result<Self> {
        let make = |path: &Path| {
            let made = write::private(path, Others::Refused);
            made.map_err(|error| failure(&shown(path), &error))
        };
        let file = make(path)?;
        let other = match rotate {
            Some(size) => Some((make(&beside(path))?, size)),
            None => None,
        };
        let comments = carried.comments();
        let name = shown(path);
        let writer = Writer::begin(BufWriter::new(file), PROGRAM, &comments);
        Ok(Self {
            writer: Some(writer.map_err(|error| failed(&name, &error))?),
            name,
            other,
            comments,
        })
    }

    /// Keeps a frame.
    pub(super) fn frame(&mut self, frame: &Frame<'_>) -> anyhow::Result<()> {
        let kept = self.put(frame);
        kept.map_err(|error| failed(&self.name, &error))
    }

    /// Keeps whose socket sent a query that was kept.
    pub(super) fn asker(&mut self, asker: &Asker) -> anyhow::Result<()> {
        let mut carried = Carried::default();
        carried.put(ASKER, asker.to_text());
        let writer = self.writer.as_mut();
        let kept = writer.map_or(Ok(()), |it| it.comment(&carried.comments()));
        kept.map_err(|error| failed(&self.name, &error))
    }

    fn put(&mut self, frame: &Frame<'_>) -> io::Result<()> {
        let Some(writer) = &mut self.writer else {
            return Ok(());
        };
        writer.frame(frame)?;
        let is_full = |it: &(File, u64)| writer.written() >= it.1;
        if let Some((next, size)) = self.other.take_if(|it| is_full(it)) {
            self.rotate(next, size)?;
        }
        Ok(())
    }

    /// Goes on in the other file, whose packets are the oldest.
    fn rotate(&mut self, mut next: File, size: u64) -> io::Result<()> {
        if let Some(writer) = self.writer.take() {
            let full = writer.end(None, &[])?.into_inner()?;
            self.other = Some((full, size));
        }
        next.set_len(0)?;
        next.rewind()?;
        let writer = Writer::begin(BufWriter::new(next), PROGRAM, &self.comments)?;
        self.writer = Some(writer);
        Ok(())
    }

    /// Hands on what was written, so that who reads along sees it.
    pub(super) fn flush(&mut self) -> anyhow::Result<()> {
        let flushed = self.writer.as_mut().map_or(Ok(()), Writer::flush);
        flushed.map_err(|error| failed(&self.name, &error))
    }

    /// Ends the capture with what is known by now.
    pub(super) fn end(self, drops: Option<u64>, after: &Carried) -> anyhow::Result<()> {
        let Some(writer) = self.writer else {
            return Ok(());
        };
        let ended = writer.end(drops, &after.comments());
        ended.map_err(|error| failed(&self.name, &error))?;
        Ok(())
    }
}

fn failed(name: &str, error: &io::Error) -> anyhow::Error {
    let reason = io_reason(error);
    anyhow::anyhow!("cannot write {name}: {reason}; no more packets are kept")
}

/// The second file of a rotation: `slow.2.pcapng` beside `slow.pcapng`.
fn beside(path: &Path) -> PathBuf {
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(".2");
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_file_is_beside_the_first() {
        let check = |path: &str, other: &str| assert_eq!(beside(Path::new(path)), Path::new(other));
        check("slow.pcapng", "slow.2.pcapng");
        check("/a.b/slow", "/a.b/slow.2");
        check("a/x.y.pcap", "a/x.y.2.pcap");
    }
}
