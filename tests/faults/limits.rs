//! Not enough of what every program needs: descriptors, memory, threads.

use std::fs;
use std::net::UdpSocket;
use std::process::Command;
use std::thread;

use libtest_mimic::Trial;

use crate::lab::{Ended, behind, nxdomain, testdata};
use crate::root::trial;

pub(crate) fn trials() -> Vec<Trial> {
    let needs = ["prlimit"];
    vec![
        trial("limits::descriptors", &needs, descriptors),
        trial("limits::sockets of a live lookup", &needs, live),
        trial("limits::memory", &needs, memory),
        trial("limits::threads", &["prlimit", "setpriv"], threads),
        trial("limits::processes", &["prlimit", "setpriv"], processes),
    ]
}

/// Runs whose result is known without a limit.
fn runs() -> Vec<(Vec<String>, Ended)> {
    let node = testdata("nodes/cluster-loop").display().to_string();
    let healthy = testdata("nodes/coredns-healthy").display().to_string();
    let tree = testdata("lint-real").display().to_string();
    let vectors = testdata("vectors/regressions.jsonl").display().to_string();
    let runs = [
        vec!["check-loop", "--root", &node],
        vec!["check-loop", "--root", &healthy],
        vec!["explain", "web", "--root", &node],
        vec!["explain", "--scenario", &vectors, "--format", "jsonl"],
        vec!["lint", &tree, "--format", "concise"],
        vec!["pods", "--root", &node],
        vec!["upstream", "--root", &node],
    ];
    let runs = runs.map(|run| run.into_iter().map(str::to_owned).collect::<Vec<_>>());
    let with = |run: Vec<String>| {
        let ended = behind(&[], &run);
        (run, ended)
    };
    runs.into_iter().map(with).collect()
}

/// The result is the same, or kdns says that it could not do it: never another
/// verdict.
#[track_caller]
fn same_or_undecided(limit: &str, run: &[String], free: &Ended, ended: &Ended) {
    let what = format!("{limit}: {run:?}");
    if (ended.status, &ended.out) == (free.status, &free.out) {
        return;
    }
    ended.is_clear(&what);
    let is_other_verdict = ended.status == 0 && free.status != 0;
    assert!(!is_other_verdict, "{what}: {ended:?}");
    let head = |it: &Ended| it.out.lines().next().map(str::to_owned);
    if ended.status == free.status && head(ended) == head(free) {
        return;
    }
    // What could not be read is named.
    let all = format!("{}{}", ended.out, ended.err);
    let said = [
        "too many open files",
        "could not",
        "cannot",
        "no descriptor",
        "not enough memory",
    ];
    assert!(said.iter().any(|it| all.contains(it)), "{what}: {ended:?}");
}

/// Go asks each name from two sockets of its own, and closes them.
fn live() {
    const LIMIT: &str = "--nofile=32";
    let server = UdpSocket::bind("127.91.7.1:53").unwrap();
    thread::spawn(move || {
        let mut buffer = [0; 512];
        while let Ok((length, from)) = server.recv_from(&mut buffer) {
            let reply = nxdomain(&buffer[..length]);
            server.send_to(&reply, from).unwrap();
        }
    });
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("resolv.conf");
    let domains: Vec<String> = (0..60).map(|number| format!("d{number}.test")).collect();
    let text = format!("nameserver 127.91.7.1\nsearch {}\n", domains.join(" "));
    fs::write(&file, text).unwrap();
    let file = file.display().to_string();
    let words = [
        "explain",
        "db",
        "--live",
        "--resolver",
        "go",
        "--file",
        &file,
    ];
    let ended = behind(&["prlimit", LIMIT], &words);
    assert!(ended.status < 2, "{ended:?}");
    assert!(ended.out.contains("db.d59.test"), "{ended:?}");
    assert!(!ended.out.contains("too many open files"), "{ended:?}");
}

fn descriptors() {
    for (run, free) in runs() {
        for limit in (3..=12).chain([16, 24, 40]) {
            let word = format!("--nofile={limit}");
            let ended = behind(&["prlimit", &word], &run);
            // Of a program that is not static: not even its libraries were loaded.
            if ended.status != 127 {
                same_or_undecided(&word, &run, &free, &ended);
            }
        }
    }
}

/// So many megabytes let the program begin.
fn least() -> usize {
    let begins = |megabytes: &usize| {
        let word = format!("--as={}", megabytes << 20);
        behind(&["prlimit", &word], &["--version"]).status == 0
    };
    (4..100).find(begins).unwrap()
}

/// What the kernel does where the stack cannot grow: SIGSEGV, and nobody is left
/// who could say so.
const NO_STACK: i32 = 139;

/// What Rust's library says in a panic of its own where a thread that begins gets no
/// stack for signals.
const NO_SIGNAL_STACK: &str = "failed to allocate an alternative stack";

/// Without memory the allocator ends the program, and says so; whatever stands
/// at `--output` is still there, whole.
fn memory() {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("report");
    fs::write(&report, "as before\n").unwrap();
    let mut ended_early = 0;
    let least = least();
    for (run, free) in runs() {
        for megabytes in (least..least + 8).chain([least + 12, least + 20, least + 60]) {
            let word = format!("--as={}", megabytes << 20);
            let ended = behind(&["prlimit", &word], &run);
            if (ended.status, &ended.out) == (free.status, &free.out) {
                continue;
            }
            let had_no_stack = ended.err.contains(NO_SIGNAL_STACK);
            let panicked = ended.err.contains("panicked");
            assert!(!panicked || had_no_stack, "{word} {run:?}: {ended:?}");
            if ended.status == 134 {
                let is_told = had_no_stack || ended.err.contains("memory allocation of");
                assert!(is_told, "{word} {run:?}: {ended:?}");
            } else if ended.status != NO_STACK {
                same_or_undecided(&word, &run, &free, &ended);
            }
            ended_early += 1;
            let mut to_file = run.clone();
            to_file.extend(["--output".to_owned(), report.display().to_string()]);
            let ended = behind(&["prlimit", &word], &to_file);
            let written = fs::read_to_string(&report).unwrap();
            let lines: Vec<&str> = free.out.lines().collect();
            // What was found in the files that could be read is whole; it can be nothing.
            let is_part = ended.status == 2
                && (written.is_empty() || written.ends_with('\n'))
                && written.lines().all(|line| lines.contains(&line));
            let is_kept = written == "as before\n";
            assert!(
                ended.status < 2 || is_kept || is_part,
                "{word} {run:?}: {written}"
            );
            fs::write(&report, "as before\n").unwrap();
            let left = fs::read_dir(folder.path()).unwrap().count();
            assert_eq!(left, 1, "{word} {run:?} leaves a file behind");
        }
    }
    assert!(ended_early > 0, "no limit was low enough");
}

/// A user that may not have one more process gets the same of a node below a
/// directory; of a process, whose files are read by another one, it is said.
fn processes() {
    let copy = tempfile::tempdir().unwrap();
    fs::copy(crate::lab::KDNS, copy.path().join("kdns")).unwrap();
    let script = "cp -R \"$1\" node; chmod -R a+rX .; user=\"setpriv --reuid 64998 --clear-groups\"
        $user sleep 60 & own=$!; trap 'kill $own' EXIT; shift
        $user prlimit --nproc=1 ./kdns \"$@\" $(test \"$1\" != explain || echo --target $own)";
    let limited = |words: &[&str]| {
        let mut command = Command::new("sh");
        command.args(["-euc", script, "sh"]);
        command.arg(testdata("nodes/cluster-loop"));
        let output = command.args(words).current_dir(copy.path()).output();
        Ended::of(&output.unwrap())
    };
    for words in [
        ["pods", "--root", "node"],
        ["check-loop", "--root", "node"],
        ["upstream", "--root", "node"],
        ["lint", "--root", "node"],
    ] {
        let ended = limited(&words);
        let mut free = Command::new(crate::lab::KDNS);
        let free = free.args(words).current_dir(copy.path()).output();
        let free = Ended::of(&free.unwrap());
        assert_eq!((ended.status, &ended.out), (free.status, &free.out));
    }
    let ended = limited(&["explain", "web"]);
    ended.is_clear("a target");
    assert!(
        ended.status == 2 && ended.err.contains("limit of processes"),
        "{ended:?}"
    );
}

/// A user that may not have one more thread gets the same findings.
fn threads() {
    // Root has no such limit, nobody can have processes already, and this checkout may be root's alone.
    let copy = tempfile::tempdir().unwrap();
    let program = copy.path().join("kdns");
    fs::copy(crate::lab::KDNS, &program).unwrap();
    let script = "cp -R \"$1\" tree; chmod -R a+rX .; exec setpriv --reuid 64999 --clear-groups prlimit --nproc=1 ./kdns lint tree --format concise";
    let output = Command::new("sh")
        .args(["-euc", script, "sh"])
        .arg(testdata("lint-real"))
        .current_dir(copy.path())
        .output()
        .unwrap();
    let mut free = Command::new(&program);
    free.args(["lint", "tree", "--format", "concise"]);
    let free = Ended::of(&free.current_dir(copy.path()).output().unwrap());
    let ended = Ended::of(&output);
    assert_eq!(
        (ended.status, &ended.out),
        (free.status, &free.out),
        "{}",
        ended.err
    );
}
