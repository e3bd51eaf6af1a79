//! The servers' rules of a random scenario: what exists, and what fails.

#![expect(
    clippy::indexing_slicing,
    reason = "the lists are not empty, and JSON objects take new keys"
)]

use std::net::IpAddr;

use serde_json::{Value, json};

use super::dice::Dice;

/// What is asked, as far as rules are about it.
pub(super) struct Asked<'a> {
    pub(super) name: &'a str,
    pub(super) search: &'a [String],
    pub(super) servers: &'a [String],
}

impl Asked<'_> {
    /// The servers by which rules name them: some of the lines are no addresses.
    fn addresses(&self) -> Vec<&String> {
        let servers = self.servers.iter();
        servers.filter(|it| it.parse::<IpAddr>().is_ok()).collect()
    }

    /// One of the names that are probably tried.
    fn somewhere(&self, dice: &mut Dice) -> String {
        let bare = self.name.trim_end_matches('.');
        if self.search.is_empty() || dice.percent(35) {
            return bare.to_owned();
        }
        let domain = &self.search[dice.below(self.search.len())];
        format!("{bare}.{}", domain.trim_matches('.'))
    }
}

/// The rules.
pub(super) fn answers(dice: &mut Dice, asked: &Asked<'_>, failing: bool) -> Vec<Value> {
    let mut rules = Vec::new();
    if failing {
        for _ in 0..=dice.below(2) {
            failures(dice, asked, &mut rules);
        }
        let mut aside = dice.aside();
        for rule in &mut rules {
            late_or_wrong(&mut aside, rule);
        }
        // Beside truncation it is a race which of UDP and TCP is heard first.
        if rules.iter().any(|rule| rule["reply"] == "TC") {
            rules.retain(|rule| rule.get("edns").is_none());
        }
    }
    if dice.percent(12) {
        rules.push(negative(dice, asked, "NODATA"));
    }
    if dice.percent(60) {
        found(dice, asked, &mut rules);
    }
    if dice.percent(40) {
        rules.push(json!({"name": "*.example.com", "reply": "ANSWER", "a": ["192.0.2.2"], "aaaa": ["2001:db8::2"]}));
    }
    if dice.percent(5) {
        rules.push(negative(dice, asked, "NXDOMAIN"));
    }
    rules
}

/// A rule that fails, for a server, a type, a name, or all that has EDNS; after truncation also over TCP.
fn failures(dice: &mut Dice, asked: &Asked<'_>, rules: &mut Vec<Value>) {
    let reply = dice.pick(&[
        "SERVFAIL", "REFUSED", "NOTIMP", "FORMERR", "TIMEOUT", "TIMEOUT", "TC", "NODATA",
    ]);
    let mut rule = json!({"reply": reply});
    let addresses = asked.addresses();
    match dice.below(9) {
        0 | 1 if !addresses.is_empty() => {
            rule["server"] = json!(addresses[dice.below(addresses.len())]);
        }
        2 | 3 => rule["type"] = json!(dice.pick(&["A", "AAAA"])),
        4 if !matches!(reply, "TC" | "TIMEOUT") => rule["edns"] = json!(true),
        _ => rule["name"] = json!(asked.somewhere(dice)),
    }
    let has_type = dice.percent(20);
    if has_type {
        // Of one type: which of A and AAAA comes first is not always the same.
        rule["type"] = json!(dice.pick(&["A", "AAAA"]));
        rule["upto"] = json!(1 + dice.below(2));
    }
    if reply == "TC" {
        if !has_type && rule.get("type").is_none() && dice.percent(50) {
            let mut over_tcp = rule.clone();
            over_tcp["proto"] = json!("tcp");
            over_tcp["reply"] =
                json!(dice.pick(&["FIN", "RST", "SERVFAIL", "REFUSED", "NODATA", "TC"]));
            rules.push(over_tcp);
        }
        rule["proto"] = json!("udp");
    }
    if reply != "TIMEOUT" && dice.percent(10) {
        rule["dup"] = json!(true);
    }
    rules.push(rule);
}

/// Half of the time-outs are of a second, some shorter: each of these, also several times over, is well before one of
/// them, or well after.
const DELAYS_MS: [u64; 5] = [300, 700, 1300, 1700, 2600];

/// A reply that comes late, or that is none for its query.
fn late_or_wrong(dice: &mut Dice, rule: &mut Value) {
    if rule["reply"] == "TIMEOUT" || rule["proto"] == "tcp" {
        return;
    }
    // Two late replies come one after the other: what follows a truncated or a doubled one is a race.
    let is_plain = rule["reply"] != "TC" && rule.get("dup").is_none();
    if is_plain && dice.percent(20) {
        rule["delay_ms"] = json!(DELAYS_MS[dice.below(DELAYS_MS.len())]);
    }
    // glibc takes the SERVFAIL of a reply that it has thrown away, once its time is over: not modelled.
    if rule["reply"] != "SERVFAIL" && dice.percent(20) {
        rule["wrong"] = json!(dice.pick(&["id", "question", "source"]));
    }
}

/// A name without data, or none, from a server that may say little about it.
fn negative(dice: &mut Dice, asked: &Asked<'_>, reply: &str) -> Value {
    let mut rule = json!({"name": asked.somewhere(dice), "reply": reply});
    for (key, percent) in [("soa", 20), ("ra", 10), ("opt", 10)] {
        if dice.percent(percent) {
            rule[key] = json!(false);
        }
    }
    rule
}

/// A name that exists, perhaps as an alias.
fn found(dice: &mut Dice, asked: &Asked<'_>, rules: &mut Vec<Value>) {
    let mut rule = json!({"name": asked.somewhere(dice), "reply": "ANSWER"});
    let kind = dice.below(10);
    if kind != 0 {
        rule["a"] = json!(["192.0.2.5"]);
    }
    if kind < 4 {
        rule["aaaa"] = json!(["2001:db8::5"]);
    }
    if dice.percent(15) {
        rule["cname"] =
            json!(dice.pick(&["real.y", "REAL.y", "real", "_a.b-.y", "www.example.com"]));
        if dice.percent(30) {
            // Some follow a bare alias themselves.
            rule["a"] = json!([]);
            rule["aaaa"] = json!([]);
            if dice.percent(50) {
                rules.push(json!({"name": "real.y", "reply": "ANSWER", "a": ["192.0.2.6"]}));
            }
        }
    }
    if dice.percent(8) {
        rule["ad"] = json!(true);
    }
    for key in ["ra", "opt"] {
        if dice.percent(8) {
            rule[key] = json!(false);
        }
    }
    let addresses = asked.addresses();
    let mut aside = dice.aside();
    if addresses.len() > 1 && aside.percent(15) {
        // The others have no such name.
        rule["server"] = json!(addresses[aside.below(addresses.len())]);
    }
    rules.push(rule);
}
