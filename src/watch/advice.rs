//! What another file would have changed, by playing the same lookups with the
//! answers that were seen.

use std::collections::BTreeSet;
use std::time::Duration;

use hickory_proto::rr::RecordType;

use crate::dig::translation;
use crate::engine::machine::Outcome;
use crate::engine::message::Because;
use crate::name::Name;
use crate::resolver::Resolver;
use crate::scenario::{self, Family, Lookup as Asked, Scenario};
use crate::simulation::{Run, run};
use crate::text::ordered;
use crate::watch::findings::{Finding, What};
use crate::watch::keys::{A, AAAA};
use crate::watch::search::Search;
use crate::watch::tally::{NameTally, QuestionTally, Tally};
use crate::world::{Effect, Rule, World};

/// So many names are played, those with the most queries.
const MAX_NAMES: usize = 256;

/// So many names are listed.
const LISTED: usize = 20;

/// Less is not worth a change: queries, and of a hundred.
const MIN_SAVED: u64 = 20;
const SAVED: u64 = 10;

/// A change, and what it would have done to what was seen.
#[derive(Clone, Debug)]
pub struct Advice {
    /// The change.
    pub change: Change,
    /// Queries that would not have been sent.
    pub queries_saved: u64,
    /// The time that programs would not have waited, in all.
    pub time_saved: Duration,
    /// Names that were found and no longer would be; the first few.
    pub breaks: Vec<Name>,
    /// Names of which it is not known, because nobody has asked what would then be
    /// asked; the first few.
    pub unknown: Vec<Name>,
}

/// A change of what a pod has.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Change {
    /// `options ndots:N`.
    Ndots(usize),
    /// These names with a final dot.
    FinalDot(Vec<Name>),
    /// The search list without these entries.
    WithoutEntries(Vec<Name>),
    /// `options single-request-reopen`.
    SingleRequestReopen,
    /// `options use-vc`.
    UseVc,
    /// A cache on the node.
    NodeCache,
}

/// What is worth a change.
pub(super) fn advise(
    base: &Scenario,
    resolver: &Resolver,
    tally: &Tally,
    findings: &[Finding],
) -> Vec<Advice> {
    let search = Search::from_plans(resolver, base);
    let mut names = tally.names.by(|it| it.queries);
    names.truncate(MAX_NAMES);
    let player = Player {
        base,
        resolver,
        search: &search,
        tally,
        names: &names,
    };
    let mut advice = Vec::new();
    if search.ndots > 1 && !search.entries.is_empty() {
        advice.extend((1..search.ndots).find_map(|ndots| {
            let tried = player.with(Change::Ndots(ndots))?;
            // The smallest number that breaks nothing, if there is one.
            (tried.breaks.is_empty() || ndots + 1 == search.ndots).then_some(tried)
        }));
        advice.extend(player.final_dots());
        advice.extend(player.without_entries());
    }
    advice.extend(race(resolver, tally, findings));
    advice.extend(cache(tally, findings));
    advice.retain(|it| {
        let is_much =
            it.queries_saved >= MIN_SAVED && it.queries_saved * 100 >= tally.queries * SAVED;
        is_much || it.time_saved >= Duration::from_secs(5)
    });
    advice
}

struct Player<'p> {
    base: &'p Scenario,
    resolver: &'p Resolver,
    search: &'p Search,
    tally: &'p Tally,
    names: &'p [&'p NameTally],
}

impl Player<'_> {
    /// The file with a change; later lines count more.
    fn changed(&self, change: &Change) -> Option<Scenario> {
        let conf = self.base.resolv_conf.as_ref()?;
        let mut bytes = conf.source.bytes.clone();
        let line = match change {
            Change::Ndots(ndots) => format!("\noptions ndots:{ndots}\n"),
            Change::WithoutEntries(out) => {
                let kept = self.search.entries.iter().filter(|it| !out.contains(it));
                let kept: Vec<String> = kept.map(ToString::to_string).collect();
                format!("\nsearch {}\n", kept.join(" "))
            }
            _ => String::new(),
        };
        bytes.extend(line.into_bytes());
        Some(Scenario {
            resolv_conf: Some(scenario::file(&conf.source.name, bytes)),
            ..self.base.without_answers()
        })
    }

    fn with(&self, change: Change) -> Option<Advice> {
        let changed = self.changed(&change)?;
        Some(self.compare(change, &changed, self.names, ""))
    }

    /// Plays every name twice.
    fn compare(
        &self,
        change: Change,
        changed: &Scenario,
        names: &[&NameTally],
        dot: &str,
    ) -> Advice {
        let mut advice = Advice {
            change,
            queries_saved: 0,
            time_saved: Duration::ZERO,
            breaks: Vec::new(),
            unknown: Vec::new(),
        };
        for name in names.iter().filter(|it| !it.is_absolute) {
            let (now, _) = self.play(self.base, name, "");
            let (then, is_known) = self.play(changed, name, dot);
            if now.sent == then.sent {
                continue;
            }
            if !is_known {
                advice.unknown.push(name.name.clone());
                continue;
            }
            if breaks(&now.outcome, &then.outcome) {
                advice.breaks.push(name.name.clone());
                continue;
            }
            let saved = now.sent.len().saturating_sub(then.sent.len()) as u64;
            advice.queries_saved += saved * name.lookups;
            let time = now.elapsed.saturating_sub(then.elapsed);
            let times = u32::try_from(name.lookups).unwrap_or(u32::MAX);
            advice.time_saved += time.saturating_mul(times);
        }
        advice.breaks.truncate(LISTED);
        advice.unknown.truncate(LISTED);
        advice
    }

    /// The lookup of a name with the answers that were seen, and whether all of
    /// them were.
    fn play(&self, scenario: &Scenario, name: &NameTally, dot: &str) -> (Run, bool) {
        let family = name.families.iter().enumerate().max_by_key(|it| *it.1);
        let family = match family.map(|it| it.0) {
            Some(1) => Family::Inet6,
            Some(2) => Family::Both,
            _ => Family::Inet,
        };
        let scenario = Scenario {
            name: format!("{}{dot}", name.name),
            lookup: Asked::Addresses(family),
            ..scenario.without_answers()
        };
        let rules = self.rules(&name.name);
        let run = run(self.resolver.machine(&scenario), &mut World::new(&rules));
        let is_known = run.sent.iter().all(|sent| {
            let (Some(name), Some(kind)) = (sent.query.name(), sent.query.record_type()) else {
                return true;
            };
            self.tally.questions.get(name, kind.into()).is_some()
        });
        (run, is_known)
    }

    /// What was answered about the candidates of a name.
    fn rules(&self, name: &Name) -> Vec<Rule> {
        let mut candidates = vec![name.clone()];
        for entry in &self.search.entries {
            let labels = name.labels().chain(entry.labels());
            candidates.extend(Name::from_labels(labels));
        }
        let questions = candidates
            .iter()
            .flat_map(|it| [A, AAAA].map(|qtype| self.tally.questions.get(it, qtype)));
        questions.flatten().map(rule).collect()
    }

    /// Names that are found as they are, with a final dot.
    fn final_dots(&self) -> Option<Advice> {
        let is_as_is = |it: &&&NameTally| {
            let found = self.play(self.base, it, "").0;
            let last = found.sent.last().map(|it| &it.query.because);
            matches!(found.outcome, Outcome::Found(_))
                && last == Some(&Because::AsIs)
                && found
                    .sent
                    .iter()
                    .any(|it| matches!(it.query.because, Because::Search(_)))
        };
        let names: Vec<&NameTally> = self.names.iter().filter(is_as_is).copied().collect();
        let listed = names
            .iter()
            .take(LISTED)
            .map(|it| it.name.clone())
            .collect();
        let change = Change::FinalDot(listed);
        (!names.is_empty()).then(|| self.compare(change, self.base, &names, "."))
    }

    /// The list without entries that have nothing for anybody.
    fn without_entries(&self) -> Option<Advice> {
        let useful = self
            .tally
            .questions
            .all
            .values()
            .filter(|it| it.sum()[0] > 0);
        let useful: BTreeSet<Name> = ordered(useful.map(|it| it.name.clone()));
        let is_idle = |entry: &&Name| {
            let suffix = entry.as_wire();
            !useful
                .iter()
                .any(|it| it.as_wire().ends_with(suffix) && it != *entry)
        };
        let idle: Vec<Name> = self
            .search
            .entries
            .iter()
            .filter(is_idle)
            .cloned()
            .collect();
        // Without any entry it is `ndots` that says it better.
        let is_some = !idle.is_empty() && idle.len() < self.search.entries.len();
        is_some.then(|| self.with(Change::WithoutEntries(idle)))?
    }
}

/// Whether what was found no longer is, or is something else.
fn breaks(now: &Outcome, then: &Outcome) -> bool {
    match (now, then) {
        (Outcome::Found(now), Outcome::Found(then)) => now.first() != then.first(),
        (Outcome::Found(_), _) => true,
        _ => false,
    }
}

/// What was answered to a question, as a rule.
fn rule(question: &QuestionTally) -> Rule {
    let reply = question.sample.filter(|it| !it.is_truncated());
    let (a, aaaa) = match question
        .address
        .filter(|_| reply.is_some_and(|it| it.is_found()))
    {
        Some(std::net::IpAddr::V4(ip)) => (vec![ip], Vec::new()),
        Some(std::net::IpAddr::V6(ip)) => (Vec::new(), vec![ip]),
        None => (Vec::new(), Vec::new()),
    };
    let effect = match reply {
        None => Effect::Timeout,
        Some(it) if it.rcode == 0 => Effect::Answer {
            a,
            aaaa,
            cname: None,
        },
        Some(it) => Effect::Status(translation::rcode(it.rcode.into())),
    };
    let (took, count) = question.took;
    let average = u64::try_from(took.checked_div(count).unwrap_or_default());
    Rule {
        name: Some(question.name.to_string()),
        record_type: Some(RecordType::from(question.qtype)),
        effect,
        delay: Duration::from_nanos(average.unwrap_or_default()),
        ..Rule::default()
    }
}

/// What helps against the race in the connection table, if the resolver knows it.
fn race(resolver: &Resolver, tally: &Tally, findings: &[Finding]) -> Vec<Advice> {
    let is_race = |it: &&Finding| matches!(it.what, What::ConntrackRace { .. });
    if !resolver.id.starts_with("glibc") || !findings.iter().any(|it| is_race(&it)) {
        return Vec::new();
    }
    let waited: i64 = tally.losses.values().map(|it| it.lookup_took).sum();
    let time_saved = Duration::from_nanos(u64::try_from(waited).unwrap_or_default());
    [Change::SingleRequestReopen, Change::UseVc]
        .map(|change| Advice {
            change,
            queries_saved: 0,
            time_saved,
            breaks: Vec::new(),
            unknown: Vec::new(),
        })
        .into()
}

/// What a cache would have answered.
fn cache(tally: &Tally, findings: &[Finding]) -> Option<Advice> {
    let is_missed = |it: &Finding| matches!(it.what, What::NoCache { .. });
    findings.iter().any(is_missed).then(|| {
        let questions = || tally.questions.all.values();
        let time_of = |it: &QuestionTally| {
            let times = i64::try_from(it.repeats.1).unwrap_or(i64::MAX);
            let average = it.took.0.checked_div(it.took.1).unwrap_or_default();
            average.saturating_mul(times)
        };
        let time = questions().map(time_of).fold(0, i64::saturating_add);
        let saved = questions().map(|it| it.repeats.1).sum();
        Advice {
            change: Change::NodeCache,
            queries_saved: saved,
            time_saved: Duration::from_nanos(u64::try_from(time).unwrap_or_default()),
            breaks: Vec::new(),
            unknown: Vec::new(),
        }
    })
}
