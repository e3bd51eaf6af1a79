//! The same for every item, on all cores.
//!
//! Nothing that depends on which thread is first comes out.

use crate::order::Order as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::Builder;

/// So many files are taken at a time by a thread.
const CHUNK: usize = 16;

/// Calls `call` for every item and its index, on all cores; the results are in
/// the order of the items.
pub(super) fn map<T: Sync, R: Send>(items: &[T], call: impl Fn(usize, &T) -> R + Sync) -> Vec<R> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = threads.min(items.len().div_ceil(CHUNK));
    let all = || {
        items
            .iter()
            .enumerate()
            .map(|(index, item)| call(index, item))
    };
    if threads < 2 {
        return all().collect();
    }
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let start = next.fetch_add(CHUNK, Ordering::Relaxed);
            let Some(chunk) = items.get(start..) else {
                return done;
            };
            if chunk.is_empty() {
                return done;
            }
            let chunk = chunk.iter().take(CHUNK).enumerate();
            let results = chunk.map(|(index, item)| call(start + index, item));
            done.push((start, results.collect::<Vec<R>>()));
        }
    };
    let mut done = std::thread::scope(|scope| {
        // Where the system gives no more threads, those that are there do it.
        let more = (1..threads).map_while(|_| Builder::new().spawn_scoped(scope, work).ok());
        let more: Vec<_> = more.collect();
        let own = work();
        let others = more.into_iter().map(|thread| match thread.join() {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        let done = std::iter::once(own).chain(others);
        done.flatten().collect::<Vec<_>>()
    });
    done.order_by_key(|(start, _)| *start);
    let mut all = Vec::with_capacity(items.len());
    for (_, results) in done {
        all.extend(results);
    }
    all
}
