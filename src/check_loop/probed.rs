//! What a probe changes in the verdict that the files have led to.

use super::facts::{Cause, Remark};
use super::report::{Report, State, Verdict};
use super::seen::{ProbeResult, Sight};

/// The report with what the probe saw. A query that was seen to come back
/// outweighs every file; that none came back outweighs nothing, since the next
/// start reads the files again.
pub fn with_probe(mut report: Report, seen: ProbeResult) -> Report {
    match seen.sight {
        Sight::Loops => {
            let is_said = matches!(report.verdict, Verdict::Loop | Verdict::Mixed);
            if !is_said {
                report.verdict = Verdict::Loop;
                report.concern = None;
                report.cause = cause(&seen);
            }
            if report.now != State::Mixed {
                report.now = State::Loop;
            }
        }
        Sight::NotSeen => {
            let is_contrary = matches!(report.now, State::Loop | State::Mixed);
            if is_contrary {
                report.remarks.push(Remark::NotSeen);
            }
        }
        Sight::Unknown => {}
    }
    report.probe = Some(seen);
    report
}

/// To whom the query came back.
fn cause(seen: &ProbeResult) -> Option<Cause> {
    let mut looping = seen.servers.iter().filter(|it| it.sight == Sight::Loops);
    let first = looping.next()?;
    Some(Cause::Probe {
        who: first.who.clone(),
        server: first.server,
        others: looping.count(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check_loop::report::Setup;
    use crate::check_loop::seen::ServerSeen;
    use crate::topology::{Instance, Network, ServerName};

    fn dnsmasq() -> ServerName {
        ServerName {
            program: "dnsmasq".to_owned(),
            instance: Instance::Process(7),
        }
    }

    fn check(verdict: Verdict, now: State, sight: Sight, expected: (Verdict, State, usize)) {
        let report = Report {
            node: None,
            cluster: None,
            machine_id: None,
            boot_id: None,
            setup: Setup::default(),
            verdict,
            now,
            next_start: State::Unknown,
            cause: None,
            concern: None,
            chains: Vec::new(),
            fix: None,
            evidence: Vec::new(),
            missing: Vec::new(),
            remarks: Vec::new(),
            skipped: Vec::new(),
            probe: None,
        };
        let server = ServerSeen {
            who: dnsmasq(),
            network: Network::Node,
            server: "127.0.1.1:53".parse().unwrap(),
            sight,
            reason: None,
            question: None,
        };
        let servers = vec![server.clone(), server];
        let report = with_probe(report, ProbeResult { sight, servers });
        let found = (report.verdict, report.now, report.remarks.len());
        assert_eq!(found, expected, "{verdict:?} {now:?} {sight:?}");
        let came_back = Cause::Probe {
            who: dnsmasq(),
            server: "127.0.1.1:53".parse().unwrap(),
            others: 1,
        };
        let cause = (report.verdict != verdict).then_some(came_back);
        assert_eq!(report.cause, cause);
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
