//! Clients that ask for what they have just been told.

use super::Settings;
use super::advice::{Advice, MAX_OF_A_KIND};
use super::summary::Summary;
use super::tally::Tally;
use crate::text::escaped;

/// The TTL of names of the cluster where the Corefile is not known, in seconds:
/// that of the Corefile that kubeadm writes.
///
/// Source: kubernetes, cmd/kubeadm/app/phases/addons/dns/manifests.go.
const USUAL_TTL: u32 = 30;

/// Clients that ask for a name again and again while the answer still counts.
pub(super) fn repeats(
    summary: &Summary,
    tally: &Tally,
    settings: &Settings,
    found: &mut Vec<Advice>,
) {
    /// Fewer answers, or less time, tell nothing.
    const MIN_ANSWERS: u64 = 20;
    const MIN_SECONDS: u64 = 60;
    let Some((first, last)) = summary.span else {
        return;
    };
    let seconds = u64::try_from((last - first) / 1_000_000_000).unwrap_or(0);
    if seconds < MIN_SECONDS {
        return;
    }
    let ttl = settings.ttl.unwrap_or(USUAL_TTL).max(1);
    // A and AAAA, twice as often as the answer runs out.
    let allowed = (seconds / u64::from(ttl) + 1) * 4;
    let mut often: Vec<(u64, u32, u64)> = tally
        .lookups
        .answers()
        .map(|(client, name, answers)| (u64::from(answers), client, name))
        .filter(|(answers, ..)| *answers > allowed.max(MIN_ANSWERS))
        .collect();
    often.sort_unstable_by(|a, b| (b.0, a.1, a.2).cmp(&(a.0, b.1, b.2)));
    let rows = often.into_iter().filter_map(|(answers, client, name)| {
        let slot = tally.names.get(name)?;
        let client = tally.clients.get(client)?;
        Some(Advice::Repeats {
            client: escaped(&client.address),
            name: escaped(&slot.text),
            answers,
            seconds,
            ttl,
            is_known: settings.ttl.is_some(),
        })
    });
    found.extend(rows.take(MAX_OF_A_KIND));
}
