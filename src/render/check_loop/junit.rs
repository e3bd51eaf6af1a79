//! A report as `JUnit`'s XML: one test that fails when DNS loops.

use std::io::{self, Write};

use super::concise;
use super::findings::shown;
use super::words::headline;
use crate::check_loop::{Report, Verdict};
use crate::render::findings::junit::{self, Case, Ended};

/// Writes a suite with one test: passed if nothing loops, failed if something
/// does or will, an error if that is not known.
///
/// # Errors
///
/// Any error of `out`.
pub fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let word = report.verdict.word();
    let ended = match report.verdict {
        Verdict::NoLoop => Ended::Passed,
        Verdict::Unknown => Ended::Error,
        Verdict::Loop | Verdict::WillLoop | Verdict::Refused | Verdict::Mixed => Ended::Failed,
    };
    let mut details = Vec::new();
    concise::write(report, &mut details)?;
    let case = Case {
        ended,
        kind: word.to_owned(),
        message: shown(&headline(report)),
        details: String::from_utf8_lossy(&details).into_owned(),
        ..test()
    };
    let properties = [
        ("verdict", word),
        ("now", report.now.word()),
        ("next_start", report.next_start.word()),
    ];
    junit::write(SUITE, &properties, vec![case], out)
}

/// Writes a suite whose one test could not be run.
///
/// # Errors
///
/// Any error of `out`.
pub fn write_error(message: &str, out: &mut dyn Write) -> io::Result<()> {
    let case = Case {
        ended: Ended::Error,
        kind: "error".to_owned(),
        message: shown(message),
        ..test()
    };
    junit::write(SUITE, &[], vec![case], out)
}

const SUITE: &str = "kdns check-loop";

fn test() -> Case {
    Case {
        class: "kdns.check-loop".to_owned(),
        name: "DNS does not loop".to_owned(),
        ..Case::default()
    }
}
