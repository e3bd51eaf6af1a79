//! What a probe changes in the verdict that the files have led to.

use crate::check_loop::seen::{Seen, Sight};
use crate::check_loop::{Report, State, Verdict};

/// The report with what the probe saw. A query that was seen to come back
/// outweighs every file; that none came back outweighs nothing, since the next
/// start reads the files again.
pub fn with_probe(mut report: Report, seen: Seen) -> Report {
    match seen.sight {
        Sight::Loops => {
            let is_said = matches!(report.verdict, Verdict::Loop | Verdict::Mixed);
            if !is_said {
                report.verdict = Verdict::Loop;
                report.headline = headline(&seen);
            }
            if report.now != State::Mixed {
                report.now = State::Loop;
            }
        }
        Sight::NotSeen => {
            let is_contrary = matches!(report.now, State::Loop | State::Mixed);
            if is_contrary {
                report.remarks.push(NOT_SEEN.to_owned());
            }
        }
        Sight::Unknown => {}
    }
    report.probe = Some(seen);
    report
}

const NOT_SEEN: &str = "The files say that it loops now, but the probe did not see it: each server \
    answered, and no query came back. Servers that run can have been started with other files";

fn headline(seen: &Seen) -> String {
    let mut looping = seen.servers.iter().filter(|it| it.sight == Sight::Loops);
    let first = looping
        .next()
        .map_or_else(String::new, |it| format!("{} on {}", it.who, it.server));
    let others = match looping.count() {
        0 => String::new(),
        count => format!(" and {count} more"),
    };
    format!("DNS loops: the probe's query came back to {first}{others}")
}
