//! Writes captures: pcapng, with what a capture of kdns carries.
//!
//! Source: draft-ietf-opsawg-pcapng-04.

use std::io::{self, Write};

use super::{Frame, LinkType};

/// What a section begins with. Numbers are little-endian.
const SECTION: u32 = 0x0a0d_0d0a;
const BYTE_ORDER: u32 = 0x1a2b_3c4d;
const INTERFACE: u32 = 1;
const STATISTICS: u32 = 5;
const ENHANCED_PACKET: u32 = 6;

/// Option codes.
const OPT_COMMENT: u16 = 1;
const SHB_USERAPPL: u16 = 4;
const IF_NAME: u16 = 2;
const IF_TSRESOL: u16 = 9;
const EPB_FLAGS: u16 = 2;
const ISB_IFDROP: u16 = 5;

/// Bytes of a block around what it holds.
const FRAMING: usize = 12;

/// A capture that is being written.
#[derive(Debug)]
pub struct Writer<W: Write> {
    out: W,
    /// The interfaces that were described: link type's number and the number that
    /// frames have.
    interfaces: Vec<(u16, u32)>,
    /// The time of the last frame.
    last: i64,
    written: u64,
    block: Vec<u8>,
}

impl<W: Write> Writer<W> {
    /// Begins a capture of the program `by` with these comments, each of at most
    /// 65,535 bytes.
    ///
    /// # Errors
    ///
    /// It cannot be written.
    pub fn begin(out: W, by: &str, comments: &[String]) -> io::Result<Self> {
        let mut writer = Self {
            out,
            interfaces: Vec::new(),
            last: 0,
            written: 0,
            block: Vec::new(),
        };
        let block = &mut writer.block;
        put(block, BYTE_ORDER);
        // Version 1.0, and a length that is not known.
        block.extend([1, 0, 0, 0]);
        block.extend([0xff; 8]);
        for comment in comments {
            option(block, OPT_COMMENT, comment.as_bytes());
        }
        option(block, SHB_USERAPPL, by.as_bytes());
        end_of_options(block);
        writer.finish_block(SECTION)?;
        Ok(writer)
    }

    /// Writes a frame.
    ///
    /// # Errors
    ///
    /// It cannot be written.
    pub fn frame(&mut self, frame: &Frame<'_>) -> io::Result<()> {
        let interface = self.interface(frame)?;
        self.last = frame.time;
        let block = &mut self.block;
        put(block, interface);
        time(block, frame.time);
        put(block, u32::try_from(frame.bytes.len()).unwrap_or(u32::MAX));
        put(block, frame.original_length);
        block.extend(frame.bytes);
        pad(block);
        if let Some(outgoing) = frame.outgoing {
            let direction: u32 = if outgoing { 2 } else { 1 };
            option(block, EPB_FLAGS, &direction.to_le_bytes());
            end_of_options(block);
        }
        self.finish_block(ENHANCED_PACKET)
    }

    /// Ends the capture with what was counted and these comments.
    ///
    /// # Errors
    ///
    /// It cannot be written.
    pub fn end(mut self, drops: Option<u64>, comments: &[String]) -> io::Result<W> {
        self.statistics(drops, comments)?;
        self.out.flush()?;
        Ok(self.out)
    }

    /// Writes comments on what was written so far.
    ///
    /// # Errors
    ///
    /// It cannot be written.
    pub fn comment(&mut self, comments: &[String]) -> io::Result<()> {
        self.statistics(None, comments)
    }

    fn statistics(&mut self, drops: Option<u64>, comments: &[String]) -> io::Result<()> {
        if self.interfaces.is_empty() {
            self.describe(LinkType::CookedV2.number(&[]), 0)?;
        }
        let block = &mut self.block;
        put(block, 0);
        time(block, self.last);
        if let Some(drops) = drops {
            option(block, ISB_IFDROP, &drops.to_le_bytes());
        }
        for comment in comments {
            option(block, OPT_COMMENT, comment.as_bytes());
        }
        end_of_options(block);
        self.finish_block(STATISTICS)
    }

    /// Passes on to the file what was written so far.
    ///
    /// # Errors
    ///
    /// It cannot be written.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// Bytes that were written.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// The number of the frame's interface in this capture.
    fn interface(&mut self, frame: &Frame<'_>) -> io::Result<u32> {
        let wanted = (frame.link.number(frame.bytes), frame.interface);
        // In this order most frames are of the first one.
        let known = self.interfaces.iter().position(|it| *it == wanted);
        let number = match known {
            Some(number) => number,
            None => self.describe(wanted.0, wanted.1)?,
        };
        Ok(u32::try_from(number).unwrap_or(u32::MAX))
    }

    fn describe(&mut self, link: u16, interface: u32) -> io::Result<usize> {
        let name = match link {
            276 => "any".to_owned(),
            _ => format!("if{interface}"),
        };
        let block = &mut self.block;
        block.extend(link.to_le_bytes());
        block.extend([0, 0]);
        put(block, 0);
        option(block, IF_NAME, name.as_bytes());
        // Nanoseconds.
        option(block, IF_TSRESOL, &[9]);
        end_of_options(block);
        self.finish_block(INTERFACE)?;
        self.interfaces.push((link, interface));
        Ok(self.interfaces.len() - 1)
    }

    /// Writes what is in `block` with its type and lengths.
    fn finish_block(&mut self, kind: u32) -> io::Result<()> {
        let whole = self.block.len() + FRAMING;
        let length = u32::try_from(whole).map_err(io::Error::other)?;
        self.out.write_all(&kind.to_le_bytes())?;
        self.out.write_all(&length.to_le_bytes())?;
        self.out.write_all(&self.block)?;
        self.out.write_all(&length.to_le_bytes())?;
        self.block.clear();
        self.written += u64::from(length);
        Ok(())
    }
}

impl LinkType {
    /// The number of this link type, for a frame that begins so.
    fn number(self, bytes: &[u8]) -> u16 {
        match self {
            Self::Ethernet => 1,
            Self::Raw => 101,
            // The family is a small number: its byte order can be seen.
            Self::Loopback if bytes.first() == Some(&0) => 108,
            Self::Loopback => 0,
            Self::CookedV1 => 113,
            Self::CookedV2 => 276,
            Self::Other(number) => u16::try_from(number).unwrap_or(u16::MAX),
        }
    }
}

fn put(block: &mut Vec<u8>, number: u32) {
    block.extend(number.to_le_bytes());
}

/// A time in two words, the upper one first. Times before the epoch have none.
fn time(block: &mut Vec<u8>, time: i64) {
    let [a, b, c, d, low @ ..] = u64::try_from(time).unwrap_or_default().to_be_bytes();
    put(block, u32::from_be_bytes([a, b, c, d]));
    put(block, u32::from_be_bytes(low));
}

fn pad(block: &mut Vec<u8>) {
    block.resize(block.len().next_multiple_of(4), 0);
}

/// An option; what is too long for one is cut.
fn option(block: &mut Vec<u8>, code: u16, value: &[u8]) {
    let length = u16::try_from(value.len()).unwrap_or(u16::MAX);
    let value = value.get(..usize::from(length)).unwrap_or(value);
    block.extend(code.to_le_bytes());
    block.extend(length.to_le_bytes());
    block.extend(value);
    pad(block);
}

fn end_of_options(block: &mut Vec<u8>) {
    put(block, 0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Reader;

    #[test]
    fn what_is_written_is_read() {
        let comments = vec!["one".to_owned(), "x".repeat(65_535)];
        let mut writer = Writer::begin(Vec::new(), "kdns", &comments).unwrap();
        let frame = |number: u64, link, interface, bytes| Frame {
            is_time_known: true,
            number,
            time: 1_700_000_000_123_456_789 + number.cast_signed(),
            interface,
            outgoing: (number.is_multiple_of(2)).then_some(number == 2),
            link,
            bytes,
            original_length: 77,
        };
        let frames = [
            frame(1, LinkType::CookedV2, 0, &b"abcde"[..]),
            frame(2, LinkType::Ethernet, 3, b""),
            frame(3, LinkType::Loopback, 1, b"\0\0\0\x02"),
            frame(4, LinkType::CookedV2, 0, b"abcd"),
        ];
        for frame in &frames {
            writer.frame(frame).unwrap();
            writer.comment(&["between".to_owned()]).unwrap();
        }
        let bytes = writer.end(Some(5), &["after".to_owned()]).unwrap();
        let mut reader = Reader::open(bytes.as_slice()).unwrap();
        assert_eq!(reader.take_comments(), comments);
        for (frame, interface) in frames.iter().zip([0, 1, 2, 0]) {
            let read = reader.next_frame().unwrap().unwrap();
            let all =
                |it: &Frame<'_>| (it.number, it.time, it.outgoing, it.link, it.original_length);
            assert_eq!(all(&read), all(frame));
            assert_eq!((read.interface, read.bytes), (interface, frame.bytes));
        }
        assert!(reader.next_frame().unwrap().is_none());
        assert_eq!(reader.drops(), Some(5));
        let more = ["between", "between", "between", "between", "after"];
        assert_eq!(reader.take_comments(), more);
    }
}
