//! What a page of `CoreDNS` says, whatever its version calls it.
//!
//! Source: `CoreDNS`, plugin/metrics/README.md, plugin/forward/README.md,
//! plugin/cache/README.md and plugin/reload/README.md at v1.6.9, v1.7.0, v1.10.1
//! and v1.11.0; kubernetes/dns, cmd/node-cache/app/metrics.go.

use std::collections::{BTreeMap, BTreeSet};

use super::text::{Sample, samples};
use crate::order::Order as _;

/// Counters since the process started, and gauges.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    /// The file, safe to print.
    pub name: String,
    /// `1.10.1`.
    pub version: Option<String>,
    /// When the process started, in seconds since 1970.
    pub started: Option<f64>,
    /// Memory that it holds, in bytes.
    pub memory: Option<f64>,
    /// Goroutines.
    pub goroutines: Option<f64>,
    /// Queries.
    pub requests: Option<f64>,
    /// Responses by rcode.
    pub responses: BTreeMap<String, f64>,
    /// Answers out of the cache, and others, where the cache plugin counts.
    pub hits: Option<f64>,
    /// See `hits`.
    pub misses: Option<f64>,
    /// Entries of the cache, by their type.
    pub entries: BTreeMap<String, f64>,
    /// Upstream servers.
    pub upstreams: BTreeMap<String, Upstream>,
    /// Queries while every upstream server was down.
    pub broken: f64,
    /// Queries that `max_concurrent` refused.
    pub rejects: f64,
    /// Panics.
    pub panics: f64,
    /// Reloads of the Corefile that failed.
    pub reload_failures: f64,
    /// Failures of NodeLocal DNSCache to set up interface and rules.
    pub setup_errors: f64,
    /// Plugins that handle queries, of all server blocks; `None`: the version does
    /// not say.
    pub plugins: Option<BTreeSet<String>>,
    /// Lines that cannot be read.
    pub wrong: usize,
    /// Whether anything of `CoreDNS` is on it.
    pub is_coredns: bool,
}

/// An upstream server.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Upstream {
    /// Queries that it answered.
    pub requests: f64,
    /// Responses by rcode.
    pub rcodes: BTreeMap<String, f64>,
    /// Health checks that failed.
    pub health_failures: f64,
    /// How long answers took: upper bounds in seconds, and how many took no longer.
    pub buckets: Vec<(f64, f64)>,
}

impl Page {
    /// Reads a page; `name` is safe to print.
    pub fn parse(name: &str, text: &str) -> Self {
        let (samples, wrong) = samples(text);
        let mut page = Self {
            name: name.to_owned(),
            wrong,
            ..Self::default()
        };
        for sample in &samples {
            page.take(sample);
        }
        for upstream in page.upstreams.values_mut() {
            upstream.settle();
        }
        page
    }

    fn take(&mut self, sample: &Sample) {
        if sample.value.is_nan() {
            return;
        }
        match sample.name.as_str() {
            "process_start_time_seconds" => self.started = Some(sample.value),
            "process_resident_memory_bytes" => self.memory = Some(sample.value),
            "go_goroutines" => self.goroutines = Some(sample.value),
            name => {
                if let Some(name) = name.strip_prefix("coredns_") {
                    self.is_coredns = true;
                    self.own(name, sample);
                }
            }
        }
    }

    fn own(&mut self, name: &str, sample: &Sample) {
        let value = sample.value;
        let add = |to: &mut Option<f64>| *to = Some(to.unwrap_or_default() + value);
        match name {
            "build_info" => self.version = sample.label("version").map(str::to_owned),
            "dns_requests_total" | "dns_request_count_total" => add(&mut self.requests),
            "dns_responses_total" | "dns_response_rcode_count_total" => {
                let rcode = sample.label("rcode").unwrap_or("?").to_owned();
                *self.responses.entry(rcode).or_default() += value;
            }
            "cache_hits_total" => add(&mut self.hits),
            "cache_misses_total" => add(&mut self.misses),
            "cache_entries" | "cache_size" => {
                let kind = sample.label("type").unwrap_or("?").to_owned();
                *self.entries.entry(kind).or_default() += value;
            }
            "forward_healthcheck_broken_total" | "forward_healthcheck_broken_count_total" => {
                self.broken += value;
            }
            "forward_max_concurrent_rejects_total"
            | "forward_max_concurrent_reject_count_total"
            | "proxy_max_concurrent_rejects_total" => self.rejects += value,
            "panics_total" | "panic_count_total" => self.panics += value,
            "reload_failed_total" | "reload_failed_count_total" => self.reload_failures += value,
            "nodecache_setup_errors_total" => self.setup_errors += value,
            "plugin_enabled" => {
                let plugins = self.plugins.get_or_insert_default();
                plugins.extend(sample.label("name").map(str::to_owned));
            }
            _ => self.forward(name, sample),
        }
    }

    /// What has the label `to`.
    fn forward(&mut self, name: &str, sample: &Sample) {
        let Some(name) = name.strip_prefix("forward_").or_else(|| {
            // Other plugins have proxies, too.
            let is_forward = sample.label("proxy_name").is_none_or(|it| it == "forward");
            name.strip_prefix("proxy_").filter(|_| is_forward)
        }) else {
            return;
        };
        let Some(to) = sample.label("to") else {
            return;
        };
        let upstream = self.upstreams.entry(to.to_owned()).or_default();
        let value = sample.value;
        match name {
            "requests_total" | "request_count_total" => upstream.requests += value,
            "responses_total" | "response_rcode_count_total" => {
                let rcode = sample.label("rcode").unwrap_or("?").to_owned();
                *upstream.rcodes.entry(rcode).or_default() += value;
            }
            "healthcheck_failures_total" | "healthcheck_failure_count_total" => {
                upstream.health_failures += value;
            }
            "request_duration_seconds_bucket" => {
                let bound = match sample.label("le") {
                    Some("+Inf") => Some(f64::INFINITY),
                    other => other.and_then(|it| it.parse().ok()),
                };
                if let Some(bound) = bound {
                    upstream.add_bucket(bound, value);
                }
            }
            // From 1.11 on there is only this.
            "request_duration_seconds_count" if sample.label("proxy_name").is_some() => {
                upstream.requests += value;
                let rcode = sample.label("rcode").unwrap_or("?").to_owned();
                *upstream.rcodes.entry(rcode).or_default() += value;
            }
            _ => {}
        }
    }

    /// All responses.
    pub fn all_responses(&self) -> f64 {
        self.responses.values().sum()
    }

    /// How many responses have this rcode.
    pub fn with(&self, rcode: &str) -> f64 {
        self.responses.get(rcode).copied().unwrap_or_default()
    }

    /// Whether both are of one process, so that the later one minus the earlier
    /// one is what happened in between.
    pub fn is_same_process(&self, other: &Self) -> bool {
        match (self.started, other.started) {
            (Some(one), Some(other)) => (one - other).abs() < 1.0,
            _ => false,
        }
    }

    /// Whether a page of the same pod can be of the same process: nothing says when either
    /// started, and no query is lost.
    pub fn may_go_on_from(&self, earlier: &Self) -> bool {
        let is_told = self.started.is_some() && earlier.started.is_some();
        !is_told && self.requests >= earlier.requests
    }

    /// What happened since `earlier`, a page of the same process.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let less = |now: f64, then: f64| (now - then).max(0.0);
        let option =
            |now: Option<f64>, then: Option<f64>| now.map(|it| less(it, then.unwrap_or_default()));
        let map = |now: &BTreeMap<String, f64>, then: &BTreeMap<String, f64>| {
            let then = |key| then.get(key).copied().unwrap_or_default();
            now.iter()
                .map(|(key, &value)| (key.clone(), less(value, then(key))))
                .collect()
        };
        let none = Upstream::default();
        let upstreams = self.upstreams.iter().map(|(to, now)| {
            let then = earlier.upstreams.get(to).unwrap_or(&none);
            let at = |bound: f64| {
                let bucket = then.buckets.iter().find(|it| it.0 >= bound);
                bucket.map_or(0.0, |it| it.1)
            };
            let buckets = now.buckets.iter();
            let upstream = Upstream {
                requests: less(now.requests, then.requests),
                rcodes: map(&now.rcodes, &then.rcodes),
                health_failures: less(now.health_failures, then.health_failures),
                buckets: buckets
                    .map(|&(bound, count)| (bound, less(count, at(bound))))
                    .collect(),
            };
            (to.clone(), upstream)
        });
        Self {
            requests: option(self.requests, earlier.requests),
            responses: map(&self.responses, &earlier.responses),
            hits: option(self.hits, earlier.hits),
            misses: option(self.misses, earlier.misses),
            upstreams: upstreams.collect(),
            broken: less(self.broken, earlier.broken),
            rejects: less(self.rejects, earlier.rejects),
            panics: less(self.panics, earlier.panics),
            reload_failures: less(self.reload_failures, earlier.reload_failures),
            setup_errors: less(self.setup_errors, earlier.setup_errors),
            ..self.clone()
        }
    }
}

impl Upstream {
    fn add_bucket(&mut self, bound: f64, count: f64) {
        match self
            .buckets
            .iter_mut()
            .find(|it| it.0.total_cmp(&bound).is_eq())
        {
            Some(bucket) => bucket.1 += count,
            None => self.buckets.push((bound, count)),
        }
    }

    fn settle(&mut self) {
        self.buckets.order_by(|a, b| a.0.total_cmp(&b.0));
        // Before 1.11 requests are counted where they are sent, and those that
        // wait are among them; where they are not counted the buckets tell.
        if self.requests == 0.0
            && let Some(last) = self.buckets.last()
        {
            self.requests = last.1;
        }
    }

    /// The upper bound of the bucket in which that share of all answers is, in
    /// seconds; infinite: beyond the last one.
    pub fn percentile(&self, share: f64) -> Option<f64> {
        let all = self.buckets.last()?.1;
        let rank = all * share;
        let bucket = self.buckets.iter().find(|it| it.1 >= rank);
        bucket.map(|it| it.0).filter(|_| all > 0.0)
    }
}
