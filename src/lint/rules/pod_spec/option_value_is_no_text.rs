#![doc = include_str!("option_value_is_no_text.md")]

use crate::config::yaml::Kind;
use crate::finding::Severity;
use crate::lint::context::Context;
use crate::lint::report::Report;
use crate::lint::subject::Workload;
use crate::lint::{Check, Rule};

use super::spec::options;

/// KP023.
pub static RULE: Rule = Rule {
    code: "KP023",
    name: "option-value-is-no-text",
    severity: Severity::Error,
    summary: "the value of an option is a number without quotes",
    page: include_str!("option_value_is_no_text.md"),
    check: Check::Workload(check),
};

fn check(workload: &Workload<'_>, _: &Context<'_>, report: &mut Report) {
    for option in options(workload) {
        let Some(value) = option.value else {
            continue;
        };
        let (Some(scalar), Some(Kind::Number | Kind::Bool(_))) = (value.as_scalar(), value.kind())
        else {
            continue;
        };
        let written = format!("\"{}\"", scalar.text);
        // An alias stands for a value elsewhere.
        let is_written = workload.document.bytes(value.span) == scalar.text.as_bytes();
        let change = workload.document.change(value.span, written.clone());
        report
            .add(workload.at(value), format!("the value {} of {} is no text", scalar.text, option.name()))
            .help(format!("write value: {written}"))
            .note("the API server refuses it: cannot unmarshal number into Go struct field PodDNSConfigOption.value of type string")
            .fix("put it in quotes", [change.filter(|_| is_written)]);
    }
}
