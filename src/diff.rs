//! What differs between two nodes, or between a node and what it was, that
//! matters for DNS.

use std::collections::BTreeSet;

use crate::check_loop::Report;
use crate::config::resolv_conf::{Line, ResolvConf};
use crate::finding::Severity;
use crate::lint::Findings;
use crate::node::workload::maker;
use crate::node::{HostFile, Node, is_dns_server};
use crate::order::Order as _;
use crate::pod::Runtime;
use crate::report::Attribute;
use crate::text::{escaped, ordered};

/// One of the two nodes that are compared.
#[derive(Debug)]
pub struct Side {
    /// The node.
    pub node: Node,
    /// What `check-loop` says of it.
    pub loops: Report,
    /// What `lint --node` says of it.
    pub findings: Findings,
}

/// Something that differs.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Difference {
    /// The setting or fact that differs.
    pub what: What,
    /// Whether it is one of those that lead queries elsewhere, while the verdict
    /// differs, too.
    pub changes_verdict: bool,
    /// What the first has; safe to print.
    pub first: Vec<String>,
    /// What the second has; safe to print.
    pub second: Vec<String>,
}

/// What can differ.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum What {
    /// What becomes of queries now.
    Now,
    /// The same after the next start of the DNS pods.
    NextStart,
    /// A part of the set-up that decides where queries lead.
    Setup(Attribute),
    /// The lines of the node's own resolv.conf.
    NodeFile,
    /// The kubelet's `clusterDNS`.
    ClusterDns,
    /// The kubelet's `clusterDomain`.
    ClusterDomain,
    /// The kubelet's version.
    KubeletVersion,
    /// The container runtime.
    Runtime,
    /// The name servers that DNS pods have.
    DnsPods,
    /// Findings of `lint`, without those that are only worth knowing.
    Findings,
}

/// What differs, first what changes the verdict.
pub fn differences(first: &Side, second: &Side) -> Vec<Difference> {
    let is_verdict = first.loops.verdict != second.loops.verdict
        || first.loops.now != second.loops.now
        || first.loops.next_start != second.loops.next_start;
    let setup = Attribute::ALL.map(What::Setup);
    let all = [What::Now, What::NextStart]
        .into_iter()
        .chain(setup)
        .chain([
            What::NodeFile,
            What::ClusterDns,
            What::ClusterDomain,
            What::KubeletVersion,
            What::Runtime,
            What::DnsPods,
            What::Findings,
        ]);
    let difference = |what: What| {
        let (one, other) = (what.values(first), what.values(second));
        (one != other).then(|| Difference {
            what,
            changes_verdict: is_verdict && what.leads(),
            first: one,
            second: other,
        })
    };
    let mut found: Vec<Difference> = all.filter_map(difference).collect();
    found.order_by_key(|it| (!it.changes_verdict, it.what));
    found
}

impl What {
    /// Whether it decides where queries lead.
    fn leads(self) -> bool {
        matches!(
            self,
            Self::Now | Self::NextStart | Self::Setup(_) | Self::NodeFile | Self::DnsPods
        )
    }

    fn values(self, side: &Side) -> Vec<String> {
        let node = &side.node;
        let kubelet = node.kubelet.as_ref();
        let one = |it: Option<String>| -> Vec<String> { it.into_iter().collect() };
        match self {
            Self::Now => vec![side.loops.now.word().to_owned()],
            Self::NextStart => vec![side.loops.next_start.word().to_owned()],
            Self::Setup(part) => vec![part.value_in(&side.loops.setup)],
            Self::NodeFile => node.node_file.as_ref().map(lines).unwrap_or_default(),
            Self::ClusterDns => {
                let addresses = kubelet.iter().flat_map(|it| &it.cluster_dns.value);
                addresses.map(ToString::to_string).collect()
            }
            Self::ClusterDomain => {
                one(kubelet.map(|it| escaped(it.cluster_domain.value.as_bytes())))
            }
            Self::KubeletVersion => one(kubelet.and_then(|it| Some(it.version?.to_string()))),
            Self::Runtime => {
                let Runtime { kind, version } = node.runtime.runtime;
                let version = version.map(|it| format!(" {it}"));
                vec![format!("{}{}", kind.name(), version.unwrap_or_default())]
            }
            Self::DnsPods => dns_pods(node),
            Self::Findings => findings(&side.findings),
        }
    }
}

/// The words that count of each line; why it could not be read.
fn lines(file: &HostFile) -> Vec<String> {
    match &file.content {
        Ok(conf) => words(conf),
        Err(_) => vec![format!("{} could not be read", file.path)],
    }
}

fn words(conf: &ResolvConf) -> Vec<String> {
    let line = |line: Line<'_>| {
        let words = line.words().map(|it| escaped(it.bytes));
        words.collect::<Vec<_>>().join(" ")
    };
    let is_comment = |it: &String| it.is_empty() || it.starts_with(['#', ';']);
    let lines = conf.lines().map(line);
    lines.filter(|it| !is_comment(it)).collect()
}

/// `kube-system/coredns: 10.0.0.2`: names without what each start makes anew.
fn dns_pods(node: &Node) -> Vec<String> {
    let pods = node.pods.iter().filter(|it| is_dns_server(it));
    let lines = pods.map(|pod| {
        let servers = pod.own_file().map(words).unwrap_or_default();
        let servers: Vec<&str> = servers
            .iter()
            .filter_map(|it| it.strip_prefix("nameserver "))
            .collect();
        let label = pod.label();
        let name = if pod.is_static() {
            label.as_str()
        } else {
            maker(&label).map_or(label.as_str(), |it| it.1)
        };
        format!("{name}: {}", servers.join(" "))
    });
    // Replicas that are alike are one.
    let lines: BTreeSet<String> = ordered(lines);
    lines.into_iter().collect()
}

fn findings(findings: &Findings) -> Vec<String> {
    let counts = findings
        .findings
        .iter()
        .filter(|it| it.severity > Severity::Info);
    let all: BTreeSet<String> = counts
        .map(|it| format!("{} {}", it.code, it.name))
        .collect();
    all.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::{Finding, Label};
    use crate::text::Place;

    #[test]
    fn of_findings_those_count_that_are_worth_more_than_a_note() {
        let severities = [Severity::Info, Severity::Warning, Severity::Error];
        let finding = |severity: Severity| Finding {
            code: severity.word(),
            name: "rule",
            severity,
            message: String::new(),
            primary: Label::at(&Place::nowhere("f"), String::new()),
            secondary: Vec::new(),
            help: None,
            notes: Vec::new(),
            fix: None,
        };
        let found = Findings {
            findings: severities.map(finding).to_vec(),
            suppressed: Vec::new(),
            files: 1,
            unread: Vec::new(),
            unrecognised: Vec::new(),
        };
        assert_eq!(findings(&found), ["error rule", "warning rule"]);
    }
}
