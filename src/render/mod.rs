//! Results as text for people and JSON for programs. Decides nothing.

pub mod check_loop;
pub(crate) mod command;
pub mod daemon;
pub mod diff;
pub mod dig;
pub mod doctor;
pub mod explanation;
pub mod findings;
mod json;
pub mod kubelet;
pub mod lint;
pub mod live;
pub mod loopback;
pub mod paragraph;
pub mod path;
pub mod pod_file;
pub mod pods;
pub mod prediction;
pub mod program;
pub mod report;
pub mod resolver;
pub mod scenario_json;
pub mod schema;
mod sentence;
pub(crate) mod shortened;
mod style;
pub mod target;
pub mod timeline;
mod topology;
pub mod upstream;
pub mod watch;
pub mod why;
pub mod words;

pub use self::style::Style;
