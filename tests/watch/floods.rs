//! Many faults at once: the first one is the first in time, whichever ends first.

use hickory_proto::rr::RecordType;
use kdns::engine::message::Rcode;
use kdns::world::{Effect, Rule};

use crate::POD;
use crate::lab::{FULL, Lab, denied, found, of_type, once, rule};

/// A lookup that takes long, and others that begin and end meanwhile.
fn flood(id: &'static str, slow: &[Rule], fast: &[Rule], count: usize) -> Lab {
    let mut lab = Lab::new(id, POD);
    lab.healthy(3);
    let start = lab.start;
    lab.lookup("zz-first", slow);
    for number in 0..count {
        lab.start = start + 1_000_000 * (1 + i64::try_from(number).unwrap());
        lab.lookup(&format!("later{number}"), fast);
    }
    lab
}

#[test]
fn the_first_name_is_the_first_in_time() {
    let fails = [rule(Some(FULL), Effect::Status(Rcode::ServFail)), denied()];
    let lost = once(of_type(RecordType::AAAA, rule(Some(FULL), Effect::Timeout)));
    let late = [vec![lost.clone()], fails.to_vec()].concat();
    let truncated = rule(Some(FULL), Effect::Truncated);
    let is_late = [lost.clone(), truncated.clone(), denied()];
    let silent = once(rule(Some(FULL), Effect::Timeout));
    for (id, slow, fast, code) in [
        ("glibc", &late[..], &fails[..], "server-fails"),
        (
            "busybox",
            &is_late,
            &[truncated, denied()],
            "truncated-no-tcp",
        ),
        (
            "glibc",
            &[lost, silent.clone(), rule(Some(FULL), found(1))],
            &[silent, rule(Some(FULL), found(1))],
            "unanswered",
        ),
    ] {
        let mut lab = flood(id, slow, fast, 40);
        let (_, report) = lab.end();
        let finding = report.findings.iter().find(|it| it.what.code() == code);
        let finding = finding.unwrap();
        let name = finding.name.as_ref().unwrap().to_string();
        assert_eq!(name, "zz-first.default.svc.cluster.local", "{code}");
        assert!(finding.packets.is_sorted(), "{code}: {:?}", finding.packets);
        assert!(finding.count > 40, "{code}: {}", finding.count);
    }
}

/// More losses than are kept: those that came first are.
#[test]
fn the_first_loss_is_kept() {
    let silent = once(rule(Some(FULL), Effect::Timeout));
    let twice = Rule {
        up_to: Some(3),
        ..silent.clone()
    };
    let slow = [twice, rule(Some(FULL), found(1))];
    let mut lab = flood("glibc", &slow, &[silent, rule(Some(FULL), found(1))], 6000);
    let (_, report) = lab.end();
    let finding = report.findings.first().unwrap();
    let name = finding.name.as_ref().unwrap().to_string();
    assert_eq!(name, "zz-first.default.svc.cluster.local");
    assert_eq!(finding.count, report.unanswered);
}
