//! What the counters show.

use super::limits::{self, Limit};
use super::page::{Page, Upstream};
use crate::finding::Severity;

/// Something that the counters show.
#[derive(Clone, Debug, PartialEq)]
pub enum Finding {
    /// The process started anew between the two pages.
    Restarted,
    /// The server panicked.
    Panics(f64),
    /// The Corefile could not be read again.
    ReloadFailures(f64),
    /// NodeLocal DNSCache could not set up its interface or rules.
    SetupErrors(f64),
    /// `max_concurrent` refused queries.
    Rejects(f64),
    /// Queries while all upstream servers were down.
    Broken(f64),
    /// Health checks of a server failed.
    Unhealthy {
        /// The server.
        to: String,
        /// How often.
        failures: f64,
    },
    /// A server answers with errors.
    UpstreamErrors {
        /// The server.
        to: String,
        /// What it says.
        rcode: String,
        /// How often.
        count: f64,
        /// Of so many.
        of: f64,
    },
    /// A server is slow.
    SlowUpstream {
        /// The server.
        to: String,
        /// In seconds, 99 of 100 answers.
        within: f64,
    },
    /// `SERVFAIL` that no upstream server said: nobody answered.
    Silent {
        /// How many.
        count: f64,
        /// Of so many responses.
        of: f64,
    },
    /// A large part of the responses is an error.
    Rcode {
        /// Which.
        rcode: String,
        /// How many.
        count: f64,
        /// Of so many.
        of: f64,
    },
    /// A server is asked as often as its provider allows.
    NearLimit {
        /// The server.
        to: String,
        /// Queries a second.
        rate: f64,
        /// What is documented.
        limit: &'static Limit,
    },
    /// A loopback server is asked, which is CoreDNS itself in a pod.
    Loopback {
        /// The server.
        to: String,
    },
    /// Little comes from the cache.
    FewHits {
        /// Hits.
        hits: f64,
        /// Of so many.
        of: f64,
    },
    /// The cache has as many entries as it can.
    FullCache {
        /// Entries of the type.
        entries: f64,
        /// `success` or `denial`.
        kind: String,
    },
    /// Memory near the limit that kubeadm sets.
    Memory {
        /// In bytes.
        bytes: f64,
    },
    /// Plugins that are usually there and are not.
    Absent(Vec<&'static str>),
    /// One of several servers gets nearly all.
    OneGetsAll {
        /// Its page.
        name: String,
        /// Its queries.
        requests: f64,
        /// Of so many.
        of: f64,
    },
    /// `/health` or `/ready` does not say OK.
    NotOk {
        /// `/health`.
        path: &'static str,
        /// What came instead.
        said: String,
    },
}

/// The memory limit in the manifest that kubeadm writes, in bytes.
///
/// Source: kubernetes, cmd/kubeadm/app/phases/addons/dns/manifests.go.
pub const KUBEADM_MEMORY: f64 = 170.0 * 1024.0 * 1024.0;

/// Entries of each type in a cache whose capacity is not set.
///
/// Source: `CoreDNS`, plugin/cache/cache.go `defaultCap`.
const CACHE_CAPACITY: f64 = 9984.0;

/// Plugins that a Corefile of a cluster has, of those that handle queries: others,
/// like `health` and `ready`, are not counted.
///
/// Source: `CoreDNS`, plugin/metrics/setup.go.
const USUAL: [&str; 3] = ["errors", "cache", "loop"];

impl Finding {
    /// How bad it is.
    pub fn severity(&self) -> Severity {
        match self {
            Self::Panics(_) | Self::SetupErrors(_) | Self::Loopback { .. } | Self::NotOk { .. } => {
                Severity::Error
            }
            Self::NearLimit { rate, limit, .. } if *rate >= limit.queries => Severity::Error,
            Self::Rcode { rcode, .. } if rcode == "NXDOMAIN" => Severity::Info,
            Self::FewHits { .. } | Self::FullCache { .. } | Self::Absent(_) => Severity::Info,
            _ => Severity::Warning,
        }
    }

    /// A word for machines that stays when the words change.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Restarted => "restarted",
            Self::Panics(_) => "panics",
            Self::ReloadFailures(_) => "reload-failures",
            Self::SetupErrors(_) => "setup-errors",
            Self::Rejects(_) => "max-concurrent-rejects",
            Self::Broken(_) => "all-upstreams-down",
            Self::Unhealthy { .. } => "health-check-failures",
            Self::UpstreamErrors { .. } => "upstream-errors",
            Self::SlowUpstream { .. } => "slow-upstream",
            Self::Silent { .. } => "unanswered-by-upstreams",
            Self::Rcode { .. } => "rcode-share",
            Self::NearLimit { .. } => "provider-limit",
            Self::Loopback { .. } => "loopback-upstream",
            Self::FewHits { .. } => "few-cache-hits",
            Self::FullCache { .. } => "full-cache",
            Self::Memory { .. } => "memory",
            Self::Absent(_) => "plugins-absent",
            Self::OneGetsAll { .. } => "one-replica-gets-all",
            Self::NotOk { .. } => "not-ok",
        }
    }
}

/// What happened, `seconds` long if that is known, and how the process is.
pub(super) fn of_page(page: &Page, seconds: Option<f64>, found: &mut Vec<Finding>) {
    let counted = |count: f64, make: fn(f64) -> Finding| (count > 0.0).then(|| make(count));
    found.extend(counted(page.panics, Finding::Panics));
    found.extend(counted(page.setup_errors, Finding::SetupErrors));
    found.extend(counted(page.broken, Finding::Broken));
    found.extend(counted(page.rejects, Finding::Rejects));
    found.extend(counted(page.reload_failures, Finding::ReloadFailures));
    for (to, upstream) in &page.upstreams {
        of_upstream(to, upstream, seconds, found);
    }
    responses(page, found);
    cache(page, found);
    if let Some(bytes) = page.memory.filter(|&it| it > KUBEADM_MEMORY * 0.85) {
        found.push(Finding::Memory { bytes });
    }
    if let Some(plugins) = &page.plugins {
        let absent = USUAL.into_iter().filter(|it| !plugins.contains(*it));
        let absent: Vec<&str> = absent.collect();
        if !absent.is_empty() {
            found.push(Finding::Absent(absent));
        }
    }
}

fn of_upstream(to: &str, upstream: &Upstream, seconds: Option<f64>, found: &mut Vec<Finding>) {
    /// Slower than this is far from usual for a server that has a cache.
    const SLOW: f64 = 0.5;
    let address = limits::address(to);
    if address.is_some_and(|it| it.is_loopback() || it.is_unspecified()) {
        found.push(Finding::Loopback { to: to.to_owned() });
    }
    if upstream.health_failures > 0.0 {
        found.push(Finding::Unhealthy {
            to: to.to_owned(),
            failures: upstream.health_failures,
        });
    }
    for rcode in ["SERVFAIL", "REFUSED"] {
        let count = upstream.rcodes.get(rcode).copied().unwrap_or_default();
        if count > 0.0 && count * 100.0 >= upstream.requests {
            found.push(Finding::UpstreamErrors {
                to: to.to_owned(),
                rcode: rcode.to_owned(),
                count,
                of: upstream.requests,
            });
        }
    }
    if let Some(within) = upstream.percentile(0.99).filter(|&it| it > SLOW) {
        found.push(Finding::SlowUpstream {
            to: to.to_owned(),
            within,
        });
    }
    let rate = seconds
        .filter(|&it| it > 0.0)
        .map(|it| upstream.requests / it);
    if let Some((rate, limit)) = rate.zip(address.and_then(limits::limit_of))
        && rate > limit.queries * 0.8
    {
        found.push(Finding::NearLimit {
            to: to.to_owned(),
            rate,
            limit,
        });
    }
}

fn responses(page: &Page, found: &mut Vec<Finding>) {
    let all = page.all_responses();
    if all <= 0.0 {
        return;
    }
    let failed = page.with("SERVFAIL");
    let said = page.upstreams.values();
    let said: f64 = said.filter_map(|it| it.rcodes.get("SERVFAIL")).sum();
    let silent = failed - said;
    if silent > 0.0 && silent * 100.0 >= all {
        found.push(Finding::Silent {
            count: silent,
            of: all,
        });
    } else if failed * 100.0 >= all {
        found.push(Finding::Rcode {
            rcode: "SERVFAIL".to_owned(),
            count: failed,
            of: all,
        });
    }
    for (rcode, share) in [("REFUSED", 100.0), ("NXDOMAIN", 2.0)] {
        let count = page.with(rcode);
        if count > 0.0 && count * share >= all {
            found.push(Finding::Rcode {
                rcode: rcode.to_owned(),
                count,
                of: all,
            });
        }
    }
}

fn cache(page: &Page, found: &mut Vec<Finding>) {
    /// Fewer tell nothing.
    const MIN_REQUESTS: f64 = 1000.0;
    if let Some((hits, misses)) = page.hits.zip(page.misses) {
        let of = hits + misses;
        if of >= MIN_REQUESTS && hits * 2.0 < of {
            found.push(Finding::FewHits { hits, of });
        }
    }
    for (kind, &entries) in &page.entries {
        if entries >= CACHE_CAPACITY * 0.99 {
            found.push(Finding::FullCache {
                entries,
                kind: kind.clone(),
            });
        }
    }
}

/// Whether one of several servers gets nearly all queries.
pub(super) fn of_replicas(pages: &[&Page], found: &mut Vec<Finding>) {
    /// Fewer can be chance.
    const MIN_REQUESTS: f64 = 100.0;
    let requests = |page: &&Page| page.requests.unwrap_or_default();
    let of: f64 = pages.iter().map(requests).sum();
    let most = pages
        .iter()
        .max_by(|a, b| requests(a).total_cmp(&requests(b)));
    if let Some(most) = most
        && pages.len() > 1
        && of >= MIN_REQUESTS
        && requests(most) > of * 0.9
    {
        found.push(Finding::OneGetsAll {
            name: most.name.clone(),
            requests: requests(most),
            of,
        });
    }
}
