#![doc = include_str!("option_value_is_no_text.md")]

use crate::config::yaml::Kind;
use crate::lint::rules::prelude::*;

use super::spec::options;

pub(super) fn check(workload: &Workload<'_>, _: &Context<'_>, report: &mut Report) {
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
