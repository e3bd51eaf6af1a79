//! What metrics say, as JSON.

use std::collections::BTreeMap;
use std::io::{self, Write};

use schemars::JsonSchema;
use serde::Serialize;

use super::words;
use crate::render::json;
use crate::why::metrics::{Finding, Judged, Report, Upstream};

/// What metrics of DNS servers say.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(title = "kdns why --metrics FILE --format json")]
pub(in crate::render) struct MetricsDocument<'r> {
    /// Each process, or what happened between two pages of one.
    servers: Vec<ServerForm<'r>>,
    /// What was found, the worst first.
    findings: Vec<FindingForm>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ServerForm<'r> {
    /// The file, or the pod.
    name: &'r str,
    version: Option<&'r str>,
    /// How long the counters are of; null: since the process started.
    seconds: Option<f64>,
    requests: Option<f64>,
    requests_per_second: Option<f64>,
    rcodes: &'r BTreeMap<String, f64>,
    cache_hits: Option<f64>,
    cache_misses: Option<f64>,
    /// By type.
    cache_entries: &'r BTreeMap<String, f64>,
    upstreams: BTreeMap<&'r str, UpstreamForm<'r>>,
    memory_bytes: Option<f64>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct UpstreamForm<'r> {
    requests: f64,
    rcodes: &'r BTreeMap<String, f64>,
    health_check_failures: f64,
    /// Upper bound in seconds; null: beyond the last bucket, or none is counted.
    p99: Option<f64>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct FindingForm {
    /// Which fact it is; it stays when the words change.
    code: &'static str,
    #[schemars(extend("enum" = ["info", "warning", "error"]))]
    level: &'static str,
    text: String,
    /// What to do.
    fix: String,
}

/// Writes the document.
///
/// # Errors
///
/// Any error of `out`.
pub fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let document = MetricsDocument {
        servers: report.judged.iter().map(server).collect(),
        findings: report.findings.iter().map(finding).collect(),
    };
    json::document(&document, out)
}

fn server(judged: &Judged) -> ServerForm<'_> {
    let page = &judged.page;
    let per_second = |seconds: f64| page.requests.map(|it| it / seconds);
    let upstreams = page.upstreams.iter();
    ServerForm {
        name: &page.name,
        version: page.version.as_deref(),
        seconds: judged.seconds,
        requests: page.requests,
        requests_per_second: judged.seconds.filter(|&it| it > 0.0).and_then(per_second),
        rcodes: &page.responses,
        cache_hits: page.hits,
        cache_misses: page.misses,
        cache_entries: &page.entries,
        upstreams: upstreams
            .map(|(to, it)| (to.as_str(), upstream(it)))
            .collect(),
        memory_bytes: page.memory,
    }
}

fn upstream(upstream: &Upstream) -> UpstreamForm<'_> {
    UpstreamForm {
        requests: upstream.requests,
        rcodes: &upstream.rcodes,
        health_check_failures: upstream.health_failures,
        p99: upstream.percentile(0.99).filter(|it| it.is_finite()),
    }
}

fn finding(finding: &Finding) -> FindingForm {
    let said = words::said(finding);
    FindingForm {
        code: said.fact.code,
        level: finding.severity().word(),
        text: said.fact.text,
        fix: said.fix,
    }
}
