//! `kdns explain NAME --live`: the resolvers' machines on the wire.

use std::collections::BTreeMap;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::path::Path;
use std::time::{Duration, Instant};

use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};

use super::format::Format;
use crate::cli::output::{self, Outputs};
use crate::cli::streams::{Status, Streams};
use crate::dig::lookup::Lookup;
use crate::dig::message::{Message, Opt};
use crate::dig::translation;
use crate::engine::io::Came;
use crate::engine::machine::Outcome;
use crate::engine::message::QueryId;
use crate::explain::live::replay::replay;
use crate::explain::live::{
    Answer, Comparison, Cut, Exchange, MAX_STRAYS, Played, Unconnected, Unsent,
};
use crate::explain::transition::{Detail, run_when};
use crate::explain::{Context, explain};
use crate::netns::Namespace;
use crate::render::explanation::{self, Style};
use crate::render::live::{self as text, Lived};
use crate::render::{scenario_json, timeline};
use crate::resolver::Resolver;
use crate::scenario::Scenario;
use crate::wire::live::{self as wire, Event, Limits, Means};
use crate::wire::{client_cookie, socket_address};

/// Resolvers give up sooner: the slowest, systemd-resolved, after two minutes.
const LIMIT: Duration = Duration::from_secs(300);

/// What is looked up, where from, and who wants to know.
#[derive(Debug)]
pub(super) struct Live<'l> {
    pub(super) scenario: &'l Scenario,
    pub(super) context: Context,
    /// Where sockets are opened; `None`: here.
    pub(super) namespace: Option<Namespace>,
    pub(super) resolvers: &'l [&'static Resolver],
    /// All lookups together take no longer.
    pub(super) budget: Option<Duration>,
    pub(super) style: Style,
    pub(super) outputs: &'l Outputs<Format>,
    pub(super) save: Option<&'l Path>,
}

impl Live<'_> {
    /// Looks up as each resolver, and writes what came of it: text as soon as
    /// a lookup is over, all else at the end.
    pub(super) fn run(&self, streams: &mut Streams<'_>) -> anyhow::Result<Status> {
        let namespace = self.namespace.as_ref().filter(|it| !is_own(it));
        if let Some(namespace) = namespace {
            namespace.admit()?;
        }
        let begun = self.is_text_shown();
        if begun {
            text::begin(&self.context, self.style, streams.out)?;
            streams.out.flush()?;
        }
        let interrupt = Interrupt::new();
        let start = Instant::now();
        let mut lived: Vec<Lived> = Vec::new();
        let mut is_interrupted = false;
        for resolver in self.resolvers {
            let left = self.budget.map(|it| it.saturating_sub(start.elapsed()));
            if is_interrupted || left.is_some_and(|it| it.is_zero()) {
                break;
            }
            let limit = left.map_or(LIMIT, |it| it.min(LIMIT));
            let descriptor = interrupt.as_ref().map(|it| it.signals.as_fd());
            // A scenario is not to be shared with another thread.
            let scenario = self.scenario.clone();
            let play = move || play(resolver, &scenario, limit, descriptor);
            let played = match namespace {
                Some(namespace) => namespace.within(play)?,
                None => play(),
            };
            is_interrupted = played.cut == Some(Cut::Interrupt);
            let nothing_exists = run_when(self.scenario, resolver, &[]);
            let comparison = Comparison::with_plan(&played, &nothing_exists);
            let one = Lived { played, comparison };
            if begun {
                text::lookup(self.scenario, &one, self.style, streams.out)?;
                streams.out.flush()?;
            }
            lived.push(one);
        }
        drop(interrupt);
        if begun {
            text::end(
                self.scenario,
                &lived,
                self.resolvers,
                self.style,
                streams.out,
            )?;
        }
        self.write(&lived, streams)?;
        self.save(&lived, streams)?;
        Ok(if is_interrupted {
            Status::Interrupted
        } else {
            status(&lived, self.resolvers.len())
        })
    }

    /// Whether people watch: the lookups are shown one by one.
    fn is_text_shown(&self) -> bool {
        let mut wanted = self.outputs.wanted.iter();
        wanted.any(|it| it.file.is_none() && it.format == Format::Text)
    }

    /// All formats but the text that was shown.
    fn write(&self, lived: &[Lived], streams: &mut Streams<'_>) -> anyhow::Result<()> {
        let scenario = self.scenario;
        for wanted in &self.outputs.wanted {
            if wanted.file.is_none() && wanted.format == Format::Text {
                continue;
            }
            let style = Style {
                colors: wanted.takes_colors(streams.colors),
                ..self.style
            };
            let file = wanted.file.as_deref();
            output::write(file, self.outputs.others, streams.out, |out| {
                match wanted.format {
                    Format::Text => {
                        text::begin(&self.context, style, out)?;
                        for one in lived {
                            text::lookup(scenario, one, style, out)?;
                        }
                        text::end(scenario, lived, self.resolvers, style, out)
                    }
                    Format::Json => {
                        let context = self.context.clone();
                        let explanation = explain(scenario, context, self.resolvers, Detail::Full);
                        explanation::json::write_live(&explanation, lived, out)
                    }
                    Format::Jsonl => {
                        let mut lines = Vec::new();
                        for one in lived {
                            text::json::line(&scenario.id, one, &mut lines)?;
                        }
                        out.write_all(&lines)
                    }
                    Format::Svg => {
                        let page = timeline::lived(scenario, &self.context, lived);
                        timeline::write(&[page], 0, out)
                    }
                }
            })?;
        }
        Ok(())
    }

    /// Writes the scenario that replays the lookups, and says where it does not.
    fn save(&self, lived: &[Lived], streams: &mut Streams<'_>) -> anyhow::Result<()> {
        let Some(path) = self.save else {
            return Ok(());
        };
        let played: Vec<Played> = lived.iter().map(|it| it.played.clone()).collect();
        let replay = replay(self.scenario, &played);
        output::write(Some(path), self.outputs.others, streams.out, |out| {
            let mut scenarios = replay.scenarios.iter();
            scenarios.try_for_each(|it| scenario_json::write(it, out))
        })?;
        if replay.scenarios.len() > 1 {
            streams.tell(
                "the servers did not say the same to every resolver: the file has one scenario \
                 for each, named after it",
            );
        }
        for resolver in &replay.unlike {
            streams.tell(format_args!(
                "the saved scenario does not replay the lookup of {} exactly: rules cannot say \
                 all that happened",
                resolver.id
            ));
        }
        Ok(())
    }
}

/// Whether this thread is in the namespace already: that needs no privilege.
fn is_own(namespace: &Namespace) -> bool {
    let own = Namespace::of_path(Path::new("/proc/thread-self/ns/net"));
    own.is_ok_and(|it| it.number() == namespace.number())
}

/// Found by all: clean. A name that was not found: a finding. What the
/// resolver was not let decide: undecided.
fn status(lived: &[Lived], wanted: usize) -> Status {
    let one = |it: &Lived| match (&it.played.outcome, it.played.cut) {
        (_, Some(_)) => Status::Undecided,
        _ if it.played.no_socket().is_some() => Status::Undecided,
        (Outcome::Found(_), None) => Status::Clean,
        (_, None) => Status::Found,
    };
    let all = lived.iter().map(one).max().unwrap_or(Status::Undecided);
    if lived.len() < wanted {
        return Status::Undecided;
    }
    all
}

/// Ctrl-C as something to read, as long as this lives.
#[derive(Debug)]
struct Interrupt {
    signals: SignalFd,
    mask: SigSet,
}

impl Interrupt {
    /// `None`: Ctrl-C ends the program as ever.
    fn new() -> Option<Self> {
        let mut mask = SigSet::empty();
        mask.add(Signal::SIGINT);
        let flags = SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC;
        let signals = SignalFd::with_flags(&mask, flags).ok()?;
        mask.thread_block().ok()?;
        Some(Self { signals, mask })
    }
}

impl Drop for Interrupt {
    fn drop(&mut self) {
        // What was seen is not to end the program a second time.
        let _ = self.signals.read_signal();
        let _ = self.mask.thread_unblock();
    }
}

/// Plays the resolver's machine from this thread's network namespace.
fn play(
    resolver: &'static Resolver,
    scenario: &Scenario,
    limit: Duration,
    interrupt: Option<BorrowedFd<'_>>,
) -> Played {
    let cookie = client_cookie();
    let plain = Lookup::default();
    let means = Means {
        destination: &|server| socket_address(&server.address, server.port),
        message: &|query, id| translation::message(query, &plain, id, &cookie),
        ..Means::default()
    };
    let limits = Limits {
        time: limit,
        interrupt,
    };
    let mut record = Record::default();
    let finished = wire::run(resolver.machine(scenario), &means, limits, &mut |event| {
        record.take(event);
    });
    Played {
        resolver,
        exchanges: record.exchanges.into_values().collect(),
        unconnected: record.unconnected,
        strays: record.strays,
        more_strays: record.more_strays,
        outcome: finished.outcome,
        elapsed: finished.elapsed,
        notes: finished.notes,
        cut: finished.cut.map(|it| match it {
            wire::Cut::Time => Cut::Time(limit),
            wire::Cut::Queries => Cut::Queries,
            wire::Cut::Stuck => Cut::Hangs,
            wire::Cut::Interrupt => Cut::Interrupt,
        }),
    }
}

/// What was seen of a lookup.
#[derive(Default)]
struct Record {
    exchanges: BTreeMap<QueryId, Exchange>,
    unconnected: Vec<Unconnected>,
    strays: Vec<String>,
    more_strays: usize,
}

impl Record {
    fn take(&mut self, event: Event) {
        match event {
            Event::Sent { at, id, query, .. } => {
                let exchange = Exchange {
                    query,
                    at,
                    answer: None,
                    unsent: None,
                };
                self.exchanges.insert(id, exchange);
            }
            Event::NotSent { id, why, no_socket } => {
                if let Some(exchange) = self.exchanges.get_mut(&id) {
                    exchange.unsent = Some(Unsent { why, no_socket });
                }
            }
            Event::Came {
                id,
                elapsed,
                what,
                why,
                message,
                ..
            } => {
                if let Some(exchange) = self.exchanges.get_mut(&id) {
                    exchange.answer = Some(answer(elapsed, what, why, message.as_deref()));
                }
            }
            Event::NotConnected {
                at,
                server,
                transport,
                why,
                no_socket,
                is_refused,
            } => self.unconnected.push(Unconnected {
                server,
                transport,
                at,
                is_refused,
                unsent: Unsent { why, no_socket },
            }),
            Event::Stray { from, why, .. } if self.strays.len() < MAX_STRAYS => {
                self.strays
                    .push(format!("a message from {from} was ignored: {why}"));
            }
            Event::Stray { .. } => self.more_strays += 1,
        }
    }
}

fn answer(after: Duration, what: Came, why: Option<String>, message: Option<&Message>) -> Answer {
    const EXTENDED_ERROR: u16 = 15;
    let options = message.iter().filter_map(|it| it.opt.as_ref());
    let errors = options.flat_map(Opt::options).filter_map(|(code, data)| {
        let (number, text) = data.split_first_chunk::<2>()?;
        (code == EXTENDED_ERROR).then(|| (u16::from_be_bytes(*number), text.to_vec()))
    });
    Answer {
        after,
        what,
        why,
        rcode: message.map_or(0, |it| it.rcode),
        extended_errors: errors.collect(),
    }
}
