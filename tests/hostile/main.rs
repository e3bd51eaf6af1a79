//! Files that a container, a node or a repository supplies must not cost:
//! every shape of every file that is read takes time that grows with its
//! bytes, and no faster.
//!
//! Time is this thread's own processor time, so that a busy machine changes
//! nothing; it is compared between two lengths, not held to a number.

#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test may stop at the first surprise"
)]

mod explain;
mod lint;
mod memory;
mod nodes;
mod rules;
mod shapes;

use std::time::Duration;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;

use self::shapes::Shape;

/// The lengths that are compared: sixteen times the bytes.
const SHORT: usize = 4 << 10;
const LONG: usize = 16 * SHORT;
/// Linear is 16, quadratic 256; what is below [`SMALL`] counts as that much.
const MOST: f64 = 48.0;
const SMALL: Duration = Duration::from_millis(4);

/// What a step costs this thread.
fn cost(step: impl FnOnce()) -> Duration {
    let now = || {
        let usage = getrusage(UsageWho::RUSAGE_THREAD).unwrap();
        let micros = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
        Duration::from_micros(micros.unsigned_abs())
    };
    let before = now();
    step();
    now().saturating_sub(before)
}

/// The shapes for which `read` takes longer than in proportion.
fn offenders(what: &str, shapes: &[Shape], read: impl Fn(&[u8])) -> Vec<String> {
    let mut found = Vec::new();
    for shape in shapes {
        let (short, long) = (shape.of(SHORT), shape.of(LONG));
        let ratio = || {
            let short = cost(|| read(&short)).max(SMALL);
            cost(|| read(&long)).as_secs_f64() / short.as_secs_f64()
        };
        // Once can be chance.
        if ratio() > MOST && ratio() > MOST {
            found.push(format!("{what}: {}: {:.0} times", shape.name, ratio()));
        }
    }
    found
}

fn none(offenders: &[String]) {
    assert!(offenders.is_empty(), "{}", offenders.join("\n"));
}
