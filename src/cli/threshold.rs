//! `--fail-on LEVEL` and `--exit-zero`: from which finding on the status is 1.

use clap::ValueEnum;

use crate::cli::streams::Status;
use crate::finding::Severity;

/// The options.
#[derive(clap::Args, Debug)]
pub(super) struct Threshold {
    /// End with status 1 if there is a finding of this level or a worse one
    #[arg(long, value_enum, default_value_t, value_name = "LEVEL")]
    fail_on: Level,
    /// End with status 0 whatever is found
    #[arg(long)]
    exit_zero: bool,
}

/// How bad a finding is, the mildest first.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd, ValueEnum)]
pub(super) enum Level {
    /// Worth knowing
    Info,
    /// It can go wrong
    #[default]
    Warning,
    /// It is wrong
    Error,
}

impl From<Severity> for Level {
    fn from(severity: Severity) -> Self {
        match severity {
            Severity::Error => Self::Error,
            Severity::Warning => Self::Warning,
            Severity::Info => Self::Info,
        }
    }
}

impl Threshold {
    /// The status of a run whose worst finding is `worst`; `None`: it found
    /// nothing.
    pub(super) fn status(&self, worst: Option<Level>) -> Status {
        match worst {
            Some(level) if level >= self.fail_on && !self.exit_zero => Status::Found,
            _ => Status::Clean,
        }
    }

    /// The status of a run that could not decide.
    pub(super) fn undecided(&self) -> Status {
        if self.exit_zero {
            Status::Clean
        } else {
            Status::Undecided
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_count_from_their_level_on() {
        let check = |fail_on, worst, exit_zero, expected| {
            let threshold = Threshold { fail_on, exit_zero };
            let status = threshold.status(worst);
            assert_eq!(status, expected, "{fail_on:?} {worst:?} {exit_zero}");
        };
        check(Level::default(), None, false, Status::Clean);
        check(Level::default(), Some(Level::Info), false, Status::Clean);
        check(Level::default(), Some(Level::Warning), false, Status::Found);
        check(Level::default(), Some(Level::Error), false, Status::Found);
        check(Level::default(), Some(Level::Error), true, Status::Clean);
        check(Level::Error, Some(Level::Warning), false, Status::Clean);
        check(Level::Error, Some(Level::Error), false, Status::Found);
        check(Level::Info, Some(Level::Info), false, Status::Found);
        check(Level::Info, None, false, Status::Clean);
    }
}
