//! How long a resolver waited for an answer that did not come.

use std::time::Duration;

use super::{AT_ONCE, Exchange, Played};

/// What became of a query without an answer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Silence {
    /// The resolver waited so long, from the sending of this very query.
    Waited(Duration),
    /// It went on, or ended, for another reason: the answer to another query.
    NotWaitedFor,
}

impl Played {
    /// What became of this exchange, if nothing came back for it.
    pub fn silence(&self, exchange: &Exchange) -> Option<Silence> {
        if exchange.answer.is_some() || exchange.unsent.is_some() {
            return None;
        }
        let next = self.next_after(exchange);
        let moved = next.map_or(self.elapsed, |it| it.at);
        let waited = moved.saturating_sub(exchange.at);
        // Who asks the same again has waited for it.
        let is_again = next.is_some_and(|it| it.asks_as(exchange)) || self.cut.is_some();
        let is_moved_by = |it: &Exchange| {
            let answered = it.answered_at();
            answered.is_some_and(|at| {
                exchange.at <= at && at <= moved && moved.saturating_sub(at) < AT_ONCE
            })
        };
        let is_left = !is_again && self.exchanges.iter().any(is_moved_by);
        Some(if is_left || waited < AT_ONCE {
            Silence::NotWaitedFor
        } else {
            Silence::Waited(waited)
        })
    }

    /// The query with which the resolver went on: the same question again, or
    /// one that it had not asked before.
    fn next_after(&self, exchange: &Exchange) -> Option<&Exchange> {
        let together = exchange.at + AT_ONCE;
        let is_new = |it: &Exchange| {
            let mut earlier = self.exchanges.iter().filter(|other| other.at < together);
            !earlier.any(|other| other.asks_as(it))
        };
        self.exchanges
            .iter()
            .find(|it| it.at >= together && (it.asks_as(exchange) || is_new(it)))
    }
}
