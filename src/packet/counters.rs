//! What was seen and what was not understood, by reason.

/// Counts of a capture. A frame is in exactly one of `copies` to `segments`, or
/// it is a datagram with a message, which is in `messages` or `cut`.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Counters {
    /// Frames in the capture.
    pub frames: u64,
    /// Bytes of frames on the wire.
    pub bytes: u64,
    /// Time of the first frame, in nanoseconds since the epoch.
    pub first: Option<i64>,
    /// Time of the last frame.
    pub last: Option<i64>,
    /// DNS messages that were whole.
    pub messages: u64,
    /// DNS messages of which only the beginning was captured.
    pub cut: u64,
    /// Packets that were seen before, on another interface.
    pub copies: u64,
    /// ICMP errors about DNS.
    pub errors: u64,
    /// Frames of link types, and packets in tunnels, that kdns does not read.
    pub unknown_link: u64,
    /// Packets in VXLAN or Geneve that were not to be looked into.
    pub tunnelled: u64,
    /// Frames with something other than IP in them.
    pub not_ip: u64,
    /// Packets of ports and protocols that are not DNS.
    pub other: u64,
    /// Connections and datagrams to a port of encrypted DNS.
    pub encrypted: u64,
    /// Frames whose headers are cut or contradict each other.
    pub damaged: u64,
    /// Frames whose time is wrong: it is not known.
    pub mistimed: u64,
    /// Payloads on a port of DNS that are too short for a message.
    pub no_message: u64,
    /// Fragments of IP packets.
    pub fragments: u64,
    /// Datagrams that were put together from fragments.
    pub assembled: u64,
    /// Datagrams of which a fragment was not seen in time.
    pub incomplete: u64,
    /// Fragments that there was no room for, or that contradict others.
    pub fragments_refused: u64,
    /// Segments of TCP to and from ports of DNS.
    pub segments: u64,
    /// Connections over TCP.
    pub streams: u64,
    /// Bytes of connections that were not seen: lost, or before the capture.
    pub stream_gaps: u64,
    /// Connections that were forgotten for others, or because they were quiet,
    /// with messages that were not complete.
    pub streams_forgotten: u64,
    /// Segments that came too early to be kept.
    pub segments_refused: u64,
}
