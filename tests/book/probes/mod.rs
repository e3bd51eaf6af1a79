//! Questions to a model whose answers show how it behaves: each is a run, or
//! several, and what is said about a resolver is read off them.

pub(crate) mod servers;

use std::time::Duration;

use kdns::engine::machine::Outcome;
use kdns::engine::message::{Because, Rcode};
use kdns::name::Name;
use kdns::resolver::Resolver;
use kdns::scenario::{Scenario, file};
use kdns::simulation::Run;
use kdns::world::{Effect, Rule};

/// One server, three entries.
pub(crate) const PLAIN: &str = "nameserver 10.0.0.1\nsearch a.test b.test c.test\n";
/// What a pod of namespace `default` has.
pub(crate) const POD: &str = "search default.svc.cluster.local svc.cluster.local cluster.local\nnameserver 10.96.0.10\noptions ndots:5\n";
/// More dots than any default or limit.
const MOST_DOTS: usize = 45;

/// The question of `name` with this file.
pub(crate) fn question(resolv_conf: &str, name: &str) -> Scenario {
    let mut scenario = Scenario::new("probe", name);
    scenario.resolv_conf = Some(file("/etc/resolv.conf", resolv_conf));
    scenario
}

/// The run of a question, with these rules; every other name does not exist.
pub(crate) fn run(resolver: &Resolver, mut scenario: Scenario, rules: &[Rule]) -> Run {
    scenario.answers = rules.to_vec();
    resolver.predict(&scenario)
}

/// What `name` gets; every name without one.
pub(crate) fn rule(name: Option<&str>, effect: Effect) -> Rule {
    Rule {
        name: name.map(str::to_owned),
        effect,
        ..Rule::default()
    }
}

/// An address of each family.
pub(crate) fn address() -> Effect {
    Effect::Answer {
        a: vec!["192.0.2.1".parse().unwrap()],
        aaaa: vec!["2001:db8::1".parse().unwrap()],
        cname: None,
    }
}

/// A file with so many servers, from 10.0.0.1 on.
pub(crate) fn servers(count: usize) -> String {
    let lines: Vec<String> = (1..=count)
        .map(|number| format!("nameserver 10.0.0.{number}\n"))
        .collect();
    lines.concat()
}

/// The candidates of a run in order, each once.
pub(crate) fn candidates(run: &Run) -> Vec<(Because, Name)> {
    let mut found = Vec::new();
    for sent in &run.sent {
        let because = &sent.query.because;
        let is_of_name = matches!(because, Because::Search(_) | Because::AsIs);
        if let Some(name) = sent.query.name().filter(|_| is_of_name) {
            let candidate = (because.clone(), name.clone());
            if !found.contains(&candidate) {
                found.push(candidate);
            }
        }
    }
    found
}

/// The fewest dots with which a name is asked as it is before the search list.
pub(crate) fn ndots(resolver: &Resolver, options: &str) -> String {
    let with_dots = |dots: usize| {
        let name = format!("x{}", ".y".repeat(dots));
        let scenario = question(&format!("{PLAIN}{options}"), &name);
        candidates(&run(resolver, scenario, &[]))
    };
    let is_search = |it: &(Because, Name)| matches!(it.0, Because::Search(_));
    let all: Vec<_> = (0..=MOST_DOTS).map(with_dots).collect();
    if !all.iter().flatten().any(is_search) {
        return "no search list".to_owned();
    }
    let first = all
        .iter()
        .position(|it| it.first().is_some_and(|it| it.0 == Because::AsIs));
    first.map_or_else(|| "never".to_owned(), |dots| dots.to_string())
}

/// Whether the search list is walked at all after a name with enough dots
/// failed as it is.
pub(crate) fn search_after(resolver: &Resolver) -> String {
    let found = candidates(&run(resolver, question(PLAIN, "x.y"), &[]));
    let is_search = |it: &(Because, Name)| matches!(it.0, Because::Search(_));
    match found.iter().filter(|it| is_search(it)).count() {
        0 => "no",
        _ if found.first().is_some_and(is_search) => "searched first",
        _ => "yes",
    }
    .to_owned()
}

/// How many entries of a search list of `count` are asked, each so long.
pub(crate) fn entries(resolver: &Resolver, count: usize, length: usize) -> String {
    of(entries_used(resolver, count, length), count)
}

/// The most entries of eight characters that are asked, whatever the length of
/// the list.
pub(crate) fn most_entries(resolver: &Resolver) -> String {
    const MOST: usize = 64;
    let used = (1..=MOST).map(|count| entries_used(resolver, count, 8));
    match used.max().unwrap_or_default() {
        MOST => format!("{MOST} or more"),
        most => most.to_string(),
    }
}

fn entries_used(resolver: &Resolver, count: usize, length: usize) -> usize {
    let entry = |number: usize| {
        let start = format!("d{number}.");
        let rest = length.saturating_sub(start.len() + 1);
        let filler: String = "abcdefghi.".chars().cycle().take(rest).collect();
        format!("{start}{filler}z")
    };
    let list: Vec<String> = (1..=count).map(entry).collect();
    let conf = format!("nameserver 10.0.0.1\nsearch {}\n", list.join(" "));
    let found = candidates(&run(resolver, question(&conf, "x"), &[]));
    found.iter().filter(|it| it.0 != Because::AsIs).count()
}

/// `3`, or `all 8`.
fn of(used: usize, count: usize) -> String {
    if used == count {
        format!("all {count}")
    } else {
        used.to_string()
    }
}

/// What the run ended with, and when.
/// Seconds without needless digits.
pub(crate) fn seconds(time: Duration) -> String {
    let text = format!("{:.2}", time.as_secs_f64());
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Queries of a lookup, and how it ends.
pub(crate) fn count(resolver: &Resolver, name: &str, rules: &[Rule]) -> String {
    let run = run(resolver, question(POD, name), rules);
    run.sent.len().to_string()
}

/// Whether two servers get the same question before any answer.
fn outcome(outcome: &Outcome) -> String {
    let code = outcome.code();
    code.map_or("ends well".to_owned(), |code| format!("ends: {code}"))
}

/// The OPT record of the first query.
pub(crate) fn edns(resolver: &Resolver, options: &str) -> String {
    let conf = format!("nameserver 10.0.0.1\n{options}");
    let run = run(resolver, question(&conf, "x.test."), &[]);
    let first = run.sent.first().and_then(|it| it.query.edns.as_ref());
    first.map_or_else(
        || "none".to_owned(),
        |edns| {
            let mut text = format!("{} bytes", edns.size);
            if edns.dnssec_ok {
                text.push_str(", DO");
            }
            if edns.options.contains(&10) {
                text.push_str(", cookie");
            }
            text
        },
    )
}

/// Whether anything that is sent changes with this option.
pub(crate) fn option(resolver: &Resolver, option: &str) -> String {
    // Slow enough that the order of queries shows.
    let rules = [Rule {
        delay: Duration::from_millis(50),
        ..rule(None, address())
    }];
    let of = |conf: &str| {
        let run = run(resolver, question(conf, "x.test."), &rules);
        let sent: Vec<_> = run.sent.into_iter().map(|it| (it.query, it.at)).collect();
        sent
    };
    let (without, with) = (
        of("nameserver 10.0.0.1\n"),
        of(&format!("nameserver 10.0.0.1\noptions {option}\n")),
    );
    if without == with { "–" } else { "counts" }.to_owned()
}

/// Which server is asked first with `rotate`.
pub(crate) fn rotate(resolver: &Resolver) -> String {
    let conf = format!("{}options rotate\n", servers(3));
    let turned = run(resolver, question(&conf, "x.test."), &[]);
    let plain = run(resolver, question(&servers(3), "x.test."), &[]);
    let of = |run: &Run| run.sent.first().map(|it| it.query.server.clone());
    let chances = resolver.predict_courses(&question(&conf, "x.test.")).1.why;
    if chances.iter().any(|it| it.contains("rotate")) {
        return "at random".to_owned();
    }
    if of(&turned) == of(&plain) {
        "–".to_owned()
    } else {
        of(&turned).map_or_else(String::new, |it| format!("{it} first"))
    }
}

/// What a variable of the environment does to a name with a dot.
pub(crate) fn variable(resolver: &Resolver, key: &str, value: &str) -> String {
    let conf = format!("{PLAIN}options ndots:5\n");
    let plain = candidates(&run(resolver, question(&conf, "x.y"), &[]));
    let mut scenario = question(&conf, "x.y");
    scenario.env.insert(key.to_owned(), value.to_owned());
    let with = candidates(&run(resolver, scenario, &[]));
    if plain == with { "–" } else { "counts" }.to_owned()
}

/// What a name without dots leads to where there is no search list.
pub(crate) fn single_label(resolver: &Resolver) -> String {
    let run = run(resolver, question("nameserver 10.0.0.1\n", "web"), &[]);
    if run.sent.is_empty() {
        format!("not asked; {}", outcome(&run.outcome))
    } else {
        "asked".to_owned()
    }
}

/// Whether a name is asked that another source has.
pub(crate) fn other_source(resolver: &Resolver, name: &str) -> String {
    let run = run(resolver, question("nameserver 10.0.0.1\n", name), &[]);
    if run.sent.is_empty() {
        "not asked"
    } else {
        "asked"
    }
    .to_owned()
}

/// A response without records.
pub(crate) fn status(rcode: Rcode) -> Effect {
    Effect::Status(rcode)
}
