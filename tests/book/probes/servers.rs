//! Servers that are silent, slow or refuse: whom a resolver asks, when, and
//! what follows.

use std::collections::BTreeSet;
use std::time::Duration;

use kdns::engine::machine::Outcome;
use kdns::engine::message::{Because, Transport};
use kdns::resolver::Resolver;
use kdns::scenario::Scenario;
use kdns::simulation::{Run, Sent};
use kdns::world::{Effect, Rule};

use super::{PLAIN, POD, address, candidates, of, outcome, question, rule, run, seconds, servers};

/// How many of eight servers are asked when none answers.
pub(crate) fn servers_used(resolver: &Resolver) -> String {
    let silent = [rule(None, Effect::Timeout)];
    let run = run(resolver, question(&servers(8), "x.test."), &silent);
    let mut used: Vec<_> = run.sent.iter().map(|it| &it.query.server).collect();
    used.sort();
    used.dedup();
    of(used.len(), 8)
}

/// What is asked about one name, and whether together.
pub(crate) fn types(resolver: &Resolver) -> String {
    let slow = [Rule {
        delay: Duration::from_millis(100),
        ..rule(None, address())
    }];
    let run = run(
        resolver,
        question("nameserver 10.0.0.1\n", "x.test."),
        &slow,
    );
    let word = |it: &Sent| {
        let record_type = it.query.record_type();
        record_type.map_or_else(|| "?".to_owned(), |it| it.to_string())
    };
    let words: Vec<String> = run.sent.iter().map(word).collect();
    let [first, second, ..] = run.sent.as_slice() else {
        return words.join("");
    };
    if second.at >= Duration::from_millis(100) {
        return words.join(", then ");
    }
    let sockets = if first.query.socket == second.query.socket {
        "one socket"
    } else {
        "two sockets"
    };
    format!("{} together, {sockets}", words.join(" and "))
}

/// Queries this close to each other are sent at the same time.
const INSTANT: Duration = Duration::from_millis(1);

/// When queries go out if nobody answers, to whom, and when it ends.
pub(crate) fn silence(resolver: &Resolver, count: usize, options: &str) -> String {
    let conf = format!("{}{options}", servers(count));
    let silent = [rule(None, Effect::Timeout)];
    let run = run(resolver, question(&conf, "x.test."), &silent);
    let mut steps: Vec<(Duration, Vec<String>)> = Vec::new();
    for sent in &run.sent {
        let server = sent.query.server.to_string();
        let number = server.rsplit('.').next().unwrap_or_default().to_owned();
        match steps.last_mut() {
            Some((at, to)) if sent.at < *at + INSTANT => {
                // A and AAAA are two queries to one server.
                if !to.contains(&number) {
                    to.push(number);
                }
            }
            _ => steps.push((sent.at, vec![number])),
        }
    }
    let word = |(at, to): &(Duration, Vec<String>)| {
        if count == 1 {
            seconds(*at)
        } else {
            format!("{}→{}", seconds(*at), to.join("+"))
        }
    };
    let mut words: Vec<String> = steps.iter().map(word).collect();
    if words.len() > 9 {
        words.truncate(8);
        words.push("…".to_owned());
    }
    format!("{}; {}", words.join(" "), end(&run))
}

fn end(run: &Run) -> String {
    match &run.outcome {
        Outcome::Hung => "never ends".to_owned(),
        Outcome::Found(_) => format!("ends at {}\u{a0}s", seconds(run.elapsed)),
        failed => {
            let code = failed.code().unwrap_or_default();
            format!("{code} at {}\u{a0}s", seconds(run.elapsed))
        }
    }
}

/// A lookup in a pod whose server is silent.
pub(crate) fn dead_server(resolver: &Resolver) -> String {
    let silent = [rule(None, Effect::Timeout)];
    let run = run(resolver, question(POD, "web"), &silent);
    format!("{} queries; {}", run.sent.len(), end(&run))
}

/// What follows when the first entry gets this, and the second has the name.
pub(crate) fn middle(resolver: &Resolver, effect: Effect) -> String {
    let rules = [
        rule(Some("x.a.test"), effect),
        rule(Some("x.b.test"), address()),
    ];
    let run = run(resolver, question(PLAIN, "x"), &rules);
    let plan = candidates(&super::run(resolver, question(PLAIN, "x"), &[]));
    if !plan.iter().any(|it| it.0 == Because::Search(0)) {
        return "no search list".to_owned();
    }
    // A query to a closed port reaches no server, and is not in the run.
    let before = plan.iter().take_while(|it| it.0 != Because::Search(0));
    let done: Vec<_> = before.collect();
    let found = candidates(&run);
    let next = found
        .iter()
        .find(|it| it.0 != Because::Search(0) && !done.contains(it));
    match next {
        Some((Because::Search(_), _)) => "next entry".to_owned(),
        Some(_) => "the name as it is".to_owned(),
        None => outcome(&run.outcome),
    }
}

/// What follows when the first of two servers says this.
pub(crate) fn first_server(resolver: &Resolver, effect: Effect) -> String {
    let first = Rule {
        server: Some("10.0.0.1".parse().unwrap()),
        ..rule(None, effect)
    };
    let rules = [first, rule(None, address())];
    let run = run(resolver, question(&servers(2), "x.test."), &rules);
    let second = run
        .sent
        .iter()
        .find(|it| it.query.server.to_string().ends_with(".2"));
    match (second, run.outcome.code()) {
        _ if asks_both(resolver) => format!("both are asked; {}", outcome(&run.outcome)),
        (Some(_), None) => "the second".to_owned(),
        (Some(_), Some(code)) => format!("the second; {code}"),
        (None, _) => outcome(&run.outcome),
    }
}

fn asks_both(resolver: &Resolver) -> bool {
    let silent = [rule(None, Effect::Timeout)];
    let run = run(resolver, question(&servers(2), "x.test."), &silent);
    let at_once = run.sent.iter().filter(|it| it.at.is_zero());
    let servers: BTreeSet<_> = at_once.map(|it| &it.query.server).collect();
    servers.len() == 2
}

/// What follows a truncated response.
pub(crate) fn truncated(resolver: &Resolver) -> String {
    let rules = [
        Rule {
            transport: Some(Transport::Tcp),
            ..rule(None, address())
        },
        rule(None, Effect::Truncated),
    ];
    let run = run(resolver, question(&servers(2), "x.test."), &rules);
    let tcp = run
        .sent
        .iter()
        .find(|it| it.query.transport == Transport::Tcp);
    tcp.map_or_else(
        || format!("no TCP; {}", outcome(&run.outcome)),
        |it| {
            let is_same = it.query.server.to_string().ends_with(".1");
            if is_same { "TCP" } else { "TCP, second server" }.to_owned()
        },
    )
}

/// Whom it asks without a file.
pub(crate) fn no_file(resolver: &Resolver) -> String {
    let run = run(resolver, Scenario::new("probe", "x.test."), &[]);
    let first = run.sent.first().map(|it| it.query.server.to_string());
    first.unwrap_or_else(|| format!("nobody; {}", outcome(&run.outcome)))
}
