//! What the DNS pods of a node log.

use crate::check_loop::logs_count_from;
use crate::config::corefile;
use crate::node::{Node, Pod, is_dns_server};
use crate::why::log::{Pods, Reading, Settings, Summary, Tally};

/// What the logs of the DNS pods say together.
#[derive(Clone, Debug)]
pub struct Logs {
    /// All that was counted.
    pub summary: Summary,
    /// How many logs there are.
    pub count: usize,
    /// From when on lines were counted, in nanoseconds since 1970; `None`: all were.
    pub since: Option<i64>,
}

impl Logs {
    /// Reads the logs that the node has of its DNS pods, each as its Corefile says;
    /// `None`: there is none, or none has a line.
    pub fn from_node(node: &Node) -> Option<Self> {
        let servers: Vec<&Pod> = node.pods.iter().filter(|it| is_dns_server(it)).collect();
        let mut settings = Settings {
            since: logs_count_from(node),
            ..Settings::default()
        };
        for source in servers.iter().filter_map(|it| it.corefiles.first()) {
            settings.take_corefile(&corefile::parse(source.clone(), &[]));
        }
        let mut pods = Pods::default();
        for pod in &node.pods {
            for address in &pod.addresses {
                pods.add(&address.to_string(), pod.label());
            }
        }
        let containers = || servers.iter().flat_map(|it| &it.containers);
        let logs = || containers().flat_map(|it| &it.logs);
        let (mut tally, mut count) = (Tally::default(), 0);
        for log in logs() {
            let mut reading = Reading::new(log.name.clone(), &settings);
            reading.push(&log.bytes);
            tally.merge(reading.end());
            count += 1;
        }
        let since = settings.since.filter(|_| tally.is_cut());
        let summary = tally.finish(&settings, &pods);
        let is_any = logs().any(|it| !it.bytes.is_empty());
        is_any.then_some(Self {
            summary,
            count,
            since,
        })
    }
}
