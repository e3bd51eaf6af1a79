//! A lookup broken into staves, as music is: each as wide as the paper, time
//! from left to right.

use std::time::Duration;

use super::labels;
use super::paper::width;
use crate::explain::live::{AT_ONCE, Exchange};
use crate::explain::plan::Candidate;
use crate::explain::timeline::{Step, Timeline};
use crate::render::live::time;

/// A line of steps.
#[derive(Debug)]
pub(super) enum Stave<'t> {
    /// Steps, as far as they fit.
    Steps(Vec<Column<'t>>),
    /// So many steps with so many queries are not drawn; then it is this late.
    Folded {
        /// Steps that are left out.
        steps: usize,
        /// Queries that are left out.
        queries: usize,
        /// The time at which the folded steps are over.
        until: Duration,
    },
}

/// A step and its place.
#[derive(Debug)]
pub(super) struct Column<'t> {
    pub(super) step: &'t Step,
    /// From the left end of the stave, in pixels.
    pub(super) x: u32,
    /// In pixels.
    pub(super) width: u32,
}

/// A column is no narrower,
const NARROW: u32 = 100;
/// and no wider.
const WIDE: u32 = 300;
/// To fill the paper, columns grow to this.
const GROWN: u32 = 225;
/// or, where a long wait is drawn, to this.
const LONG: u32 = 400;
/// A lookup of more staves is folded after so many.
const WHOLE: usize = 5;
/// What is drawn of a folded one before the fold; behind it, one stave.
const BEFORE_FOLD: usize = 3;

/// The staves of a lookup, each at most `room` pixels wide.
pub(super) fn staves<'t>(
    timeline: &'t Timeline,
    candidates: &[&Candidate],
    room: u32,
) -> Vec<Stave<'t>> {
    let mut staves: Vec<Vec<Column<'t>>> = Vec::new();
    let mut used = 0;
    for step in &timeline.steps {
        let width = natural(step, candidates).min(room);
        let column = Column { step, x: 0, width };
        match staves.last_mut() {
            Some(stave) if used + width <= room => stave.push(column),
            _ => {
                staves.push(vec![column]);
                used = 0;
            }
        }
        used += width;
    }
    for stave in &mut staves {
        spread(stave, room);
    }
    fold(staves)
}

/// What a step needs: room for its words.
fn natural(step: &Step, candidates: &[&Candidate]) -> u32 {
    let bars = step.exchanges.iter().map(|it| {
        let (_, came) = labels::fate(it, step);
        width(&format!("{} {came}", labels::asked(it))) + 18
    });
    let why = labels::why(step, candidates);
    // It has two lines, which are not of the same length.
    let why = width(&why) / 2 + 30;
    let words = bars.max().unwrap_or_default().max(why);
    words.clamp(NARROW, WIDE)
}

/// Lets the columns fill the stave, those that wait longer more than others,
/// and puts them side by side.
fn spread(stave: &mut [Column<'_>], room: u32) {
    let used: u32 = stave.iter().map(|it| it.width).sum();
    let left = u128::from(room.saturating_sub(used));
    let waits = |it: &Column<'_>| it.step.until.saturating_sub(it.step.at).as_millis();
    let all: u128 = stave.iter().map(waits).sum();
    let count = stave.len() as u128;
    let mut x = 0;
    for column in stave {
        let (share, most) = match waits(column) {
            _ if all < AT_ONCE.as_millis() => (left / count, GROWN),
            wait => (left * wait / all, LONG),
        };
        let most = most.saturating_sub(column.width);
        column.width += u32::try_from(share).unwrap_or(most).min(most);
        column.x = x;
        x += column.width;
    }
}

fn fold(staves: Vec<Vec<Column<'_>>>) -> Vec<Stave<'_>> {
    let count = staves.len();
    if count <= WHOLE {
        return staves.into_iter().map(Stave::Steps).collect();
    }
    let mut shown = Vec::new();
    let (mut steps, mut queries, mut until) = (0, 0, Duration::ZERO);
    for (index, stave) in staves.into_iter().enumerate() {
        if index < BEFORE_FOLD {
            shown.push(Stave::Steps(stave));
        } else if index + 1 < count {
            steps += stave.len();
            queries += stave
                .iter()
                .map(|it| it.step.exchanges.len())
                .sum::<usize>();
            until = stave.last().map_or(until, |it| it.step.until);
        } else {
            shown.push(Stave::Folded {
                steps,
                queries,
                until,
            });
            shown.push(Stave::Steps(stave));
        }
    }
    shown
}

impl Column<'_> {
    /// Whether every query has room for how long it took; if not, the clock
    /// above the steps tells.
    pub(super) fn is_timed(&self) -> bool {
        let fits = |it: &Exchange| {
            let (_, came) = labels::fate(it, self.step);
            let took = labels::took(it, self.step).unwrap_or_default();
            let text = format!("{} {came} {}", labels::asked(it), time(took));
            let after = it.answer.as_ref().map(|it| it.after);
            let (_, room) = self.extent(it.at, after, 0);
            took.is_zero() || width(&text) + 10 <= room
        };
        self.step.exchanges.iter().all(fits)
    }

    /// Where something of this step begins and how long it is, in pixels from
    /// the column's left end: as long as the column unless it was over long
    /// before; no shorter than `least`.
    pub(super) fn extent(&self, at: Duration, took: Option<Duration>, least: u32) -> (u32, u32) {
        let whole = self.step.until.saturating_sub(self.step.at);
        let room = self.width.saturating_sub(8);
        if whole < AT_ONCE {
            return (0, room);
        }
        let pixels = |time: Duration| -> u32 {
            let part = u128::from(room) * time.as_micros() / whole.as_micros().max(1);
            u32::try_from(part).unwrap_or(room).min(room)
        };
        let start = pixels(at.saturating_sub(self.step.at)).min(room.saturating_sub(least));
        let width = took.map_or(room, |took| pixels(took).max(least));
        (start, width.min(room - start))
    }
}
