//! What the end of a packet depends on and was not seen, in words.

use crate::path::{Assumption, Condition};
use crate::render::sentence::Sentence;
use crate::rules::rule::Side;

/// What is assumed.
pub(super) fn assumption(assumption: &Assumption) -> Sentence {
    let (code, yes, no) = condition(&assumption.condition);
    Sentence::new(code, if assumption.holds { yes } else { no })
}

/// A condition: its code, and the words where it holds and where it does not.
#[expect(clippy::too_many_lines, reason = "a table: one arm a fact")]
fn condition(condition: &Condition) -> (&'static str, String, String) {
    match condition {
        Condition::Match { words, place } => matches("match", words, place),
        Condition::Asker { place } => matches("asker", "the asker's address", place),
        Condition::OwnAddress { side, place } => {
            let side = match side {
                Side::Source => "source",
                Side::Destination => "destination",
            };
            let what = format!("the {side}, an address of this node,");
            matches("own-address", &what, place)
        }
        Condition::ClientPort { ranges, place } => {
            let ranges = ranges.iter().map(|it| format!("{}:{}", it.0, it.1));
            let ranges: Vec<String> = ranges.collect();
            let what = format!("the client's port, in {},", ranges.join(","));
            matches("client-port", &what, place)
        }
        Condition::Target { words, place } => (
            "target",
            format!("{words} changes the way ({place})"),
            format!("{words} does not change the way ({place})"),
        ),
        Condition::Picked {
            scheduler,
            server,
            is_persistent,
        } => {
            let yes = if *is_persistent {
                format!("IPVS keeps the asker at {server}, or {scheduler} picks it")
            } else {
                format!("the scheduler {scheduler} picks {server}")
            };
            let no = format!("not: {yes}");
            ("ipvs", yes, no)
        }
        Condition::InLink(name) => (
            "in-link",
            format!("the packet comes in through {name}"),
            format!("it does not come in through {name}"),
        ),
        Condition::OutLink(name) => (
            "out-link",
            format!("the packet leaves through {name}"),
            format!("it does not leave through {name}"),
        ),
        Condition::Local(ip) => (
            "local-address",
            format!("{ip} is an address of this node"),
            format!("{ip} is no address of this node"),
        ),
        Condition::Set(name) => (
            "set",
            format!("the set {name} has it"),
            format!("the set {name} does not have it"),
        ),
        Condition::Chain { table, chain } => (
            "chain",
            format!("the chain {chain} of {table}, which was not given, decides"),
            format!("the chain {chain} of {table}, which was not given, lets it pass"),
        ),
        Condition::Before { first, second } => (
            "table-order",
            format!("{first} runs before {second}"),
            format!("{second} runs before {first}"),
        ),
        Condition::Recent(name) => (
            "recent",
            format!("the list {name} of /proc/net/xt_recent has the asker"),
            format!("the list {name} of /proc/net/xt_recent does not have the asker"),
        ),
        Condition::Queue(place) => (
            "queue",
            format!("the program behind the queue of {place} accepts it"),
            format!("the program behind the queue of {place} drops it"),
        ),
        Condition::TooMany => (
            "too-many",
            "there are more ways than kdns follows".to_owned(),
            "kdns follows all ways".to_owned(),
        ),
    }
}

/// Whether a rule's match fits.
fn matches(code: &'static str, what: &str, place: &str) -> (&'static str, String, String) {
    (
        code,
        format!("{what} matches ({place})"),
        format!("{what} does not match ({place})"),
    )
}
