//! Many questions: `kdns explain --scenario FILE`.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use kdns::resolver;
use serde_json::{Value, json};

use crate::explain::{KDNS, POD};
use crate::figures::{Bound, Figures, median};
use crate::lab::random;
use crate::measure::{Cost, cost};

/// What programs in a pod look up: services short and long, and the outside.
const NAMES: [&str; 7] = [
    "web",
    "web.prod",
    "api.example.com",
    "kubernetes.default",
    "db-0.db.prod.svc",
    "web.prod.svc.cluster.local",
    "www.example.org.",
];
const FEW: u32 = 10_000;
const MANY: u32 = 100_000;
const ROUNDS: usize = 5;
/// Harder ones: odd files, servers that fail or are silent.
const RANDOM: u32 = 2_000;
const SEED: u64 = 20_261_121;

pub(crate) fn run(figures: &mut Figures) {
    let directory = tempfile::tempdir().unwrap();
    let few = directory.path().join("few.jsonl");
    let many = directory.path().join("many.jsonl");
    write(FEW, &few);
    write(MANY, &many);
    let default = measure(&few, &many, "glibc,musl,go");
    check(figures, "glibc,musl,go", (3, MANY), &default, 250_000.0);
    growth(figures, &default);
    // Fewer lines: it is the same work for each, six times over.
    let all = measure(&few, &few, "all");
    let count = u32::try_from(resolver::usual().count()).unwrap();
    check(figures, "all", (count, FEW), &all, 150_000.0);
    let odd = directory.path().join("odd.jsonl");
    let lines = random::scenarios(SEED, RANDOM as usize);
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    fs::write(&odd, lines.join("\n")).unwrap();
    for (resolvers, count, least) in [("glibc,musl,go", 3, 100_000.0), ("all", count, 15_000.0)] {
        let costs = measure(&odd, &odd, resolvers);
        let what = format!("{resolvers} in random scenarios");
        check(figures, &what, (count, RANDOM), &costs, least);
    }
}

/// The costs of the smaller and of the larger file, round by round.
type Costs = Vec<(Cost, Cost)>;

fn measure(small: &Path, large: &Path, resolvers: &str) -> Costs {
    let once = |file: &Path| {
        let file = file.to_str().unwrap();
        let arguments = ["--scenario", file, "--resolver", resolvers];
        let command = [&[KDNS, "explain", "--format", "jsonl"], &arguments[..]].concat();
        cost(1, &command).unwrap()
    };
    (0..ROUNDS).map(|_| (once(small), once(large))).collect()
}

fn check(figures: &mut Figures, what: &str, (count, lines): (u32, u32), costs: &Costs, least: f64) {
    let predictions = f64::from(lines * count);
    let rates = costs.iter().map(|(_, large)| predictions / large.seconds);
    let what = format!("scenarios, predictions a second of {what}");
    let beside = format!("{lines} lines, median of {ROUNDS} rounds");
    let rate = median(rates.collect());
    figures.check(&what, rate, Bound::AtLeast(least), &beside);
}

/// Ten times the lines take ten times the time, and the same memory.
fn growth(figures: &mut Figures, costs: &Costs) {
    let time = median(
        costs
            .iter()
            .map(|(few, many)| many.seconds / few.seconds)
            .collect(),
    );
    let beside = format!("{FEW} and {MANY} lines");
    let what = "scenarios, growth of the time";
    figures.check(what, time, Bound::AtMost(11.5), &beside);
    let peak = |costs: &mut dyn Iterator<Item = Cost>| {
        f64::from(costs.map(|it| it.peak_kib).max().unwrap())
    };
    let few = peak(&mut costs.iter().map(|(few, _)| *few));
    let many = peak(&mut costs.iter().map(|(_, many)| *many));
    let beside = format!("{few:.0} KiB for {FEW} lines, {many:.0} KiB for {MANY}");
    let what = "scenarios, growth of the peak memory";
    figures.check(what, many / few, Bound::AtMost(1.05), &beside);
}

/// Line by line, so that this process stays small.
fn write(lines: u32, path: &Path) {
    let mut file = BufWriter::new(File::create(path).unwrap());
    for (number, name) in (0..lines).zip(NAMES.iter().cycle()) {
        let scenario = json!({
            "id": format!("case-{number}"),
            "resolv_conf": POD,
            "name": name,
            "answers": [
                {
                    "name": "*.svc.cluster.local",
                    "type": "A",
                    "reply": "ANSWER",
                    "a": ["10.96.1.1"],
                },
                {
                    "name": "api.example.com",
                    "reply": "ANSWER",
                    "a": ["192.0.2.1"],
                    "aaaa": ["2001:db8::1"],
                },
            ],
        });
        writeln!(file, "{scenario}").unwrap();
    }
    file.flush().unwrap();
}
