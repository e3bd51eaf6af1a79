//! What an error message, a log or metrics of DNS servers say.

pub mod log;
pub mod metrics;
