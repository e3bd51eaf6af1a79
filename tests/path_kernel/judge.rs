//! Whether what was seen is what was predicted.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use kdns::path::{Kind, Outcome, Protocol, Reply, Step, Tree};

use crate::ask::Observed;
use crate::lab::PORTS;

/// A share is off by so many standard deviations at most: one in two million.
const SIGMA: f64 = 5.0;

fn is_near(seen: usize, sent: usize, share: f64) -> bool {
    let expected = share * sent as f64;
    let room = SIGMA * (expected * (1.0 - share)).max(0.0).sqrt();
    (seen as f64 - expected).abs() <= room + 1e-6
}

/// What the system says for an error of iptables, or for a packet that is
/// dropped on its way out.
fn numbers(error: Option<&str>, is_host: bool) -> Vec<i32> {
    const EPERM: i32 = 1;
    let mut numbers = match error {
        Some("icmp-port-unreachable" | "icmp6-port-unreachable" | "tcp-reset") => vec![111],
        Some("icmp-host-unreachable" | "icmp6-addr-unreachable") => vec![113],
        Some("icmp-net-unreachable" | "icmp6-no-route") => vec![101],
        Some("icmp-admin-prohibited" | "icmp6-adm-prohibited") => vec![113, 13],
        _ => Vec::new(),
    };
    if is_host {
        numbers.push(EPERM);
    }
    numbers
}

/// What the system says of a third packet that is rejected.
const THIRD: [i32; 3] = [13, 111, 113];

/// What is to be seen.
#[derive(Default)]
struct Wanted {
    /// The share of each endpoint.
    shares: BTreeMap<SocketAddr, f64>,
    /// Whether its packets have another sender, or not, or both.
    senders: BTreeMap<SocketAddr, BTreeSet<bool>>,
    answered: f64,
    errors: BTreeSet<i32>,
    /// Endpoints that forget a connection, since an error or a reset comes back
    /// for its answer (`tcp_ipv4.c: tcp_req_err`).
    forgetful: BTreeSet<SocketAddr>,
}

/// Whether the answer is refused with an error, or by who gets it and has not
/// asked for it: a TCP server hears of both.
fn is_refused(tree: &Tree, outcome: &Outcome) -> bool {
    let refuses = |it: &Step| it.rule().to_ascii_lowercase().contains("reject");
    let is_it = match &outcome.reply {
        Some(Reply::Dropped(steps) | Reply::Partly(_, steps)) => steps.last().is_some_and(refuses),
        Some(Reply::Untranslated) => true,
        _ => false,
    };
    is_it && tree.packet.protocol == Protocol::Tcp
}

impl Wanted {
    fn of(tree: &Tree, is_host: bool) -> Result<Self, String> {
        let mut wanted = Self::default();
        let mut total = 0.0;
        for outcome in &tree.outcomes {
            if !outcome.depends_on.is_empty() {
                return Err("it depends on something, though all is known".to_owned());
            }
            total += outcome.share.as_f64();
            wanted.add(tree, outcome, is_host);
        }
        if (total - 1.0).abs() > 1e-9 {
            return Err(format!("the shares are {total} together"));
        }
        Ok(wanted)
    }

    fn add(&mut self, tree: &Tree, outcome: &Outcome, is_host: bool) {
        let errors = numbers(outcome.error.as_deref(), is_host);
        self.errors.extend(errors);
        let packet = &tree.packet;
        let arrives = matches!(outcome.kind, Kind::Endpoint | Kind::Local);
        // Nobody has a Service's address.
        let address = outcome.address.to_string();
        let is_service = address.starts_with("10.96.") || address.starts_with("fd96:");
        // Whoever gets a packet from itself drops it, over IPv4.
        let is_own = outcome.address == packet.source && outcome.address.is_ipv4();
        let is_self = is_own && !outcome.masqueraded && !is_host;
        if arrives && is_service {
            // The host behind the link has no route to it, and says so.
            self.errors.insert(101);
        }
        if !arrives || is_service || is_self {
            return;
        }
        let at = SocketAddr::new(outcome.address, outcome.port);
        if !PORTS.contains(&at.port()) {
            // Whoever is there refuses it.
            self.errors.insert(111);
            return;
        }
        let share = outcome.share.as_f64();
        *self.shares.entry(at).or_default() += share;
        if is_refused(tree, outcome) {
            self.forgetful.insert(at);
        }
        self.senders
            .entry(at)
            .or_default()
            .insert(outcome.masqueraded);
        self.answered += share
            * match &outcome.reply {
                Some(Reply::Returns) => 1.0,
                Some(Reply::Partly(part, _)) => part.as_f64(),
                _ => 0.0,
            };
    }
}

/// Holds one against the other; what differs as a sentence. A rule of the
/// node's way out that `rejects` can let the first packet of a connection
/// pass, and not its third one, of which kdns says nothing.
pub(crate) fn judge(
    tree: &Tree,
    observed: &Observed,
    (is_host, rejects): (bool, bool),
) -> Result<(), String> {
    let mut wanted = Wanted::of(tree, is_host)?;
    let has_third = is_host && rejects && tree.packet.protocol == Protocol::Tcp;
    if has_third {
        wanted.errors.extend(THIRD);
    }
    let sent = observed.sent;
    let mut arrived: BTreeMap<SocketAddr, usize> = BTreeMap::new();
    for ((at, is_other), count) in &observed.arrived {
        *arrived.entry(*at).or_default() += count;
        let Some(senders) = wanted.senders.get(at) else {
            return Err(format!("{count} arrive at {at}"));
        };
        if !is_host && !senders.contains(is_other) {
            return Err(format!(
                "{count} arrive at {at} from another sender: {is_other}"
            ));
        }
    }
    for (at, share) in &wanted.shares {
        let count = arrived.get(at).copied().unwrap_or_default();
        if !wanted.forgetful.contains(at) && !is_near(count, sent, *share) {
            return Err(format!("{count} of {sent} arrive at {at}, not {share}"));
        }
    }
    let of_third = |it: &(&i32, &usize)| has_third && THIRD.contains(it.0);
    let late: usize = observed
        .errors
        .iter()
        .filter(of_third)
        .map(|it| *it.1)
        .sum();
    let is_third = late > 0 && observed.answered == 0 && wanted.answered > 0.0;
    if !is_near(observed.answered, sent, wanted.answered) && !is_third {
        let (count, share) = (observed.answered, wanted.answered);
        return Err(format!("{count} of {sent} are answered, not {share}"));
    }
    match observed
        .errors
        .keys()
        .find(|it| !wanted.errors.contains(it))
    {
        Some(number) => {
            let error = std::io::Error::from_raw_os_error(*number);
            Err(format!("error {number}: {error}"))
        }
        None => Ok(()),
    }
}
