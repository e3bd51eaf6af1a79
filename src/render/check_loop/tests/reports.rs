//! Reports made by hand.

use crate::check_loop::facts::{Cause, Caveat, Manifest, Missing, Remark, Step, Unknown, Useless};
use crate::check_loop::log::SightingKind;
use crate::check_loop::{
    Chain, Edit, End, Fix, Hop, Proof, Report, SendsTo, Setup, Sighting, State, Verdict, When, Who,
};
use crate::render::check_loop::probe::tests::seen;
use crate::text::Place;
use crate::topology::{Instance, ServerName, Target};

/// What no format may let through as it is.
pub(super) const HOSTILE: &str = "a\nb\r\n::error::c,d:e%0A\u{1b}[31mé\u{202e}\u{7f}\"'\\<&>]]>{}";

fn place(file: &str, line: usize, column: usize) -> Place {
    Place::new(file, line, column)
}

/// The only server of a program.
pub(in crate::render::check_loop) fn only(program: &str) -> ServerName {
    ServerName {
        program: program.to_owned(),
        instance: Instance::Only,
    }
}

fn setup() -> Setup {
    Setup {
        resolv_conf: Some("/etc/resolv.conf".to_owned()),
        resolv_conf_from: Some("/var/lib/kubelet/config.yaml".to_owned()),
        leads_to: Some("/run/systemd/resolve/stub-resolv.conf".to_owned()),
        name_servers: vec!["127.0.0.53".to_owned()],
        on_node: vec!["systemd-resolved".to_owned()],
        forwards: vec![". to /etc/resolv.conf".to_owned()],
    }
}

/// A loop as it is on many nodes.
#[expect(clippy::too_many_lines, reason = "one value")]
pub(super) fn report(verdict: Verdict) -> Report {
    let proof = |at, text: &str| Proof {
        place: at,
        text: text.to_owned(),
    };
    let hop = Hop {
        who: Who::Server {
            name: ServerName {
                program: "CoreDNS".to_owned(),
                instance: Instance::Pod("kube-system/coredns-0".to_owned()),
            },
            is_on_node: false,
        },
        sends_to: SendsTo::Target(Target::Address("127.0.0.53:53".parse().unwrap())),
        proof: vec![
            proof(
                place("/etc/coredns/Corefile", 16, 5),
                "forward . /etc/resolv.conf",
            ),
            proof(
                place("/run/systemd/resolve/stub-resolv.conf", 20, 1),
                "nameserver 127.0.0.53",
            ),
        ],
    };
    Report {
        node: Some("node-a".to_owned()),
        cluster: None,
        machine_id: None,
        boot_id: None,
        setup: setup(),
        verdict,
        now: State::Loop,
        next_start: State::Loop,
        cause: Some(Cause::Probe {
            who: only("dnsmasq"),
            server: "127.0.1.1:53".parse().unwrap(),
            others: 0,
        }),
        concern: None,
        chains: vec![Chain {
            when: When::Now,
            zone: ".".to_owned(),
            hops: vec![hop],
            end: End::Cycle(0),
            share: (1, 1),
        }],
        fix: Some(Fix {
            is_restart: false,
            edit: Edit {
                place: place("/var/lib/kubelet/config.yaml", 8, 1),
                old: Some("resolvConf: /etc/resolv.conf".to_owned()),
                new: "resolvConf: /run/systemd/resolve/resolv.conf".to_owned(),
            },
            then: vec![Step::RestartKubelet {
                command: "systemctl restart kubelet",
                is_unit_changed: false,
            }],
            but: vec![Caveat::Flag],
            not: vec![Useless::NoLoopPlugin],
        }),
        evidence: vec![Sighting {
            kind: SightingKind::LoopFatal,
            place: place("/var/log/pods/kube-system_coredns-0_u/coredns/3.log", 5, 1),
            text: "[FATAL] plugin/loop: Loop".to_owned(),
            count: 3,
            first: Some("2026-11-21T02:07:12Z".to_owned()),
            last: Some("2026-11-21T02:09:12Z".to_owned()),
            pod: Some("kube-system/coredns-0".to_owned()),
            servers: Vec::new(),
        }],
        missing: Vec::new(),
        remarks: vec![Remark::NoServer],
        skipped: vec!["cannot read /etc/unbound: Is a directory".to_owned()],
        probe: None,
    }
}

/// The report with `text` wherever a string stands.
#[expect(clippy::too_many_lines, reason = "one value")]
pub(super) fn filled(verdict: Verdict, text: &str) -> Report {
    let mut report = report(verdict);
    let set = |it: &mut String| text.clone_into(it);
    let setup = &mut report.setup;
    let words = [
        &mut report.node,
        &mut setup.resolv_conf,
        &mut setup.resolv_conf_from,
        &mut setup.leads_to,
    ];
    for word in words {
        *word = Some(text.to_owned());
    }
    let lists = [
        &mut setup.name_servers,
        &mut setup.on_node,
        &mut setup.forwards,
    ];
    for list in lists {
        *list = vec![text.to_owned()];
    }
    report.probe = Some(seen(text));
    let owned = || text.to_owned();
    report.skipped = vec![owned()];
    report.remarks = vec![Remark::NoLoopPlugin(only(text))];
    report.missing = vec![Missing::Privilege(owned())];
    report.cause = Some(Cause::Probe {
        who: only(text),
        server: "127.0.0.53:53".parse().unwrap(),
        others: 0,
    });
    for chain in &mut report.chains {
        chain.end = End::Unknown(Unknown::Target(owned()));
        set(&mut chain.zone);
        for hop in &mut chain.hops {
            hop.who = Who::Server {
                name: only(text),
                is_on_node: true,
            };
            hop.sends_to = SendsTo::Target(Target::Other(owned()));
            for proof in &mut hop.proof {
                set(&mut proof.text);
                set(&mut proof.place.file);
            }
        }
    }
    for sighting in &mut report.evidence {
        set(&mut sighting.text);
        set(&mut sighting.place.file);
        sighting.first = Some(text.to_owned());
    }
    if let Some(fix) = &mut report.fix {
        set(&mut fix.edit.place.file);
        set(&mut fix.edit.new);
        fix.edit.old = None;
        fix.then = vec![Step::RecreateStatic {
            pod: owned(),
            manifest: Manifest::File(owned()),
        }];
        fix.but = vec![Caveat::Node(owned())];
        fix.not = vec![Useless::Editing(owned())];
    }
    report
}

/// Every report that the formats are tried on, with its name.
pub(super) fn reports() -> Vec<(String, Report)> {
    let mut reports = Vec::new();
    let long = "näme.".repeat(2_000);
    for verdict in Verdict::ALL {
        let name = verdict.word();
        reports.push((format!("{name}, plain"), report(verdict)));
        reports.push((format!("{name}, hostile"), filled(verdict, HOSTILE)));
        reports.push((format!("{name}, long"), filled(verdict, &long)));
        reports.push((format!("{name}, empty"), filled(verdict, "")));
        let bare = Report {
            chains: Vec::new(),
            fix: None,
            evidence: Vec::new(),
            ..report(verdict)
        };
        reports.push((format!("{name}, bare"), bare));
        let without_fix = Report {
            fix: None,
            ..report(verdict)
        };
        reports.push((format!("{name}, without a fix"), without_fix));
    }
    reports
}
