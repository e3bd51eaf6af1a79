//! Tests in `JUnit`'s XML.

use std::io::{self, Write};

use quick_junit::{NonSuccessKind, Property, TestCase, TestCaseStatus, TestSuite};

/// A test.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Case {
    /// The group that people see it in: a file.
    pub class: String,
    /// The same in every run, so that runs can be compared.
    pub name: String,
    /// How it ended.
    pub ended: Ended,
    /// A word for the kind of failure.
    pub kind: String,
    /// One line.
    pub message: String,
    /// Everything that is to say.
    pub details: String,
}

/// How a test ended.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Ended {
    /// Well.
    #[default]
    Passed,
    /// Something is wrong.
    Failed,
    /// There is something to say that fails nothing.
    Skipped,
    /// It could not be told.
    Error,
}

/// Writes a suite. `properties` are names and values.
///
/// # Errors
///
/// Any error of `out`.
pub fn write(
    name: &str,
    properties: &[(&str, &str)],
    cases: Vec<Case>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut suite = TestSuite::new(name);
    for (name, value) in properties {
        suite.add_property(Property::new(*name, *value));
    }
    suite.add_test_cases(cases.into_iter().map(test_case));
    let mut report = quick_junit::Report::new("kdns");
    report.add_test_suite(suite);
    // Into a buffer first, so that an error of `out` stays the bare I/O error.
    let text = report.to_string().map_err(io::Error::other)?;
    out.write_all(without_sum(&text).as_bytes())
}

/// Without the count of skipped tests over all suites, which no XSD knows:
/// the suites have theirs.
fn without_sum(text: &str) -> String {
    let Some((before, rest)) = text.split_once("<testsuites ") else {
        return text.to_owned();
    };
    let (tag, rest) = rest.split_once('>').unwrap_or((rest, ""));
    let attributes: Vec<&str> = tag
        .split(' ')
        .filter(|it| !it.starts_with("skipped="))
        .collect();
    format!("{before}<testsuites {}>{rest}", attributes.join(" "))
}

fn test_case(case: Case) -> TestCase {
    let mut status = match case.ended {
        Ended::Passed => TestCaseStatus::success(),
        Ended::Failed => TestCaseStatus::non_success(NonSuccessKind::Failure),
        Ended::Error => TestCaseStatus::non_success(NonSuccessKind::Error),
        Ended::Skipped => TestCaseStatus::skipped(),
    };
    if !case.message.is_empty() {
        status.set_message(case.message);
    }
    if !case.kind.is_empty() {
        status.set_type(case.kind);
    }
    // Who reads only what a test has printed is to see it, too.
    let is_shown = case.ended == Ended::Passed && !case.details.is_empty();
    if !case.details.is_empty() {
        status.set_description(case.details.as_str());
    }
    let mut test = TestCase::new(case.name, status);
    test.set_classname(case.class);
    if is_shown {
        test.set_system_out(case.details);
    }
    test
}
