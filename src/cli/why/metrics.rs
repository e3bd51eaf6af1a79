//! Metrics: of files, or of a pod that is asked twice.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow, bail};

use super::args::{Format, WhyArgs};
use crate::cli::node::read_log;
use crate::cli::streams::{Status, Streams};
use crate::cli::threshold::Level;
use crate::netns;
use crate::render::why::metrics as text;
use crate::text::escaped;
use crate::why::metrics::{Finding, Page, Report, judge, of_state};
use crate::wire::http;

/// Where the plugin `prometheus` listens in the Corefiles of kubeadm and of
/// NodeLocal DNSCache.
const METRICS: [u16; 2] = [9153, 9253];

/// The plugins `health` and `ready`, by their default ports.
///
/// Source: `CoreDNS`, plugin/health/README.md, plugin/ready/README.md.
const STATES: [(u16, &str); 2] = [(8080, "/health"), (8181, "/ready")];

/// A page of a server that works comes at once.
const LIMIT: Duration = Duration::from_secs(5);

/// A longer interval is a mistake.
const MAX_INTERVAL: Duration = Duration::from_secs(3600);

pub(super) fn run(args: &WhyArgs, streams: &mut Streams<'_>) -> anyhow::Result<Status> {
    if let Some(target) = &args.target {
        return of_target(target, args, streams);
    }
    let (mut pages, mut states) = (Vec::new(), Vec::new());
    for path in &args.metrics {
        let source = read_log(path, streams)?;
        let text = String::from_utf8_lossy(&source.bytes);
        match of_state(&text) {
            Some(state) => states.push(state),
            None => pages.push(Page::parse(&source.name, &text)),
        }
    }
    let mut report = judge(&pages, None);
    // `/health` says OK whatever happens: of OK alone nothing is known.
    report.findings.splice(0..0, states.into_iter().flatten());
    let is_known = !report.is_empty() || !report.findings.is_empty();
    write(&report, is_known, args, streams)
}

/// What metrics in a text say that was given as a log; `None`: it has none.
pub(super) fn of_text(
    text: &str,
    args: &WhyArgs,
    streams: &mut Streams<'_>,
) -> Option<anyhow::Result<Status>> {
    let report = judge(&[Page::parse("<stdin>", text)], None);
    (!report.is_empty()).then(|| write(&report, true, args, streams))
}

/// What was asked in a pod's network: both pages, what is between them, and what
/// its health checks say beside `OK`.
struct Asked {
    server: SocketAddr,
    pages: [String; 2],
    between: Duration,
    states: Vec<(&'static str, Result<http::Page, String>)>,
}

/// Asks a pod twice, from its own network.
fn of_target(target: &str, args: &WhyArgs, streams: &mut Streams<'_>) -> anyhow::Result<Status> {
    if args.interval > MAX_INTERVAL {
        bail!("--interval is at most {} s", MAX_INTERVAL.as_secs());
    }
    let aim = netns::aim(&args.node.root()?, target)?;
    let interval = args.interval;
    let asked = aim.namespace?.within(|| ask(interval))?;
    let asked = asked
        .map_err(|error| anyhow!(error))
        .with_context(|| format!("cannot ask {} for its metrics", escaped(target.as_bytes())))?;
    let name = format!("{} ({})", escaped(target.as_bytes()), asked.server);
    let pages = asked.pages.map(|text| Page::parse(&name, &text));
    let mut report = judge(&pages, Some(asked.between.as_secs_f64()));
    for (path, said) in asked.states {
        match said {
            Ok(page) if page.status == 200 && page.body.starts_with("OK") => {}
            Ok(page) => {
                let said = page.body.chars().take(200).collect::<String>();
                let said = format!("{} {}", page.status, said.trim());
                report.findings.insert(0, Finding::NotOk { path, said });
            }
            // Without the plugin nobody listens there.
            Err(error) => streams.tell(format_args!("{path} is not known: {error}")),
        }
    }
    let is_known = !report.is_empty();
    write(&report, is_known, args, streams)
}

/// Runs in the pod's network.
fn ask(interval: Duration) -> Result<Asked, String> {
    let local = |port| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port);
    let mut failures = Vec::new();
    let mut found = None;
    for server in METRICS.map(local) {
        match http::get(server, "/metrics", LIMIT) {
            Ok(page) if page.status == 200 => {
                found = Some((server, page.body));
                break;
            }
            Ok(page) => failures.push(format!("http://{server}/metrics says {}", page.status)),
            Err(error) => failures.push(error),
        }
    }
    let Some((server, first)) = found else {
        return Err(failures.join("; "));
    };
    let start = Instant::now();
    let states = STATES.map(|(port, path)| (path, http::get(local(port), path, LIMIT)));
    thread::sleep(interval.saturating_sub(start.elapsed()));
    let second = http::get(server, "/metrics", LIMIT)?;
    Ok(Asked {
        server,
        pages: [first, second.body],
        between: start.elapsed(),
        states: states.into(),
    })
}

/// Writes the report, if anything of `CoreDNS` is in it; the status.
fn write(
    report: &Report,
    is_known: bool,
    args: &WhyArgs,
    streams: &mut Streams<'_>,
) -> anyhow::Result<Status> {
    if !is_known {
        anyhow::bail!(
            "there is no metric of CoreDNS in the input: its page is at :9153/metrics, and that of \
             NodeLocal DNSCache at :9253/metrics"
        );
    }
    args.outputs
        .write(false, streams, |format, style, out| match format {
            Format::Text => text::write(report, style, out),
            Format::Json => text::json::write(report, out),
            // `why` has refused it.
            Format::Svg => Ok(()),
        })?;
    let worst = report.findings.iter().map(|it| Level::from(it.severity()));
    Ok(args.threshold.status(worst.max()))
}
