//! Completions in the real shells: bash, zsh (with keys in a terminal of its
//! own), fish, and as kubectl asks.
//!
//! What needs a shell that is not here is ignored, with the reason in its
//! name; with `KDNS_REQUIRE_REAL=1` that is a failure. `.ci/install-real`
//! installs it.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

#[path = "../needs/mod.rs"]
mod needs;

use std::env;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use libtest_mimic::{Arguments, Failed, Trial};
use tempfile::TempDir;

/// A command line up to the cursor, and words that must be offered there.
const ASKED: &[(&str, &[&str])] = &[
    ("ru", &["rule"]),
    ("rule KR00", &["KR001", "KR009"]),
    ("rule loopback-n", &["loopback-nameserver"]),
    ("lint --select KR001,KK00", &["KR001,KK001", "KR001,KK009"]),
    (
        "explain web --resolver glibc,hick",
        &["glibc,hickory", "glibc,hickory-0.26"],
    ),
    ("explain web --resolver al", &["all"]),
    ("explain web --format ", &["text", "json", "jsonl", "svg"]),
    ("explain web --sav", &["--save-scenario"]),
    ("check-loop --format np", &["npd"]),
    ("schema pod", &["pod-file", "pods"]),
    ("nsenter 1 ", &["explain", "dig"]),
    ("explain web --file a-", &["a-file"]),
];

/// The same where only one word fits: what the line becomes.
const TYPED: &[(&str, &str)] = &[
    ("kdns upst", "kdns upstream "),
    ("kdns rule loopback-n", "kdns rule loopback-nameserver "),
    (
        "kdns lint --select KR001,KK00",
        "kdns lint --select KR001,KK00",
    ),
    (
        "kdns explain web --resolver glibc,haprox",
        "kdns explain web --resolver glibc,haproxy ",
    ),
    (
        "kdns explain web --format sv",
        "kdns explain web --format svg ",
    ),
    (
        "kdns explain web --file a-",
        "kdns explain web --file a-file ",
    ),
];

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let trials = vec![
        trial("bash", &["bash"], bash),
        trial("zsh", &["zsh"], zsh),
        trial("fish", &["fish"], fish),
        trial("kubectl", &[], kubectl),
        trial("without_a_node", &["setpriv"], without_a_node),
        trial("pods_of_a_node", &["chroot", "ldd"], pods_of_a_node),
    ];
    needs::run(&arguments, trials)
}

fn trial(name: &str, programs: &[&str], run: fn() -> Result<(), Failed>) -> Trial {
    let path = env::var_os("PATH").unwrap_or_default();
    let is_here = |it: &&&str| env::split_paths(&path).any(|place| place.join(it).is_file());
    let mut reason = programs
        .iter()
        .find(|it| !is_here(it))
        .map(|it| format!("needs {it}"));
    if programs.contains(&"chroot") && !nix::unistd::geteuid().is_root() {
        reason = Some("needs root".to_owned());
    }
    needs::trial(name, reason, run)
}

/// A folder with a file, the program under its names, and the scripts.
struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("a-file"), "").unwrap();
        fs::create_dir(at("bin")).unwrap();
        for name in ["kdns", "kubectl-kdns", "kubectl_complete-kdns"] {
            symlink(env!("CARGO_BIN_EXE_kdns"), at("bin").join(name)).unwrap();
        }
        Self { folder }
    }

    /// A run of `program` in it.
    fn command(&self, program: &str) -> Command {
        let path = env::var_os("PATH").unwrap_or_default();
        let own = [self.folder.path().join("bin")];
        let path = env::join_paths(own.into_iter().chain(env::split_paths(&path))).unwrap();
        let mut command = Command::new(program);
        command
            .current_dir(self.folder.path())
            .env_clear()
            .env("PATH", path)
            .env("HOME", self.folder.path())
            .env("TERM", "dumb")
            .env("LANG", "C.UTF-8");
        command
    }
}

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("completions")
        .join(name)
}

/// The lines that a command writes; nothing on standard error, and soon.
fn lines(command: &mut Command) -> Result<Vec<String>, Failed> {
    let begin = Instant::now();
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if !said.is_empty() {
        return Err(format!("{command:?} says {said}").into());
    }
    if begin.elapsed() > Duration::from_secs(5) {
        return Err(format!("{command:?} takes {:?}", begin.elapsed()).into());
    }
    let out = String::from_utf8(output.stdout).unwrap();
    Ok(out.lines().map(str::to_owned).collect())
}

/// Asks for each line of [`ASKED`], whose words `offered` gives.
fn each(offered: impl Fn(&[&str]) -> Result<Vec<String>, Failed>) -> Result<(), Failed> {
    for (line, expected) in ASKED {
        let words: Vec<&str> = line.split(' ').collect();
        let found = offered(&words)?;
        let missing = expected
            .iter()
            .find(|it| !found.iter().any(|other| other.trim_end() == **it));
        if let Some(missing) = missing {
            return Err(format!("kdns {line}: no {missing} in {found:?}").into());
        }
        let typed = words.last().unwrap();
        if let Some(odd) = found.iter().find(|it| !it.starts_with(typed)) {
            return Err(format!("kdns {line}: {odd} does not begin with {typed}").into());
        }
    }
    Ok(())
}

/// The completion function as readline calls it.
fn bash() -> Result<(), Failed> {
    const ASK: &str = r#"
        source "$1" || exit
        shift
        COMP_WORDS=(kdns "$@") COMP_CWORD=$# COMP_TYPE=9
        function=$(complete -p kdns)
        function=${function##*-F } function=${function%% *}
        $function kdns "${!#}" "${COMP_WORDS[COMP_CWORD - 1]}"
        printf '%s\n' "${COMPREPLY[@]}"
    "#;
    let place = Place::new();
    each(|words| {
        let mut command = place.command("bash");
        command.args(["--norc", "--noprofile", "-c", ASK, "bash"]);
        lines(command.arg(script("kdns.bash")).args(words))
    })
}

fn fish() -> Result<(), Failed> {
    let place = Place::new();
    each(|words| {
        let ask = "source $argv[1]; complete -C \"kdns $argv[2]\"";
        let mut command = place.command("fish");
        command.args(["--no-config", "-c", ask]);
        let found = lines(command.arg(script("kdns.fish")).arg(words.join(" ")))?;
        // A tab and what it means stand behind each.
        let word = |line: &String| line.split('\t').next().unwrap_or_default().to_owned();
        Ok(found.iter().map(word).collect())
    })
}

/// Keys in a terminal: the script is loaded as an installed one is, at the
/// first Tab.
fn zsh() -> Result<(), Failed> {
    const TYPE: &str = r#"
        zmodload zsh/zpty
        zpty shell zsh -f -i
        send() { zpty -w -n shell "$1" }
        send "PS1= RPS1= fpath=($1 \$fpath); autoload -Uz compinit; compinit -u -D"$'\n'
        send $'zstyle ":completion:*" menu no; setopt no_always_last_prompt no_beep; LISTMAX=1000\n'
        send $'dump() { print -r -- "$BUFFER|" >line; BUFFER= }; zle -N dump; bindkey "^T" dump\n'
        send "$2"$'\t\x14'
        for _ in {1..200}; do
            [[ -s line ]] && break
            zpty -r -t shell ignored
            sleep 0.05
        done
        zpty -d shell
        cat line
    "#;
    let place = Place::new();
    let folder = script("_kdns");
    let folder = folder.parent().unwrap();
    for (typed, expected) in TYPED {
        let _ = fs::remove_file(place.folder.path().join("line"));
        let mut command = place.command("zsh");
        command.args(["-f", "-c", TYPE, "zsh"]);
        let found = lines(command.arg(folder).arg(typed))?;
        if found != [format!("{expected}|")] {
            return Err(format!("{typed} becomes {found:?}, not {expected:?}").into());
        }
    }
    Ok(())
}

/// kubectl takes the words behind `kubectl kdns` and reads values with tabs
/// behind them, and a last line with what else may be done.
fn kubectl() -> Result<(), Failed> {
    let place = Place::new();
    each(|words| {
        let program = place.folder.path().join("bin/kubectl_complete-kdns");
        let mut found = lines(place.command(program.to_str().unwrap()).args(words))?;
        if found.pop().as_deref() != Some(":4") {
            return Err("no directive at the end".into());
        }
        let word = |line: &String| line.split('\t').next().unwrap_or_default().to_owned();
        Ok(found.iter().map(word).collect())
    })
}

/// Nobody on a machine without pods gets no error and does not wait.
fn without_a_node() -> Result<(), Failed> {
    let place = Place::new();
    for line in [&["nsenter", ""][..], &["explain", "x", "--target", ""]] {
        let mut command = place.command("setpriv");
        if nix::unistd::geteuid().is_root() {
            command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
        }
        command.current_dir("/").arg(env!("CARGO_BIN_EXE_kdns"));
        command
            .env("_KDNS_COMPLETE", "fish")
            .args(["--", "kdns"])
            .args(line);
        lines(&mut command)?;
    }
    Ok(())
}

/// The pods of a recorded node, which is the root of this run.
fn pods_of_a_node() -> Result<(), Failed> {
    let root = tempfile::tempdir().unwrap();
    let at = |path: &str| root.path().join(path.trim_start_matches('/'));
    let node = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/nodes/coredns-crashes/.");
    let copied = Command::new("cp")
        .arg("-a")
        .args([&node, root.path()])
        .status();
    assert!(copied.unwrap().success());
    let program = env!("CARGO_BIN_EXE_kdns");
    fs::copy(program, at("kdns")).unwrap();
    // A static program has no libraries, and ldd says so with a status.
    for line in lines(Command::new("ldd").arg(program)).unwrap_or_default() {
        let library = line.split_whitespace().find(|it| it.starts_with('/'));
        if let Some(library) = library {
            fs::create_dir_all(at(library).parent().unwrap()).unwrap();
            fs::copy(library, at(library)).unwrap();
        }
    }
    for line in [
        &["nsenter", ""][..],
        &["explain", "x", "--target", "kube-s"],
    ] {
        let mut command = Command::new("chroot");
        command
            .arg(root.path())
            .args(["/kdns", "--", "kdns"])
            .args(line);
        let found = lines(command.env("_KDNS_COMPLETE", "fish"))?;
        let expected = "kube-system/coredns-57c679d4f5-w6wdl\ta pod of this node";
        if !found.iter().any(|it| it == expected) {
            return Err(format!("{line:?}: {found:?}").into());
        }
    }
    Ok(())
}
