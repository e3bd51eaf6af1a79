//! `kdns lint` over ten thousand files, beside `grep` and `yamllint`.
//!
//! Time is the clock's: all cores are to be used. `grep` writes to a file,
//! because with nowhere to write to it stops at the first match.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use tempfile::TempDir;

use crate::figures::{Bound, Figures, median};
use crate::measure::cost;

const KDNS: &str = env!("CARGO_BIN_EXE_kdns");
const FILES: usize = 10_000;
/// A file is as long as this, so that all are 40 MiB.
const LENGTH: usize = 4 << 10;
/// In so many directories.
const DIRECTORIES: usize = 100;
/// One of so many files has something to find.
const WRONG: usize = 100;
/// yamllint takes so long that it gets a part of the files.
const SAMPLE: usize = 200;
const ROUNDS: usize = 7;

const MOST_OF_GREP: f64 = 3.0;
const LEAST_OF_YAMLLINT: f64 = 20.0;
const MOST_MIB: f64 = 32.0;
const MOST_MIB_OF_KUBELETS: f64 = 40.0;
/// Where there are two or more processors.
const LEAST_CORES: f64 = 1.2;
/// What ten times as many files may add.
const MOST_MORE_MIB: f64 = 8.0;
const MOST_MORE_MIB_OF_KUBELETS: f64 = 24.0;

pub(crate) fn run(figures: &mut Figures) {
    let resolvers = tree(FILES, "resolv.conf", &resolv_conf);
    beside_grep(figures, resolvers.path());
    memory(
        figures,
        "resolv.conf",
        &resolvers,
        &tree(FILES / 10, "resolv.conf", &resolv_conf),
        [MOST_MIB, MOST_MORE_MIB],
    );
    cores(figures, resolvers.path());
    is_in_order(resolvers.path());
    let manifests = tree(FILES, "deployment.yaml", &deployment);
    beside_yamllint(figures, manifests.path());
    memory(
        figures,
        "YAML",
        &manifests,
        &tree(FILES / 10, "deployment.yaml", &deployment),
        [MOST_MIB, MOST_MORE_MIB],
    );
    // Every kubelet is put together, and each can be asked about: they are the
    // only thing that is kept of every file.
    memory(
        figures,
        "kubelet",
        &tree(FILES, "kubelet.yaml", &kubelet),
        &tree(FILES / 10, "kubelet.yaml", &kubelet),
        [MOST_MIB_OF_KUBELETS, MOST_MORE_MIB_OF_KUBELETS],
    );
}

fn beside_grep(figures: &mut Figures, tree: &Path) {
    if !is_here("grep") {
        figures.missing("grep");
        return;
    }
    let out = TempDir::new().unwrap();
    let counts = out.path().join("counts");
    let grep = || {
        let mut command = Command::new("grep");
        command.arg("-rc").arg("nameserver").arg(tree);
        command.stdout(fs::File::create(&counts).unwrap());
        seconds(&mut command)
    };
    let (first, _) = (grep(), lint(tree));
    let rounds = (0..ROUNDS).map(|_| lint(tree) / grep());
    figures.check(
        &format!("lint {FILES} resolv.conf files, time / grep -rc"),
        median(rounds.collect()),
        Bound::AtMost(MOST_OF_GREP),
        &format!("grep takes {:.0} ms", first * 1e3),
    );
}

fn beside_yamllint(figures: &mut Figures, whole: &Path) {
    if !is_here("yamllint") {
        figures.missing("yamllint");
        return;
    }
    let sample = tree(SAMPLE, "deployment.yaml", &deployment);
    let peer = || {
        let mut command = Command::new("yamllint");
        command.arg(sample.path());
        seconds(&mut command) / count(SAMPLE)
    };
    let (first, _) = (peer(), lint(whole));
    let rounds = (0..3).map(|_| peer() / (lint(whole) / count(FILES)));
    figures.check(
        &format!("lint {FILES} YAML files, rate / yamllint's"),
        median(rounds.collect()),
        Bound::AtLeast(LEAST_OF_YAMLLINT),
        &format!("yamllint takes {:.1} ms for a file of 4 KiB", first * 1e3),
    );
}

/// The peak over all files, and what it has more than that over a tenth of them;
/// the bounds are those of both.
fn memory(
    figures: &mut Figures,
    what: &str,
    large: &TempDir,
    small: &TempDir,
    [most_at_all, most_more]: [f64; 2],
) {
    let peak = |tree: &TempDir| {
        let command = [KDNS, "lint", tree.path().to_str().unwrap()];
        f64::from(cost(1, &command).unwrap().peak_kib) / 1024.0
    };
    let (most, less) = (peak(large), peak(small));
    figures.check(
        &format!("lint {FILES} {what} files, MiB"),
        most,
        Bound::AtMost(most_at_all),
        "resident at most",
    );
    figures.check(
        &format!("lint {FILES} {what} files, MiB more than a tenth of them"),
        most - less,
        Bound::AtMost(most_more),
        "40 MiB against 4",
    );
}

/// How many processors work at once: the walk is one's, everything else all's.
fn cores(figures: &mut Figures, tree: &Path) {
    let available = std::thread::available_parallelism().map_or(1, usize::from);
    if available < 2 {
        figures.missing("a second processor");
        return;
    }
    let command = [KDNS, "lint", tree.to_str().unwrap()];
    let at_once = (0..ROUNDS).map(|_| {
        let cost = cost(1, &command).unwrap();
        cost.seconds / cost.duration
    });
    figures.check(
        &format!("lint {FILES} resolv.conf files, processors at work"),
        at_once.fold(0.0, f64::max),
        Bound::AtLeast(LEAST_CORES),
        &format!("of {available}, in the best of {ROUNDS} runs"),
    );
}

/// Two runs say the same.
fn is_in_order(tree: &Path) {
    let said = || {
        let mut command = Command::new(KDNS);
        command.arg("lint").args(["--format", "concise"]).arg(tree);
        let output = command.env_remove("LD_LIBRARY_PATH").output().unwrap();
        assert!(!output.stdout.is_empty());
        output.stdout
    };
    assert!(said() == said(), "two runs differ");
}

fn lint(tree: &Path) -> f64 {
    seconds(
        Command::new(KDNS)
            .arg("lint")
            .arg(tree)
            .stdout(Stdio::null()),
    )
}

/// How long a program runs.
fn seconds(command: &mut Command) -> f64 {
    let start = Instant::now();
    let status = command
        // Cargo's: nobody who runs kdns has it.
        .env_remove("LD_LIBRARY_PATH")
        .stderr(Stdio::null())
        .status();
    let code = status.unwrap().code();
    assert!(matches!(code, Some(0 | 1)), "{command:?} failed");
    start.elapsed().as_secs_f64()
}

fn is_here(program: &str) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").stdout(Stdio::null());
    command.status().is_ok()
}

fn count(files: usize) -> f64 {
    f64::from(u32::try_from(files).unwrap())
}

/// A tree of files of one name.
fn tree(files: usize, name: &str, content: &dyn Fn(usize) -> String) -> TempDir {
    let root = TempDir::new().unwrap();
    for number in 0..files {
        let directory = root
            .path()
            .join(format!("{}/{number}", number % DIRECTORIES));
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join(name), padded(content(number))).unwrap();
    }
    root
}

/// Comments up to the length.
fn padded(mut text: String) -> String {
    while text.len() < LENGTH {
        text.push_str("# What was here before is kept for the one who comes after.\n");
    }
    text
}

fn resolv_conf(number: usize) -> String {
    let server = if number.is_multiple_of(WRONG) {
        "127.0.0.53".to_owned()
    } else {
        format!("10.0.{}.53", number % 256)
    };
    format!(
        "# Managed\nnameserver {server}\nnameserver 10.1.0.53\nsearch example.net corp.example\noptions timeout:2\n"
    )
}

/// A workload of as many containers as fit.
fn deployment(number: usize) -> String {
    let mut text = format!(
        "---\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web-{number}\nspec:\n  selector:\n    matchLabels:\n      app: web\n  template:\n    metadata:\n      labels:\n        app: web\n    spec:\n      containers:\n"
    );
    for container in 0.. {
        if text.len() + 300 > LENGTH {
            break;
        }
        write!(
            text,
            "        - name: c{container}\n          image: registry.example/web:{number}\n          ports:\n            - containerPort: 80\n              protocol: TCP\n          resources:\n            limits:\n              memory: \"128Mi\"\n"
        )
        .unwrap();
    }
    text
}

fn kubelet(number: usize) -> String {
    format!(
        "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nclusterDNS:\n- 10.96.0.10\nclusterDomain: cluster.local\nresolvConf: /run/systemd/resolve/resolv.conf\nmaxPods: {}\n",
        number % 250
    )
}
