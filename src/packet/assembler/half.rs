//! One direction of a connection: segments in, messages out.

use crate::packet::dns::{HEADER, Header};
use crate::packet::{Content, Counters};

/// The payload of a segment, or what was captured of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece<'a> {
    /// The number of its first byte.
    pub(super) sequence: u32,
    pub(super) bytes: &'a [u8],
    /// How many bytes it had; `bytes` may be less.
    pub(super) length: usize,
}

/// What is kept of a direction.
#[derive(Debug, Default)]
pub(super) struct Half {
    /// The number of the byte that is to come; `None`: where messages begin is
    /// not known.
    next: Option<u32>,
    /// What the other side has confirmed, beyond what was seen.
    acknowledged: Option<u32>,
    /// The beginning of a message that is not complete.
    message: Vec<u8>,
    /// Bytes to come that belong to a message that was given up.
    skip: usize,
    /// Segments that came before their turn, by sequence: bytes and length.
    early: Vec<(u32, Vec<u8>, usize)>,
    /// Bytes in `early`.
    early_bytes: usize,
    /// Some of its bytes were not understood: they can have been any message.
    has_gap: bool,
    is_closed: bool,
}

/// Where messages go, and counts.
pub(super) struct Out<'o> {
    pub(super) counters: &'o mut Counters,
    pub(super) give: &'o mut dyn FnMut(Content, &[u8]),
}

/// So many segments that came too early are kept.
const MAX_EARLY: usize = 64;

/// The length before a message.
const PREFIX: usize = 2;

/// How far `sequence` is behind `next`; negative: before it.
fn distance(sequence: u32, next: u32) -> i64 {
    i64::from(sequence.wrapping_sub(next).cast_signed())
}

fn advanced(sequence: u32, by: usize) -> u32 {
    // A segment has fewer bytes than that.
    sequence.wrapping_add(u32::try_from(by).unwrap_or(u32::MAX))
}

impl Half {
    /// Bytes that are kept.
    pub(super) fn kept(&self) -> usize {
        self.message.len() + self.early_bytes
    }

    /// The first byte has this number. Said again it changes nothing.
    pub(super) fn begin(&mut self, sequence: u32) {
        if self.next.is_none() {
            self.next = Some(sequence);
        }
    }

    /// Whether a SYN of this number is the one that was seen: or its repetition.
    pub(super) fn is_begun_by(&self, sequence: u32) -> bool {
        let first = sequence.wrapping_add(1);
        self.next.is_none_or(|it| it == first)
    }

    /// Nothing more is to come; `false`: that was said before.
    pub(super) fn close(&mut self) -> bool {
        !std::mem::replace(&mut self.is_closed, true)
    }

    pub(super) fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// Whether nothing is missing before the end of this segment, as far as is known.
    pub(super) fn is_whole(&self, piece: Piece<'_>) -> bool {
        let end = advanced(piece.sequence, piece.length);
        !self.has_gap && self.next.is_none_or(|it| distance(end, it) <= 0)
    }

    /// The other side has everything before this number: what was not seen of it
    /// will not come any more.
    pub(super) fn acknowledge(&mut self, acknowledged: u32, out: &mut Out<'_>) {
        self.acknowledged = Some(acknowledged);
        self.pass_gaps(out);
    }

    /// Takes a segment.
    pub(super) fn push(&mut self, piece: Piece<'_>, room: usize, out: &mut Out<'_>) {
        if piece.length == 0 {
            return;
        }
        let Some(next) = self.next else {
            return self.join(piece, out);
        };
        let ahead = distance(piece.sequence, next);
        if ahead > 0 {
            self.keep(piece, room, out);
            return self.pass_gaps(out);
        }
        // What came before is sent again.
        let again = usize::try_from(-ahead).unwrap_or(usize::MAX);
        if again >= piece.length {
            return;
        }
        let piece = Piece {
            sequence: next,
            bytes: piece.bytes.get(again..).unwrap_or_default(),
            length: piece.length - again,
        };
        self.take(piece, out);
        self.take_early(out);
    }

    /// Where messages begin is not known: a segment that begins like one is taken
    /// for the beginning of one. Some programs send the length by itself.
    fn join(&mut self, piece: Piece<'_>, out: &mut Out<'_>) {
        let is_length = piece.length == PREFIX && length_before(piece.bytes) >= HEADER;
        if is_length || begins_message(piece.bytes) {
            self.next = Some(piece.sequence);
            self.take(piece, out);
        } else {
            out.counters.stream_gaps += piece.length as u64;
            self.has_gap = true;
        }
    }

    fn keep(&mut self, piece: Piece<'_>, room: usize, out: &mut Out<'_>) {
        let is_known = self
            .early
            .iter()
            .any(|it| it.0 == piece.sequence && it.2 >= piece.length);
        if is_known {
            return;
        }
        if self.early.len() >= MAX_EARLY || self.kept() + piece.bytes.len() > room {
            out.counters.segments_refused += 1;
            return;
        }
        let next = self.next.unwrap_or_default();
        let ahead = distance(piece.sequence, next);
        let at = self
            .early
            .partition_point(|it| distance(it.0, next) <= ahead);
        self.early_bytes += piece.bytes.len();
        let kept = (piece.sequence, piece.bytes.to_owned(), piece.length);
        self.early.insert(at, kept);
    }

    /// Takes the segments whose turn it is now.
    fn take_early(&mut self, out: &mut Out<'_>) {
        while let Some(&(sequence, ..)) = self.early.first() {
            let ahead = self.next.map(|next| distance(sequence, next));
            if ahead.is_some_and(|it| it > 0) {
                break;
            }
            let (sequence, bytes, length) = self.early.remove(0);
            self.early_bytes -= bytes.len();
            let again = ahead.map_or(0, |it| usize::try_from(-it).unwrap_or(usize::MAX));
            if again >= length {
                continue;
            }
            let piece = Piece {
                sequence: self.next.unwrap_or(sequence),
                bytes: bytes.get(again..).unwrap_or_default(),
                length: length - again,
            };
            if self.next.is_some() {
                self.take(piece, out);
            } else {
                self.join(piece, out);
            }
        }
    }

    /// Goes over what was not captured, if it is known to have arrived.
    fn pass_gaps(&mut self, out: &mut Out<'_>) {
        while let (Some(next), Some(acknowledged), Some(&(sequence, ..))) =
            (self.next, self.acknowledged, self.early.first())
        {
            let gap = distance(sequence, next);
            if gap > 0 && distance(acknowledged, sequence) < 0 {
                break;
            }
            if gap > 0 {
                let gap = usize::try_from(gap).unwrap_or_default();
                let missing = Piece {
                    sequence: next,
                    bytes: &[],
                    length: gap,
                };
                self.take(missing, out);
            }
            self.take_early(out);
        }
    }

    /// Takes bytes in order, of which the last ones may not have been captured.
    fn take(&mut self, piece: Piece<'_>, out: &mut Out<'_>) {
        self.next = Some(advanced(piece.sequence, piece.length));
        let mut bytes = piece.bytes;
        let passed = self.skip.min(bytes.len());
        self.skip -= passed;
        bytes = bytes.get(passed..).unwrap_or_default();
        if self.message.is_empty() {
            // Mostly a segment has whole messages.
            let rest = whole_messages(bytes, out);
            self.message.extend_from_slice(rest);
        } else {
            self.message.extend_from_slice(bytes);
            let message = std::mem::take(&mut self.message);
            let rest = whole_messages(&message, out);
            self.message = rest.to_owned();
        }
        if self.message.len() >= PREFIX && length_before(&self.message) < HEADER {
            return self.lose(out);
        }
        let missing = piece.length.saturating_sub(piece.bytes.len());
        if missing > 0 {
            out.counters.stream_gaps += missing as u64;
            self.miss(missing, out);
        }
    }

    /// The next bytes are missing: the message that they belong to is cut.
    fn miss(&mut self, missing: usize, out: &mut Out<'_>) {
        if self.skip >= missing {
            self.skip -= missing;
            return;
        }
        let message = std::mem::take(&mut self.message);
        let length = length_before(&message);
        let there = message.len().saturating_sub(PREFIX);
        if message.len() >= PREFIX && self.skip == 0 && there + missing <= length {
            self.skip = length - there - missing;
            if there >= HEADER {
                out.counters.cut += 1;
                let bytes = message.get(PREFIX..).unwrap_or_default();
                (out.give)(Content::Cut { length }, bytes);
            } else {
                out.counters.no_message += 1;
                self.has_gap = true;
            }
            return;
        }
        self.lose(out);
    }

    /// Where the next message begins is not known any more.
    fn lose(&mut self, out: &mut Out<'_>) {
        out.counters.no_message += 1;
        self.has_gap = true;
        self.next = None;
        self.skip = 0;
        self.message = Vec::new();
    }
}

/// Gives every whole message; what is left of the bytes.
fn whole_messages<'b>(mut bytes: &'b [u8], out: &mut Out<'_>) -> &'b [u8] {
    while bytes.len() >= PREFIX {
        let length = length_before(bytes);
        let Some((message, rest)) = bytes.split_at_checked(PREFIX + length) else {
            break;
        };
        if length < HEADER {
            break;
        }
        out.counters.messages += 1;
        (out.give)(Content::Message, message.get(PREFIX..).unwrap_or_default());
        bytes = rest;
    }
    bytes
}

/// The length that the bytes begin with.
fn length_before(bytes: &[u8]) -> usize {
    let prefix = bytes.first_chunk::<PREFIX>();
    prefix.map_or(0, |it| usize::from(u16::from_be_bytes(*it)))
}

/// Whether the bytes look like a length and a message with a question.
fn begins_message(bytes: &[u8]) -> bool {
    let header = bytes.get(PREFIX..).and_then(Header::parse);
    let is_sane = |it: Header<'_>| it.counts[0] == 1 && it.opcode() <= 6 && it.question.is_some();
    length_before(bytes) >= HEADER && header.is_some_and(is_sane)
}
