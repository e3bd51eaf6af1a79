//! Logs: reads them all, on all cores, and says what they show.

use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::Builder;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, bail};

use super::args::{Format, WhyArgs};
use crate::cli::node::{NodeArgs, read_long};
use crate::cli::streams::{Status, Streams};
use crate::cli::threshold::Level;
use crate::config::corefile;
use crate::host::capture::decompressed;
use crate::host::node::{Parts, StandIns, read_node};
use crate::host::{self, io_reason};
use crate::order::Order as _;
use crate::render::why::{self, log as text};
use crate::text::{escaped, is_binary};
use crate::why::log::{Pods, Reading, Settings, Tally, parse_time};
use crate::why::{Catalogue, recognise};

/// So much of a log is read at a time.
const CHUNK: usize = 1 << 18;

/// Pods of a large cluster as JSON are so long.
const MAX_PODS: usize = 512 << 20;

/// What has a longer line is no log, but a file without an end, or one that unfolds
/// to it.
const MAX_LINE: usize = 1 << 30;

pub(super) fn run(
    files: &[PathBuf],
    args: &WhyArgs,
    streams: &mut Streams<'_>,
) -> anyhow::Result<Status> {
    let settings = settings(args, streams)?;
    let pods = pods(args, streams)?;
    let (tally, failures) = read_all(files, &settings, streams);
    for failure in &failures {
        streams.tell(failure);
    }
    if failures.len() == files.len() {
        return Ok(args.threshold.undecided());
    }
    if failures.is_empty()
        && let Some(done) = pasted(&tally, args, streams)
    {
        return done;
    }
    let catalogue = Catalogue::built_in();
    let said = tally.pasted().and_then(|it| {
        let said = recognise(catalogue, it, None).ok();
        said.filter(|it| !it.causes.is_empty())
    });
    let summary = tally.finish(&settings, &pods);
    let worst = said.or_else(|| summary.worst(catalogue));
    args.outputs
        .write(args.verbose, streams, |format, style, out| match format {
            Format::Text => {
                text::write(&summary, style, out)?;
                (worst.as_ref()).map_or(Ok(()), |it| why::write_causes(it, style, out))
            }
            Format::Json => text::json::write(&summary, worst.as_ref(), out),
            Format::Svg => text::chart::write_svg(&summary.minutes, out),
        })?;
    if summary.lines == 0 {
        streams.tell("the log is empty");
        return Ok(args.threshold.undecided());
    }
    let worst = summary.advice.iter().map(|it| Level::from(it.severity()));
    let status = args.threshold.status(worst.max());
    Ok(if failures.is_empty() || status == Status::Found {
        status
    } else {
        args.threshold.undecided()
    })
}

/// Says what a text says that is no log, but a message, a file or metrics; `None`: a DNS
/// server logged it, and it says no more than a log would. Machines, and who says that it is a log, get a log's
/// document for whatever is in it.
fn pasted(
    tally: &Tally,
    args: &WhyArgs,
    streams: &mut Streams<'_>,
) -> Option<anyhow::Result<Status>> {
    let mut formats = args.outputs.wanted.iter().map(|it| it.format);
    let text = tally.pasted()?;
    if !args.log.is_empty() || formats.any(|it| it != Format::Text) {
        return None;
    }
    super::metrics::of_text(text, args, streams).or_else(|| {
        let is_message = tally.own_lines() == 0 || super::message::says_more(text);
        is_message.then(|| super::message::run(text, args, streams))
    })
}

/// How the logs are to be read.
fn settings(args: &WhyArgs, streams: &mut Streams<'_>) -> anyhow::Result<Settings> {
    let mut settings = Settings {
        since: args.since.as_deref().map(time).transpose()?,
        until: args.until.as_deref().map(time).transpose()?,
        ..Settings::default()
    };
    if let Some(source) = args.node.stand_ins(streams)?.corefile {
        let source = corefile::in_manifest(&source).unwrap_or(source);
        settings.take_corefile(&corefile::parse(source, &[]));
    }
    Ok(settings)
}

/// A time, or how long ago it was, in nanoseconds since 1970.
fn time(word: &str) -> anyhow::Result<i64> {
    if let Some(time) = parse_time(word) {
        return Ok(time);
    }
    let number = word.strip_suffix(" ago").unwrap_or(word);
    let unit = number.chars().next_back().unwrap_or_default();
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        'd' => 86400,
        _ => 0,
    };
    let amount = number
        .strip_suffix(unit)
        .and_then(|it| it.parse::<i64>().ok());
    let Some(amount) = amount.filter(|&it| seconds > 0 && it >= 0) else {
        bail!(
            "{} is no time: 2026-11-23T08:00:00Z and 15m are",
            escaped(word.as_bytes())
        );
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?;
    let ago = amount.saturating_mul(seconds).saturating_mul(1_000_000_000);
    Ok(i64::try_from(now.as_nanos())?.saturating_sub(ago))
}

/// Which pods have which addresses, from the file or from the node below --root.
fn pods(args: &WhyArgs, streams: &mut Streams<'_>) -> anyhow::Result<Pods> {
    let mut pods = Pods::default();
    if let Some(path) = &args.pods {
        let source = read_long(path, MAX_PODS, streams)?;
        let text = String::from_utf8_lossy(&source.bytes);
        pods = Pods::parse(&text).with_context(|| {
            format!(
                "cannot read {}: it is not what kubectl get pods -A -o wide, or -o json, writes",
                source.name
            )
        })?;
    }
    if args.node.is_named() {
        of_node(&args.node, &mut pods)?;
    }
    Ok(pods)
}

fn of_node(args: &NodeArgs, pods: &mut Pods) -> anyhow::Result<()> {
    let node = read_node(&args.root()?, &StandIns::default(), Parts::PODS)?;
    for pod in &node.pods {
        for address in &pod.addresses {
            pods.add(&address.to_string(), pod.label());
        }
    }
    Ok(())
}

/// Reads all logs, several at a time; what was counted, and what could not be
/// read.
fn read_all(
    files: &[PathBuf],
    settings: &Settings,
    streams: &mut Streams<'_>,
) -> (Tally, Vec<String>) {
    let is_input = |path: &Path| path.as_os_str() == "-";
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        while let Some((index, path)) = take(&next, files) {
            if !is_input(path) {
                done.push((index, read_log(path, settings)));
            }
        }
        done
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut done = std::thread::scope(|scope| {
        // Where the system gives no more threads, those that are there do it.
        let more = 1..threads.min(files.len());
        let more = more.map_while(|_| Builder::new().spawn_scoped(scope, work).ok());
        let more: Vec<_> = more.collect();
        let mut done = Vec::new();
        for (index, _) in files.iter().enumerate().filter(|it| is_input(it.1)) {
            done.push((index, read_input(settings, streams)));
        }
        done.extend(work());
        for thread in more {
            match thread.join() {
                Ok(others) => done.extend(others),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        done
    });
    done.order_by_key(|(index, _)| *index);
    let mut all = Tally::default();
    let mut failures = Vec::new();
    for (_, read) in done {
        match read {
            Ok(tally) => all.merge(tally),
            Err(failure) => failures.push(failure),
        }
    }
    (all, failures)
}

/// The next file that nobody has taken.
fn take<'f>(next: &AtomicUsize, files: &'f [PathBuf]) -> Option<(usize, &'f Path)> {
    let index = next.fetch_add(1, Ordering::Relaxed);
    files.get(index).map(|it| (index, it.as_path()))
}

fn read_input(settings: &Settings, streams: &mut Streams<'_>) -> Result<Tally, String> {
    let input = streams.take_input().map_err(|error| error.to_string())?;
    count("<stdin>", input, settings)
}

fn read_log(path: &Path, settings: &Settings) -> Result<Tally, String> {
    let file = host::open_named(path).map_err(|error| error.to_string())?;
    count(&host::shown(path), file, settings)
}

/// Counts what a log has.
fn count(name: &str, stream: impl Read, settings: &Settings) -> Result<Tally, String> {
    let failed = |error: std::io::Error| format!("cannot read {name}: {}", io_reason(&error));
    let mut stream = decompressed(stream).map_err(failed)?;
    let mut reading = Reading::new(name.to_owned(), settings);
    let mut bytes = vec![0; CHUNK];
    let (mut line, mut is_first) = (0, true);
    loop {
        match stream.read(&mut bytes) {
            Ok(0) => return Ok(reading.end()),
            Ok(length) => {
                let read = bytes.get(..length).unwrap_or_default();
                if is_first && is_binary(read) {
                    return Err(format!("{name} is no log: it is a binary file"));
                }
                is_first = false;
                line = memchr::memrchr(b'\n', read).map_or(line + length, |it| length - it);
                if line > MAX_LINE {
                    let gibibytes = MAX_LINE >> 30;
                    return Err(format!(
                        "{name} is no log: it has a line of {gibibytes} GiB"
                    ));
                }
                reading.push(read);
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(failed(error)),
        }
    }
}
