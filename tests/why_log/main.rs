//! What `kdns why` says about logs, held against logs whose truth is known.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may stop at the first surprise"
)]

mod long;
mod made;

use kdns::why::Catalogue;
use kdns::why::log::{
    Advice, Pods, Reading, Resolver, Settings, Summary, Tally, Waste, parse_time,
};

use self::made::{Made, make};

fn tally(log: &str, settings: &Settings) -> Tally {
    let mut reading = Reading::new("log".to_owned(), settings);
    // As pipes give it.
    for chunk in log.as_bytes().chunks(4099) {
        reading.push(chunk);
    }
    reading.end()
}

fn summary(log: &str) -> Summary {
    let settings = Settings::default();
    tally(log, &settings).finish(&settings, &Pods::default())
}

fn plain(made: &Made) -> String {
    with(made, |_, text| text.to_owned())
}

/// Its lines, each wrapped.
fn with(made: &Made, wrap: impl Fn(u64, &str) -> String) -> String {
    let lines = made.lines.iter();
    lines.map(|it| wrap(it.at, &it.text) + "\n").collect()
}

#[test]
fn the_waste_found_is_the_waste_made() {
    for seed in 1..=20 {
        let made = make(seed, 1500);
        assert!(made.failed_lookups > 100 && made.waste > 1000);
        let found = summary(&plain(&made));
        assert_eq!(found.queries, made.lines.len() as u64, "seed {seed}");
        let mut wrong = Vec::new();
        for row in &found.clients.first {
            let address = if row.address.contains(':') {
                format!("[{}]", row.address)
            } else {
                row.address.clone()
            };
            let truth = made.waste_of.get(&address).copied().unwrap_or(0);
            if truth != row.waste {
                wrong.push(format!("{address}: {} for {truth}", row.waste));
            }
        }
        for row in &found.names.first {
            let truth = made.waste_for.get(&row.name).copied().unwrap_or(0);
            if row.waste != truth {
                wrong.push(format!("{}: {} for {truth}", row.name, row.waste));
            }
        }
        assert!(wrong.is_empty(), "seed {seed}: {wrong:#?}");
        assert_eq!(found.waste, Waste::Known(made.waste), "seed {seed}");
    }
}

/// Clients that always search as their resolver does are recognised, and none is
/// taken for another.
#[test]
fn resolvers_are_told_by_their_habits() {
    let (mut told, mut all) = (0, 0);
    for seed in 1..=5 {
        let made = make(seed, 3000);
        for row in &summary(&plain(&made)).clients.first {
            let address = if row.address.contains(':') {
                format!("[{}]", row.address)
            } else {
                row.address.clone()
            };
            let found = match row.resolver {
                Some(Resolver::Glibc) => "glibc",
                Some(Resolver::Musl) => "musl",
                Some(Resolver::Go) => "go",
                Some(Resolver::CAres) => "c-ares",
                Some(Resolver::GlibcOrMusl) | None => "",
            };
            all += 1;
            told += usize::from(!found.is_empty());
            let truth = made.resolvers[&address];
            assert!(
                found.is_empty() || found == truth,
                "{address}: {found}, not {truth}"
            );
        }
    }
    assert!(told * 10 >= all * 9, "{told} of {all}");
}

#[test]
fn wrappers_change_nothing() {
    let made = make(31, 800);
    let stamp = |at: u64| {
        let (seconds, rest) = (at / 1_000_000_000, at % 1_000_000_000);
        let (minutes, seconds) = (seconds / 60, seconds % 60);
        format!(
            "2026-11-21T{:02}:{:02}:{seconds:02}.{rest:09}Z",
            minutes / 60,
            minutes % 60
        )
    };
    let json = |text: &str| serde_json::to_string(text).unwrap();
    let wrapped = [
        with(&made, |at, text| format!("{} {text}", stamp(at))),
        with(&made, |at, text| format!("{} stdout F {text}", stamp(at))),
        with(&made, |at, text| {
            let (one, two) = text.split_at(text.len() / 2);
            format!("{0} stdout P {one}\n{0} stdout F {two}", stamp(at))
        }),
        with(&made, |at, text| {
            format!("[pod/coredns-1/coredns] {} {text}", stamp(at))
        }),
        with(&made, |at, text| {
            let line = json(&format!("{text}\n"));
            format!(
                "{{\"log\":{line},\"stream\":\"stdout\",\"time\":\"{}\"}}",
                stamp(at)
            )
        }),
        with(&made, |at, text| {
            format!(
                "__CURSOR=x\n__REALTIME_TIMESTAMP={}\nMESSAGE={text}\n",
                at / 1000
            )
        }),
        with(&made, |_, text| {
            format!("I1121 02:07:12.831987       1 log.go:184] {text}")
        }),
        with(&made, |_, text| format!("{text}\r")),
    ];
    for log in wrapped {
        let found = summary(&log);
        let head: String = log.chars().take(200).collect();
        assert_eq!(found.queries, made.lines.len() as u64, "{head}");
        assert_eq!(found.waste, Waste::Known(made.waste), "{head}");
    }
}

/// Queries of a lookup go to several servers, whose logs are read together: what
/// is found is near the truth, and never more than it by much.
#[test]
#[expect(clippy::format_collect, reason = "a few short pieces")]
fn logs_of_two_servers_are_settled() {
    let settings = Settings::default();
    for seed in 41..=44 {
        let made = make(seed, 3000);
        let log = |server: u64| -> String {
            let lines = made.lines.iter().filter(|it| it.flow % 2 == server);
            lines.map(|it| format!("{}\n", it.text)).collect()
        };
        let mut both = tally(&log(0), &settings);
        both.merge(tally(&log(1), &settings));
        let found = both.finish(&settings, &Pods::default());
        assert_eq!(found.queries, made.lines.len() as u64);
        let Waste::Known(waste) = found.waste else {
            panic!("unknown");
        };
        let difference = waste.abs_diff(made.waste);
        assert!(difference * 4 <= made.waste, "{waste} for {}", made.waste);
    }
}

/// A log that is cut in two is the same log.
#[test]
#[expect(clippy::format_collect, reason = "a few short pieces")]
fn rotated_logs_are_one() {
    let settings = Settings::default();
    let made = make(51, 1000);
    let (one, two) = made.lines.split_at(made.lines.len() / 2);
    let log = |lines: &[made::Line]| -> String {
        lines.iter().map(|it| format!("{}\n", it.text)).collect()
    };
    let mut both = tally(&log(one), &settings);
    both.merge(tally(&log(two), &settings));
    let found = both.finish(&settings, &Pods::default());
    assert_eq!(found.queries, made.lines.len() as u64);
    let Waste::Known(waste) = found.waste else {
        panic!("unknown");
    };
    assert!(
        waste.abs_diff(made.waste) * 100 <= made.waste,
        "{waste} for {}",
        made.waste
    );
}

/// A log with a class has no answers, and cannot tell waste.
#[test]
#[expect(clippy::format_collect, reason = "a few short pieces")]
fn a_filtered_log_cannot_tell() {
    let made = make(61, 1000);
    let failures: String = made
        .lines
        .iter()
        .filter(|it| !it.text.contains(" NOERROR "))
        .map(|it| format!("{}\n", it.text))
        .collect();
    assert_eq!(summary(&failures).waste, Waste::Unknown);
    // Lookups that all failed are none.
    let failed =
        "[INFO] 10.0.0.7:4000 - 1 \"A IN x.example.com.a.svc.cluster.local. udp 56 false 512\" \
        NXDOMAIN qr,aa,rd 149 0.0001s\n\
        [INFO] 10.0.0.7:4001 - 2 \"A IN x.example.com.svc.cluster.local. udp 54 false 512\" \
        NXDOMAIN qr,aa,rd 147 0.0001s\n\
        [INFO] 10.0.0.7:4002 - 3 \"A IN x.example.com.cluster.local. udp 50 false 512\" \
        NXDOMAIN qr,aa,rd 143 0.0001s\n\
        [INFO] 10.0.0.7:4003 - 4 \"A IN x.example.com. udp 36 false 512\" \
        NXDOMAIN qr,aa,rd 120 0.0001s\n"
            .repeat(5);
    assert_eq!(summary(&failed).waste, Waste::Known(0));
}

#[test]
fn only_lines_of_the_time_count() {
    let line = |minute: u32| {
        format!(
            "2026-11-21T02:{minute:02}:00Z [INFO] 10.0.0.7:40 - 9 \"A IN a.example. udp 27 false 512\" \
             NOERROR qr,rd 43 0.0001s\n"
        )
    };
    let log: String = (0..60).map(line).collect();
    let settings = Settings {
        since: parse_time("2026-11-21T02:10:00Z"),
        until: parse_time("2026-11-21T02:20:00Z"),
        ..Settings::default()
    };
    let found = tally(&log, &settings).finish(&settings, &Pods::default());
    assert_eq!((found.queries, found.minutes.len()), (10, 10));
}

/// Whatever is in a log, memory stays bounded and nothing fails.
#[test]
fn names_without_end_are_bounded() {
    let mut log = String::new();
    for number in 0..300_000u64 {
        let name = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        log += &format!(
            "[INFO] 10.{}.{}.7:4000 - 1 \"A IN {name:x}.example.com. udp 40 false 512\" NXDOMAIN \
             qr,rd 100 0.0001s\n",
            number % 250,
            number / 250 % 250
        );
        if number % 3 == 0 {
            log += "[INFO] 10.0.0.1:4000 - 1 \"A IN often.example.com. udp 40 false 512\" NOERROR \
                    qr,rd 56 0.0001s\n";
        }
    }
    let found = summary(&log);
    assert_eq!(found.queries, 400_000);
    assert_eq!(found.waste, Waste::Known(0));
    let first = &found.names.first[0];
    assert_eq!(first.name, "often.example.com");
    assert!(first.queries <= 100_000 && first.queries + found.names.error >= 100_000);
    assert!(found.names.all <= 1 << 15);
}

#[test]
fn what_is_no_log_is_read_in_peace() {
    let mut state = 7u64;
    let mut bytes = Vec::new();
    for _ in 0..200_000 {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let pick = b"[INFO] \"A IN ...:-0123456789NOERROR{}\n\n\xff\0";
        bytes.push(pick[usize::try_from(state >> 33).unwrap() % pick.len()]);
    }
    let settings = Settings::default();
    let mut reading = Reading::new("log".to_owned(), &settings);
    reading.push(&bytes);
    let found = reading.end().finish(&settings, &Pods::default());
    assert!(found.lines > 1000);
}

#[test]
fn what_fails_in_a_log_has_causes() {
    let query = |name: &str, end: &str| {
        format!("[INFO] 10.244.0.7:4000 - 1 \"A IN {name}. udp 40 false 512\" {end}\n")
    };
    let good = query("a.example", "NOERROR qr,rd,ra 60 0.01s");
    let silent = query("b.example", "- - 0 2.0s");
    let failed = query("c.example", "SERVFAIL qr,rd,ra 60 0.01s");
    let slow = query("d.example", "NOERROR qr,rd,ra 60 2.5s");
    let line = "[ERROR] plugin/errors: 2 e.example. A: read udp 10.244.0.9:4000->10.0.0.2:53: i/o timeout\n";
    let catalogue = Catalogue::built_in();
    let worst = |log: &[&str]| {
        let worst = summary(&log.concat()).worst(catalogue);
        worst.map(|it| (it.message.id.to_owned(), it.causes.first().unwrap().1.code))
    };
    assert_eq!(worst(&[&good]), None);
    let of = |id: &str, code| Some((id.to_owned(), code));
    assert_eq!(
        worst(&[&good, &slow]),
        of("coredns-log-slow", "slow-upstream")
    );
    assert_eq!(worst(&[&slow, &failed]).unwrap().0, "coredns-log-servfail");
    assert_eq!(
        worst(&[&failed, &silent]).unwrap().0,
        "coredns-log-unanswered"
    );
    assert_eq!(worst(&[&silent, line]).unwrap().0, "coredns-udp-timeout");
}

#[test]
fn services_asked_for_in_vain_are_named() {
    let query = |name: &str, end: &str| {
        format!("[INFO] 10.244.0.7:4000 - 1 \"A IN {name}. udp 40 false 512\" {end}\n")
    };
    let good = query("web.prod.svc.cluster.local", "NOERROR qr,aa,rd 60 0.0001s");
    let gone = query("db.prod.svc.cluster.local", "NXDOMAIN qr,aa,rd 144 0.0001s");
    let outside = query("db.example", "NXDOMAIN qr,rd,ra 100 0.01s");
    let failed = query("c.example", "SERVFAIL qr,rd,ra 60 0.01s");
    let codes = |log: &[&str]| {
        let advice = summary(&log.concat()).advice;
        let codes: Vec<&str> = advice.iter().map(Advice::code).collect();
        codes.contains(&"service-without-record")
    };
    assert!(codes(&[&good, &gone]));
    assert!(!codes(&[&good, &outside]));
    // Once it was there; a server that fails may have lost it; and only failures are logged.
    let found = gone.replace("NXDOMAIN", "NOERROR");
    assert!(!codes(&[&good, &gone, &found]));
    assert!(!codes(&[&good, &gone, &failed]));
    assert!(!codes(&[&gone, &gone]));
}

#[test]
fn a_name_that_is_there_by_turns_is_named() {
    let query = |name: &str, kind: &str, end: &str| {
        format!("[INFO] 10.244.0.7:4000 - 1 \"{kind} IN {name}. udp 40 false 512\" {end}\n")
    };
    let pod = "web-0.web.prod.svc.cluster.local";
    let there = query(pod, "A", "NOERROR qr,aa,rd 106 0.0001s");
    let gone = query(pod, "A", "NXDOMAIN qr,aa,rd 148 0.0001s");
    let aaaa = query(pod, "AAAA", "NXDOMAIN qr,aa,rd 148 0.0001s");
    let found = |log: &[&str]| {
        let advice = summary(&log.concat()).advice;
        let turns = advice.into_iter().find(|it| it.code() == "name-by-turns");
        turns.map(|it| match it {
            Advice::ByTurns {
                denied,
                queries,
                is_service,
                ..
            } => (denied, queries, is_service),
            other => panic!("{other:?}"),
        })
    };
    let often = [&there, &gone, &there, &gone, &there];
    assert_eq!(found(&often.map(String::as_str)), Some((2, 5, true)));
    // Made again, and the logs of two pods one after the other.
    assert_eq!(found(&[&there, &gone, &there]), None);
    assert_eq!(found(&[&gone, &there, &gone, &there]), None);
    // Two pods, of which one keeps for some seconds that a new name is not there.
    let [first, second] = ["a", "b"].map(|it| format!("[pod/coredns-{it}/coredns] "));
    let new = [&first, &there, &second, &gone]
        .map(String::as_str)
        .repeat(5);
    assert_eq!(found(&[new.as_slice(), &[&second, &there]].concat()), None);
    // One of them is wrong again and again.
    let wrong = [&first, &there, &second, &gone, &second, &there].map(String::as_str);
    assert_eq!(found(&wrong.repeat(3)), Some((3, 9, true)));
    // A new Service, and one that was deleted; a server that is wrong about AAAA.
    assert_eq!(found(&[&gone, &gone, &there]), None);
    assert_eq!(found(&[&there, &gone]), None);
    assert_eq!(found(&[&there, &aaaa, &there, &aaaa]), None);
    let outside = often.map(|it| it.replace(pod, "db.corp.example"));
    assert_eq!(
        found(&outside.each_ref().map(String::as_str)),
        Some((2, 5, false))
    );
}
