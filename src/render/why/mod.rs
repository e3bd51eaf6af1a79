//! `kdns why`.

pub mod log;
pub mod metrics;
