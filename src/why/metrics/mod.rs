//! What the metrics of `CoreDNS` and NodeLocal DNSCache say.

mod findings;
mod limits;
mod page;
#[cfg(test)]
mod tests;
mod text;

pub use findings::{Finding, KUBEADM_MEMORY};
pub use limits::Limit;
pub use page::{Page, Upstream};
pub use text::{Sample, samples};

use crate::order::Order as _;

/// What pages say together.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// What is judged: what happened between two pages of one process, or each
    /// process since it started.
    pub judged: Vec<Judged>,
    /// What was found, the worst first.
    pub findings: Vec<Finding>,
}

/// A process, and the time that its counters are of.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// Its counters.
    pub page: Page,
    /// In seconds; `None`: since it started, however long that is.
    pub seconds: Option<f64>,
    /// Whether it is what happened between two pages.
    pub is_difference: bool,
}

/// Judges pages. Two of one process, the earlier one first, are held against each
/// other; `seconds` is how long is between them, if that is known.
pub fn judge(pages: &[Page], seconds: Option<f64>) -> Report {
    let mut findings = Vec::new();
    let mut judged = Vec::new();
    // Two pages with time between them are of one pod.
    let is_same = |later: &Page, earlier: &Page| {
        later.is_same_process(earlier) || seconds.is_some() && later.may_go_on_from(earlier)
    };
    match pages {
        [earlier, later] if is_same(later, earlier) => judged.push(Judged {
            page: later.since(earlier),
            seconds,
            is_difference: true,
        }),
        _ => {
            let each = pages.iter().map(|page| Judged {
                page: page.clone(),
                seconds: None,
                is_difference: false,
            });
            judged.extend(each);
        }
    }
    // Then it has started anew.
    if seconds.is_some() && judged.len() == 2 {
        findings.push(Finding::Restarted);
        judged.remove(0);
    }
    for it in &judged {
        findings::of_page(&it.page, it.seconds, &mut findings);
    }
    let pages: Vec<&Page> = judged.iter().map(|it| &it.page).collect();
    findings::of_replicas(&pages, &mut findings);
    findings.order_by_key(|it| std::cmp::Reverse(it.severity()));
    Report { judged, findings }
}

/// What is wrong if the text is what `/health` or `/ready` says; `None`: it is neither.
///
/// Source: `CoreDNS`, plugin/ready/ready.go: OK, or the plugins that are not ready.
pub fn of_state(text: &str) -> Option<Vec<Finding>> {
    match text.trim() {
        "OK" => Some(Vec::new()),
        it if !it.is_empty() && it.split(',').all(|it| CAN_BE_UNREADY.contains(&it)) => {
            Some(vec![Finding::NotOk {
                path: "/ready",
                said: it.to_owned(),
            }])
        }
        _ => None,
    }
}

/// Plugins of `CoreDNS` that say whether they are ready, its own and those of others.
const CAN_BE_UNREADY: [&str; 5] = [
    "erratic",
    "k8s_gateway",
    "kubernetes",
    "multicluster",
    "nomad",
];

impl Report {
    /// Whether there is anything of `CoreDNS` in it.
    pub fn is_empty(&self) -> bool {
        !self.judged.iter().any(|it| it.page.is_coredns)
    }
}
