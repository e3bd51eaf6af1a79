//! What a probe changes in the verdict that the files have led to.

use super::report::{Report, State, Verdict};
use super::seen::{Seen, Sight};

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check_loop::report::Setup;
    use crate::check_loop::seen::ServerSeen;
    use crate::topology::Network;

    fn check(verdict: Verdict, now: State, sight: Sight, expected: (Verdict, State, usize)) {
        let report = Report {
            node: None,
            setup: Setup::default(),
            verdict,
            now,
            next_start: State::Unknown,
            headline: "from the files".to_owned(),
            chains: Vec::new(),
            fix: None,
            evidence: Vec::new(),
            missing: Vec::new(),
            remarks: Vec::new(),
            skipped: Vec::new(),
            probe: None,
        };
        let server = ServerSeen {
            who: "dnsmasq (process 7)".to_owned(),
            network: Network::Node,
            server: "127.0.1.1:53".parse().unwrap(),
            sight,
            reason: None,
            question: None,
        };
        let servers = vec![server.clone(), server];
        let report = with_probe(report, Seen { sight, servers });
        let found = (report.verdict, report.now, report.remarks.len());
        assert_eq!(found, expected, "{verdict:?} {now:?} {sight:?}");
        let says = report.headline != "from the files";
        assert_eq!(says, report.verdict != verdict, "{}", report.headline);
        if says {
            let headline = "DNS loops: the probe's query came back to dnsmasq (process 7) on \
                127.0.1.1:53 and 1 more";
            assert_eq!(report.headline, headline);
        }
    }

    #[test]
    fn a_query_that_came_back_outweighs_the_files() {
        let (lost, none) = (State::Unknown, State::NoLoop);
        for (verdict, now) in [
            (Verdict::Unknown, lost),
            (Verdict::NoLoop, none),
            (Verdict::WillLoop, none),
            (Verdict::Refused, State::Refused),
            (Verdict::Loop, State::Loop),
        ] {
            check(verdict, now, Sight::Loops, (Verdict::Loop, State::Loop, 0));
            check(verdict, now, Sight::Unknown, (verdict, now, 0));
            let remarks = usize::from(now == State::Loop);
            check(verdict, now, Sight::NotSeen, (verdict, now, remarks));
        }
        let mixed = (Verdict::Mixed, State::Mixed, 0);
        check(Verdict::Mixed, State::Mixed, Sight::Loops, mixed);
    }
}
