//! How many digits of an id are shown.

use crate::order::Order as _;
/// So many digits of an id runtimes' own tools show.
const SHORT: usize = 12;

/// An id as runtimes' own tools show it.
pub(super) fn short(id: &str) -> &str {
    id.get(..SHORT).unwrap_or(id)
}

/// So many digits tell these ids apart.
pub(super) fn telling(ids: &[&str]) -> usize {
    let longest = ids.iter().map(|it| it.len()).max().unwrap_or(SHORT);
    let is_enough = |length: &usize| {
        let mut cut: Vec<&str> = ids
            .iter()
            .map(|it| it.get(..*length).unwrap_or(it))
            .collect();
        cut.order();
        cut.dedup();
        cut.len() == ids.len()
    };
    (SHORT..longest).find(is_enough).unwrap_or(longest)
}
