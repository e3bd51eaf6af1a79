//! Every resolver in a world that was made up: it ends, asks nothing after a
//! final success, and what is said about it is what it did.

use std::net::Ipv4Addr;
use std::time::Duration;

use hickory_proto::rr::RecordType;
use kdns::engine::io::Wrong;
use kdns::engine::machine::Outcome;
use kdns::engine::message::{Because, Rcode, Transport};
use kdns::explain::plan::{Candidate, candidates};
use kdns::explain::transition::{Detail, run_when};
use kdns::explain::{Context, explain};
use kdns::name::{MAX_LABEL_BYTES, MAX_WIRE_BYTES, Name};
use kdns::render::Style;
use kdns::render::explanation;
use kdns::resolver::{self, Resolver};
use kdns::scenario::{Family, Lookup, Scenario, file};
use kdns::simulation::{MAX_QUERIES, Run, Sent, run_while};
use kdns::world::{Effect, Rule, World};

use super::{SEPARATOR, printable_lines};

/// A resolver waits at most so often for each query that it sends.
const WAITS_A_QUERY: usize = 64;

/// Numbers, then texts: name, resolv.conf, hosts, nsswitch.conf, `RES_OPTIONS`.
pub(crate) fn run(data: &[u8]) {
    let mut bytes = Bytes(data);
    let chosen = usize::from(bytes.number());
    let scenario = scenario(&mut bytes);
    for resolver in resolver::ALL {
        ends(&scenario, resolver);
    }
    let resolver = &resolver::ALL[chosen % resolver::ALL.len()];
    nothing_follows(&scenario, resolver);
    explained(&scenario, resolver, chosen > 127);
}

/// What libFuzzer gave, from the beginning; at its end all is 0 and empty.
struct Bytes<'d>(&'d [u8]);

impl<'d> Bytes<'d> {
    fn number(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else {
            return 0;
        };
        self.0 = rest;
        first
    }

    fn one_of<T: Clone>(&mut self, all: &[T]) -> T {
        all[usize::from(self.number()) % all.len()].clone()
    }

    fn some<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        (self.number() % 2 == 1).then(|| make(self))
    }

    fn text(&mut self) -> &'d [u8] {
        let end = self.0.iter().position(|&byte| byte == SEPARATOR);
        let end = end.unwrap_or(self.0.len());
        let text = &self.0[..end];
        self.0 = self.0.get(end + 1..).unwrap_or_default();
        text
    }
}

fn scenario(bytes: &mut Bytes<'_>) -> Scenario {
    let text = |it: &[u8]| String::from_utf8_lossy(it).replace('\0', "");
    let lookup = bytes.one_of(&[
        Lookup::Addresses(Family::Both),
        Lookup::Addresses(Family::Inet),
        Lookup::Addresses(Family::Inet6),
        Lookup::Records(RecordType::MX),
        Lookup::Records(RecordType::PTR),
    ]);
    let flags = u32::from(bytes.number() % 64);
    let count = bytes.number() % 5;
    let answers = (0..count).map(|_| rule(bytes)).collect();
    let has = bytes.number();
    let mut scenario = Scenario::new("fuzz", text(bytes.text()));
    let mut next = |bit: u8| (has & bit == 0).then(|| bytes.text());
    scenario.resolv_conf = next(1).map(|it| file("/etc/resolv.conf", it));
    if has & 2 != 0 {
        scenario.hosts = next(4).map(|it| file("/etc/hosts", it));
    }
    if has & 8 != 0 {
        scenario.nsswitch = next(16).map(|it| file("/etc/nsswitch.conf", it));
    }
    if has & 32 != 0 {
        let options = next(64).map(text).unwrap_or_default();
        scenario.env.insert("RES_OPTIONS".to_owned(), options);
    }
    scenario.lookup = lookup;
    scenario.flags = flags;
    scenario.answers = answers;
    scenario
}

fn rule(bytes: &mut Bytes<'_>) -> Rule {
    let effect = match bytes.number() % 12 {
        0..=3 => Effect::Answer {
            a: (0..bytes.number() % 3)
                .map(|it| [192, 0, 2, it].into())
                .collect(),
            aaaa: bytes
                .some(|_| "2001:db8::7".parse().unwrap())
                .into_iter()
                .collect(),
            cname: bytes.some(|it| {
                let names = ["alias.example", "web", "a.b.c.d"];
                Name::from_plain(it.one_of(&names).as_bytes()).unwrap()
            }),
        },
        4..=6 => Effect::Status(bytes.one_of(&[
            Rcode::NoError,
            Rcode::FormErr,
            Rcode::ServFail,
            Rcode::NxDomain,
            Rcode::NotImp,
            Rcode::Refused,
        ])),
        7 => Effect::Timeout,
        8 => Effect::Truncated,
        9 if bytes.number().is_multiple_of(2) => Effect::Fin,
        9 => Effect::Reset,
        10 => Effect::Icmp,
        _ => Effect::Unreachable,
    };
    let which = bytes.number();
    let flags = bytes.number();
    Rule {
        effect,
        name: (which & 1 != 0).then(|| {
            let names = ["*", "web*", "*.local", "*.*.*", "a", ""];
            bytes.one_of(&names).to_owned()
        }),
        record_type: (which & 2 != 0).then(|| bytes.one_of(&[RecordType::A, RecordType::AAAA])),
        server: (which & 4 != 0).then(|| "10.0.0.1".parse().unwrap()),
        transport: (which & 8 != 0).then(|| bytes.one_of(&[Transport::Udp, Transport::Tcp])),
        edns: (which & 16 != 0).then(|| bytes.number().is_multiple_of(2)),
        nth: (which & 32 != 0).then(|| usize::from(bytes.number() % 4)),
        up_to: (which & 64 != 0).then(|| usize::from(bytes.number() % 4)),
        delay: Duration::from_millis(bytes.one_of(&[0, 0, 0, 30, 1_000, 5_000, 6_000, u64::MAX])),
        soa: flags & 1 == 0,
        recursion_available: flags & 2 == 0,
        opt: flags & 4 == 0,
        authentic_data: flags & 8 != 0,
        is_doubled: flags & 32 != 0,
        wrong: (flags & 64 != 0)
            .then(|| bytes.one_of(&[Wrong::Id, Wrong::Question, Wrong::Source])),
    }
}

/// The run of a resolver, which waits only so often.
pub(crate) fn bounded(scenario: &Scenario, resolver: &Resolver) -> Run {
    let mut world = World::new(&scenario.answers).with_interfaces(scenario.interfaces.len());
    let mut waits = 0;
    run_while(resolver.machine(scenario), &mut world, |sent| {
        waits += 1;
        assert!(
            waits <= WAITS_A_QUERY * (sent.len() + 1) + 1000,
            "{} waits without end",
            resolver.id
        );
        true
    })
}

fn ends(scenario: &Scenario, resolver: &Resolver) {
    let run = bounded(scenario, resolver);
    let is_cut = run.sent.len() >= MAX_QUERIES;
    if run.outcome == Outcome::Hung && !is_cut {
        // Only who keeps a connection open and says nothing is waited for, or
        // a query that did not leave over one. The tools of BIND have bugs,
        // which they note, and then wait for nobody.
        let last = run.sent.last().map(|it| it.query.socket);
        let mut of_last = run.sent.iter().filter(|it| Some(it.query.socket) == last);
        let is_open = |it: &Sent| it.came.is_none() && it.query.transport == Transport::Tcp;
        let is_open = of_last.any(is_open);
        let is_lost = |it: &Rule| it.effect == Effect::Unreachable;
        let is_lost = scenario.answers.iter().any(is_lost);
        let is_hidden = resolver.id == "systemd-resolved-stub";
        assert!(
            is_open || is_lost || is_hidden || !run.notes.is_empty(),
            "{} hangs: {:?}",
            resolver.id,
            run.sent.last()
        );
    }
    let longest_name = match resolver.id {
        // It counts without the length bytes of the first label and the root.
        "envoy" => MAX_WIRE_BYTES + 2,
        id if id.starts_with("node-resolve") => MAX_WIRE_BYTES + 2,
        id if id.starts_with("c-ares-1.2") || id.starts_with("c-ares-1.3") => MAX_WIRE_BYTES + 2,
        // They send what is put together, however long it is.
        "nginx" | "haproxy" | "ruby-resolv" | "ruby-resolv-all" => usize::MAX,
        id if id.starts_with("netty") => usize::MAX,
        _ => MAX_WIRE_BYTES,
    };
    for name in run.sent.iter().filter_map(|it| it.query.name()) {
        assert!(name.wire_len() <= longest_name, "{} {name}", resolver.id);
        let longest = name.labels().map(<[u8]>::len).max().unwrap_or(0);
        assert!(longest <= MAX_LABEL_BYTES, "{} {name}", resolver.id);
    }
}

/// A candidate is answered: no other one of the search is asked after it.
fn nothing_follows(scenario: &Scenario, resolver: &'static Resolver) {
    // It asks for all of its names at once.
    if resolver.id == "busybox-nslookup" {
        return;
    }
    let plan = run_when(scenario, resolver, &[]);
    let Some(candidate) = candidates(&plan).into_iter().next() else {
        return;
    };
    let run = run_when(scenario, resolver, &[found(&candidate)]);
    if !matches!(&run.outcome, Outcome::Found(list) if !list.is_empty()) {
        return;
    }
    let name = candidate.name.as_ref();
    let mut later = run
        .sent
        .iter()
        .map(|it| &it.query)
        .skip_while(|it| it.name() != name)
        .filter(|it| matches!(it.because, Because::Search(_) | Because::AsIs))
        .filter(|it| it.name() != name);
    let later = later.next();
    assert!(later.is_none(), "{} asks on: {later:?}", resolver.id);
}

fn found(candidate: &Candidate) -> Rule {
    Rule {
        name: candidate.name.as_ref().map(ToString::to_string),
        effect: Effect::Answer {
            a: vec![Ipv4Addr::new(192, 0, 2, 1)],
            aaaa: vec!["2001:db8::1".parse().unwrap()],
            cname: None,
        },
        ..Rule::default()
    }
}

fn explained(scenario: &Scenario, resolver: &'static Resolver, verbose: bool) {
    let detail = if verbose { Detail::Full } else { Detail::Short };
    let explanation = explain(scenario, Context::default(), &[resolver], detail);
    let style = Style {
        colors: false,
        verbose,
        links: false,
        columns: 80,
    };
    let mut text = Vec::new();
    explanation::write(&explanation, style, &mut text).unwrap();
    printable_lines(&text);
    text.clear();
    explanation::json::write(&explanation, &mut text).unwrap();
    let document: serde_json::Value = serde_json::from_slice(&text).unwrap();
    let said = document.pointer("/groups/0/resolvers/0/queries").unwrap();
    let sent = resolver.predict(scenario).sent.len();
    assert_eq!(said.as_u64(), u64::try_from(sent).ok(), "{}", resolver.id);
}
