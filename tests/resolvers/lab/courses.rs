//! Whether a sequence of queries is one of those that a prediction allows.

use serde_json::Value;

use super::compare::{Difference, Step};

/// A prediction's queries, and what may differ.
#[derive(Debug)]
pub(crate) struct Course {
    steps: Vec<Step>,
    /// Lanes of numbers, for each group of `any_order`.
    groups: Vec<Vec<Vec<usize>>>,
    others: Vec<Other>,
}

#[derive(Debug)]
struct Other {
    from: usize,
    to: usize,
    course: Course,
    outcome: Option<Value>,
}

/// Where a walk through a course stands: queries seen, queries of the course, the outcome so far, and whether
/// another course may begin here.
type Place<'c> = (usize, usize, Option<&'c Value>, bool);

/// A walk: what is seen, whether it is only the beginning, how steps are compared.
struct Walk<'s> {
    seen: &'s [Step],
    cut: bool,
    alike: fn(&Step, &Step) -> bool,
}

impl Course {
    /// The course of a line of `explain --format jsonl`, or of an observation.
    pub(crate) fn of(value: &Value) -> Result<Self, Difference> {
        let malformed = || Difference::Malformed(value.to_string());
        let list = |key: &str| {
            let found = value
                .get(key)
                .map_or(Some([].as_slice()), |it| it.as_array().map(Vec::as_slice));
            found.ok_or_else(malformed)
        };
        if value.get("queries").is_none() {
            return Err(malformed());
        }
        let steps: Result<Vec<Step>, Difference> = list("queries")?.iter().map(Step::of).collect();
        Ok(Self {
            steps: steps?,
            groups: list("any_order")?
                .iter()
                .map(|group| group.as_array()?.iter().map(lane).collect())
                .collect::<Option<_>>()
                .ok_or_else(malformed)?,
            others: list("one_of")?
                .iter()
                .map(|it| {
                    let number = |key: &str| it.get(key).and_then(number).ok_or_else(malformed);
                    Ok(Other {
                        from: number("from")?,
                        to: number("to")?,
                        course: Self::of(it)?,
                        outcome: it.get("outcome").cloned(),
                    })
                })
                .collect::<Result<_, Difference>>()?,
        })
    }

    /// The queries themselves.
    pub(crate) fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Whether nothing in it is left to chance.
    pub(crate) fn is_certain(&self) -> bool {
        self.groups.is_empty() && self.others.is_empty()
    }

    /// How the lookup can end if this is what it sends, or, of a cut run, begins with; `None` is the prediction's own
    /// outcome. Empty: it cannot send this.
    pub(crate) fn ends(
        &self,
        seen: &[Step],
        cut: bool,
        alike: fn(&Step, &Step) -> bool,
    ) -> Vec<Option<&Value>> {
        let walk = Walk { seen, cut, alike };
        let ends = self.walk(&walk, 0).into_iter();
        let all = ends.filter(|(at, _)| *at == seen.len());
        all.map(|(_, outcome)| outcome).collect()
    }

    /// Every number of queries that can have been seen when this course, begun after `at`, is over.
    fn walk(&self, walk: &Walk<'_>, at: usize) -> Vec<(usize, Option<&Value>)> {
        let mut ends = Vec::new();
        let mut places: Vec<Place<'_>> = vec![(at, 0, None, true)];
        let mut next = 0;
        while let Some(&(at, step, outcome, fresh)) = places.get(next) {
            next += 1;
            let mut go = |place| {
                if !places.contains(&place) {
                    places.push(place);
                }
            };
            if walk.cut && at == walk.seen.len() {
                ends.push((at, outcome));
                continue;
            }
            for other in self.others.iter().filter(|it| fresh && it.from == step) {
                for (after, end) in other.course.walk(walk, at) {
                    let outcome = end.or(other.outcome.as_ref()).or(outcome);
                    go((after, other.to, outcome, other.to > step));
                }
            }
            let begins = |group: &&Vec<Vec<usize>>| group.iter().flatten().min() == Some(&step);
            if let Some(group) = self.groups.iter().find(begins) {
                let size = group.iter().map(Vec::len).sum::<usize>();
                if self.interleaved(walk, at, group, &vec![0; group.len()]) {
                    go((at + size, step + size, outcome, true));
                }
                if walk.cut && at + size > walk.seen.len() {
                    // The rest of the group was cut off.
                    let left = walk.seen.len() - at;
                    if self.begins_so(walk, at, group, &vec![0; group.len()], left) {
                        ends.push((walk.seen.len(), outcome));
                    }
                }
            }
            match (self.steps.get(step), walk.seen.get(at)) {
                (None, _) => ends.push((at, outcome)),
                (Some(own), Some(seen)) if (walk.alike)(own, seen) => {
                    go((at + 1, step + 1, outcome, true));
                }
                _ => {}
            }
        }
        ends
    }

    /// Whether the whole group was seen in some order.
    fn interleaved(
        &self,
        walk: &Walk<'_>,
        at: usize,
        group: &[Vec<usize>],
        taken: &[usize],
    ) -> bool {
        let left = group.iter().map(Vec::len).sum::<usize>() - taken.iter().sum::<usize>();
        self.begins_so(walk, at, group, taken, left)
    }

    /// Whether what was seen next are so many queries of the group, in some order.
    fn begins_so(
        &self,
        walk: &Walk<'_>,
        at: usize,
        group: &[Vec<usize>],
        taken: &[usize],
        left: usize,
    ) -> bool {
        if left == 0 {
            return true;
        }
        let Some(seen) = walk.seen.get(at) else {
            return false;
        };
        group.iter().enumerate().any(|(number, lane)| {
            let next = taken.get(number).and_then(|taken| lane.get(*taken));
            let own = next.and_then(|next| self.steps.get(*next));
            if !own.is_some_and(|own| (walk.alike)(own, seen)) {
                return false;
            }
            let mut further = taken.to_vec();
            if let Some(taken) = further.get_mut(number) {
                *taken += 1;
            }
            self.begins_so(walk, at + 1, group, &further, left - 1)
        })
    }
}

/// A number alone, or several in their order.
fn lane(value: &Value) -> Option<Vec<usize>> {
    match value {
        Value::Array(numbers) => numbers.iter().map(number).collect(),
        one => Some(vec![number(one)?]),
    }
}

fn number(value: &Value) -> Option<usize> {
    usize::try_from(value.as_u64()?).ok()
}
