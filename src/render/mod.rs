//! Results as text for people and JSON for programs. Decides nothing.

pub mod check_loop;
pub mod dig;
pub mod explanation;
pub mod explanation_json;
pub mod findings;
mod json;
pub mod lint;
pub mod live;
pub mod live_json;
pub mod paragraph;
pub mod pod_file;
pub mod pod_file_json;
pub mod pods;
pub mod pods_json;
pub mod prediction;
pub mod report;
pub mod scenario_json;
pub mod timeline;
pub mod upstream;
pub mod upstream_json;
pub mod words;
