//! Results as text for people and JSON for programs. Decides nothing.

pub mod check_loop;
pub mod explanation;
pub mod explanation_json;
mod json;
pub mod prediction;
pub mod scenario_json;
pub mod words;
