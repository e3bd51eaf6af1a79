//! The report of `kdns check-loop`, one file for each format.

pub mod concise;
mod findings;
pub mod github;
pub mod json;
pub mod junit;
pub mod npd;
pub mod probe;
pub mod prometheus;
pub mod sarif;
#[cfg(test)]
mod tests;
pub mod text;
pub mod words;
