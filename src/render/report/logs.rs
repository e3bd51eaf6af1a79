//! What logs of several nodes say together.

use std::collections::BTreeMap;
use std::io;

use schemars::JsonSchema;
use serde::Serialize;

use super::Page;
use crate::order::Order as _;
use crate::render::paragraph;
use crate::render::why::numbers::{duration, grouped, percent};
use crate::report::Logs;
use crate::text::counted;

/// Clients and servers that are shown.
const MAX_SHOWN: usize = 5;

/// Clients in JSON.
const MAX_LISTED: usize = 100;

/// What logs say together.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct LogsForm<'s> {
    /// How many reports of `kdns why LOG` there are.
    reports: u64,
    /// Queries in all of them: exact.
    queries: u64,
    /// Those that were search-list waste: exact; null: no report can tell.
    waste: Option<u64>,
    /// The queries of the reports that can tell.
    waste_of: u64,
    /// Queries by what they came to: exact.
    rcodes: &'s BTreeMap<String, u64>,
    /// Those with the most waste, at most 100.
    clients: Vec<ClientForm<'s>>,
    /// So much waste can be missing from the count of each client.
    waste_error: u64,
    /// How often each server did not answer: exact, but for `other_timeouts`.
    timeouts: &'s BTreeMap<String, u64>,
    /// Time-outs of servers that were not counted apart.
    other_timeouts: u64,
    /// Answers that took over 2 s: exact.
    slow: u64,
    /// In seconds, at most an eighth too high; null: there is no answer.
    p50: Option<f64>,
    p90: Option<f64>,
    p99: Option<f64>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ClientForm<'s> {
    /// Its address.
    client: &'s str,
    /// `NAMESPACE/NAME`; null: not known.
    pod: Option<&'s str>,
    queries: u64,
    waste: u64,
}

/// The same for JSON; `None`: there is no log.
pub(super) fn form(logs: &Logs) -> Option<LogsForm<'_>> {
    if logs.reports == 0 {
        return None;
    }
    #[expect(clippy::cast_precision_loss, reason = "a time to look at")]
    let seconds = |share| logs.percentile(share).map(|it| it as f64 / 1e9);
    let clients = logs.by_waste().into_iter().take(MAX_LISTED);
    Some(LogsForm {
        reports: logs.reports,
        queries: logs.queries,
        waste: (logs.waste.1 > 0).then_some(logs.waste.0),
        waste_of: logs.waste.1,
        rcodes: &logs.rcodes,
        clients: clients
            .map(|(client, it)| ClientForm {
                client,
                pod: it.pod.as_deref(),
                queries: it.queries,
                waste: it.waste,
            })
            .collect(),
        waste_error: logs.uncertain,
        timeouts: &logs.timeouts,
        other_timeouts: logs.other_timeouts,
        slow: logs.slow,
        p50: seconds(50),
        p90: seconds(90),
        p99: seconds(99),
    })
}

impl Page<'_> {
    /// What logs say, if there are any.
    pub(super) fn logs(&mut self, logs: &Logs) -> io::Result<()> {
        if logs.reports == 0 {
            return Ok(());
        }
        let (waste, of) = logs.waste;
        let wasted = match of {
            0 => "whether some were search-list waste they cannot tell".to_owned(),
            _ => format!(
                "{} ({}) were search-list waste",
                grouped(waste),
                percent(waste, of)
            ),
        };
        let reports = counted(
            usize::try_from(logs.reports).unwrap_or(usize::MAX),
            "log",
            "logs",
        );
        let first = format!("{reports}: {} queries; {wasted}.", grouped(logs.queries));
        paragraph::write(self.out, "", "", &first)?;
        let rcodes = logs.rcodes.iter();
        let rcodes =
            rcodes.map(|(rcode, count)| format!("{rcode} {}", percent(*count, logs.queries)));
        self.row("Came to", &rcodes.collect::<Vec<_>>().join(", "))?;
        if let (Some(half), Some(most)) = (logs.percentile(50), logs.percentile(99)) {
            let times = format!(
                "half within {}, 99 % within {}",
                duration(half),
                duration(most)
            );
            self.row("Took", &times)?;
        }
        self.silent(logs)?;
        for (address, client) in logs.by_waste().into_iter().take(MAX_SHOWN) {
            let who = client
                .pod
                .as_deref()
                .map_or_else(|| address.to_owned(), |it| format!("{it} ({address})"));
            let share = percent(client.waste, client.queries);
            self.row(
                "Client",
                &format!("{who}: {} queries, {share} waste", grouped(client.queries)),
            )?;
        }
        if logs.uncertain > 0 {
            let text = format!(
                "Of each client up to {} of its waste can be missing.",
                grouped(logs.uncertain)
            );
            paragraph::write(self.out, "", "", &text)?;
        }
        Ok(())
    }

    /// Servers that did not answer, those with the most time-outs first.
    fn silent(&mut self, logs: &Logs) -> io::Result<()> {
        let mut all: Vec<_> = logs.timeouts.iter().collect();
        all.order_by_key(|it| std::cmp::Reverse(it.1));
        let shown = all.iter().take(MAX_SHOWN);
        let mut silent: Vec<String> = shown
            .map(|(server, count)| format!("{server} {} times", grouped(**count)))
            .collect();
        let more = all.len().saturating_sub(MAX_SHOWN);
        if more > 0 {
            silent.push(format!("and {more} more"));
        }
        if logs.other_timeouts > 0 {
            let count = grouped(logs.other_timeouts);
            silent.push(format!("others, not counted apart, {count} times"));
        }
        self.row("Silent", &silent.join(", "))
    }

    fn row(&mut self, title: &str, text: &str) -> io::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        paragraph::write(self.out, &format!("  {title:<8} "), "           ", text)
    }
}
