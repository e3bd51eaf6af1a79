//! Every course that a lookup can take: what may differ from one run of it.
//!
//! Queries of one instant that nothing orders are found by their lanes. A lot is
//! tried by playing the lookup once more with another side up: where both runs
//! come together again, only the queries in between differ.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use crate::engine::chance::{Chance, Lot};
use crate::engine::machine::Outcome;
use crate::engine::message::QueryId;
use crate::simulation::{Run, Sent};

/// Queries this close to each other are sent at the same time.
const INSTANT: Duration = Duration::from_millis(1);

/// What may differ is played as long as all runs together have fewer queries.
const MAX_PLAYED: usize = 20_000;
/// And as long as they read fewer bytes.
const MAX_READ: usize = 4 << 20;
/// And as long as they are fewer.
const MAX_RUNS: usize = 2_000;
/// So many queries are looked at in runs that were played before.
const MAX_COMPARED: usize = 500_000;
/// Where each lot decides only on the queries up to the next one, it changes so many at most.
const MAX_STRETCH: usize = 4;

/// What may differ from a run.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Courses {
    /// Queries that are sent in any order.
    pub any_order: Vec<Group>,
    /// What other lots lead to. Of those that overlap at most one is so.
    pub one_of: Vec<Other>,
    /// Whether the search ended before all was tried, so that more may differ.
    pub is_open: bool,
    /// Whether the same queries can come from other sockets.
    pub sockets_differ: bool,
    /// Why, each once: sentences.
    pub why: Vec<&'static str>,
}

/// Queries that are sent in any order but that of each lane.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Group {
    /// The numbers of queries, from 0, of each lane.
    pub lanes: Vec<Vec<usize>>,
}

/// Other queries in place of some.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Other {
    /// The first query that differs.
    pub from: usize,
    /// The first one that is the same again.
    pub to: usize,
    /// What is sent instead.
    pub sent: Vec<Sent>,
    /// What may differ in it.
    pub courses: Courses,
    /// How the lookup then ends, if otherwise.
    pub outcome: Option<Outcome>,
}

/// What may differ from `run`; `play` plays the lookup with lots that fall so, and reads
/// so many bytes of files each time.
pub fn explore(run: &Run, bytes: usize, play: impl FnMut(Vec<usize>) -> Run) -> Courses {
    let is_certain = |it: &Chance| *it == Chance::default();
    if run.chance.as_deref().is_none_or(is_certain) {
        return Courses::default();
    }
    let mut search = Search {
        play,
        bytes,
        known: BTreeMap::new(),
        queries: run.sent.len(),
        runs: 0,
        compared: 0,
    };
    search.courses(run, 0, usize::MAX)
}

struct Search<P> {
    play: P,
    /// Read by each run.
    bytes: usize,
    /// Played so far, by their lots.
    known: BTreeMap<Vec<usize>, Rc<Run>>,
    queries: usize,
    runs: usize,
    /// Queries of runs that were looked at once more.
    compared: usize,
}

impl<P: FnMut(Vec<usize>) -> Run> Search<P> {
    /// The run with these lots; it is played once.
    fn played(&mut self, mut lots: Vec<usize>) -> Rc<Run> {
        // All further ones fall on the first.
        let last = lots.iter().rposition(|it| *it != 0);
        lots.truncate(last.map_or(0, |last| last + 1));
        if let Some(run) = self.known.get(&lots) {
            self.compared += run.sent.len();
            return Rc::clone(run);
        }
        let run = Rc::new((self.play)(lots.clone()));
        self.queries += run.sent.len();
        self.runs += 1;
        self.known.insert(lots, Rc::clone(&run));
        run
    }

    const fn is_spent(&self) -> bool {
        self.queries >= MAX_PLAYED
            || self.runs >= MAX_RUNS
            || self.compared >= MAX_COMPARED
            || self.runs.saturating_mul(self.bytes) >= MAX_READ
    }

    /// What may differ from `run` by order, and by its lots from number `first`
    /// on that are drawn before so many queries.
    fn courses(&mut self, run: &Run, first: usize, before: usize) -> Courses {
        let mut courses = Courses::default();
        ordered_by_chance(run, &mut courses);
        let lots = lots(run);
        if first == 0 && lots.len() > 2 && self.all_turned(run, &mut courses).is_some() {
            return courses;
        }
        let drawn = lots.iter().enumerate().skip(first);
        for (index, lot) in drawn.filter(|(_, lot)| lot.after < before) {
            for picked in (0..lot.among).filter(|it| *it != lot.picked) {
                if self.is_spent() {
                    courses.is_open = true;
                    courses.because(lot.why);
                    return courses;
                }
                let before = lots.iter().take(index).map(|lot| lot.picked);
                let other = self.played(before.chain([picked]).collect());
                if let Some(other) = self.other(run, &other, index + 1, &mut courses) {
                    courses.because(lot.why);
                    courses.add(other, run);
                }
            }
        }
        courses
    }

    /// With every lot turned at once: if the queries between one lot and the
    /// next are as many as before, each lot decides on those that follow it.
    /// `None`: it is not so simple, as mostly the first lot shows already.
    fn all_turned(&mut self, run: &Run, courses: &mut Courses) -> Option<()> {
        let lots = lots(run);
        if lots.iter().any(|lot| lot.among != 2 || lot.picked != 0) {
            return None;
        }
        let mut play = |turned: &dyn Fn(usize) -> usize| {
            let other = self.played((0..lots.len()).map(turned).collect());
            let same = other.outcome == run.outcome && other.sent.len() == run.sent.len();
            (same && places(&other) == places(run)).then_some(other)
        };
        play(&|index| usize::from(index == 0))?;
        let turned = play(&|_| 1)?;
        // That each decides on nothing else shows where every second one is turned.
        let second = play(&|index| index % 2)?;
        let mut orders = Courses::default();
        ordered_by_chance(&turned, &mut orders);
        let mut found = Vec::new();
        for (index, lot) in lots.iter().enumerate() {
            let until = lots
                .get(index + 1)
                .map_or(run.sent.len(), |next| next.after);
            let of = |run: &Run| run.sent.get(lot.after..until).map(<[Sent]>::to_vec);
            let (usual, turned, second) = (of(run)?, of(&turned)?, of(&second)?);
            let expected = if index % 2 == 0 { &usual } else { &turned };
            if !expected.iter().zip(&second).all(|pair| alike(&pair)) {
                return None;
            }
            if let Some(mut other) = stretch(lot.after, &usual, &turned) {
                let end = other.from + other.sent.len();
                other.courses = orders.clone().between(other.from, end);
                found.push((lot.why, other));
            }
        }
        if found.iter().any(|(_, it)| it.sent.len() > MAX_STRETCH) {
            return None;
        }
        courses.compare_sockets(run, &turned);
        for (why, other) in found {
            courses.because(why);
            courses.add(other, run);
        }
        Some(())
    }

    /// Where `other` differs from `run`, and what may differ there once more.
    fn other(
        &mut self,
        run: &Run,
        other: &Run,
        first: usize,
        courses: &mut Courses,
    ) -> Option<Other> {
        let from = run.sent.iter().zip(&other.sent).take_while(alike).count();
        let ends_alike = run.outcome == other.outcome;
        if ends_alike && from == run.sent.len() && from == other.sent.len() {
            courses.compare_sockets(run, other);
            return None;
        }
        let behind = |it: &Run| it.sent.len() - from;
        let tail = run.sent.iter().rev().zip(other.sent.iter().rev());
        let most = behind(run).min(behind(other));
        let mut same = if ends_alike {
            tail.take(most).take_while(alike).count()
        } else {
            0
        };
        let mut ordered = Courses::default();
        ordered_by_chance(other, &mut ordered);
        let ordered = ordered.any_order;
        let (to, end, within) = loop {
            let (to, end) = (run.sent.len() - same, other.sent.len() - same);
            let before = if same > 0 { end } else { usize::MAX };
            let within = self.courses(other, first, before);
            // Where one of these goes on for longer, both come together by chance only.
            let further = within.one_of.iter().map(|it| it.to);
            let orders = within.any_order.iter().filter(|it| !ordered.contains(it));
            let further = further.chain(orders.flat_map(Group::numbers).map(|last| last + 1));
            match further.max() {
                Some(further) if further > end => same = other.sent.len() - further,
                _ => break (to, end, within),
            }
        };
        for why in &within.why {
            courses.because(why);
        }
        Some(Other {
            from,
            to,
            sent: other.sent.get(from..end).unwrap_or_default().to_vec(),
            courses: within.between(from, end),
            outcome: (!ends_alike).then(|| other.outcome.clone()),
        })
    }
}

impl Courses {
    fn because(&mut self, why: &'static str) {
        if !self.why.contains(&why) {
            self.why.push(why);
        }
    }

    fn compare_sockets(&mut self, run: &Run, other: &Run) {
        let mut pairs = run.sent.iter().zip(&other.sent);
        self.sockets_differ |= pairs.any(|(one, two)| one.query.socket != two.query.socket);
    }

    /// Adds what differs from `run`, as an order where it is no more than that.
    fn add(&mut self, other: Other, run: &Run) {
        let usual = run.sent.get(other.from..other.to).unwrap_or_default();
        let is_known = |it: &usize| self.any_order.iter().any(|group| group.has(*it));
        if let ([one, two], [first, second]) = (usual, other.sent.as_slice())
            && is_same(one, second)
            && is_same(two, first)
            && other.outcome.is_none()
            && other.courses == Self::default()
            && !(other.from..other.to).any(|it| is_known(&it))
        {
            self.any_order.push(Group {
                lanes: vec![vec![other.from], vec![other.from + 1]],
            });
        } else if !self.one_of.contains(&other) {
            self.one_of.push(other);
        }
    }

    /// What lies between two numbers, counted from the first of them.
    fn between(self, from: usize, to: usize) -> Self {
        let shifted = |group: Group| Group {
            lanes: (group.lanes.iter())
                .map(|lane| lane.iter().map(|it| it - from).collect())
                .collect(),
        };
        let is_within = |group: &Group| group.numbers().all(|it| (from..to).contains(&it));
        Self {
            any_order: (self.any_order.into_iter().filter(is_within))
                .map(shifted)
                .collect(),
            one_of: (self.one_of.into_iter())
                .filter(|it| it.from >= from && it.to <= to)
                .map(|it| Other {
                    from: it.from - from,
                    to: it.to - from,
                    ..it
                })
                .collect(),
            is_open: self.is_open,
            sockets_differ: false,
            why: Vec::new(),
        }
    }
}

impl Group {
    fn numbers(&self) -> impl Iterator<Item = usize> {
        self.lanes.iter().flatten().copied()
    }

    fn has(&self, number: usize) -> bool {
        self.numbers().any(|it| it == number)
    }
}

/// Where and why lots were drawn.
fn places(run: &Run) -> Vec<(usize, &'static str)> {
    let lots = lots(run).into_iter();
    lots.map(|lot| (lot.after, lot.why)).collect()
}

/// The lots of a run, after so many queries that reached a server.
fn lots(run: &Run) -> Vec<Lot> {
    let drawn = run.chance.iter().flat_map(|chance| &chance.lots);
    let reached = |QueryId(after)| run.sent.partition_point(|sent| sent.id.0 < after);
    let lot = |lot: &Lot| Lot {
        after: reached(QueryId(lot.after)),
        ..lot.clone()
    };
    drawn.map(lot).collect()
}

/// What differs between queries as many as these, of which the first has this number.
fn stretch(number: usize, usual: &[Sent], turned: &[Sent]) -> Option<Other> {
    let before = usual.iter().zip(turned).take_while(alike).count();
    if before == usual.len() {
        return None;
    }
    let ends = usual.iter().rev().zip(turned.iter().rev());
    let within = before..usual.len() - ends.take_while(alike).count();
    Some(Other {
        from: number + within.start,
        to: number + within.end,
        sent: turned.get(within)?.to_vec(),
        courses: Courses::default(),
        outcome: None,
    })
}

fn alike((one, other): &(&Sent, &Sent)) -> bool {
    is_same(one, other)
}

/// Whether both are the same to a server.
fn is_same(one: &Sent, other: &Sent) -> bool {
    let (one, other) = (&one.query, &other.query);
    one.question == other.question
        && one.server == other.server
        && one.transport == other.transport
        && one.edns == other.edns
        && one.authentic_data == other.authentic_data
}

/// Groups of neighbours that were sent at once by lanes that nothing orders.
fn ordered_by_chance(run: &Run, courses: &mut Courses) {
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
