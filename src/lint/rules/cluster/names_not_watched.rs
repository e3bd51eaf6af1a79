#![doc = include_str!("names_not_watched.md")]

use crate::lint::egress;
use crate::lint::rules::prelude::*;

pub(super) fn check(object: &Object<'_>, context: &Context<'_>, report: &mut Report) {
    for policy in egress::closing(object.object) {
        let Some(names) = policy.names.filter(|_| !policy.watches_dns) else {
            continue;
        };
        // Without DNS at all it is what KD004 is about.
        let is_let_out = policy.udp.is_let_out() || context.some_policy(&policy.pods, |it| it.udp);
        if !is_let_out || context.some_policy(&policy.pods, |it| it.watches_dns) {
            continue;
        }
        report
            .add(
                object.at(names),
                "Cilium does not see the answers of DNS, so that these names stand for no address",
            )
            .help("add rules: {dns: [{matchPattern: \"*\"}]} to the rule that allows port 53")
            .note("policies add up: one for the same pods that was not given can have it");
    }
}
