//! Results as text for people and JSON for programs. Decides nothing.

pub mod prediction;
