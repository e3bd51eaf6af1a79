//! Findings as workflow commands of GitHub Actions, which make annotations.

use std::cmp::Reverse;
use std::io::{self, Write};

use super::{Log, details};
use crate::finding::{Finding, Severity};
use crate::order::Order as _;

/// Writes an annotation for each finding and each notice, the worst first:
/// GitHub shows ten of a kind.
///
/// # Errors
///
/// Any error of `out`.
pub fn write(log: &Log<'_>, out: &mut dyn Write) -> io::Result<()> {
    // What was not looked at may hide the worst.
    let notices = log.notices.iter().map(|it| {
        let is_first = it.severity == Severity::Error;
        let command = of_notice(log.command, it.severity, &it.message);
        ((it.severity, is_first), command)
    });
    let findings = log.findings.iter();
    let findings = findings.map(|it| ((it.severity, false), of_finding(log.command, it)));
    let mut commands: Vec<_> = findings.chain(notices).collect();
    commands.order_by_key(|(rank, _)| Reverse(*rank));
    commands
        .iter()
        .try_for_each(|(_, command)| writeln!(out, "{command}"))
}

fn of_finding(command: &str, finding: &Finding) -> String {
    let mut lines = vec![finding.message.clone()];
    lines.extend(details(finding));
    let message = data(&lines.join("\n"));
    let label = &finding.primary;
    let title = if finding.code == finding.name {
        command.to_owned()
    } else {
        format!("{}[{}]", finding.code, finding.name)
    };
    let mut properties = Vec::new();
    if label.start.line > 0 {
        properties.push(format!("file={}", property(&label.file)));
        properties.push(format!("line={}", label.start.line));
        let last = label.last_line();
        let is_range = label.start < label.end;
        if is_range {
            properties.push(format!("endLine={last}"));
        }
        properties.push(format!("col={}", label.start.column));
        // GitHub refuses an end column on another line.
        if is_range && label.end.line == label.start.line {
            properties.push(format!("endColumn={}", label.end.column));
        }
    }
    properties.push(format!("title={}", property(&title)));
    let name = name(finding.severity);
    format!("::{name} {}::{message}", properties.join(","))
}

fn of_notice(command: &str, severity: Severity, message: &str) -> String {
    let (name, title) = (name(severity), property(command));
    format!("::{name} title={title}::{}", data(message))
}

fn name(severity: Severity) -> &'static str {
    match severity {
        Severity::Info => "notice",
        other => other.word(),
    }
}

/// A message as a command's data.
///
/// Source: actions/toolkit packages/core/src/command.ts `escapeData`.
fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// The value of a property.
///
/// Source: actions/toolkit packages/core/src/command.ts `escapeProperty`.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_escaped_as_the_toolkit_does() {
        for (text, as_data, as_property) in [
            ("plain", "plain", "plain"),
            ("100%", "100%25", "100%25"),
            ("a\nb\r\n", "a%0Ab%0D%0A", "a%0Ab%0D%0A"),
            ("a:b,c", "a:b,c", "a%3Ab%2Cc"),
            ("::error::x", "::error::x", "%3A%3Aerror%3A%3Ax"),
            ("%0A", "%250A", "%250A"),
            ("%3A:", "%253A:", "%253A%3A"),
            ("é;=\"'", "é;=\"'", "é;=\"'"),
            ("", "", ""),
        ] {
            assert_eq!(data(text), as_data, "{text:?}");
            assert_eq!(property(text), as_property, "{text:?}");
        }
    }
}
