//! What the messages in a text can come from, the likeliest first.

use super::Sighting;
use crate::order::Order as _;
use crate::why::asked::Asked;
use crate::why::catalogue::{Catalogue, Message};
use crate::why::cause::{Cause, Likely};
use crate::why::looked::Looked;
use crate::why::pattern::Searched;
use crate::why::platform::Platform;

/// The causes of the message that says the most. What was seen besides says where to
/// look: those of its likely ones that the message leaves come first, then the two
/// likeliest of the message, then the other likely ones that were seen; unless the
/// message leaves one only. What is no DNS error has none, whatever was seen.
pub(super) fn causes<'c>(
    catalogue: &'c Catalogue,
    searched: Searched<'_>,
    found: &[&Sighting<'c, '_>],
    asked: Option<&Asked>,
    looked: Option<Looked>,
    platform: Option<Platform>,
) -> Vec<(Likely, &'c Cause)> {
    let Some(first) = found.first() else {
        return Vec::new();
    };
    let own = catalogue.causes_of(first.message, asked, looked);
    if own.len() == 1 || !first.message.is_dns() {
        // A client's message can be one of several; a DNS server knows what it says.
        let is_decided = first.message.speaker.is_server() || !first.message.is_dns();
        let is_second = |it: &&&Sighting<'_, '_>| {
            it.message.leads() && !it.message.speaker.is_symptom() && !is_decided
        };
        let second = found.iter().skip(1).find(is_second);
        let seconds = second.map_or_else(Vec::new, |it| {
            catalogue.causes_of(it.message, asked, looked)
        });
        let is_new = |it: &(Likely, &Cause)| own.iter().all(|own| own.1.code != it.1.code);
        let seconds = seconds.into_iter().filter(is_new);
        return own.iter().copied().chain(seconds).collect();
    }
    let symptoms = found.iter().filter(|it| it.message.speaker.is_symptom());
    let seen = symptoms.flat_map(|it| catalogue.causes_of(it.message, asked, looked));
    let (likely, mut others): (Vec<_>, Vec<_>) = seen.partition(|it| it.0 == Likely::High);
    others.order_by_key(|it| it.0);
    let is_left = |it: &(Likely, &Cause)| own.iter().any(|own| own.1.code == it.1.code);
    let (left, added): (Vec<_>, Vec<_>) = likely.into_iter().partition(is_left);
    let is_likely = |it: &&(Likely, &Cause)| it.0 == Likely::High;
    let likeliest = own.iter().take_while(is_likely).count().min(2);
    let message = first.message;
    let (first, rest) = own.split_at(likeliest);
    let mut causes: Vec<(Likely, &Cause)> = Vec::new();
    for cause in [&left, first, &added, rest, &others].concat() {
        if !causes.iter().any(|it| it.1.code == cause.1.code) {
            causes.push(cause);
        }
    }
    weighed(
        catalogue, searched, message, looked, platform, &own, &causes,
    )
}

/// The causes that are named, by the message or by what was seen, with those first that the
/// text speaks for, and last that it speaks against. Another one that it speaks for comes
/// behind the first of the rest. None does that is ruled out by whom was asked or for which
/// name, nor beside a DNS server's message one that this has not.
pub(super) fn weighed<'c>(
    catalogue: &'c Catalogue,
    searched: Searched<'_>,
    message: &Message,
    looked: Option<Looked>,
    platform: Option<Platform>,
    own: &[(Likely, &'c Cause)],
    named: &[(Likely, &'c Cause)],
) -> Vec<(Likely, &'c Cause)> {
    let is_own = |it: &Cause| own.iter().any(|own| own.1.code == it.code);
    let may = |it: &Cause| !message.speaker.is_server() && !catalogue.lists(message, it);
    let most = |it: &Cause| it.likely_for(looked, Likely::High);
    let speaks_for = |it: &Cause| {
        (is_own(it) || may(it)) && most(it) != Likely::Low && it.shown_by(searched) == Some(true)
    };
    let (mut signed, mut rest, mut last) = (Vec::new(), Vec::new(), Vec::new());
    for &(likely, cause) in named {
        if speaks_for(cause) {
            signed.push((most(cause), cause));
        } else if cause.shown_by(searched) == Some(false)
            || platform.is_some_and(|it| it.is_strange(cause))
        {
            last.push((Likely::Low, cause));
        } else {
            rest.push((likely, cause));
        }
    }
    let is_named = |it: &Cause| named.iter().any(|named| named.1.code == it.code);
    let others = catalogue.causes.iter();
    let others = others.filter(|it| !is_named(it) && speaks_for(it));
    let others: Vec<_> = others.map(|it| (Likely::Medium, it)).collect();
    let (first, rest) = rest.split_at(rest.len().min(1));
    [&signed, first, &others, rest, &last].concat()
}
