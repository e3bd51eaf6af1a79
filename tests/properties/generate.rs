//! Scenarios from pieces that resolvers treat differently.

use std::time::Duration;

use hickory_proto::rr::RecordType;
use kdns::engine::io::Wrong;
use kdns::engine::message::{Rcode, Transport};
use kdns::name::Name;
use kdns::scenario::{Family, Lookup, Scenario, file};
use kdns::world::{Effect, Rule};

/// Numbers that look random and are the same in every run (xorshift64*).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let number = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33;
        usize::try_from(number).unwrap() % bound
    }

    #[expect(clippy::indexing_slicing, reason = "the index is below the length")]
    pub(crate) fn pick<'p, T>(&mut self, pieces: &'p [T]) -> &'p T {
        let index = self.below(pieces.len());
        &pieces[index]
    }

    pub(crate) fn chance(&mut self, one_in: usize) -> bool {
        self.below(one_in) == 0
    }
}

const NAMES: &[&str] = &[
    "web",
    "web.",
    "db.prod",
    "api.example.com",
    "api.example.com.",
    ".",
    "..",
    "a..b",
    "",
    "-x",
    "_http._tcp.web.prod",
    "localhost",
    "x.localhost",
    "127.1",
    "10.0.0.1",
    "::1",
    "fe80::1%eth0",
    "pod-1",
    "a b",
    "a\\.b",
    "b\u{fc}cher.example",
    "*.example.com",
    "1.2.3",
    "WEB.Prod",
];

const LINES: &[&str] = &[
    "nameserver 10.96.0.10",
    "nameserver 10.0.0.53",
    "nameserver 192.0.2.1",
    "nameserver ::1",
    "nameserver fe80::1%eth0",
    "nameserver 0.0.0.0",
    "nameserver ns.example",
    "nameserver",
    " nameserver 10.0.0.9",
    "nameserver 10.0.0.1 # comment",
    "nameserver 10.0.0.2\r",
    "search default.svc.cluster.local svc.cluster.local cluster.local",
    "search a.test b.test",
    "search",
    "search .",
    "search a..test a.test",
    "search a.test.",
    "domain corp.example",
    "options ndots:5",
    "options ndots:0",
    "options ndots:99",
    "options ndots:-1",
    "options ndots:",
    "options timeout:1 attempts:1",
    "options rotate",
    "options single-request",
    "options use-vc",
    "options edns0 trust-ad",
    "options no-tld-query",
    "options single-request-reopen",
    "# comment",
    "; comment",
    "",
    "sortlist 10.0.0.0/8",
    "nonsense",
    "\0",
    "options\tndots:2",
];

const ENVIRONMENT: &[(&str, &str)] = &[
    ("LOCALDOMAIN", "env.test"),
    ("LOCALDOMAIN", ""),
    ("RES_OPTIONS", "ndots:3"),
    ("RES_OPTIONS", "use-vc"),
    ("HOSTALIASES", "/etc/aliases"),
    ("HOSTALIASES", "/tmp/aliases"),
];

const HOST_NAMES: &[&str] = &["pod-1", "node.corp.example", "web", "", "a.b.", ".x"];

pub(crate) fn scenarios(count: usize) -> impl Iterator<Item = Scenario> {
    let mut random = Random(0x6b64_6e73);
    (0..count).map(move |number| scenario(number, &mut random))
}

fn scenario(number: usize, random: &mut Random) -> Scenario {
    let long: String = [
        &*"l".repeat(63),
        &*"m".repeat(63),
        &*"n".repeat(63),
        &*"o".repeat(50),
    ]
    .join(".");
    let name = if random.chance(12) {
        long
    } else {
        (*random.pick(NAMES)).to_owned()
    };
    let mut scenario = Scenario::new(format!("generated-{number}"), name);
    let lines: Vec<&str> = (0..random.below(7)).map(|_| *random.pick(LINES)).collect();
    let end = *random.pick(&["\n", ""]);
    scenario.resolv_conf =
        (!random.chance(15)).then(|| file("/etc/resolv.conf", lines.join("\n") + end));
    for _ in 0..random.below(3) {
        let (key, value) = *random.pick(ENVIRONMENT);
        scenario.env.insert(key.to_owned(), value.to_owned());
    }
    if let Some(path) = scenario.env.get("HOSTALIASES") {
        let aliases = b"web alias.example\nDB db.example\nbroken\n".to_vec();
        scenario.files.insert(path.clone(), aliases);
    }
    scenario.hostname = String::from(*random.pick(HOST_NAMES));
    if random.chance(6) {
        scenario.hosts = None;
    }
    let nsswitch = [
        "hosts: dns files\n",
        "hosts: files\n",
        "hosts: dns [!UNAVAIL=return] files\n",
        "x\0\n",
    ];
    if random.chance(5) {
        scenario.nsswitch = random
            .chance(2)
            .then(|| file("/etc/nsswitch.conf", *random.pick(&nsswitch)));
    }
    if random.chance(6) {
        scenario.interfaces = vec!["lo".to_owned(), "ens3".to_owned()];
    }
    scenario.lookup = *random.pick(&[
        Lookup::Addresses(Family::Both),
        Lookup::Addresses(Family::Both),
        Lookup::Addresses(Family::Inet),
        Lookup::Addresses(Family::Inet6),
        Lookup::Records(RecordType::MX),
        Lookup::Records(RecordType::from(65_280)),
    ]);
    scenario.answers = (0..random.below(4)).map(|_| rule(random)).collect();
    scenario
}

fn rule(random: &mut Random) -> Rule {
    let effect = match random.below(12) {
        0..=3 => Effect::Answer {
            a: (0..random.below(3))
                .map(|n| [192, 0, 2, u8::try_from(n).unwrap()].into())
                .collect(),
            aaaa: (0..random.below(2))
                .map(|_| "2001:db8::7".parse().unwrap())
                .collect(),
            cname: random
                .chance(3)
                .then(|| Name::from_plain(b"alias.example").unwrap()),
        },
        4 => Effect::Status(Rcode::NoError),
        5 => Effect::Status(Rcode::ServFail),
        6 => Effect::Status(Rcode::Refused),
        7 => Effect::Status(Rcode::FormErr),
        8 => Effect::Timeout,
        9 => Effect::Truncated,
        10 => Effect::Icmp,
        _ => random
            .pick(&[Effect::Fin, Effect::Reset, Effect::Unreachable])
            .clone(),
    };
    Rule {
        name: random.chance(2).then(|| {
            let patterns = [
                "*",
                "web*",
                "*.example.com",
                "*.svc.cluster.local",
                "db.prod",
            ];
            (*random.pick(&patterns)).to_owned()
        }),
        record_type: random
            .chance(3)
            .then(|| *random.pick(&[RecordType::A, RecordType::AAAA])),
        server: random.chance(5).then(|| "10.96.0.10".parse().unwrap()),
        transport: random
            .chance(6)
            .then(|| *random.pick(&[Transport::Udp, Transport::Tcp])),
        edns: random.chance(9).then(|| random.chance(2)),
        nth: random.chance(8).then(|| 1 + random.below(3)),
        up_to: random.chance(8).then(|| 1 + random.below(3)),
        effect,
        delay: Duration::from_millis(*random.pick(&[0, 0, 0, 30, 6_000])),
        soa: !random.chance(6),
        recursion_available: !random.chance(6),
        opt: !random.chance(6),
        authentic_data: random.chance(6),
        is_doubled: random.chance(9),
        wrong: random
            .chance(20)
            .then(|| *random.pick(&[Wrong::Id, Wrong::Question, Wrong::Source])),
    }
}
