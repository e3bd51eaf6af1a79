//! From the first packet to the last: each event goes to the judge, and what is judged is written.

use std::ops::ControlFlow;

use super::input::Event;
use super::output::Output;
use crate::cli::streams::Streams;
use crate::watch::Watch;

/// A watch that goes on.
pub(super) struct Course<'o> {
    pub(super) watch: Watch,
    pub(super) output: Output<'o>,
    /// So many lookups that broke end it.
    until_broken: Option<u64>,
    /// The newest time that was said, in nanoseconds since the epoch.
    pub(super) last: Option<i64>,
    /// What was judged could not be written, which ended it.
    pub(super) failed: Option<anyhow::Error>,
    /// Packets could not be kept; that was said.
    pub(super) is_unkept: bool,
}

impl<'o> Course<'o> {
    pub(super) const fn new(watch: Watch, output: Output<'o>, until_broken: Option<u64>) -> Self {
        Self {
            watch,
            output,
            until_broken,
            last: None,
            failed: None,
            is_unkept: false,
        }
    }

    /// What comes next; it ends where nothing can be written, and where enough broke.
    pub(super) fn take(&mut self, event: Event<'_>, streams: &mut Streams<'_>) -> ControlFlow<()> {
        let mut drops = None;
        match event {
            Event::Seen(seen) => self.watch.push(&seen),
            Event::Tick(now, dropped) => {
                drops = Some(dropped);
                self.last = Some(now);
                self.watch.tick(now);
            }
            Event::Unkept(error) => {
                self.output.clear_status(streams);
                streams.tell(error);
                self.is_unkept = true;
                return ControlFlow::Continue(());
            }
            Event::Asker(asker) => {
                self.watch.asked_by(asker);
                return ControlFlow::Continue(());
            }
        }
        if let Err(error) = self.output.lookups(self.watch.take_judged(), streams) {
            self.failed = Some(error);
            return ControlFlow::Break(());
        }
        let progress = self.watch.progress();
        if let Some(drops) = drops {
            self.output.status(&progress, drops, streams);
        }
        if self.until_broken.is_some_and(|it| progress.broken >= it) {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}
