//! The findings of `kdns lint`, one file for each format.

pub mod concise;
pub mod rule;
pub mod settings;
pub mod statistics;
pub mod text;
