//! Rules of a packet filter that are made to cost: a container can write its
//! own, and anybody can paste some.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use kdns::path::{Condition, Host, Outcome, Site, Start, Tree, Verdict};
use kdns::rules::{Rules, Text};
use kdns::text::Source;

/// A query of a pod, which goes through these rules.
fn send(rules: impl Text + Send + 'static) -> Tree {
    let rules = Rules::parse(vec![Box::new(rules)]).unwrap();
    let node = Host {
        rules,
        ..Host::default()
    };
    let site = Site { node, own: None };
    let [from, to] = ["10.244.0.7", "10.244.1.5"].map(|it| it.parse::<IpAddr>().unwrap());
    site.to_servers(&[to], from, &Start::Link { name: None })
        .remove(0)
}

fn source(text: String) -> Source {
    Source::new("rules.txt", text)
}

/// Rules that each depend on something else that is not known, in three shapes.
fn uncertain(count: usize, action: impl Fn(usize) -> String) -> String {
    let rule = |it: usize| {
        let action = action(it);
        format!("-A FORWARD -m recent --rcheck --name a{it} --rsource -j {action}\n")
    };
    let rules: String = (0..count).map(rule).collect();
    format!(
        "*filter\n:FORWARD ACCEPT [0:0]\n{rules}-A FORWARD -m mark --mark 0x1/0x1 -j DROP\nCOMMIT\n"
    )
}

/// With every mark the ways double, and with every end there is one more that
/// depends on all before.
#[test]
fn ways_are_followed_in_bounded_number() {
    let marked = |count| {
        uncertain(count, |it| {
            format!("MARK --set-xmark {0:#x}/{0:#x}", 1 << it)
        })
    };
    let dropped = |count| uncertain(count, |_| "DROP".to_owned());
    for (text, most) in [(marked(30), 1_100), (dropped(5_000), 200)] {
        let tree = send(source(text));
        let assumed = tree.outcomes.iter().map(|it| it.depends_on.len());
        assert!(tree.outcomes.len() < most, "{}", tree.outcomes.len());
        assert!(assumed.max() < Some(100));
        assert_eq!(tree.verdict, Verdict::Unknown);
    }
    // Chains that call the next one three times, and lots that set marks.
    let calls = |it: usize| format!("-A C{it} -j C{}\n", it + 1).repeat(3);
    let chains: Vec<String> = (0..15).map(|it| format!(":C{it} - [0:0]\n")).collect();
    let chains = chains.concat();
    let calls: String = (0..15).map(calls).collect();
    let calls = format!(
        "*filter\n:FORWARD ACCEPT [0:0]\n{chains}:C15 - [0:0]\n-A FORWARD -j C0\n{calls}COMMIT\n"
    );
    let tree = send(source(calls));
    assert!(tree.outcomes.iter().all(|it| it.steps.len() < 2_100));
    assert_eq!(tree.verdict, Verdict::Unknown);
    let lot = |it: u32| {
        let lot = "-m statistic --mode random --probability 0.5";
        format!(
            "-A FORWARD {lot} -j MARK --set-xmark {0:#x}/{0:#x}\n",
            1_u32 << it
        )
    };
    let lots: String = (0..30).map(lot).collect();
    let tree = send(source(format!(
        "*mangle\n:FORWARD ACCEPT [0:0]\n{lots}COMMIT\n"
    )));
    assert_eq!((tree.verdict, tree.outcomes.len()), (Verdict::Unknown, 1));
    // What is only long is followed to its end.
    for (text, verdict) in [(marked(6), 2), (dropped(20), 21)] {
        let tree = send(source(text));
        let is_given_up = |it: &Outcome| {
            it.depends_on
                .iter()
                .any(|it| it.condition == Condition::TooMany)
        };
        assert_eq!(tree.outcomes.len(), verdict);
        assert!(!tree.outcomes.iter().any(is_given_up));
    }
}

/// Counts how often it is read.
#[derive(Debug)]
struct Counted(Source, Arc<AtomicUsize>);

impl Text for Counted {
    fn name(&self) -> &str {
        Text::name(&self.0)
    }

    fn length(&self) -> u64 {
        self.0.length()
    }

    fn read_at(&self, at: u64, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.read_at(at, buffer)
    }
}

/// A chain that calls itself twice brings the same end 65,000 times: what led
/// there is written once.
#[test]
fn what_ends_alike_is_written_once() {
    let text = "*filter\n:FORWARD ACCEPT [0:0]\n:A - [0:0]\n-A FORWARD -j A\n\
                -A A -m recent --rcheck --name a --rsource -m mark ! --mark 0x1/0x1 -j DROP\n\
                -A A -m statistic --mode random --probability 0.5 -j A\n\
                -A A -m statistic --mode random --probability 0.5 -j A\n\
                COMMIT\n";
    let reads = Arc::new(AtomicUsize::new(0));
    send(Counted(source(text.to_owned()), Arc::clone(&reads)));
    let reads = reads.load(Ordering::Relaxed);
    assert!(reads < 1_000, "read {reads} times");
}
