//! Random scenarios, weighted toward what Kubernetes nodes and pods contain.

#![expect(
    clippy::indexing_slicing,
    reason = "the lists are not empty, and JSON objects take new keys"
)]

use std::fmt::Write as _;
use std::net::IpAddr;

use serde_json::{Map, Value, json};

use super::words::{
    DOMAINS, NAMES, NAMESPACES, ODD_DOMAINS, ODD_SERVERS, OPTIONS, SERVERS, SPECIAL,
};

/// A small generator of random numbers (xorshift64*), so that a seed always means the same scenarios.
#[derive(Debug)]
struct Dice(u64);

impl Dice {
    fn new(seed: u64) -> Self {
        let mut dice = Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5DEE_CE66_D1CE_4E5B);
        dice.next();
        dice
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.max(1);
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 16
    }

    /// A number below `n`.
    fn below(&mut self, n: usize) -> usize {
        let n = u64::try_from(n.max(1)).unwrap_or(1);
        usize::try_from(self.next() % n).unwrap_or(0)
    }

    /// True in so many of a hundred.
    fn percent(&mut self, of_hundred: usize) -> bool {
        self.below(100) < of_hundred
    }

    fn pick<'a, T: ?Sized>(&mut self, list: &[&'a T]) -> &'a T {
        list[self.below(list.len())]
    }
}

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
        Value::Array(answers(dice, &name, &search, &servers, failing)),
    );
    put("limit_s", json!(12));
    surroundings(dice, &name, &mut all);
    Value::Object(all)
}

/// Host name, environment, other files, family: mostly the usual ones.
fn surroundings(dice: &mut Dice, name: &str, all: &mut Map<String, Value>) {
    let mut put = |key: &str, value: Value| all.insert(key.to_owned(), value);
    if dice.percent(10) {
        put(
            "hostname",
            json!(dice.pick(&[
                "node-1",
                "node-1.corp.example",
                "ip-10-0-0-1.eu-west-1.compute.internal",
                "web.test."
            ])),
        );
    }
    if let Some(env) = env(dice) {
        put("env", env);
        put(
            "files",
            json!({"host.aliases": "short www.example.com\ndb db.x.y\n"}),
        );
    }
    if name.starts_with("inhosts") || dice.percent(5) {
        put(
            "hosts",
            json!(
                "127.0.0.1 localhost\n192.0.2.77 inhosts inhosts.a.test\n2001:db8::77 inhosts\n192.0.2.78 web\n"
            ),
        );
    }
    if dice.percent(4) {
        put(
            "nsswitch",
            json!(dice.pick(&[
                "hosts: dns files\n",
                "hosts: files\n",
                "hosts: files dns [!UNAVAIL=return] myhostname\n"
            ])),
        );
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
        let extra = dice.pick(&[
            "# comment",
            "; comment",
            "",
            "   ",
            "\t# comment",
            "search b.test",
            "domain b.test",
            "search",
            "nameserver",
            "options",
            "sortlist 10.0.0.0/8",
            "lookup file bind",
            "family inet6 inet4",
            "nonsense",
            "nameservers 10.96.0.13",
            "Search b.test",
        ]);
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
    Some(match dice.below(100) {
        0..=2 => {
            json!({"LOCALDOMAIN": dice.pick(&["x.test", "x.test y.test", "", "x.test\ty.test"])})
        }
        3..=5 => {
            json!({"RES_OPTIONS": dice.pick(&["ndots:2", "ndots:0 edns0", "use-vc", "attempts:1 timeout:1", "single-request"])})
        }
        6 => json!({"HOSTALIASES": "/etc/host.aliases"}),
        7 => json!({"LOCALDOMAIN": "x.test", "RES_OPTIONS": "ndots:1"}),
        _ => return None,
    })
}

/// The servers' rules: what exists, and what fails.
fn answers(
    dice: &mut Dice,
    name: &str,
    search: &[String],
    servers: &[String],
    failing: bool,
) -> Vec<Value> {
    let mut rules = Vec::new();
    let bare = name.trim_end_matches('.');
    let somewhere = |dice: &mut Dice| {
        if search.is_empty() || dice.percent(35) {
            bare.to_owned()
        } else {
            format!(
                "{bare}.{}",
                search[dice.below(search.len())].trim_matches('.')
            )
        }
    };
    // Rules name servers by address; some of the lines are none.
    let addresses: Vec<&String> = servers
        .iter()
        .filter(|server| server.parse::<IpAddr>().is_ok())
        .collect();
    if failing {
        for _ in 0..=dice.below(2) {
            let reply = dice.pick(&[
                "SERVFAIL", "REFUSED", "NOTIMP", "FORMERR", "TIMEOUT", "TIMEOUT", "TC", "NODATA",
            ]);
            let mut rule = json!({"reply": reply});
            match dice.below(4) {
                0 if !addresses.is_empty() => {
                    rule["server"] = json!(addresses[dice.below(addresses.len())]);
                }
                1 => rule["type"] = json!(dice.pick(&["A", "AAAA"])),
                _ => rule["name"] = json!(somewhere(dice)),
            }
            if reply == "TC" {
                rule["proto"] = json!("udp");
            }
            if dice.percent(20) {
                // Of one type: which of A and AAAA comes first is not always the same.
                rule["type"] = json!(dice.pick(&["A", "AAAA"]));
                rule["upto"] = json!(1 + dice.below(2));
            }
            rules.push(rule);
        }
    }
    if dice.percent(12) {
        rules.push(json!({"name": somewhere(dice), "reply": "NODATA"}));
    }
    if dice.percent(60) {
        let mut rule = json!({"name": somewhere(dice), "reply": "ANSWER"});
        let kind = dice.below(10);
        if kind != 0 {
            rule["a"] = json!(["192.0.2.5"]);
        }
        if kind < 4 {
            rule["aaaa"] = json!(["2001:db8::5"]);
        }
        rules.push(rule);
    }
    if dice.percent(40) {
        rules.push(json!({"name": "*.example.com", "reply": "ANSWER", "a": ["192.0.2.2"], "aaaa": ["2001:db8::2"]}));
    }
    rules
}
