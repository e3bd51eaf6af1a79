//! Results as text for people and JSON for programs. Decides nothing.

pub mod explanation;
pub mod explanation_json;
mod json;
pub mod pods;
pub mod pods_json;
pub mod prediction;
pub mod scenario_json;
pub mod words;
