//! Takes a capture file apart into frames, while it is being written if need be.
//!
//! Of pcap and pcapng only what is needed to read damaged ones to where the damage
//! begins. `pcap-file` 2.0 would do for whole ones, at 70 ns a packet; it takes
//! all times of pcapng for nanoseconds, whatever `if_tsresol` says, and refuses
//! packets longer than the snap length that the file's header claims, which other
//! programs write.
//!
//! Source: draft-ietf-opsawg-pcap-06, draft-ietf-opsawg-pcapng-04.

mod blocks;
mod pcapng;

use std::io::{self, Read};

use self::pcapng::Sections;
use super::{Frame, LinkType};

/// The longest record that is held: what a capture of kdns carries of a pod
/// fits, and packets are much shorter.
pub(super) const MAX_RECORD: usize = 8 << 20;

/// As much is asked of the source at once.
const CHUNK: usize = 256 << 10;

/// Why there are no more frames, although the capture has not ended as it should.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CaptureError {
    /// The source cannot be read.
    #[error("{0}")]
    Read(#[from] io::Error),
    /// There is nothing in it.
    #[error("it is empty")]
    Empty,
    /// It begins as neither format does.
    #[error("it is no pcap and no pcapng file")]
    Unknown,
    /// It ends within a record, as it does when whoever wrote it was killed.
    #[error("it ends in the middle of a record, after frame {after}")]
    Cut {
        /// The number of the last whole frame.
        after: u64,
    },
    /// What follows makes no sense.
    #[error("byte {offset}, after frame {after}: {what}")]
    Damaged {
        /// Where the record begins, in bytes from the beginning of the capture.
        offset: u64,
        /// The number of the last whole frame.
        after: u64,
        /// What is wrong there.
        what: &'static str,
    },
}

/// Reads frames from a capture.
#[derive(Debug)]
pub struct Reader<R> {
    bytes: Window<R>,
    format: Format,
    frames: u64,
    /// The packet that it is at.
    packet: Option<Packet>,
}

#[derive(Debug)]
enum Format {
    Pcap(Pcap),
    PcapNg(Sections),
}

/// What the header of a pcap file says.
#[derive(Clone, Copy, Debug)]
struct Pcap {
    is_big_endian: bool,
    /// Nanoseconds in a unit of the second word of a time.
    unit: i64,
    link: LinkType,
}

/// A packet in the record that was read last.
#[derive(Clone, Copy, Debug)]
struct Packet {
    time: i64,
    interface: u32,
    outgoing: Option<bool>,
    link: LinkType,
    /// Where its bytes are in the record.
    start: usize,
    end: usize,
    original_length: u32,
}

impl<R: Read> Reader<R> {
    /// Reads the header of a capture; of pcapng also the comments in it.
    ///
    /// # Errors
    ///
    /// There is none, or it cannot be read.
    pub fn open(source: R) -> Result<Self, CaptureError> {
        const HEADER: usize = 24;
        let mut bytes = Window::new(source);
        if !bytes.fill(4)? {
            let is_empty = bytes.filled().is_empty();
            return Err(if is_empty {
                CaptureError::Empty
            } else {
                CaptureError::Unknown
            });
        }
        let magic = blocks::array(bytes.filled(), 0).unwrap_or_default();
        let is_big_endian = match magic {
            [0x0a, 0x0d, 0x0d, 0x0a] => {
                let mut sections = Sections::default();
                sections.begin(&mut bytes)?;
                let format = Format::PcapNg(sections);
                return Ok(Self {
                    bytes,
                    format,
                    frames: 0,
                    packet: None,
                });
            }
            [0xa1, 0xb2, ..] => true,
            [.., 0xb2, 0xa1] => false,
            _ => return Err(CaptureError::Unknown),
        };
        let word = |at| blocks::word(magic.as_slice(), at, is_big_endian);
        let unit = match word(0) {
            Some(0xa1b2_c3d4) => 1000,
            Some(0xa1b2_3c4d) => 1,
            _ => return Err(CaptureError::Unknown),
        };
        if !bytes.fill(HEADER)? {
            return Err(CaptureError::Cut { after: 0 });
        }
        // The upper bits say how long a frame check sequence is.
        let number = blocks::word(bytes.filled(), 20, is_big_endian).unwrap_or_default();
        bytes.take(HEADER);
        let link = LinkType::of_number(number & 0xffff);
        let format = Format::Pcap(Pcap {
            is_big_endian,
            unit,
            link,
        });
        Ok(Self {
            bytes,
            format,
            frames: 0,
            packet: None,
        })
    }

    /// The next frame; `None`: the capture ends here.
    ///
    /// # Errors
    ///
    /// It ends otherwise; then it has ended for good.
    pub fn next_frame(&mut self) -> Result<Option<Frame<'_>>, CaptureError> {
        self.advance()?;
        Ok(self.frame())
    }

    /// Goes on to the next frame; whether there is one.
    ///
    /// # Errors
    ///
    /// It ends otherwise; then it has ended for good.
    pub fn advance(&mut self) -> Result<bool, CaptureError> {
        self.packet = None;
        self.packet = match &mut self.format {
            Format::Pcap(pcap) => pcap.next(&mut self.bytes, self.frames)?,
            Format::PcapNg(sections) => sections.next(&mut self.bytes, self.frames)?,
        };
        self.frames += u64::from(self.packet.is_some());
        Ok(self.packet.is_some())
    }

    /// The frame that it is at.
    pub fn frame(&self) -> Option<Frame<'_>> {
        let packet = self.packet?;
        let bytes = self.bytes.record();
        let bytes = bytes.get(packet.start..packet.end).unwrap_or_default();
        let captured = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        Some(Frame {
            is_time_known: true,
            number: self.frames,
            time: packet.time,
            interface: packet.interface,
            outgoing: packet.outgoing,
            link: packet.link,
            bytes,
            original_length: packet.original_length.max(captured),
        })
    }

    /// The comments on the capture and on its statistics since the last call, in order:
    /// pcapng has them.
    pub fn take_comments(&mut self) -> Vec<String> {
        match &mut self.format {
            Format::Pcap(_) => Vec::new(),
            Format::PcapNg(sections) => sections.take_comments(),
        }
    }

    /// Packets that the capturing system dropped, as far as the capture has said
    /// by now.
    pub fn drops(&self) -> Option<u64> {
        match &self.format {
            Format::Pcap(_) => None,
            Format::PcapNg(sections) => sections.drops(),
        }
    }
}

impl Pcap {
    fn next<R: Read>(
        self,
        bytes: &mut Window<R>,
        after: u64,
    ) -> Result<Option<Packet>, CaptureError> {
        const HEADER: usize = 16;
        if !bytes.fill(HEADER)? {
            return if bytes.filled().is_empty() {
                Ok(None)
            } else {
                Err(CaptureError::Cut { after })
            };
        }
        let (words, _) = bytes.filled().as_chunks();
        let word = |at: usize| match words.get(at) {
            Some(word) if self.is_big_endian => u32::from_be_bytes(*word),
            Some(word) => u32::from_le_bytes(*word),
            None => 0,
        };
        let (seconds, fraction) = (i64::from(word(0)), i64::from(word(1)));
        let (captured, original_length) = (word(2) as usize, word(3));
        let end = HEADER + captured;
        if captured > MAX_RECORD - HEADER {
            let what = "the packet there would be longer than 8 MiB";
            return Err(bytes.damaged(after, what));
        }
        if !bytes.fill(end)? {
            return Err(CaptureError::Cut { after });
        }
        bytes.take(end);
        Ok(Some(Packet {
            time: seconds * 1_000_000_000 + fraction * self.unit,
            interface: 0,
            outgoing: None,
            link: self.link,
            start: HEADER,
            end,
            original_length,
        }))
    }
}

impl LinkType {
    /// What the number of a link type means.
    pub fn of_number(number: u32) -> Self {
        match number {
            1 => Self::Ethernet,
            // 12, 14: LINKTYPE_RAW as some systems wrote it.
            12 | 14 | 101 | 228 | 229 => Self::Raw,
            0 | 108 => Self::Loopback,
            113 => Self::CookedV1,
            276 => Self::CookedV2,
            other => Self::Other(other),
        }
    }
}

/// A part of a stream: what was read of it and is still needed.
#[derive(Debug)]
struct Window<R> {
    source: R,
    buffer: Vec<u8>,
    /// The record that was taken last.
    record: usize,
    /// What was not taken yet.
    start: usize,
    end: usize,
    /// Where `start` is in the stream.
    offset: u64,
}

impl<R: Read> Window<R> {
    fn new(source: R) -> Self {
        Self {
            source,
            buffer: vec![0; CHUNK],
            record: 0,
            start: 0,
            end: 0,
            offset: 0,
        }
    }

    /// What was read and not taken.
    fn filled(&self) -> &[u8] {
        self.buffer.get(self.start..self.end).unwrap_or_default()
    }

    /// Reads until there are `length` bytes, and not more often than that needs:
    /// a pipe has more only when somebody writes. `false`: it ends before.
    fn fill(&mut self, length: usize) -> io::Result<bool> {
        if self.end - self.start >= length {
            return Ok(true);
        }
        if self.start + length > self.buffer.len() {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
            if length > self.buffer.len() {
                self.buffer.resize(length.next_multiple_of(CHUNK), 0);
            }
        }
        while self.end - self.start < length {
            let free = self.buffer.get_mut(self.end..).unwrap_or_default();
            match self.source.read(free) {
                Ok(0) => return Ok(false),
                Ok(read) => self.end += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    /// Makes the next bytes the record; [`fill`](Self::fill) has said that they
    /// are there.
    fn take(&mut self, length: usize) {
        self.record = self.start;
        self.start = (self.start + length).min(self.end);
        self.offset += length as u64;
    }

    /// The record that was taken last, until the next one is filled.
    fn record(&self) -> &[u8] {
        self.buffer.get(self.record..self.start).unwrap_or_default()
    }

    /// Passes over bytes without holding them; `false`: it ends before.
    fn skip(&mut self, mut length: u64) -> io::Result<bool> {
        while length > 0 {
            if !self.fill(1)? {
                return Ok(false);
            }
            let part = usize::try_from(length).unwrap_or(usize::MAX);
            let part = part.min(self.end - self.start);
            self.take(part);
            length -= part as u64;
        }
        Ok(true)
    }

    fn damaged(&self, after: u64, what: &'static str) -> CaptureError {
        let offset = self.offset;
        CaptureError::Damaged {
            offset,
            after,
            what,
        }
    }
}

#[cfg(test)]
mod tests;
