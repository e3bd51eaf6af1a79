//! Findings as one JSON document. Fields are only added within a format
//! version.

use std::io::{self, Write};

use schemars::JsonSchema;
use serde::Serialize;

use super::{Lint, page_uri};
use crate::finding::{Edit, Finding, Label, Severity};
use crate::lint::rules;
use crate::render::json;
use crate::text::{Position, Span};

/// What `kdns lint --format json` writes.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(title = "Lint")]
pub(in crate::render) struct Document<'r> {
    /// Version of this format.
    format: u32,
    /// What was found, in the order of its places.
    findings: Vec<FindingForm<'r>>,
    /// What comments suppress.
    suppressed: Vec<SuppressedForm<'r>>,
    summary: Summary,
    /// What could not be looked at; the exit status is then 2.
    errors: Vec<MessageForm<'r>>,
    /// Other things about the run.
    remarks: Vec<MessageForm<'r>>,
}

/// How many there are of each severity.
#[derive(Debug, Serialize, JsonSchema)]
struct Summary {
    error: usize,
    warning: usize,
    info: usize,
    /// What `--fix` can fix.
    fixable: usize,
    /// Files that hold something that rules look at.
    files: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
struct FindingForm<'r> {
    /// The code of its rule: `KR001`.
    code: &'r str,
    /// The name of its rule.
    name: &'r str,
    #[schemars(extend("enum" = ["error", "warning", "info"]))]
    severity: &'static str,
    /// What is wrong, in one line.
    message: &'r str,
    #[serde(flatten)]
    at: LabelForm<'r>,
    /// What else has to do with it.
    related: Vec<LabelForm<'r>>,
    /// The exact text to write, or what to do.
    help: Option<&'r str>,
    /// What breaks and when.
    notes: &'r [String],
    /// The one fix.
    fix: Option<FixForm<'r>>,
    /// The rule's page.
    url: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct SuppressedForm<'r> {
    #[serde(flatten)]
    finding: FindingForm<'r>,
    /// What the comment gives as the reason; can be empty.
    reason: &'r str,
}

#[derive(Debug, Serialize, JsonSchema)]
struct LabelForm<'r> {
    /// The file, or what is meant instead of one.
    file: &'r str,
    /// Absent: no line of a file is meant.
    #[serde(flatten)]
    range: Option<RangeForm>,
    /// What is said about the place; can be empty.
    label: &'r str,
}

#[derive(Debug, Serialize, JsonSchema)]
struct RangeForm {
    /// From 1.
    line: usize,
    /// From 1, in characters.
    column: usize,
    /// The line of the character after the last one.
    end_line: usize,
    /// The column of the character after the last one.
    end_column: usize,
    /// Offset of the first byte; with `end_byte` the same if only a line is known.
    start_byte: u32,
    /// Offset one past the last byte.
    end_byte: u32,
}

#[derive(Debug, Serialize, JsonSchema)]
struct FixForm<'r> {
    /// What it does, as a command.
    title: &'r str,
    /// Whether it cannot change what works, so that `--fix` alone makes it;
    /// otherwise only `--fix --unsafe-fixes` does.
    safe: bool,
    /// The changes, none of them over another one.
    edits: Vec<EditForm<'r>>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct EditForm<'r> {
    file: &'r str,
    #[serde(flatten)]
    range: RangeForm,
    /// What stands there afterwards.
    text: &'r str,
}

#[derive(Debug, Serialize, JsonSchema)]
struct MessageForm<'r> {
    /// `too-large`: a file is too long, and nothing of it is judged. Absent: anything else.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["too-large"]))]
    code: Option<&'static str>,
    /// One sentence.
    message: &'r str,
}

/// Writes a run.
///
/// # Errors
///
/// Any error of `out`.
pub fn write(lint: &Lint<'_>, out: &mut dyn Write) -> io::Result<()> {
    let of = |severity: Severity| {
        let all = lint.findings.iter();
        all.filter(|it| it.severity == severity).count()
    };
    let messages = |is_error: bool| {
        let notices = lint.notices.iter();
        let wanted = notices.filter(|it| (it.severity == Severity::Error) == is_error);
        let forms = wanted.map(|it| MessageForm {
            code: it.code,
            message: &it.message,
        });
        let asides = lint.asides.iter().filter(|_| !is_error);
        let asides = asides.map(|message| MessageForm {
            code: None,
            message,
        });
        forms.chain(asides).collect::<Vec<_>>()
    };
    let suppressed = lint.suppressed.iter().map(|(it, reason)| SuppressedForm {
        finding: finding(it),
        reason,
    });
    let document = Document {
        format: 1,
        findings: lint.findings.iter().map(finding).collect(),
        suppressed: suppressed.collect(),
        summary: Summary {
            error: of(Severity::Error),
            warning: of(Severity::Warning),
            info: of(Severity::Info),
            fixable: {
                let fixes = lint.findings.iter().filter_map(|it| it.fix.as_ref());
                fixes.filter(|it| it.is_safe).count()
            },
            files: lint.files,
        },
        errors: messages(true),
        remarks: messages(false),
    };
    json::document(&document, out)
}

fn finding(finding: &Finding) -> FindingForm<'_> {
    FindingForm {
        code: finding.code,
        name: finding.name,
        severity: finding.severity.word(),
        message: &finding.message,
        at: label(&finding.primary),
        related: finding.secondary.iter().map(label).collect(),
        help: finding.help.as_deref(),
        notes: &finding.notes,
        fix: finding.fix.as_ref().map(|fix| FixForm {
            title: &fix.title,
            safe: fix.is_safe,
            edits: fix.edits.iter().map(edit).collect(),
        }),
        url: rules::find(finding.code).map(page_uri),
    }
}

fn label(label: &Label) -> LabelForm<'_> {
    LabelForm {
        file: &label.file,
        range: (label.start.line > 0).then(|| range(label.start, label.end, label.span)),
        label: &label.text,
    }
}

fn edit(edit: &Edit) -> EditForm<'_> {
    EditForm {
        file: &edit.file,
        range: range(edit.start, edit.end, edit.span),
        text: &edit.text,
    }
}

fn range(start: Position, end: Position, span: Span) -> RangeForm {
    RangeForm {
        line: start.line,
        column: start.column,
        end_line: end.line,
        end_column: end.column,
        start_byte: span.start,
        end_byte: span.end,
    }
}
