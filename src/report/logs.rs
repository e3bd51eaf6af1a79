//! What `kdns why LOG` has written of several logs, put together.
//!
//! Numbers add up exactly. Lists have at most [`LISTED`] rows: who is in none of
//! them is not known, and who is missing in one of them can have as much there as
//! its last row, which is added to [`Logs::uncertain`].

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::order::Order as _;
use crate::text::escaped;

/// A list of `kdns why LOG --format json` has at most so many rows.
const LISTED: usize = 100;

/// More clients are not kept: those with the most waste are.
const MAX_CLIENTS: usize = 10_000;

/// Servers that are kept.
const MAX_SERVERS: usize = 1000;

/// Longest text that is kept, in characters.
const MAX_TEXT: usize = 300;

/// What one run of `kdns why LOG` has written, as far as it counts here.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct LogReport {
    queries: u64,
    waste: Option<u64>,
    rcodes: BTreeMap<String, u64>,
    #[serde(default)]
    clients: Vec<ClientIn>,
    #[serde(default)]
    timeouts: Vec<TimeoutIn>,
    latency: LatencyIn,
    #[serde(default)]
    left_out: LeftOutIn,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
struct LeftOutIn {
    #[serde(default)]
    timeouts: u64,
}

#[derive(Clone, Debug, Deserialize)]
struct ClientIn {
    client: String,
    pod: Option<String>,
    queries: u64,
    waste: u64,
}

#[derive(Clone, Debug, Deserialize)]
struct TimeoutIn {
    server: String,
    count: u64,
}

#[derive(Clone, Debug, Deserialize)]
struct LatencyIn {
    #[serde(default)]
    slow: u64,
    #[serde(default)]
    buckets: Vec<(u64, u64)>,
}

/// What several runs have written, together.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Logs {
    /// How many there are.
    pub reports: u64,
    /// Queries in all of them.
    pub queries: u64,
    /// Those that were search-list waste, and the queries of the reports that can
    /// tell.
    pub waste: (u64, u64),
    /// Queries by what they came to.
    pub rcodes: BTreeMap<String, u64>,
    /// By address, safe to print.
    pub clients: BTreeMap<String, Client>,
    /// So much waste can be missing from the count of each client.
    pub uncertain: u64,
    /// How often each server did not answer, safe to print.
    pub timeouts: BTreeMap<String, u64>,
    /// Time-outs of servers for which there was no room, there or here.
    pub other_timeouts: u64,
    /// Answers that took over 2 s.
    pub slow: u64,
    /// How many answers took at most so many nanoseconds, and longer than the
    /// bound before.
    pub times: BTreeMap<u64, u64>,
}

/// A client, in all logs together.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Client {
    /// `NAMESPACE/NAME`, safe to print.
    pub pod: Option<String>,
    /// Its queries.
    pub queries: u64,
    /// Those for nothing.
    pub waste: u64,
}

impl Logs {
    /// Counts what one more run has written.
    pub(super) fn add(&mut self, report: LogReport) {
        self.reports += 1;
        self.queries = self.queries.saturating_add(report.queries);
        if let Some(waste) = report.waste {
            self.waste.0 = self.waste.0.saturating_add(waste);
            self.waste.1 = self.waste.1.saturating_add(report.queries);
        }
        for (rcode, count) in report.rcodes {
            add(&mut self.rcodes, brief(&rcode), count, LISTED);
        }
        if report.clients.len() >= LISTED {
            let least = report.clients.iter().map(|it| it.waste).min();
            self.uncertain = self.uncertain.saturating_add(least.unwrap_or_default());
        }
        for client in &report.clients {
            self.client(client);
        }
        self.others(report.left_out.timeouts);
        for timeout in report.timeouts {
            let server = brief(&timeout.server);
            if !add(&mut self.timeouts, server, timeout.count, MAX_SERVERS) {
                self.others(timeout.count);
            }
        }
        self.slow = self.slow.saturating_add(report.latency.slow);
        for (bound, count) in report.latency.buckets {
            add(&mut self.times, bound, count, MAX_CLIENTS);
        }
    }

    fn others(&mut self, count: u64) {
        self.other_timeouts = self.other_timeouts.saturating_add(count);
    }

    fn client(&mut self, client: &ClientIn) {
        let address = brief(&client.client);
        if self.clients.len() >= MAX_CLIENTS && !self.clients.contains_key(&address) {
            self.uncertain = self.uncertain.max(client.waste);
            return;
        }
        let own = self.clients.entry(address).or_default();
        own.queries = own.queries.saturating_add(client.queries);
        own.waste = own.waste.saturating_add(client.waste);
        if own.pod.is_none() {
            own.pod = client.pod.as_deref().map(brief);
        }
    }

    /// The time in nanoseconds that `share` of a hundred answers do not exceed, at
    /// most an eighth too high; `None`: there is no answer.
    pub fn percentile(&self, share: u64) -> Option<u64> {
        let total: u64 = self.times.values().sum();
        let wanted = total.saturating_mul(share).div_ceil(100).max(1);
        let mut seen = 0;
        self.times.iter().find_map(|(bound, count)| {
            seen += count;
            (seen >= wanted).then_some(*bound)
        })
    }

    /// The clients, those with the most waste first.
    pub fn by_waste(&self) -> Vec<(&str, &Client)> {
        let clients = self.clients.iter().map(|it| (it.0.as_str(), it.1));
        let mut all: Vec<(&str, &Client)> = clients.collect();
        all.order_by_key(|it| std::cmp::Reverse((it.1.waste, it.1.queries)));
        all
    }
}

/// Adds to a count; a key for which there is no room is left out. Whether there was.
fn add<K: Ord>(counts: &mut BTreeMap<K, u64>, key: K, count: u64, most: usize) -> bool {
    let is_room = counts.len() < most || counts.contains_key(&key);
    if is_room {
        let own = counts.entry(key).or_default();
        *own = own.saturating_add(count);
    }
    is_room
}

fn brief(text: &str) -> String {
    let text: String = text.chars().take(MAX_TEXT).collect();
    escaped(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(text: &str) -> LogReport {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn reports_add_up() {
        let mut logs = Logs::default();
        logs.add(report(
            r#"{"queries": 10, "waste": 4, "rcodes": {"NOERROR": 6, "NXDOMAIN": 4}, "clients":
            [{"client": "10.0.0.1", "pod": "shop/web", "queries": 10, "waste": 4}], "timeouts":
            [{"server": "8.8.8.8:53", "count": 2}], "latency": {"slow": 1, "buckets": [[100, 9], [3000, 1]]}}"#,
        ));
        logs.add(report(
            r#"{"queries": 5, "waste": null, "rcodes": {"NOERROR": 5}, "clients":
            [{"client": "10.0.0.1", "pod": null, "queries": 5, "waste": 0}], "latency": {"buckets": [[100, 5]]}}"#,
        ));
        assert_eq!((logs.reports, logs.queries, logs.waste), (2, 15, (4, 10)));
        assert_eq!(logs.rcodes["NOERROR"], 11);
        assert_eq!(logs.timeouts["8.8.8.8:53"], 2);
        let client = &logs.clients["10.0.0.1"];
        assert_eq!(
            (client.pod.as_deref(), client.queries, client.waste),
            (Some("shop/web"), 15, 4)
        );
        let percentiles = [50, 93, 99].map(|it| logs.percentile(it));
        assert_eq!(percentiles, [Some(100), Some(100), Some(3000)]);
        assert_eq!(logs.uncertain, 0);
    }

    #[test]
    fn what_a_full_list_lacks_is_said() {
        let clients: Vec<String> = (0..LISTED)
            .map(|it| {
                format!(
                    r#"{{"client": "10.0.0.{it}", "queries": 9, "waste": {}}}"#,
                    200 - it
                )
            })
            .collect();
        let text = format!(
            r#"{{"queries": 900, "waste": 900, "rcodes": {{}}, "clients": [{}], "latency": {{}}}}"#,
            clients.join(",")
        );
        let mut logs = Logs::default();
        logs.add(report(&text));
        assert_eq!(logs.uncertain, 101);
        assert_eq!(logs.by_waste()[0].0, "10.0.0.0");
    }
}
