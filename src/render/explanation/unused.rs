//! What the file says in vain.

use std::io;

use super::{Text, ids};
use crate::explain::Explanation;
use crate::resolver::Resolver;
use crate::text::{Span, escaped};

impl Text<'_> {
    pub(super) fn unused(&mut self, explanation: &Explanation<'_>) -> io::Result<()> {
        let lines = unused(explanation);
        if lines.is_empty() {
            return Ok(());
        }
        writeln!(self.out, "\n{}", self.bold("Not used"))?;
        for (what, reasons) in lines {
            self.paragraph(2, &what)?;
            for (why, resolvers) in reasons {
                self.paragraph(4, &format!("{}: {why}", ids(&resolvers)))?;
            }
        }
        Ok(())
    }
}

/// What the file says in vain: the words with their place, and why, by resolver.
fn unused<'e>(
    explanation: &'e Explanation<'_>,
) -> Vec<(String, Vec<(&'e str, Vec<&'e Resolver>)>)> {
    let Some(conf) = &explanation.scenario.resolv_conf else {
        return Vec::new();
    };
    let mut lines: Vec<(Span, Vec<(&str, Vec<&Resolver>)>)> = Vec::new();
    for member in explanation.groups.iter().flat_map(|group| &group.members) {
        for dropped in member.reading.refused.iter().chain(&member.reading.dropped) {
            let line = match lines.iter_mut().find(|(span, _)| *span == dropped.span) {
                Some((_, reasons)) => reasons,
                None => {
                    lines.push((dropped.span, Vec::new()));
                    match lines.last_mut() {
                        Some((_, reasons)) => reasons,
                        None => continue,
                    }
                }
            };
            match line.iter_mut().find(|(why, _)| *why == dropped.why) {
                Some((_, resolvers)) => resolvers.push(member.resolver),
                None => line.push((&dropped.why, vec![member.resolver])),
            }
        }
    }
    lines.sort_by_key(|(span, _)| *span);
    lines
        .into_iter()
        .map(|(span, reasons)| {
            let place = escaped(conf.source.place(span.start).as_bytes());
            (format!("{place} `{}`", excerpt(conf.bytes(span))), reasons)
        })
        .collect()
}

/// The words themselves, cut where they are long.
fn excerpt(bytes: &[u8]) -> String {
    const LONGEST: usize = 40;
    match bytes.get(..LONGEST) {
        Some(start) if bytes.len() > LONGEST => format!("{}…", escaped(start)),
        _ => escaped(bytes),
    }
}
