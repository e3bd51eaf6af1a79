//! A lookup step by step: what is asked together, what came of it, and what
//! that led to.

use std::time::Duration;

use crate::address::Server;
use crate::engine::io::Came;
use crate::engine::message::Transport;
use crate::explain::live::{AT_ONCE, Answer, Exchange, Played, Then, Unconnected};
use crate::explain::plan::Candidate;
use crate::order::Order as _;
use crate::resolver::Resolver;
use crate::scenario::Scenario;
use crate::simulation::{self, Run, Sent};
use crate::world::Rule;

/// Steps of a lookup in order of time.
#[derive(Clone, Debug)]
pub struct Timeline {
    /// The steps; empty where nothing is asked.
    pub steps: Vec<Step>,
    /// When it ended, from its start.
    pub elapsed: Duration,
}

/// Queries for one name that wait for nothing but each other's answers.
#[derive(Clone, Debug)]
pub struct Step {
    /// Index of the name among the candidates.
    pub candidate: usize,
    /// When it begins, from the start of the lookup.
    pub at: Duration,
    /// When the next one begins, or the lookup ends.
    pub until: Duration,
    /// What is asked, in order; never empty.
    pub exchanges: Vec<Exchange>,
    /// Connections that were not made meanwhile.
    pub unconnected: Vec<Unconnected>,
    /// What follows; `None`: the end.
    pub next: Option<Next>,
}

/// What follows a step.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Next {
    /// One of its questions again, or another candidate.
    Then(Then),
    /// Another type of record for the same name.
    Type,
}

/// How long each answer takes in the run that shows which queries wait for an answer.
const ROUND_TRIP: Duration = Duration::from_millis(1);

impl Timeline {
    /// The steps of `run`, which is the scenario's lookup by `resolver`.
    ///
    /// In `run` answers take no time, so queries that are sent together look like
    /// those that wait for each other. A second run, in which answers take time,
    /// shows the difference; where it sends other queries, only the times of `run` count.
    pub fn of_run(
        scenario: &Scenario,
        resolver: &Resolver,
        run: &Run,
        candidates: &[&Candidate],
    ) -> Self {
        let slowed = slowed(&scenario.answers);
        let slow = simulation::run(resolver.machine(scenario), &mut scenario.world(&slowed));
        let is_same = slow.sent.len() == run.sent.len()
            && slow.sent.iter().zip(&run.sent).all(|(one, other)| {
                one.query.question == other.query.question && one.query.server == other.query.server
            });
        let order = if is_same { &slow.sent } else { &run.sent };
        let exchanges = run.sent.iter().map(exchange);
        let exchanges: Vec<(Duration, Exchange)> =
            order.iter().map(|it| it.at).zip(exchanges).collect();
        let is_together = |step: &Opened, order: Duration, _: &Exchange| step.order == order;
        let mut timeline = Self::new(exchanges, candidates, whole(run.elapsed), is_together);
        let is_slow = scenario.answers.iter().any(|it| !it.delay.is_zero());
        for step in &mut timeline.steps {
            // When they came is not recorded: at the end, if that was waited for.
            if is_slow && step.exchanges.iter().all(|it| it.answer.is_some()) {
                let whole = step.until.saturating_sub(step.at);
                let answers = step
                    .exchanges
                    .iter_mut()
                    .filter_map(|it| it.answer.as_mut());
                answers.for_each(|answer| answer.after = whole);
            }
        }
        timeline
    }

    /// The steps of a lookup on the wire.
    pub fn of_played(played: &Played, candidates: &[&Candidate]) -> Self {
        let exchanges = played.exchanges.iter().map(|it| (it.at, it.clone()));
        let is_together = |step: &Opened, _: Duration, exchange: &Exchange| {
            let is_answered = |it: &Exchange| it.answered_at().is_some_and(|at| at <= exchange.at);
            exchange.at.saturating_sub(step.at) < AT_ONCE && !step.exchanges.iter().any(is_answered)
        };
        let mut timeline = Self::new(exchanges.collect(), candidates, played.elapsed, is_together);
        let mut connections = played.unconnected.iter().peekable();
        let count = timeline.steps.len();
        for (index, step) in timeline.steps.iter_mut().enumerate() {
            let is_its = |it: &&Unconnected| it.at < step.until || index + 1 == count;
            step.unconnected
                .extend(std::iter::from_fn(|| connections.next_if(is_its)).cloned());
        }
        timeline
    }

    fn new(
        exchanges: Vec<(Duration, Exchange)>,
        candidates: &[&Candidate],
        elapsed: Duration,
        is_together: impl Fn(&Opened, Duration, &Exchange) -> bool,
    ) -> Self {
        let mut opened: Vec<Opened> = Vec::new();
        let mut last = 0;
        for (order, exchange) in exchanges {
            let key = (exchange.query.name(), &exchange.query.because);
            // Mostly the same or the next one.
            let is_its = |index: &usize| candidates.get(*index).is_some_and(|it| it.key() == key);
            let near = (last..candidates.len().min(last + 2)).find(is_its);
            let candidate = near.or_else(|| (0..candidates.len()).find(is_its));
            let candidate = candidate.unwrap_or_default();
            last = candidate;
            match opened.last_mut() {
                Some(step)
                    if step.candidate == candidate
                        && is_together(step, order, &exchange)
                        && !step.exchanges.iter().any(|it| is_repeat(it, &exchange)) =>
                {
                    step.exchanges.push(exchange);
                }
                _ => opened.push(Opened {
                    candidate,
                    order,
                    at: exchange.at,
                    exchanges: vec![exchange],
                }),
            }
        }
        Self {
            steps: closed(opened, elapsed),
            elapsed,
        }
    }

    /// Whether both draw the same picture: the order inside of a step is a
    /// matter of chance.
    pub fn looks_as(&self, other: &Self) -> bool {
        let form = |timeline: &Self| -> Vec<_> {
            let of_step = |step: &Step| {
                let mut exchanges: Vec<String> = step.exchanges.iter().map(form).collect();
                exchanges.order();
                (step.candidate, step.at, step.until, exchanges)
            };
            timeline.steps.iter().map(of_step).collect()
        };
        form(self) == form(other)
    }
}

/// A step whose end is not known yet.
struct Opened {
    candidate: usize,
    order: Duration,
    at: Duration,
    exchanges: Vec<Exchange>,
}

/// A query and its answer without what only a capture would show.
fn form(exchange: &Exchange) -> String {
    let query = &exchange.query;
    let came = exchange.answer.as_ref().map(|it| match &it.what {
        Came::Reply(reply) => format!("{:?} {} {:?}", reply.rcode, reply.truncated, reply.answers),
        other => format!("{other:?}"),
    });
    let (question, transport, wrong) = (&query.question, query.transport, exchange.wrong);
    format!(
        "{} {question:?} {transport:?} {came:?} {wrong:?}",
        query.server
    )
}

fn is_repeat(one: &Exchange, other: &Exchange) -> bool {
    let (one, other) = (&one.query, &other.query);
    one.question == other.question && one.server == other.server && one.transport == other.transport
}

fn closed(opened: Vec<Opened>, elapsed: Duration) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::with_capacity(opened.len());
    for it in opened {
        let next = next(&steps, &it);
        if let Some(before) = steps.last_mut() {
            before.until = it.at;
            before.next = next;
        }
        steps.push(Step {
            candidate: it.candidate,
            at: it.at,
            until: elapsed.max(it.at),
            exchanges: it.exchanges,
            unconnected: Vec::new(),
            next: None,
        });
    }
    steps
}

/// What the last of these steps leads to.
fn next(steps: &[Step], step: &Opened) -> Option<Next> {
    let before = steps.last()?;
    if before.candidate != step.candidate {
        return Some(Next::Then(Then::Candidate(step.candidate)));
    }
    // A and AAAA may be asked one after the other, and then both again.
    let earlier = steps.iter().rev();
    let earlier = earlier.take_while(|it| it.candidate == step.candidate);
    let earlier = earlier.flat_map(|it| &it.exchanges);
    let again = step.exchanges.iter().find_map(|next| {
        let is_same = |it: &&Exchange| it.query.question == next.query.question;
        Some((earlier.clone().find(is_same)?, next))
    });
    let Some((one, other)) = again else {
        return Some(Next::Type);
    };
    let (one, other) = (&one.query, &other.query);
    let asks = |server: &Server| before.exchanges.iter().any(|it| it.query.server == *server);
    Some(Next::Then(Then::Again {
        server: (!asks(&other.server)).then(|| other.server.clone()),
        over_tcp: one.transport == Transport::Udp && other.transport == Transport::Tcp,
        without_edns: one.edns.is_some() && other.edns.is_none(),
    }))
}

/// In milliseconds: models that do several things at once keep them apart by
/// less.
fn whole(time: Duration) -> Duration {
    Duration::from_millis(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
}

/// As a rule says it: without the number of the response code.
/// A query of a simulation; its answer takes no time.
fn exchange(sent: &Sent) -> Exchange {
    Exchange {
        query: sent.query.clone(),
        at: whole(sent.at),
        answer: sent.came.clone().map(of_rule),
        wrong: sent.wrong,
        unsent: None,
    }
}

/// A lookup of a simulation as one on the wire.
pub fn played(resolver: &'static Resolver, run: &Run) -> Played {
    Played {
        resolver,
        exchanges: run.sent.iter().map(exchange).collect(),
        unconnected: Vec::new(),
        strays: Vec::new(),
        more_strays: 0,
        outcome: run.outcome.clone(),
        elapsed: run.elapsed,
        notes: Vec::new(),
        cut: None,
    }
}

fn of_rule(what: Came) -> Answer {
    Answer {
        after: Duration::ZERO,
        what,
        why: None,
        rcode: 0,
        extended_errors: Vec::new(),
    }
}

/// The rules with an answer that takes its time, also where none fits.
fn slowed(rules: &[Rule]) -> Vec<Rule> {
    let slow = |rule: &Rule| Rule {
        delay: rule.delay + ROUND_TRIP,
        ..rule.clone()
    };
    let otherwise = Rule::default();
    rules.iter().chain([&otherwise]).map(slow).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::resolv_conf::ResolvConf;
    use crate::explain::plan;
    use crate::resolver;
    use crate::text::Source;

    /// The types of each step, and whether the next one goes to another server.
    fn check(resolver: &str, conf: &str, rules: &[Rule], expected: &str) {
        let mut scenario = Scenario::new("test", "db");
        scenario.resolv_conf = Some(ResolvConf::parse(Source::new("resolv.conf", conf)));
        scenario.answers = rules.to_vec();
        let resolver = resolver::find(resolver).unwrap();
        let run = resolver.predict(&scenario);
        let candidates = plan::candidates(&run);
        let candidates: Vec<&Candidate> = candidates.iter().collect();
        let timeline = Timeline::of_run(&scenario, resolver, &run, &candidates);
        let of_step = |step: &Step| {
            let types = step
                .exchanges
                .iter()
                .filter_map(|it| it.query.record_type());
            let types: Vec<String> = types.map(|it| it.to_string()).collect();
            let next = match &step.next {
                None => ".",
                Some(Next::Type) => "+",
                Some(Next::Then(Then::Candidate(_))) => ">",
                Some(Next::Then(Then::Again { server: None, .. })) => "=",
                Some(Next::Then(Then::Again { .. })) => "!",
            };
            format!("{}{next}", types.join(" "))
        };
        let steps: Vec<String> = timeline.steps.iter().map(of_step).collect();
        assert_eq!(steps.join(" "), expected, "{} {conf}", resolver.id);
    }

    #[test]
    fn what_is_asked_together_is_a_step() {
        let silence = [Rule {
            effect: crate::world::Effect::Timeout,
            ..Rule::default()
        }];
        let two = "nameserver 10.0.0.1\nnameserver 10.0.0.2\noptions attempts:1\n";
        let single = "nameserver 10.0.0.1\noptions single-request\n";
        check(
            "glibc",
            "search a b\nnameserver 10.0.0.1\n",
            &[],
            "A AAAA> A AAAA> A AAAA.",
        );
        check("glibc", single, &[], "A+ AAAA.");
        check("glibc", two, &silence, "A AAAA! A AAAA.");
        check("musl", two, &silence, "A A AAAA AAAA.");
        check("dig", two, &silence, "A! A.");
    }
}
