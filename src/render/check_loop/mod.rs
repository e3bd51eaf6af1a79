//! The report of `kdns check-loop`, one file for each format.

pub mod text;
