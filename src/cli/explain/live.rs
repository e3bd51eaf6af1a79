//! `kdns explain NAME --live`: the resolvers' machines on the wire.

mod played;

use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context as _;

use self::played::{Seen, watched};
use super::format::Format;
use crate::cli::output::{self, Outputs};
use crate::cli::path;
use crate::cli::streams::{Status, Streams};
use crate::doctor::Route;
use crate::engine::machine::Outcome;
use crate::explain::live::replay::replay;
use crate::explain::live::{Comparison, Cut, Played};
use crate::explain::transition::{Detail, run_when};
use crate::explain::{Context, explain};
use crate::host::interrupt::Interrupt;
use crate::netns::Namespace;
use crate::render::Style;
use crate::render::explanation;
use crate::render::live::{self as text, Lived, Progress};
use crate::render::path::service;
use crate::render::{scenario_json, timeline};
use crate::resolver::Resolver;
use crate::scenario::Scenario;

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
    /// The target that is named.
    pub(super) target: Option<&'l str>,
    /// All lookups together take no longer.
    pub(super) budget: Option<Duration>,
    /// So many lookups of each resolver.
    pub(super) repeat: usize,
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
        let interrupt = Interrupt::catch_ctrl_c().ok();
        let start = Instant::now();
        let mut lived: Vec<Lived> = Vec::new();
        let mut is_interrupted = false;
        'all: for resolver in self.resolvers {
            let first = lived.len();
            for number in 1..=self.repeat {
                let left = self.budget.map(|it| it.saturating_sub(start.elapsed()));
                if is_interrupted || left.is_some_and(|it| it.is_zero()) {
                    break 'all;
                }
                let limit = left.map_or(LIMIT, |it| it.min(LIMIT));
                let descriptor = interrupt.as_ref().map(AsFd::as_fd);
                let shown = begun.then_some(number);
                let one = self.one(resolver, namespace, (limit, descriptor), shown, streams)?;
                is_interrupted = one.played.cut == Some(Cut::Interrupt);
                lived.push(one);
            }
            if begun && self.repeat > 1 {
                let all = lived.get(first..).unwrap_or_default();
                text::repeated(self.scenario, all, self.style, streams.out)?;
                streams.out.flush()?;
            }
        }
        // What was seen is not to end the program a second time.
        let _ = interrupt.as_ref().map(Interrupt::has_come);
        drop(interrupt);
        if begun {
            text::end(
                self.scenario,
                &lived,
                self.resolvers,
                self.style,
                streams.out,
            )?;
            streams.out.flush()?;
        }
        let services = self.services(&lived);
        if begun {
            service::write(&services, self.style.colors, streams.out)?;
        }
        self.write(&lived, &services, streams)?;
        self.save(&lived, streams)?;
        Ok(if is_interrupted {
            Status::Interrupted
        } else {
            status(&lived, self.resolvers.len() * self.repeat)
        })
    }

    /// Where packets to a server that did not respond go, if rules of the node
    /// translate its address or lose packets to it, and a format has room for it.
    fn services(&self, lived: &[Lived]) -> Vec<Result<Route, String>> {
        let mut wanted = self.outputs.wanted.iter();
        let has_room = wanted.any(|it| matches!(it.format, Format::Text | Format::Json));
        if !has_room || !nix::unistd::geteuid().is_root() {
            return Vec::new();
        }
        let mut unreached = lived.iter().filter_map(|it| it.played.unreached());
        let Some(server) = unreached.next() else {
            return Vec::new();
        };
        let mut words = vec![server.address.ip.to_string()];
        words.extend(self.target.map(|it| format!("--target={it}")));
        let route = path::route(words).ok().filter(Route::is_of_service);
        route.map(Ok).into_iter().collect()
    }

    /// One lookup as the first resolver makes it, of which nothing is written.
    pub(super) fn silently(&self, streams: &mut Streams<'_>) -> anyhow::Result<Lived> {
        let namespace = self.namespace.as_ref().filter(|it| !is_own(it));
        if let Some(namespace) = namespace {
            namespace.admit()?;
        }
        let resolver = self
            .resolvers
            .first()
            .context("there is no resolver to look up as")?;
        let limit = self.budget.map_or(LIMIT, |it| it.min(LIMIT));
        self.one(resolver, namespace, (limit, None), None, streams)
    }

    /// One lookup; `shown` is its number, if people watch.
    fn one(
        &self,
        resolver: &'static Resolver,
        namespace: Option<&Namespace>,
        limits: (Duration, Option<BorrowedFd<'_>>),
        shown: Option<usize>,
        streams: &mut Streams<'_>,
    ) -> anyhow::Result<Lived> {
        let (scenario, style) = (self.scenario, self.style);
        let lines = shown.is_some() && self.repeat == 1 && !style.verbose;
        let mut screen = Screen {
            progress: None,
            has_lines: lines,
            has_clock: shown.is_some() && streams.terminal.is_some(),
            failed: None,
        };
        if lines {
            let begun = Progress::begin(&scenario.name, resolver, style, streams.out)?;
            screen.progress = Some(begun);
            streams.out.flush()?;
        } else if screen.has_clock {
            screen.progress = Some(Progress::silent(style));
        }
        let out = &mut *streams.out;
        let played = watched(resolver, scenario, namespace, limits, &mut |seen| {
            screen.see(seen, out);
        })?;
        if let Some(error) = screen.failed {
            return Err(error.into());
        }
        if let Some(mut progress) = screen.progress {
            progress.end(&played, lines, streams.out)?;
        }
        let nothing_exists = run_when(scenario, resolver, &[]);
        let comparison = Comparison::with_plan(&played, &nothing_exists);
        let one = Lived { played, comparison };
        match shown {
            Some(number) if self.repeat > 1 => text::run_line(number, &one, style, streams.out)?,
            Some(_) if lines => text::conclude(scenario, &one, style, streams.out)?,
            Some(_) => text::lookup(scenario, &one, style, streams.out)?,
            None => {}
        }
        streams.out.flush()?;
        Ok(one)
    }

    /// Whether people watch: the lookups are shown one by one.
    fn is_text_shown(&self) -> bool {
        self.outputs.shows(Format::Text)
    }

    /// All formats but the text that was shown.
    fn write(
        &self,
        lived: &[Lived],
        services: &[Result<Route, String>],
        streams: &mut Streams<'_>,
    ) -> anyhow::Result<()> {
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
                        text::end(scenario, lived, self.resolvers, style, out)?;
                        service::write(services, style.colors, out)
                    }
                    Format::Json => {
                        let context = self.context.clone();
                        let explanation = explain(scenario, context, self.resolvers, Detail::Full);
                        explanation::json::write_live(&explanation, lived, services, out)
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
                        timeline::write("explain", &[page], 0, out)
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

/// Where a lookup is shown while it goes on.
struct Screen {
    /// `None`: nobody watches.
    progress: Option<Progress>,
    /// Whether every query gets a line.
    has_lines: bool,
    has_clock: bool,
    /// Why nothing more can be shown.
    failed: Option<io::Error>,
}

impl Screen {
    fn see(&mut self, seen: Seen, out: &mut dyn Write) {
        let Some(progress) = self.progress.as_mut().filter(|_| self.failed.is_none()) else {
            return;
        };
        let written = match seen {
            Seen::Query(id, exchange) => progress.take(id, exchange, self.has_lines, out),
            Seen::Unconnected(it) if self.has_lines => progress.unconnected(&it, out),
            Seen::Nothing(now) if self.has_clock => progress.clock(now, out),
            Seen::Unconnected(_) | Seen::Nothing(_) => Ok(()),
        };
        self.failed = written.err();
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
