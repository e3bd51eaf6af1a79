//! `kdns path` as text for people.

pub mod json;
