//! `kdns why` over a log of 300 MB in the default format, beside `mawk`, which only
//! counts its rcodes, and `grep -c`.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::Path;

use tempfile::TempDir;

use crate::figures::{Bound, Figures, median};
use crate::measure::cost;

/// So much is enough that a start is nothing beside it.
const BYTES: usize = 300_000_000;

const LEAST_MB: f64 = 300.0;
const MOST_OF_MAWK: f64 = 2.0;
const MOST_MIB: f64 = 96.0;

/// Rounds of each program.
const ROUNDS: u32 = 5;

pub(crate) fn run(figures: &mut Figures) {
    let directory = TempDir::new().unwrap();
    let log = directory.path().join("coredns.log");
    let bytes = write(&log);
    let path = log.to_str().unwrap();
    let kdns = env!("CARGO_BIN_EXE_kdns");
    let counted = |command: &[&str]| cost(1, command).map(|it| it.seconds);
    // Once, so that all of it is in memory.
    let whole = cost(1, &[kdns, "why", "--exit-zero", "--log", path]).unwrap();
    let mine = || counted(&[kdns, "why", "--exit-zero", "--log", path]).unwrap();
    let own = median((0..ROUNDS).map(|_| mine()).collect());
    figures.check(
        "why over a log, MB a second of processor time",
        bytes / own / 1e6,
        Bound::AtLeast(LEAST_MB),
        &format!("{:.0} MB of the default format", bytes / 1e6),
    );
    figures.check(
        "why over a log, MiB",
        f64::from(whole.peak_kib) / 1024.0,
        Bound::AtMost(MOST_MIB),
        "resident at most",
    );
    let program = "{count[$(NF-3)]++} END {for (rcode in count) print rcode, count[rcode]}";
    match counted(&["mawk", program, path]) {
        None => figures.missing("mawk"),
        Some(first) => {
            let rounds = (0..ROUNDS).map(|_| mine() / counted(&["mawk", program, path]).unwrap());
            figures.check(
                "why over a log, processor time / mawk counting rcodes",
                median(rounds.collect()),
                Bound::AtMost(MOST_OF_MAWK),
                &format!("mawk reads {:.0} MB a second", bytes / first / 1e6),
            );
        }
    }
    if let Some(seconds) = counted(&["grep", "-c", "NXDOMAIN", path]) {
        println!(
            "grep -c reads {:.0} MB of it a second",
            bytes / seconds / 1e6
        );
    }
}

/// Writes the log: lookups of 2,000 clients in five namespaces, each for a few
/// names of its own. How long it is.
#[expect(clippy::cast_precision_loss, reason = "it is no longer than that")]
#[expect(clippy::too_many_lines, reason = "one case after the other")]
#[expect(
    clippy::indexing_slicing,
    reason = "the numbers are within bounds by construction"
)]
fn write(path: &Path) -> f64 {
    let mut file = BufWriter::new(File::create(path).unwrap());
    let mut state = 7u64;
    let mut random = move |limit: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) % limit
    };
    let spaces = ["default", "shop", "prod", "kube-system", "monitoring"];
    let mut written = 0;
    while written < BYTES {
        let client = random(2000);
        let space = spaces[usize::try_from(client % 5).unwrap()];
        let (name, found) = match random(4) {
            0 | 1 => {
                let number = (client + random(5)) % 200;
                (
                    format!(
                        "api-{number}.region-{}.example-{}.com",
                        number % 7,
                        number % 40
                    ),
                    4,
                )
            }
            2 => (format!("svc-{}.shop", (client + random(5)) % 100), 1),
            _ => (format!("svc-{}", (client + random(5)) % 100), 0),
        };
        let ends = [
            format!(".{space}.svc.cluster.local."),
            ".svc.cluster.local.".to_owned(),
            ".cluster.local.".to_owned(),
            ".ec2.internal.".to_owned(),
            ".".to_owned(),
        ];
        let mut lines = String::new();
        for (index, end) in ends.iter().enumerate().take(found + 1) {
            let port = 32768 + random(28000);
            for (record, answer) in [("A", 16), ("AAAA", 93)] {
                let size = name.len() + end.len() + 17;
                let (rcode, more) = if index == found {
                    ("NOERROR", answer)
                } else {
                    ("NXDOMAIN", 93)
                };
                writeln!(
                    lines,
                    "[INFO] 10.244.{}.{}:{port} - {} \"{record} IN {name}{end} udp {size} false 512\" \
                     {rcode} qr,aa,rd {} 0.000{}s",
                    client / 250,
                    client % 250 + 1,
                    random(65536),
                    size + more,
                    100_000 + random(900_000),
                )
                .unwrap();
            }
        }
        written += lines.len();
        file.write_all(lines.as_bytes()).unwrap();
    }
    file.flush().unwrap();
    drop(file);
    fs::metadata(path).unwrap().len() as f64
}
