//! How many findings there are of each rule.

use std::collections::BTreeMap;
use std::io::{self, Write};

use crate::finding::Finding;
use crate::order::Order as _;

/// Writes a line for each rule, the most frequent first: count, code, name and
/// how many of them `--fix` fixes.
///
/// # Errors
///
/// Any error of `out`.
pub fn write(findings: &[Finding], out: &mut dyn Write) -> io::Result<()> {
    let mut counts: BTreeMap<(&str, &str), (usize, usize)> = BTreeMap::new();
    for finding in findings {
        let (count, fixed) = counts.entry((finding.code, finding.name)).or_default();
        *count += 1;
        *fixed += usize::from(finding.fix.as_ref().is_some_and(|it| it.is_safe));
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    // Stable: rules with the same count stay in the order of their codes.
    counts.order_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
    let width = counts
        .iter()
        .map(|(_, (count, _))| count.to_string().len())
        .max();
    let width = width.unwrap_or_default();
    for ((code, name), (count, fixed)) in counts {
        let fix = match fixed {
            0 => String::new(),
            _ => format!(" ({fixed} with a fix)"),
        };
        writeln!(out, "{count:>width$}  {code}[{name}]{fix}")?;
    }
    Ok(())
}
