//! What the answers show, the likeliest cause of trouble first.

use super::{Asked, Cause, Check, Fact, Kind, State};
use crate::check_loop::Verdict;
use crate::check_loop::facts::Trouble;

/// All causes. What is wrong comes before what can go wrong, and among these what
/// stops all lookups before what stops some.
#[expect(clippy::too_many_lines, reason = "one case after the other")]
pub(super) fn all<'o>(checks: &[Check<'o>]) -> Vec<Cause<'o>> {
    let mut causes: Vec<Cause<'o>> = Vec::new();
    let mut found = |number: usize, state, kind| {
        causes.push(Cause {
            kind,
            evidence: vec![number],
            state,
        });
    };
    let loop_state = checks
        .iter()
        .find(|it| it.code == "loop")
        .map(|it| it.state);
    let is_loop = loop_state == Some(State::Error);
    // Why a pod ends that has no answers is no question.
    let is_explained = matches!(loop_state, Some(State::Error | State::Warning));
    for (number, check) in checks.iter().enumerate() {
        match &check.fact {
            Fact::Loop(report) => match (&report.concern, report.verdict) {
                (_, Verdict::Loop | Verdict::Mixed | Verdict::Refused | Verdict::WillLoop) => {
                    found(number, State::Error, Kind::Loop(report));
                }
                (Some(concern), _) => {
                    for trouble in &concern.troubles {
                        found(number, State::Warning, Kind::Trouble(trouble, report));
                    }
                }
                (None, _) => {}
            },
            // A loop is such an end, too.
            Fact::Upstream {
                dead: Some(step), ..
            } if !is_loop => {
                found(number, State::Error, Kind::Dead(step));
            }
            Fact::Servers(asked) => {
                let chosen = |wanted: fn(&Asked) -> bool| -> Vec<&'o Asked> {
                    asked.iter().filter(|it| wanted(it)).collect()
                };
                let silent = chosen(|it| it.is_silent() || it.is_without_tcp());
                if !silent.is_empty() {
                    found(number, check.state, Kind::Silent(silent));
                }
                let slow = chosen(Asked::is_slow);
                if !slow.is_empty() {
                    found(number, State::Warning, Kind::Slow(slow));
                }
            }
            Fact::Pods {
                crashing, unread, ..
            } => {
                if !crashing.is_empty() && !is_explained {
                    found(number, State::Error, Kind::Crashing(crashing.clone()));
                }
                for sentence in unread {
                    found(number, State::Warning, Kind::Unreadable(sentence));
                }
            }
            Fact::Lint { worst, .. } => {
                for finding in worst {
                    found(number, check.state, Kind::Setting(finding));
                }
            }
            Fact::Upstream { .. } => {}
        }
    }
    causes.sort_by_key(|it| (std::cmp::Reverse(it.state), rank(&it.kind)));
    causes
}

fn rank(kind: &Kind<'_>) -> u32 {
    match kind {
        Kind::Loop(_) => 0,
        Kind::Silent(_) => 1,
        Kind::Trouble(Trouble::Log(_) | Trouble::Down { .. }, _) => 2,
        Kind::Dead(_) => 3,
        Kind::Crashing(_) => 4,
        Kind::Trouble(Trouble::Files(_), _) => 5,
        Kind::Slow(_) => 6,
        Kind::Unreadable(_) => 7,
        Kind::Setting(_) => 8,
    }
}
