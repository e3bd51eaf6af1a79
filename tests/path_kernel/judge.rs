//! Whether what was seen is what was predicted.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use kdns::path::{Kind, Reply, Tree};

use crate::lab::{Observed, PORTS};

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
        Some("icmp-port-unreachable") => vec![111],
        Some("icmp-host-unreachable") => vec![113],
        Some("icmp-net-unreachable") => vec![101],
        Some("icmp-admin-prohibited") => vec![113, 13],
        _ => Vec::new(),
    };
    if is_host {
        numbers.push(EPERM);
    }
    numbers
}

/// Holds one against the other; what differs as a sentence.
pub(crate) fn judge(tree: &Tree, observed: &Observed, is_host: bool) -> Result<(), String> {
    let mut wanted: BTreeMap<SocketAddr, f64> = BTreeMap::new();
    let mut senders: BTreeMap<SocketAddr, BTreeSet<bool>> = BTreeMap::new();
    let (mut answered, mut total) = (0.0, 0.0);
    let mut errors: BTreeSet<i32> = BTreeSet::new();
    for outcome in &tree.outcomes {
        if !outcome.depends_on.is_empty() {
            return Err("it depends on something, though all is known".to_owned());
        }
        let share = outcome.share.as_f64();
        total += share;
        errors.extend(numbers(outcome.error.as_deref(), is_host));
        if !matches!(outcome.kind, Kind::Endpoint | Kind::Local) {
            continue;
        }
        // Nobody has a Service's address.
        if outcome.kind == Kind::Endpoint
            && !outcome.is_translated
            && tree.packet.destination == outcome.address
            && outcome.address.to_string().starts_with("10.96.")
        {
            continue;
        }
        // Whoever gets a packet from itself drops it.
        if outcome.address == tree.packet.source && !outcome.masqueraded && !is_host {
            continue;
        }
        let at = SocketAddr::new(outcome.address, outcome.port);
        if !PORTS.contains(&at.port()) {
            // Whoever is there refuses it.
            errors.insert(111);
            continue;
        }
        *wanted.entry(at).or_default() += share;
        senders.entry(at).or_default().insert(outcome.masqueraded);
        answered += share
            * match &outcome.reply {
                Some(Reply::Returns) => 1.0,
                Some(Reply::Partly(part, _)) => part.as_f64(),
                _ => 0.0,
            };
    }
    if (total - 1.0).abs() > 1e-9 {
        return Err(format!("the shares are {total} together"));
    }
    let mut arrived: BTreeMap<SocketAddr, usize> = BTreeMap::new();
    for ((at, is_other), count) in &observed.arrived {
        *arrived.entry(*at).or_default() += count;
        let Some(senders) = senders.get(at) else {
            return Err(format!("{count} arrive at {at}"));
        };
        if !is_host && !senders.contains(is_other) {
            return Err(format!(
                "{count} arrive at {at} from another sender: {is_other}"
            ));
        }
    }
    for (at, share) in &wanted {
        let count = arrived.get(at).copied().unwrap_or_default();
        if !is_near(count, observed.sent, *share) {
            return Err(format!(
                "{count} of {} arrive at {at}, not {share}",
                observed.sent
            ));
        }
    }
    if !is_near(observed.answered, observed.sent, answered) {
        let (count, sent) = (observed.answered, observed.sent);
        return Err(format!("{count} of {sent} are answered, not {answered}"));
    }
    match observed.errors.keys().find(|it| !errors.contains(it)) {
        Some(number) => Err(format!(
            "error {number}: {}",
            std::io::Error::from_raw_os_error(*number)
        )),
        None => Ok(()),
    }
}
