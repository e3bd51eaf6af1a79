//! Queries of one instant that nothing orders, found by their lanes.

use std::time::Duration;

use crate::simulation::Run;
use crate::simulation::courses::{Courses, Group};

/// Queries this close to each other are sent at the same time.
const INSTANT: Duration = Duration::from_millis(1);

/// Groups of neighbours that were sent at once by lanes that nothing orders.
pub(super) fn ordered_by_chance(run: &Run, courses: &mut Courses) {
    let chance = run.chance.as_deref().filter(|it| it.has_lanes());
    let Some(chance) = chance else { return };
    let mut first = 0;
    while let Some(begin) = run.sent.get(first) {
        let mut lanes = vec![(chance.lane_of(begin.id), vec![first])];
        let mut reason = None;
        let mut next = first + 1;
        while let Some(sent) = run.sent.get(next)
            && sent.at < begin.at + INSTANT
        {
            let lane = chance.lane_of(sent.id);
            let others = || lanes.iter().filter(|(other, _)| *other != lane);
            let whys = || others().map(|(other, _)| chance.unordered(*other, lane));
            if !whys().all(|why| why.is_some()) {
                break;
            }
            reason = reason.or_else(|| whys().next().flatten());
            match lanes.iter_mut().find(|(other, _)| *other == lane) {
                Some((_, numbers)) => numbers.push(next),
                None => lanes.push((lane, vec![next])),
            }
            next += 1;
        }
        if let Some(why) = reason {
            courses.because(why);
            courses.any_order.push(Group {
                lanes: lanes.into_iter().map(|(_, numbers)| numbers).collect(),
            });
        }
        first = next;
    }
}
