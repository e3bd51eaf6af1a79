//! Random scenarios, weighted toward what Kubernetes nodes and pods contain.

#![expect(
    clippy::indexing_slicing,
    reason = "the lists are not empty, and JSON objects take new keys"
)]

mod answers;
mod dice;

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use self::answers::{Asked, answers};
use self::dice::Dice;
use crate::lab::words::{
    ALIASES, DOMAINS, ENV_OPTIONS, HOSTNAMES, HOSTS, LINES, LOCAL_DOMAINS, NAMES, NAMESPACES,
    NSSWITCH, ODD_DOMAINS, ODD_SERVERS, OPTIONS, SERVERS, SPECIAL,
};

/// So many scenarios; the same for the same seed.
pub(crate) fn scenarios(seed: u64, count: usize) -> Vec<Value> {
    let mut dice = Dice::new(seed);
    (0..count)
        .map(|number| scenario(&mut dice, &format!("random-{seed}-{number}")))
        .collect()
}

fn scenario(dice: &mut Dice, id: &str) -> Value {
    let failing = dice.percent(25);
    let servers = servers(dice);
    let search = search(dice);
    let options = options(dice, failing);
    let text = if dice.percent(25) {
        odd_file(dice, &servers, &search, &options)
    } else {
        plain_file(&servers, &search, &options)
    };
    let name = name(dice);
    let mut all = Map::new();
    let mut put = |key: &str, value: Value| all.insert(key.to_owned(), value);
    put("id", json!(id));
    put("theme", json!("random"));
    put("resolv_conf", json!(text));
    put("name", json!(name));
    put(
        "answers",
        Value::Array(answers(
            dice,
            &Asked {
                name: &name,
                search: &search,
                servers: &servers,
            },
            failing,
        )),
    );
    put("limit_s", json!(12));
    surroundings(dice, &name, &mut all);
    Value::Object(all)
}

/// Host name, environment, other files, family: mostly the usual ones.
fn surroundings(dice: &mut Dice, name: &str, all: &mut Map<String, Value>) {
    let mut put = |key: &str, value: Value| all.insert(key.to_owned(), value);
    if dice.percent(10) {
        put("hostname", json!(dice.pick(&HOSTNAMES)));
    }
    if let Some(env) = env(dice) {
        put("env", env);
        put("files", json!({"host.aliases": ALIASES}));
    }
    if name.starts_with("inhosts") || dice.percent(5) {
        put("hosts", json!(dice.pick(&HOSTS)));
    }
    if dice.percent(6) {
        put("nsswitch", json!(dice.pick(&NSSWITCH)));
    }
    if dice.percent(4) {
        // AI_PASSIVE to AI_ADDRCONFIG, and one that nobody knows.
        put("flags", json!(1_u32 << dice.below(12)));
    }
    if dice.percent(8) {
        put("family", json!(dice.pick(&["inet", "inet6"])));
    }
}

fn servers(dice: &mut Dice) -> Vec<String> {
    let one = |dice: &mut Dice| {
        if dice.percent(5) {
            dice.pick(&ODD_SERVERS).to_owned()
        } else {
            dice.pick(&SERVERS).to_owned()
        }
    };
    let count = match dice.below(100) {
        0..=3 => 0,
        4..=65 => 1,
        66..=80 => 2,
        81..=92 => 3,
        93..=96 => 4,
        _ => 5,
    };
    if count == 1 && dice.percent(60) {
        return vec![
            dice.pick(&["10.96.0.10", "169.254.20.10", "127.0.0.53", "fd00::10"])
                .to_owned(),
        ];
    }
    let mut list: Vec<String> = Vec::new();
    while list.len() < count {
        let server = one(dice);
        // The same server twice is rare on nodes, but happens.
        if !list.contains(&server) || dice.percent(10) {
            list.push(server);
        }
    }
    list
}

fn search(dice: &mut Dice) -> Vec<String> {
    let mut list: Vec<String> = Vec::new();
    let pod = dice.percent(55);
    if pod {
        let namespace = dice.pick(&NAMESPACES);
        list.extend([
            format!("{namespace}.svc.cluster.local"),
            "svc.cluster.local".to_owned(),
            "cluster.local".to_owned(),
        ]);
    }
    let more = if pod {
        dice.below(4).saturating_sub(1)
    } else {
        dice.below(4)
    };
    let more = if dice.percent(7) { more + 4 } else { more };
    for _ in 0..more {
        let domain = if dice.percent(6) {
            dice.pick(&ODD_DOMAINS)
        } else {
            dice.pick(&DOMAINS)
        };
        list.push(domain.to_owned());
    }
    list
}

fn options(dice: &mut Dice, failing: bool) -> Vec<String> {
    let mut list: Vec<String> = Vec::new();
    if dice.percent(55) {
        list.push("ndots:5".to_owned());
    }
    for _ in 0..dice.below(6).saturating_sub(2) {
        list.push(dice.pick(&OPTIONS).to_owned());
    }
    if dice.percent(2) {
        list.push("rotate".to_owned());
    }
    if failing {
        // Short, so that a silent server costs seconds only.
        list.push("timeout:1".to_owned());
        list.push(
            dice.pick(&["attempts:1", "attempts:1", "attempts:2"])
                .to_owned(),
        );
    }
    list
}

fn plain_file(servers: &[String], search: &[String], options: &[String]) -> String {
    let mut text = String::new();
    if !search.is_empty() {
        let _ = writeln!(text, "search {}", search.join(" "));
    }
    for server in servers {
        let _ = writeln!(text, "nameserver {server}");
    }
    if !options.is_empty() {
        let _ = writeln!(text, "options {}", options.join(" "));
    }
    text
}

/// The same words in rare syntax.
fn odd_file(dice: &mut Dice, servers: &[String], search: &[String], options: &[String]) -> String {
    let mut lines: Vec<String> = servers
        .iter()
        .map(|s| format!("nameserver{}{s}", space(dice)))
        .collect();
    if !search.is_empty() {
        let (word, tail) = if dice.percent(20) {
            ("domain", &search[..1])
        } else {
            ("search", search)
        };
        let gap = space(dice);
        lines.insert(
            dice.below(lines.len() + 1),
            format!("{word}{gap}{}", tail.join(gap)),
        );
    }
    let split = dice.percent(30);
    let parts = if split {
        options.to_vec()
    } else {
        vec![options.join(" ")]
    };
    for part in parts.into_iter().filter(|p| !p.is_empty()) {
        let at = if dice.percent(80) {
            lines.len()
        } else {
            dice.below(lines.len() + 1)
        };
        lines.insert(at, format!("options{}{part}", space(dice)));
    }
    for _ in 0..=dice.below(2) {
        let extra = dice.pick(&LINES);
        lines.insert(dice.below(lines.len() + 1), extra.to_owned());
    }
    bend_one(dice, &mut lines);
    let end = if dice.percent(12) { "\r\n" } else { "\n" };
    let text = lines.join(end);
    if dice.percent(12) { text } else { text + end }
}

/// Blanks or a comment around one of the lines, sometimes.
fn bend_one(dice: &mut Dice, lines: &mut [String]) {
    if !dice.percent(30) {
        return;
    }
    let at = dice.below(lines.len());
    if let Some(line) = lines.get_mut(at) {
        *line = match dice.below(5) {
            0 => format!(" {line}"),
            1 => format!("\t{line}"),
            2 => format!("{line} "),
            3 => format!("{line} # comment"),
            _ => format!("{line}\t"),
        };
    }
}

fn space(dice: &mut Dice) -> &'static str {
    dice.pick(&[" ", " ", " ", "\t", "  ", " \t "])
}

fn name(dice: &mut Dice) -> String {
    match dice.below(100) {
        0..=79 => dice.pick(&NAMES).to_owned(),
        80..=95 => dice.pick(&SPECIAL).to_owned(),
        96 => "l".repeat(62 + dice.below(3)) + ".example.com",
        97 => "n".repeat(30) + ".b" + &"b".repeat(dice.below(30)) + ".a",
        98 => vec!["nnnnnnnnn"; 24 + dice.below(3)].join("."),
        _ => format!("{}.{}", dice.pick(&["web", "db", "x"]), dice.pick(&DOMAINS)),
    }
}

fn env(dice: &mut Dice) -> Option<Value> {
    let domains = |dice: &mut Dice| dice.pick(&LOCAL_DOMAINS);
    let options = |dice: &mut Dice| dice.pick(&ENV_OPTIONS);
    Some(match dice.below(100) {
        0..=2 => json!({"LOCALDOMAIN": domains(dice)}),
        3..=5 => json!({"RES_OPTIONS": options(dice)}),
        6 => json!({"HOSTALIASES": "/etc/host.aliases"}),
        7 => json!({"LOCALDOMAIN": domains(dice), "RES_OPTIONS": options(dice)}),
        _ => return None,
    })
}
