//! How a text is written.

/// What depends on who reads, and where.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// ANSI colours.
    pub colors: bool,
    /// More detail, and lists to their ends: what exactly, the help of each
    /// command says.
    pub verbose: bool,
    /// Links that a terminal opens (OSC 8).
    pub links: bool,
    /// Lines that are not prose may be so wide: 80, or the terminal's width.
    pub columns: usize,
}
