//! Puts the messages of TCP connections together from their segments.
//!
//! Source: RFC 9293; RFC 1035, section 4.2.2 (a message has its length before it).

use std::net::SocketAddr;

use super::generations::Generations;
use super::half::{Half, Out, Piece};
use crate::packet::{Content, Counters, Limits, StreamId};

/// A connection: the end that asked for it, as far as ports tell, and the server.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(super) struct Ends {
    pub(super) client: SocketAddr,
    pub(super) server: SocketAddr,
}

/// One end of a connection.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum End {
    Client,
    Server,
}

/// A segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment<'a> {
    pub(super) ends: Ends,
    pub(super) from: End,
    pub(super) sequence: u32,
    pub(super) acknowledged: Option<u32>,
    pub(super) syn: bool,
    pub(super) fin: bool,
    pub(super) reset: bool,
    /// What was captured of its payload.
    pub(super) bytes: &'a [u8],
    /// How long its payload was.
    pub(super) length: usize,
}

#[derive(Debug)]
struct Stream {
    id: StreamId,
    client: Half,
    server: Half,
}

/// The connections that are open, as far as is known.
#[derive(Debug)]
pub(super) struct Streams {
    open: Generations<Ends, Stream>,
    /// Bytes that they keep.
    bytes: usize,
    most: usize,
    most_of_one: usize,
    next: u64,
}

impl Streams {
    pub(super) fn new(limits: &Limits) -> Self {
        Self {
            open: Generations::new(limits.streams, limits.age),
            bytes: 0,
            // The other half is for fragments.
            most: limits.bytes / 2,
            most_of_one: limits.stream_bytes,
            next: 0,
        }
    }

    /// Bytes that are kept.
    pub(super) fn kept(&self) -> usize {
        self.bytes
    }

    /// Takes a segment, and gives what is seen of the conversation to `sink`,
    /// with whether it is of the segment's direction.
    pub(super) fn push(
        &mut self,
        segment: &Segment<'_>,
        now: i64,
        counters: &mut Counters,
        sink: &mut impl FnMut(bool, StreamId, Content, &[u8]),
    ) {
        self.make_room(now, counters);
        let is_opening = segment.syn && segment.acknowledged.is_none();
        let known = self.open.get(&segment.ends);
        let is_known =
            known.is_some_and(|it| !is_opening || it.client.is_begun_by(segment.sequence));
        // The last words of a connection that is over, or was never seen.
        let is_late = segment.length == 0 && !segment.syn;
        if !is_known && !is_late {
            self.begin(segment.ends, counters);
        }
        let Some(stream) = self.open.get(&segment.ends) else {
            return;
        };
        let id = stream.id;
        let (own, other) = if segment.from == End::Client {
            (&mut stream.client, &mut stream.server)
        } else {
            (&mut stream.server, &mut stream.client)
        };
        let before = own.kept() + other.kept();
        if let Some(acknowledged) = segment.acknowledged {
            let give = &mut |content: Content, bytes: &[u8]| sink(false, id, content, bytes);
            other.acknowledge(acknowledged, &mut Out { counters, give });
        }
        let mut out = Out {
            counters,
            give: &mut |content: Content, bytes: &[u8]| sink(true, id, content, bytes),
        };
        let mut piece = Piece {
            sequence: segment.sequence,
            bytes: segment.bytes,
            length: segment.length,
        };
        // An answer that was not seen can be in what is missing.
        let is_told = |own: &Half, piece| segment.from == End::Client || own.is_whole(piece);
        if segment.reset {
            if is_told(own, piece) {
                (out.give)(Content::Reset, &[]);
            }
            self.bytes -= before;
            self.open.remove(&segment.ends);
            return;
        }
        if segment.syn {
            let (asked, accepted) = (Content::Connect, Content::Connected);
            (out.give)(if is_opening { asked } else { accepted }, &[]);
            piece.sequence = piece.sequence.wrapping_add(1);
            own.begin(piece.sequence);
        }
        let room = self.most_of_one;
        own.push(piece, room, &mut out);
        if segment.fin && own.close() && is_told(own, piece) {
            (out.give)(Content::Closed, &[]);
        }
        let is_over = own.is_closed() && other.is_closed();
        self.bytes = self.bytes - before + own.kept() + other.kept();
        if is_over && let Some(stream) = self.open.remove(&segment.ends) {
            self.end(&stream, counters);
        }
    }

    fn make_room(&mut self, now: i64, counters: &mut Counters) {
        if self.open.is_due(now) {
            self.forget(now, counters);
        }
        // The old ones, then all.
        for _ in 0..2 {
            if self.bytes > self.most {
                self.forget(now, counters);
            }
        }
    }

    fn begin(&mut self, ends: Ends, counters: &mut Counters) {
        counters.streams += 1;
        let stream = Stream {
            id: StreamId(self.next),
            client: Half::default(),
            server: Half::default(),
        };
        self.next += 1;
        if let Some(before) = self.open.put(ends, stream) {
            self.end(&before, counters);
        }
    }

    /// Forgets what is old.
    pub(super) fn forget(&mut self, now: i64, counters: &mut Counters) {
        for (_, stream) in self.open.forget(now) {
            self.end(&stream, counters);
        }
    }

    fn end(&mut self, stream: &Stream, counters: &mut Counters) {
        let kept = stream.client.kept() + stream.server.kept();
        self.bytes -= kept;
        counters.streams_forgotten += u64::from(kept > 0);
    }
}
