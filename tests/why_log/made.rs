//! A log whose truth is known: lookups of many clients at once, each played by the
//! model of its resolver, as lines of `CoreDNS`.

use std::collections::BTreeMap;
use std::time::Duration;

use hickory_proto::rr::RecordType;
use kdns::config::resolv_conf::ResolvConf;
use kdns::engine::io::Came;
use kdns::engine::machine::Outcome;
use kdns::engine::message::Rcode;
use kdns::resolver;
use kdns::scenario::Scenario;
use kdns::text::Source;
use kdns::world::{Effect, Rule};

/// A line and when it is written, in nanoseconds.
pub(crate) struct Line {
    pub(crate) at: u64,
    /// The line without anything before it.
    pub(crate) text: String,
    /// What decides which server of several is asked.
    pub(crate) flow: u64,
}

/// A log and what is true of it.
#[derive(Default)]
pub(crate) struct Made {
    pub(crate) lines: Vec<Line>,
    pub(crate) waste: u64,
    /// By client.
    pub(crate) waste_of: BTreeMap<String, u64>,
    /// By the name that was looked up.
    pub(crate) waste_for: BTreeMap<String, u64>,
    pub(crate) failed_lookups: u64,
    /// By client.
    pub(crate) resolvers: BTreeMap<String, &'static str>,
}

/// Random numbers, the same every time.
struct Random(u64);

impl Random {
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    fn one<'t, T>(&mut self, all: &'t [T]) -> &'t T {
        let index = self.below(all.len() as u64);
        &all[usize::try_from(index).unwrap()]
    }
}

/// What is looked up. Names that share a beginning or an end are among them.
const NAMES: [&str; 26] = [
    "web",
    "web.shop",
    "web.shop.svc",
    "web.shop.svc.cluster.local",
    "web.shop.svc.cluster.local.",
    "db",
    "db.prod",
    "db-0.db.prod",
    "db-0.db.prod.svc.cluster.local",
    "kubernetes.default",
    "kubernetes.default.svc",
    "api.example.com",
    "api.example.com.",
    "www.api.example.com",
    "api.example",
    "a-long-name-of-more-than-sixteen.region-1.cloud.example.net",
    "only-four.example.org",
    // These are not found.
    "typo.example.com",
    "nope",
    "web.prod",
    "api.example.com.eu",
    "no.such.example.org",
    "nor-that.example.org",
    "broken.example.net",
    "half-broken.example.net",
    "refused.example.net",
];

/// The names that there are; what is behind `/` says only what.
const FOUND: [&str; 15] = [
    "web.default.svc.cluster.local",
    "web.shop.svc.cluster.local",
    "db.prod.svc.cluster.local",
    "db-0.db.prod.svc.cluster.local",
    "kubernetes.default.svc.cluster.local",
    "api.example.com",
    "www.api.example.com",
    "api.example",
    "a-long-name-of-more-than-sixteen.region-1.cloud.example.net",
    "only-four.example.org/A",
    "ec2.internal/",
    "intranet.ec2.internal",
    "half-broken.example.net/A",
    "db.ec2.internal",
    "nope.example.com.eu.corp.example",
];

fn rules() -> Vec<Rule> {
    let delay = Duration::from_millis(1);
    let rule = |name: &str, record_type, effect| Rule {
        name: Some(name.to_owned()),
        record_type,
        effect,
        delay,
        ..Rule::default()
    };
    let failure = |name, record_type, rcode| rule(name, record_type, Effect::Status(rcode));
    let mut rules = vec![
        failure("broken.example.net", None, Rcode::ServFail),
        failure(
            "half-broken.example.net",
            Some(RecordType::AAAA),
            Rcode::ServFail,
        ),
        failure("refused.example.net", None, Rcode::Refused),
    ];
    for found in FOUND {
        let (name, only) = found.split_once('/').unwrap_or((found, "all"));
        let a = vec!["10.1.2.3".parse().unwrap()];
        let aaaa = vec!["fd00::7".parse().unwrap()];
        let effect = Effect::Answer {
            a: if only.is_empty() { Vec::new() } else { a },
            aaaa: if only == "all" { aaaa } else { Vec::new() },
            cname: None,
        };
        rules.push(rule(name, None, effect));
    }
    rules.push(Rule {
        delay,
        ..failure("*", None, Rcode::NxDomain)
    });
    rules
}

/// A client that looks names up.
struct Client {
    address: String,
    resolver: &'static str,
    conf: String,
    busy_until: u64,
}

fn clients(random: &mut Random) -> Vec<Client> {
    let spaces = ["default", "shop", "prod", "kube-system"];
    let client = |number: usize, random: &mut Random| {
        let space = random.one(&spaces);
        let extra = *random.one(&["", "", " ec2.internal", " ec2.internal corp.example"]);
        let ndots = *random.one(&[5, 5, 5, 2, 1]);
        let resolver = *random.one(&["glibc", "musl", "go", "c-ares"]);
        let conf = format!(
            "search {space}.svc.cluster.local svc.cluster.local cluster.local{extra}\n\
             nameserver 10.96.0.10\noptions ndots:{ndots}\n"
        );
        let address = match number % 5 {
            4 => format!("[fd00::{number:x}]"),
            _ => format!("10.244.{}.{}", number / 200, number % 200 + 1),
        };
        Client {
            address,
            resolver,
            conf,
            busy_until: 0,
        }
    };
    (0..30).map(|number| client(number, random)).collect()
}

/// Makes so many lookups.
pub(crate) fn make(seed: u64, lookups: u64) -> Made {
    let mut random = Random(seed);
    let mut made = Made::default();
    let rules = rules();
    let mut clients = clients(&mut random);
    for _ in 0..lookups {
        let index = usize::try_from(random.below(clients.len() as u64)).unwrap();
        let client = &mut clients[index];
        let mut name = *random.one(&NAMES);
        // musl gives up where AAAA fails, which no line says.
        if client.resolver == "musl" && name.starts_with("half-") {
            name = "web";
        }
        let mut scenario = Scenario::new("made", name);
        scenario.resolv_conf = Some(ResolvConf::parse(Source::new(
            "resolv.conf",
            client.conf.clone(),
        )));
        scenario.answers.clone_from(&rules);
        // Two lookups of a client often overlap, but for the same name.
        let start = client.busy_until + random.below(3_000_000);
        let end = lookup(&mut made, client, &scenario, name, start, &mut random);
        client.busy_until = end + 1_000_000;
    }
    made.lines.sort_by_key(|it| it.at);
    let resolver = |it: &Client| (it.address.clone(), it.resolver);
    made.resolvers = clients.iter().map(resolver).collect();
    made
}

/// Plays a lookup, and writes its lines. When it ends.
#[expect(clippy::too_many_lines, reason = "one case after the other")]
fn lookup(
    made: &mut Made,
    client: &Client,
    scenario: &Scenario,
    name: &str,
    start: u64,
    random: &mut Random,
) -> u64 {
    let model = resolver::find(client.resolver).unwrap();
    let run = model.predict(scenario);
    let is_found = matches!(&run.outcome, Outcome::Found(found) if !found.is_empty());
    made.failed_lookups += u64::from(!is_found);
    let mut queries = Vec::new();
    let ports: Vec<u64> = (0..64).map(|_| 32768 + random.below(28000)).collect();
    let mut id = random.below(60000);
    for sent in &run.sent {
        let Some(query_name) = sent.query.name() else {
            continue;
        };
        let Some(Came::Reply(reply)) = &sent.came else {
            continue;
        };
        let record = match sent.query.record_type() {
            Some(RecordType::A) => "A",
            _ => "AAAA",
        };
        id = if client.resolver == "musl" {
            id + 900
        } else {
            random.below(65536)
        };
        let text = query_name.to_string();
        let text = text.trim_end_matches('.').to_owned();
        queries.push((
            text.clone(),
            reply.rcode == Rcode::NoError && !reply.answers.is_empty(),
        ));
        let edns = u64::from(sent.query.edns.is_some());
        let question = text.len() as u64 + 18;
        let size = question + 11 * edns;
        let (word, length) = match reply.rcode {
            Rcode::NoError if !reply.answers.is_empty() => {
                ("NOERROR", question + if record == "A" { 16 } else { 28 })
            }
            Rcode::NoError => ("NOERROR", question + 75),
            Rcode::NxDomain => ("NXDOMAIN", question + 75),
            Rcode::Refused => ("REFUSED", question),
            _ => ("SERVFAIL", question),
        };
        let port = ports[sent.query.socket.0 as usize % ports.len()];
        let buffer = if edns == 1 { 1232 } else { 512 };
        let at = u64::try_from(sent.at.as_nanos()).unwrap() + 1_000_000 + random.below(400_000);
        made.lines.push(Line {
            at: start + at,
            text: format!(
                "[INFO] {}:{port} - {} \"{record} IN {text}. udp {size} false {buffer}\" {word} \
                 qr,aa,rd {length} 0.000{:06}s",
                client.address,
                id % 65536,
                random.below(999_999),
            ),
            flow: port + id,
        });
    }
    let winner = queries.iter().rev().find(|it| it.1).map(|it| it.0.clone());
    if let Some(winner) = winner.filter(|_| is_found) {
        let waste = queries.iter().filter(|it| it.0 != winner).count() as u64;
        made.waste += waste;
        *made.waste_of.entry(client.address.clone()).or_default() += waste;
        *made
            .waste_for
            .entry(name.trim_end_matches('.').to_owned())
            .or_default() += waste;
    }
    start + u64::try_from(run.elapsed.as_nanos()).unwrap()
}
