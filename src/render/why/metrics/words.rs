//! What counters show, in words.

use super::numbers::{bytes, count, rate, share};
use crate::render::sentence::Sentence;
use crate::render::why::said::Said;
use crate::text::escaped;
use crate::why::metrics::{Finding, KUBEADM_MEMORY};

pub(super) fn said(finding: &Finding) -> Said {
    Said {
        fact: Sentence::new(finding.code(), fact(finding)).begun(),
        fix: fix(finding),
    }
}

#[expect(clippy::too_many_lines, reason = "a table: one arm a fact")]
fn fact(finding: &Finding) -> String {
    match finding {
        Finding::Restarted => {
            "the process was restarted between the two pages; what is said is since then".to_owned()
        }
        Finding::Panics(times) => format!("CoreDNS panicked {} times", count(*times)),
        Finding::ReloadFailures(times) => format!(
            "the changed Corefile was refused {} times: CoreDNS still runs the old one, and a new \
             pod will not start",
            count(*times)
        ),
        Finding::SetupErrors(times) => format!(
            "NodeLocal DNSCache failed {} times to set up its interface, rules or Corefile",
            count(*times)
        ),
        Finding::Rejects(times) => format!(
            "{} queries were refused by max_concurrent: upstream servers are slower than queries \
             come, or queries loop",
            count(*times)
        ),
        Finding::Broken(times) => {
            format!(
                "{} queries came while every upstream server was down",
                count(*times)
            )
        }
        Finding::Absent(plugins) => format!("no server block has {}", plugins.join(", ")),
        Finding::FewHits { hits, of: all } => {
            format!(
                "only {} of the answers came from the cache",
                share(*hits, *all)
            )
        }
        Finding::FullCache { entries, kind } => format!(
            "the cache has {} entries of type {}, which is its default capacity: it throws answers \
             away that still count",
            count(*entries),
            escaped(kind.as_bytes())
        ),
        Finding::Memory { bytes: held } => format!(
            "the process holds {}, and kubeadm's limit is {}: beyond it the kernel kills it",
            bytes(*held),
            bytes(KUBEADM_MEMORY)
        ),
        Finding::Rcode {
            rcode,
            count: times,
            of: all,
        } => format!(
            "{} of the responses are {}",
            share(*times, *all),
            escaped(rcode.as_bytes())
        ),
        Finding::OneGetsAll {
            name,
            requests,
            of: all,
        } => format!(
            "{} gets {} of the queries, since each started: clients that keep a connection or a \
             port stay with one server",
            escaped(name.as_bytes()),
            share(*requests, *all)
        ),
        Finding::NotOk { path, said } => {
            format!("{path} does not say OK but {}", escaped(said.as_bytes()))
        }
        Finding::Unhealthy { to, failures } => format!(
            "{} health checks of {} failed",
            count(*failures),
            escaped(to.as_bytes())
        ),
        Finding::UpstreamErrors {
            to,
            rcode,
            count: times,
            of: all,
        } => format!(
            "{} answered {} to {} queries",
            escaped(to.as_bytes()),
            escaped(rcode.as_bytes()),
            share(*times, *all)
        ),
        Finding::SlowUpstream { to, within } if within.is_infinite() => format!(
            "more than 1 of 100 answers of {} took longer than CoreDNS counts",
            escaped(to.as_bytes())
        ),
        Finding::SlowUpstream { to, within } => format!(
            "99 of 100 answers of {} take up to {within} s",
            escaped(to.as_bytes())
        ),
        Finding::Silent {
            count: times,
            of: all,
        } => format!(
            "{} of the responses are SERVFAIL that no upstream server said: they did not answer, or \
             refused (queries that time out are in no upstream server's count)",
            share(*times, *all)
        ),
        Finding::NearLimit {
            to,
            rate: asked,
            limit,
        } => format!(
            "{} is asked {} times a second, and {} documents {} for each {}",
            escaped(to.as_bytes()),
            rate(*asked),
            limit.provider,
            rate(limit.queries),
            limit.of
        ),
        Finding::Loopback { to } => format!(
            "queries are forwarded to {}, which in a pod is CoreDNS itself or nobody",
            escaped(to.as_bytes())
        ),
    }
}

fn fix(finding: &Finding) -> String {
    match finding {
        Finding::Restarted | Finding::Panics(_) => {
            "kubectl -n kube-system logs POD --previous | kdns why -"
        }
        Finding::ReloadFailures(_) => {
            "kubectl -n kube-system get configmap coredns -o yaml | kdns lint - names the line"
        }
        Finding::SetupErrors(_) => "kubectl -n kube-system logs POD | kdns why -",
        Finding::Rejects(_) | Finding::Loopback { .. } => {
            "kdns check-loop on the node of that pod tells whether queries loop"
        }
        Finding::Broken(_) | Finding::Silent { .. } => {
            "kdns upstream on the node names the servers; ask each: kdns nsenter POD dig @SERVER \
             example.com"
        }
        Finding::Unhealthy { to, .. }
        | Finding::SlowUpstream { to, .. }
        | Finding::UpstreamErrors { to, .. } => {
            let server = to.rsplit_once("://").map_or(to.as_str(), |it| it.1);
            let server = server.rsplit_once(':').map_or(server, |it| it.0);
            let server = escaped(server.trim_matches(['[', ']']).as_bytes());
            return format!("kdns nsenter POD dig @{server} example.com +tries=1");
        }
        Finding::Rcode { rcode, .. } if rcode == "NXDOMAIN" => {
            "usually search-list waste: add `log` for a while, and kubectl logs … | kdns why -"
        }
        Finding::Rcode { .. } => {
            "add `log` and `errors` for a while, and kubectl logs … | kdns why -"
        }
        Finding::NearLimit { limit, .. } => {
            return format!(
                "NodeLocal DNSCache, or DNS pods on more nodes, spreads them ({})",
                limit.source
            );
        }
        Finding::FewHits { .. } | Finding::FullCache { .. } => {
            "a larger `cache` (CAPACITY), and a TTL of 30 s in the kubernetes plugin"
        }
        Finding::Memory { .. } => {
            "kubectl -n kube-system describe pod tells the pod's own limit; kdns check-loop tells \
             whether queries loop"
        }
        Finding::Absent(_) => "kdns lint tells what is missed without each",
        Finding::OneGetsAll { .. } => {
            "kdns path shows how the Service spreads queries; NodeLocal DNSCache keeps TCP \
             connections to one server"
        }
        Finding::NotOk { .. } => "kubectl -n kube-system logs POD | kdns why -",
    }
    .to_owned()
}
