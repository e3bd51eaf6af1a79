//! Lookups that models make, as packets, and what `watch` reads off them.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may stop at the first surprise"
)]

mod answers;
mod faults;
mod floods;
mod hostile;
mod inferred;
mod lab;
mod live;
mod random;
mod two;
mod wire;

use kdns::node::kernel::ConntrackCounters;
use kdns::packet::Counters;
use kdns::resolver::{self, Resolver};
use kdns::scenario::{self, Scenario};
use kdns::watch::{End, Judged, Plan, Report, Setup, Watch};

use crate::wire::Packet;

/// A pod's file.
const POD: &str = "nameserver 10.96.0.10\nsearch default.svc.cluster.local svc.cluster.local cluster.local\noptions ndots:5\n";

fn scenario(file: &str) -> Scenario {
    let mut scenario = Scenario::new("watch", "x");
    scenario.resolv_conf = Some(scenario::file("/etc/resolv.conf", file));
    scenario
}

fn of(id: &str) -> &'static Resolver {
    resolver::find(id).unwrap()
}

/// Whether what was seen is what was planned.
fn is_followed(plan: &Plan) -> bool {
    plan.unplanned.is_empty() && plan.planned.iter().all(|it| it.seen.is_some())
}

/// What is made of packets, which are put in order of time; live, time passes between them.
fn watched(
    mut packets: Vec<Packet>,
    setup: Setup,
    conntrack: Option<ConntrackCounters>,
) -> (Vec<Judged>, Report) {
    packets.sort_by_key(|it| it.time);
    let (is_live, mut now) = (setup.is_live, packets.first().map_or(0, |it| it.time));
    let mut watch = Watch::new(setup);
    let mut judged = Vec::new();
    for (number, packet) in (1..).zip(&packets) {
        while is_live && now < packet.time {
            watch.tick(now);
            now += 250_000_000;
        }
        watch.push(&packet.seen(number));
        judged.extend(watch.take_judged());
    }
    let last = packets.last().map_or(0, |it| it.time);
    let end = End {
        // As long as anybody could wait.
        time: Some(last + 60_000_000_000),
        counters: Counters::default(),
        drops: None,
        conntrack,
    };
    watch.finish(end.time);
    judged.extend(watch.take_judged());
    (judged, watch.end(&end))
}

fn codes(report: &Report) -> Vec<&'static str> {
    report.findings.iter().map(|it| it.what.code()).collect()
}
