//! What is wrong with each lookup, and with all of them.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt::Write as _;
use std::net::IpAddr;

use crate::name::Name;
use crate::resolver::{self, Resolver, find};
use crate::scenario::{self, Scenario};
use crate::watch::fault::{Fault, faults};
use crate::watch::findings::{self, Known};
use crate::watch::infer::Inferred;
use crate::watch::join::Joiner;
use crate::watch::lookup::{Exchange, Lookup};
use crate::watch::model::{self, Fit, Sample};
use crate::watch::plan::{self, Plan};
use crate::watch::report::{Report, Whose};
use crate::watch::search::{Lists, SPARE, Search};
use crate::watch::tally::Tally;
use crate::watch::{End, MAX_STORED, Progress, Setup, advice};

/// So many plans are played for lookups that broke them, if not all are wanted.
const MAX_PLANS: u64 = 4096;

/// So many exchanges wait, in their lookups, until it is known whose they are…
const MAX_WAITING: usize = 16_384;

/// … and so many more are kept to find that out.
const MAX_SAMPLED: usize = 16_384;

/// More servers of a file are asked by nobody.
pub(super) const MAX_SERVERS: usize = 3;

/// The resolvers of so many clients are told apart.
const MAX_CLIENTS: usize = 64;

/// A lookup that has ended.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The lookup.
    pub lookup: Lookup,
    /// What is wrong with it; empty: nothing.
    pub faults: Vec<Fault>,
    /// The plan, if it was played, and which reading of the lookup it is for.
    pub plan: Option<(usize, Plan)>,
}

impl Judged {
    /// The query with which a second lookup can have begun: from another socket, with
    /// another id, a question again that is not in the plan, or a name that was asked for
    /// long after the denial of the one before.
    pub fn second(&self) -> Option<&Exchange> {
        let exchanges = self.lookup.exchanges.iter().enumerate();
        let mut others = exchanges.filter(|(number, it)| {
            let mut before = self.lookup.exchanges.iter().take(*number);
            let is_planned = self
                .plan
                .as_ref()
                .is_some_and(|plan| !plan.1.unplanned.contains(&(*number, 0)));
            let is_again = |other: &Exchange| {
                let is_other = it.client != other.client && it.id != other.id;
                it.asks_as(other) && is_other && it.is_tcp() == other.is_tcp()
            };
            self.lookup.is_late_name(*number) || !is_planned && before.any(is_again)
        });
        others.next().map(|it| it.1)
    }
}

/// What is known of a client.
#[derive(Debug)]
struct Client {
    /// `None`: there are enough, and `fit` is of all of them.
    sample: Option<Sample>,
    fit: Option<Fit>,
}

impl Default for Client {
    fn default() -> Self {
        Self {
            sample: Some(Sample::default()),
            fit: None,
        }
    }
}

/// Judges lookups as they end.
#[derive(Debug)]
pub(super) struct Judge {
    setup: Setup,
    lists: Lists,
    /// The servers of each client, where the packets had to tell.
    servers: Option<BTreeMap<IpAddr, Vec<IpAddr>>>,
    clients: BTreeMap<IpAddr, Client>,
    pub(super) tally: Tally,
    waiting: Vec<Judged>,
    /// Exchanges of the lookups that wait.
    waiting_exchanges: usize,
    /// Exchanges of all clients' samples.
    sampled_exchanges: usize,
    judged: Vec<Judged>,
    plans: u64,
}

impl Lookup {
    /// Whether this name was looked up, or asked for on the way.
    pub fn is_of(&self, name: &Name) -> bool {
        let mut names = self.readings.iter().map(|it| &it.name);
        let mut asked = self.exchanges.iter().map(|it| &it.name);
        names.any(|it| it.eq_ignore_case(name)) || asked.any(|it| it.eq_ignore_case(name))
    }
}

impl Judge {
    pub(super) fn new(setup: Setup) -> Self {
        let reader = setup.resolver.or_else(|| find("glibc"));
        let search = match (&setup.scenario, reader) {
            (Some(scenario), Some(resolver)) => Search::from_plans(resolver, scenario),
            _ => Search::default(),
        };
        Self {
            setup,
            lists: Lists::of_all(search),
            servers: None,
            clients: BTreeMap::new(),
            tally: Tally::default(),
            waiting: Vec::new(),
            waiting_exchanges: 0,
            sampled_exchanges: 0,
            judged: Vec::new(),
            plans: 0,
        }
    }

    /// The search lists of all clients.
    pub(super) fn lists(&self) -> &Lists {
        &self.lists
    }

    /// What the packets say about files that nobody gave.
    pub(super) fn infer(&mut self, inferred: Inferred) {
        self.lists = Lists::inferred(inferred.search);
        self.servers = Some(inferred.servers);
    }

    /// A second server is asked when the first one is silent, which can be late.
    fn learn_servers(&mut self, lookup: &Lookup) {
        let Some(all) = &mut self.servers else {
            return;
        };
        if all.len() >= MAX_STORED && !all.contains_key(&lookup.client) {
            return;
        }
        let known = all.entry(lookup.client).or_default();
        for server in lookup.exchanges.iter().map(|it| it.server.ip()) {
            if known.len() < MAX_SERVERS && !known.contains(&server) {
                known.push(server);
            }
        }
    }

    /// The files of a client, as far as they are known.
    fn scenario_of(&self, client: IpAddr) -> Scenario {
        if let Some(scenario) = &self.setup.scenario {
            return scenario.clone();
        }
        let mut scenario = Scenario::new("watch", "x");
        let servers = self.servers.as_ref().and_then(|it| it.get(&client));
        let search = self.lists.for_client(client);
        let mut text = String::new();
        for server in servers.into_iter().flatten() {
            let _ = writeln!(text, "nameserver {server}");
        }
        let entries = search.entries.iter().map(ToString::to_string);
        let entries: Vec<String> = entries.collect();
        if !entries.is_empty() {
            let ndots = search.ndots;
            let _ = write!(
                text,
                "search {}\noptions ndots:{ndots}\n",
                entries.join(" ")
            );
        }
        scenario.resolv_conf = Some(scenario::file("/etc/resolv.conf", text));
        scenario
    }

    /// Judges a lookup that has ended; gives it back if nobody needs it any more.
    pub(super) fn add(&mut self, lookup: Lookup, joiner: &Joiner) -> Option<Lookup> {
        let faults = faults(&lookup, joiner.now(), &joiner.connections);
        let entries = &self.lists.for_client(lookup.client).entries;
        // A resolver that has no list sends names as they are.
        let is_given = self.setup.resolver.is_some() && !entries.is_empty();
        self.tally.add(&lookup, &faults, (entries, is_given));
        let show = self.setup.show.as_ref();
        let is_shown = show.is_some_and(|it| lookup.is_of(it));
        let is_wanted = !faults.is_empty() || self.setup.all || is_shown;
        let is_known = self.setup.resolver.is_some() || self.sample(&lookup);
        if !is_wanted {
            return Some(lookup);
        }
        if self.setup.is_live && !is_known {
            self.fit_so_far(lookup.client);
        }
        let judged = Judged {
            lookup,
            faults,
            plan: None,
        };
        if is_known || self.setup.is_live || self.waiting_exchanges >= MAX_WAITING {
            self.plan(judged);
        } else {
            self.waiting_exchanges += judged.lookup.exchanges.len();
            self.waiting.push(judged);
        }
        None
    }

    /// Keeps a lookup to find out its client's resolver. Whether that is known.
    fn sample(&mut self, lookup: &Lookup) -> bool {
        let is_full = self.clients.len() >= MAX_CLIENTS;
        let client = match self.clients.entry(lookup.client) {
            Entry::Vacant(_) if is_full => return true,
            entry => entry.or_default(),
        };
        let Some(sample) = &mut client.sample else {
            return true;
        };
        let before = sample.exchanges;
        let is_enough = sample.take(lookup);
        self.sampled_exchanges += sample.exchanges - before;
        self.learn_servers(lookup);
        if !is_enough && self.sampled_exchanges < MAX_SAMPLED {
            return false;
        }
        self.fit(lookup.client);
        self.flush(lookup.client);
        true
    }

    fn fit(&mut self, client: IpAddr) {
        let scenario = self.scenario_of(client);
        if let Some(known) = self.clients.get_mut(&client)
            && let Some(sample) = known.sample.take()
        {
            self.sampled_exchanges -= sample.exchanges;
            known.fit = Some(model::fit(&scenario, &sample));
        }
    }

    /// Finds out which model fits best so far, each time that there are twice as many.
    fn fit_so_far(&mut self, client: IpAddr) {
        let scenario = self.scenario_of(client);
        if let Some(Client {
            sample: Some(sample),
            fit,
        }) = self.clients.get_mut(&client)
            && fit.as_ref().map_or(0, |it| it.lookups) * 2 <= sample.count()
        {
            *fit = Some(model::fit(&scenario, sample));
        }
    }

    fn flush(&mut self, client: IpAddr) {
        let is_its = |it: &mut Judged| it.lookup.client == client;
        let its: Vec<Judged> = self.waiting.extract_if(.., is_its).collect();
        for judged in its {
            self.waiting_exchanges -= judged.lookup.exchanges.len();
            self.plan(judged);
        }
    }

    fn resolver_of(&self, client: IpAddr) -> Option<&'static Resolver> {
        let fit = self.clients.get(&client).and_then(|it| it.fit.as_ref());
        self.setup.resolver.or_else(|| fit.and_then(|it| it.best))
    }

    /// When a lookup that is under way is over, if nothing comes: its own resolver, or each that
    /// would have sent about the same, is through with it then, or would have sent more.
    /// `None`: all should send more.
    pub(super) fn over(&self, lookup: &Lookup) -> Option<i64> {
        let client = self.clients.get(&lookup.client);
        let is_known = client.is_none_or(|it| it.sample.is_none());
        let own = self.resolver_of(lookup.client).filter(|_| is_known);
        let all = resolver::usual().filter(|_| own.is_none()).chain(own);
        let scenario = self.scenario_of(lookup.client);
        let plans = all.filter_map(|it| Some(plan::closest(&scenario, it, lookup)?.1));
        let plans: Vec<Plan> = plans.filter(|it| it.likeness >= model::FITS).collect();
        let best = plans.iter().map(|it| it.likeness).fold(0.0, f64::max);
        let near = plans.iter().filter(|it| best - it.likeness <= model::NEAR);
        let is_over = near.clone().any(|it| it.outcome.is_some());
        let over = near.filter(|_| is_over).map(|it| it.over).max()? + SPARE;
        let over = i64::try_from(over.as_nanos()).ok()?;
        Some(lookup.start().saturating_add(over))
    }

    fn plan(&mut self, mut judged: Judged) {
        let client = judged.lookup.client;
        self.learn_servers(&judged.lookup);
        if let Some(resolver) = self.resolver_of(client)
            && (self.setup.all || self.plans < MAX_PLANS)
        {
            self.plans += 1;
            let scenario = self.scenario_of(client);
            judged.plan = plan::closest(&scenario, resolver, &judged.lookup);
        }
        self.judged.push(judged);
    }

    /// Lookups that are wanted and have ended.
    pub(super) fn take(&mut self) -> Vec<Judged> {
        std::mem::take(&mut self.judged)
    }

    pub(super) fn progress(&self) -> Progress {
        Progress {
            lookups: self.tally.lookups,
            broken: self.tally.broken,
            queries: self.tally.queries,
        }
    }

    /// Finds out what is still open about resolvers.
    pub(super) fn finish(&mut self) {
        let open = self.clients.iter().filter(|it| it.1.sample.is_some());
        let open: Vec<IpAddr> = open.map(|it| *it.0).collect();
        for client in open {
            self.fit(client);
            self.flush(client);
        }
        for judged in std::mem::take(&mut self.waiting) {
            self.plan(judged);
        }
        self.judged.sort_by_key(|it| it.lookup.number);
    }

    /// The client with the most lookups.
    fn main_client(&self) -> Option<IpAddr> {
        let clients = self.tally.clients.iter();
        let main = clients.max_by_key(|it| (*it.1, Reverse(*it.0)));
        main.map(|it| *it.0)
    }

    pub(super) fn report(self, end: &End, joiner: &Joiner) -> Report {
        let client = self.main_client();
        let unspecified = IpAddr::from([0; 4]);
        let search = self.lists.for_client(client.unwrap_or(unspecified)).clone();
        let findings = findings::all(&Known {
            tally: &self.tally,
            conntrack: end.conntrack,
            is_inferred: self.servers.is_some(),
        });
        let fit = client.and_then(|it| self.clients.get(&it)?.fit.clone());
        let resolver = match (self.setup.resolver, fit) {
            (Some(resolver), _) => Whose::Known(resolver),
            (None, Some(fit)) if fit.best.is_some() => Whose::Fits(fit),
            (None, Some(fit)) => Whose::Nobody(fit),
            (None, None) => Whose::Unknown,
        };
        let model = client.and_then(|it| self.resolver_of(it));
        let advice = match (client, model) {
            (Some(client), Some(model)) => {
                advice::advise(&self.scenario_of(client), model, &self.tally, &findings)
            }
            _ => Vec::new(),
        };
        let named = match (
            &self.setup.scenario,
            self.setup.resolver.or_else(|| find("glibc")),
        ) {
            (Some(scenario), Some(resolver)) => {
                let reading = resolver.reading(scenario);
                let servers = reading.servers.iter();
                servers.map(|it| it.value.address.reached()).collect()
            }
            _ => Vec::new(),
        };
        Report {
            resolver,
            search,
            is_inferred: self.servers.is_some(),
            evidence: self.lists.evidence(client.unwrap_or(unspecified)),
            findings,
            advice,
            ..Report::from_tally(&self.tally, end, joiner, &named)
        }
    }
}
