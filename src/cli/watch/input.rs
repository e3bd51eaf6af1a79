//! Where packets come from, and whose they are.

use std::ops::ControlFlow;

use super::args::InputArgs;
use super::capture::Capture;
use super::keep::Keep;
use super::live::Live;
use super::subject::Subject;
use crate::cli::streams::Streams;
use crate::node::asker::Asker;
use crate::node::kernel::ConntrackCounters;
use crate::packet::{Assembler, Carried, Counters, Frame, SeenMessage};

/// What the judge is given, in order of time.
#[derive(Debug)]
pub(super) enum Event<'a> {
    /// A DNS message, or what was seen in its place.
    Seen(SeenMessage<'a>),
    /// It is this late, in nanoseconds since the epoch, and the kernel had no room for so
    /// many packets: at least four times a second while watching live, never for a capture.
    Tick(i64, u64),
    /// Whose socket sent a query.
    Asker(Asker),
    /// Packets cannot be kept any more; watching goes on.
    Unkept(anyhow::Error),
}

/// How watching ended.
#[derive(Debug, Default)]
pub(super) struct Ended {
    /// What was counted.
    pub(super) counters: Counters,
    /// Packets that the kernel had no room for; `None`: a capture does not say.
    pub(super) drops: Option<u64>,
    /// The connection tracking counters of the target's namespace, before and
    /// after.
    pub(super) own: Option<(ConntrackCounters, ConntrackCounters)>,
    /// The same of the node's namespace, where most translation happens.
    pub(super) node: Option<(ConntrackCounters, ConntrackCounters)>,
    /// What went wrong with a capture, as sentences without a full stop.
    pub(super) notes: Vec<String>,
}

/// Packets to come, opened and entered; nothing was read of them yet.
#[derive(Debug)]
pub(super) struct Input<'s> {
    /// Whose packets they are.
    pub(super) subject: Subject,
    source: Source<'s>,
    feed: Feed,
}

#[derive(Debug)]
enum Source<'s> {
    Capture(Capture<'s>),
    Live(Live),
}

/// What becomes of frames, wherever they come from.
#[derive(Debug)]
pub(super) struct Feed {
    assembler: Assembler,
    keep: Option<Keep>,
    is_over: bool,
}

/// Who is given what was seen, and says whether that is enough.
pub(super) type Take<'t> = &'t mut dyn FnMut(Event<'_>) -> ControlFlow<()>;

impl<'s> Input<'s> {
    /// Opens what the arguments name. Whatever needs a privilege is done here.
    pub(super) fn open(args: &InputArgs, streams: &mut Streams<'s>) -> anyhow::Result<Self> {
        let (subject, source, keep) = if let Some(path) = &args.read {
            let (capture, carried) = Capture::open(path, args, streams)?;
            let subject = Subject::of_capture(path, &carried, args, streams)?;
            let keep = begin(args, &subject, carried)?;
            (subject, Source::Capture(capture), keep)
        } else {
            let (live, subject, keep) = Live::open(args, streams)?;
            (subject, Source::Live(live), keep)
        };
        let feed = Feed {
            assembler: Assembler::new(&args.options()),
            keep,
            is_over: false,
        };
        Ok(Self {
            subject,
            source,
            feed,
        })
    }

    /// Gives everything to `take` until it breaks, the capture ends, the time is
    /// over or Ctrl-C.
    pub(super) fn each(self, take: Take<'_>) -> anyhow::Result<Ended> {
        match self.source {
            Source::Capture(capture) => Ok(capture.each(self.feed, take)),
            Source::Live(live) => live.each(self.feed, take),
        }
    }
}

/// Begins to keep packets, if they are to be kept, with what is known of whoever
/// sent them and what else is `carried`.
pub(super) fn begin(
    args: &InputArgs,
    subject: &Subject,
    carried: Carried,
) -> anyhow::Result<Option<Keep>> {
    let Some((path, rotate)) = args.keep() else {
        return Ok(None);
    };
    Keep::begin(path, rotate, &subject.carried(carried)).map(Some)
}

impl Feed {
    /// Takes a frame; whether there has been enough.
    pub(super) fn frame(&mut self, frame: &Frame<'_>, take: Take<'_>) -> ControlFlow<()> {
        self.keep(|it| it.frame(frame), take);
        let mut flow = ControlFlow::Continue(());
        self.assembler.push(frame, &mut |seen| {
            if flow.is_continue() {
                flow = take(Event::Seen(seen));
            }
        });
        self.is_over |= flow.is_break();
        flow
    }

    /// Says whose socket sent a query.
    pub(super) fn asker(&mut self, asker: Asker, take: Take<'_>) {
        self.keep(|it| it.asker(&asker), take);
        let _ = take(Event::Asker(asker));
    }

    /// Says how late it is; whether there has been enough.
    pub(super) fn tick(&mut self, now: i64, drops: u64, take: Take<'_>) -> ControlFlow<()> {
        self.keep(Keep::flush, take);
        let flow = take(Event::Tick(now, drops));
        self.is_over |= flow.is_break();
        flow
    }

    /// Ends: gives what is left, and keeps what is known `after`.
    pub(super) fn end(mut self, drops: Option<u64>, after: &Carried, take: Take<'_>) -> Counters {
        let mut is_over = self.is_over;
        self.assembler.end(&mut |seen| {
            is_over = is_over || take(Event::Seen(seen)).is_break();
        });
        if let Some(Err(error)) = self.keep.map(|it| it.end(drops, after)) {
            let _ = take(Event::Unkept(error));
        }
        *self.assembler.counters()
    }

    /// Lets go of the file where it cannot be written.
    fn keep(&mut self, work: impl FnOnce(&mut Keep) -> anyhow::Result<()>, take: Take<'_>) {
        if let Some(Err(error)) = self.keep.as_mut().map(work) {
            self.keep = None;
            let _ = take(Event::Unkept(error));
        }
    }
}
