//! Lookups of a pod, as packets.

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use hickory_proto::rr::RecordType;
use kdns::engine::message::Rcode;
use kdns::node::kernel::ConntrackCounters;
use kdns::scenario::Scenario;
use kdns::watch::{Judged, Report, Setup};
use kdns::world::{Effect, Rule};

use crate::wire::{DELAY, Packet, Wire};
use crate::{of, scenario, watched};

pub(crate) const CLIENT: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 244, 1, 5));
pub(crate) const SERVER: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 96, 0, 10));
pub(crate) const SECOND: i64 = 1_000_000_000;

/// Lookups of a pod, one after the other.
pub(crate) struct Lab {
    pub(crate) id: &'static str,
    pub(crate) file: &'static str,
    pub(crate) wire: Wire,
    pub(crate) start: i64,
    pub(crate) packets: Vec<Packet>,
}

impl Lab {
    pub(crate) fn new(id: &'static str, file: &'static str) -> Self {
        Self {
            id,
            file,
            wire: Wire::new(CLIENT, 0x1234_5678),
            start: 1_700_000_000 * SECOND,
            packets: Vec::new(),
        }
    }

    /// Looks up a name in a world.
    pub(crate) fn lookup(&mut self, name: &str, rules: &[Rule]) -> &mut Self {
        let scenario = Scenario {
            name: name.to_owned(),
            answers: rules.to_vec(),
            ..scenario(self.file)
        };
        let run = of(self.id).predict(&scenario);
        self.wire.has_one_id = self.id.starts_with("glibc");
        self.packets.extend(self.wire.lookup(&run, self.start));
        self.start += 100_000_000 + i64::try_from(run.elapsed.as_nanos()).unwrap();
        self
    }

    /// Names that are found at once.
    pub(crate) fn healthy(&mut self, count: usize) -> &mut Self {
        for number in 0..count {
            let name = format!("db{number}");
            let full = format!("{name}.default.svc.cluster.local");
            self.lookup(&name, &[rule(Some(&full), found(1)), denied()]);
        }
        self
    }

    pub(crate) fn end(&mut self) -> (Vec<Judged>, Report) {
        self.end_with(None)
    }

    /// Without the pod's file: the packets have to tell.
    pub(crate) fn end_without_file(&mut self) -> Report {
        let packets = std::mem::take(&mut self.packets);
        watched(packets, Setup::default(), None).1
    }

    pub(crate) fn end_with(
        &mut self,
        conntrack: Option<ConntrackCounters>,
    ) -> (Vec<Judged>, Report) {
        let setup = Setup {
            scenario: Some(scenario(self.file)),
            resolver: Some(of(self.id)),
            all: true,
            show: None,
            is_live: false,
        };
        watched(std::mem::take(&mut self.packets), setup, conntrack)
    }
}

pub(crate) fn found(last: u8) -> Effect {
    Effect::Answer {
        a: vec![[10, 100, 0, last].into()],
        aaaa: vec![[0xfd00, 0, 0, 0, 0, 0, 0, u16::from(last)].into()],
        cname: None,
    }
}

pub(crate) fn rule(name: Option<&str>, effect: Effect) -> Rule {
    Rule {
        name: name.map(str::to_owned),
        effect,
        delay: Duration::from_nanos(DELAY.unsigned_abs()),
        ..Rule::default()
    }
}

pub(crate) fn denied() -> Rule {
    rule(None, Effect::Status(Rcode::NxDomain))
}

pub(crate) fn of_type(record_type: RecordType, rule: Rule) -> Rule {
    Rule {
        record_type: Some(record_type),
        ..rule
    }
}

pub(crate) fn once(rule: Rule) -> Rule {
    Rule {
        up_to: Some(1),
        ..rule
    }
}

pub(crate) const FULL: &str = "*.default.svc.cluster.local";
