//! A report as `JUnit`'s XML: one test that fails when DNS loops.

use std::io::{self, Write};

use quick_junit::{NonSuccessKind, Property, TestCase, TestCaseStatus, TestSuite};

use super::findings::{self, shown};
use super::{concise, state_word, verdict_word};
use crate::check_loop::{Report, Verdict};

/// Writes a suite with one test: passed if nothing loops, failed if something
/// does or will, an error if that is not known.
///
/// # Errors
///
/// Any error of `out`.
pub fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let word = verdict_word(report.verdict);
    let mut status = match report.verdict {
        Verdict::NoLoop => TestCaseStatus::success(),
        Verdict::Unknown => TestCaseStatus::non_success(NonSuccessKind::Error),
        Verdict::Loop | Verdict::WillLoop | Verdict::Refused | Verdict::Mixed => {
            TestCaseStatus::non_success(NonSuccessKind::Failure)
        }
    };
    let mut details = Vec::new();
    concise::write(report, &mut details)?;
    let details = String::from_utf8_lossy(&details).into_owned();
    status.set_message(findings::verdict(report).message);
    status.set_type(word);
    status.set_description(details.as_str());
    let mut case = TestCase::new("DNS does not loop", status);
    for (name, value) in [
        ("verdict", word),
        ("now", state_word(report.now)),
        ("next_start", state_word(report.next_start)),
    ] {
        case.add_property(Property::new(name, value));
    }
    case.set_system_out(details);
    suite(case, out)
}

/// Writes a suite whose one test could not be run.
///
/// # Errors
///
/// Any error of `out`.
pub fn write_error(message: &str, out: &mut dyn Write) -> io::Result<()> {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
    status.set_message(shown(message)).set_type("error");
    suite(TestCase::new("DNS does not loop", status), out)
}

fn suite(mut case: TestCase, out: &mut dyn Write) -> io::Result<()> {
    case.set_classname("kdns.check-loop");
    let mut suite = TestSuite::new("kdns check-loop");
    suite.add_test_case(case);
    let mut report = quick_junit::Report::new("kdns");
    report.add_test_suite(suite);
    // Into a buffer first, so that an error of `out` stays the bare I/O error.
    let text = report.to_string().map_err(io::Error::other)?;
    out.write_all(text.as_bytes())
}
