//! Two programs, one line: status and text of both are the same.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use libtest_mimic::Failed;

/// Nobody at a terminal waits longer.
const LIMIT: Duration = Duration::from_secs(30);

/// What of it is compared.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum Look {
    /// Status, standard output, the first line of standard error.
    #[default]
    All,
    /// Not standard error.
    NotErrors,
    /// Only the status.
    Status,
}

/// One run of both programs.
#[derive(Debug, Default)]
pub(crate) struct Line {
    /// The words for dig, and for kdns.
    pub(crate) words: [Vec<String>; 2],
    /// `$HOME`, where it matters.
    pub(crate) home: Option<String>,
    /// Further variables of the environment.
    pub(crate) variables: Vec<(String, String)>,
    /// What standard input is.
    pub(crate) input: Option<String>,
    /// What of it is compared.
    pub(crate) look: Look,
    /// What is one and the same in the outputs of both: what dig and kdns
    /// say, and what is said instead.
    pub(crate) same: Vec<[String; 3]>,
}

/// What a program has left.
#[derive(Eq, PartialEq)]
struct Left {
    status: Option<i32>,
    out: String,
    /// The first line of standard error.
    err: String,
}

/// Runs both, at the same time; once more, one after the other, if one of them came
/// too late for its time-out of a second, on a machine with much to do, or got the
/// other's answer: dnsmasq sends one on for two that ask the same at once, and the
/// answer has the cookie of one.
pub(crate) fn both(line: &Line, folder: &Path) -> Result<(), Failed> {
    // With +yaml it says the second.
    let late = [
        "timed out",
        "no servers could be reached",
        "Client COOKIE mismatch",
    ];
    let is_late = |why: &str| late.iter().any(|it| why.contains(it));
    match once(line, folder, true) {
        Err(why) if why.message().is_some_and(is_late) => once(line, folder, false),
        result => result,
    }
}

fn once(line: &Line, folder: &Path, is_at_once: bool) -> Result<(), Failed> {
    let dig = || start("/usr/bin/dig", &[], &line.words[0], line, folder);
    let ours = || {
        let kdns = env!("CARGO_BIN_EXE_kdns");
        start(kdns, &["dig"], &line.words[1], line, folder)
    };
    let (dig, ours) = if is_at_once {
        let (dig, ours) = (dig(), ours());
        (dig.finish("dig"), ours.finish("kdns"))
    } else {
        (dig().finish("dig"), ours().finish("kdns"))
    };
    let (dig, ours) = (dig?, ours?);
    safe(&ours.stdout)?;
    safe(&ours.stderr)?;
    let (dig, ours) = (left(&dig, line, 0), left(&ours, line, 1));
    if dig == ours {
        return Ok(());
    }
    Err(format!(
        "dig: {:?} {}\n{}\nkdns: {:?} {}\n{}",
        dig.status, dig.err, dig.out, ours.status, ours.err, ours.out
    )
    .into())
}

/// The first line of each that begins so, with these variables.
pub(crate) fn lines(
    words: &[&str],
    begins: &str,
    variables: &[(&str, &str)],
) -> Result<[String; 2], Failed> {
    let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
    let line = Line {
        variables: owned(variables),
        ..Line::default()
    };
    let programs = [
        ("/usr/bin/dig", None),
        (env!("CARGO_BIN_EXE_kdns"), Some("dig")),
    ];
    let running = programs
        .map(|(program, first)| start(program, first.as_slice(), &words, &line, Path::new("/")));
    let [theirs, ours] = running.map(|it| it.finish("a program"));
    let line = |output: Output| {
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let line = text.lines().find(|it| it.starts_with(begins));
        line.unwrap_or_default().to_owned()
    };
    Ok([line(theirs?), line(ours?)])
}

fn owned(variables: &[(&str, &str)]) -> Vec<(String, String)> {
    let variables = variables.iter();
    variables
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

/// Runs kdns alone.
pub(crate) fn ours(words: &[&str], variables: &[(&str, &str)]) -> Result<Output, Failed> {
    let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
    let line = Line {
        variables: owned(variables),
        ..Line::default()
    };
    let program = env!("CARGO_BIN_EXE_kdns");
    let output = start(program, &["dig"], &words, &line, Path::new("/")).finish("kdns")?;
    safe(&output.stdout)?;
    Ok(output)
}

struct Running {
    child: std::process::Child,
    readers: [std::thread::JoinHandle<Vec<u8>>; 2],
}

fn start(program: &str, first: &[&str], words: &[String], line: &Line, folder: &Path) -> Running {
    let input = line.input.as_ref().map_or_else(Stdio::null, |name| {
        File::open(folder.join(name)).unwrap().into()
    });
    let home = line.home.as_ref().map(|home| folder.join(home));
    let mut child = Command::new(program)
        .args(first)
        .args(words)
        .env_clear()
        .env("HOME", home.unwrap_or_else(|| "/nonexistent".into()))
        .env("TZ", "UTC")
        .env("LC_ALL", "C.UTF-8")
        .envs(line.variables.iter().cloned())
        .current_dir(folder)
        .stdin(input)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let readers = [
        drain(child.stdout.take().unwrap()),
        drain(child.stderr.take().unwrap()),
    ];
    Running { child, readers }
}

fn drain(mut from: impl std::io::Read + Send + 'static) -> std::thread::JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        from.read_to_end(&mut bytes).unwrap();
        bytes
    })
}

impl Running {
    /// Waits for the end, but not for ever.
    fn finish(mut self, who: &str) -> Result<Output, Failed> {
        let began = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            if began.elapsed() > LIMIT {
                self.child.kill().unwrap();
                self.child.wait().unwrap();
                return Err(format!("{who} does not end").into());
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        let [stdout, stderr] = self.readers.map(|reader| reader.join().unwrap());
        Ok(Output {
            status,
            stdout,
            stderr,
        })
    }
}

/// Nothing in it changes a terminal, or the order of what it shows.
fn safe(output: &[u8]) -> Result<(), Failed> {
    let text = std::str::from_utf8(output).map_err(|error| format!("not UTF-8: {error}"))?;
    let bad = |c: &char| {
        (c.is_control() && !matches!(c, '\n' | '\t'))
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    match text.chars().find(bad) {
        Some(bad) => Err(format!("control character {bad:?} in: {text:?}").into()),
        None => Ok(()),
    }
}

fn left(output: &Output, line: &Line, which: usize) -> Left {
    let err = String::from_utf8_lossy(&output.stderr);
    let err = err.lines().next().unwrap_or_default();
    let err = err.strip_prefix("/usr/bin/").unwrap_or(err);
    // dig does not end this line.
    let err = match err.split_once(" is deprecated") {
        Some((option, _)) => format!("{option} is deprecated"),
        None => err.to_owned(),
    };
    let text = |text: &str| {
        let mut text = plain(text);
        for same in &line.same {
            text = text.replace(&same[which], &same[2]);
        }
        text
    };
    let out = text(&shown(&output.stdout));
    let (out, err) = match line.look {
        Look::All => (out, text(&err)),
        Look::NotErrors => (out, String::new()),
        Look::Status => (String::new(), String::new()),
    };
    Left {
        status: output.status.code(),
        out,
        err,
    }
}

/// As kdns shows it: what changes a terminal is escaped.
fn shown(output: &[u8]) -> String {
    let lines = output.split_inclusive(|&byte| byte == b'\n').map(|line| {
        let (line, end) = match line.strip_suffix(b"\n") {
            Some(line) => (line, "\n"),
            None => (line, ""),
        };
        let parts = line.split(|&byte| byte == b'\t').map(kdns::text::escaped);
        parts.collect::<Vec<_>>().join("\t") + end
    });
    lines.collect()
}

/// The text without what differs from run to run.
fn plain(text: &str) -> String {
    let lines = text.lines().map(|line| {
        let cut = |before: &str| line.split_once(before).map(|(head, _)| head.to_owned());
        cut(";; Query time: ")
            .or_else(|| cut(";; WHEN: "))
            .or_else(|| without_version(line))
            .or_else(|| cut(", id: "))
            .or_else(|| cut("      id: "))
            .or_else(|| without_cookie(line))
            .or_else(|| cut("!!timestamp"))
            // dig shows the address that it bound, which is none.
            .or_else(|| cut("query_address: "))
            .or_else(|| cut("query_port: "))
            .or_else(|| cut(" in ").filter(|_| line.contains(" ms") || line.contains(" us.")))
            .or_else(|| cut("expected ID "))
            .unwrap_or_else(|| line.to_owned())
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// `; <<>> DiG 9.18.49 <<>> words`
fn without_version(line: &str) -> Option<String> {
    let (_, rest) = line.split_once("; <<>> DiG ")?;
    let (_, words) = rest.split_once(" <<>>")?;
    Some(format!("; <<>> DiG <<>>{words}"))
}

/// `; COOKIE: 0102… (good)`: how long it is, and whether it is good.
fn without_cookie(line: &str) -> Option<String> {
    let (head, rest) = line.split_once("COOKIE: ")?;
    let (digits, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    let all_digits = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    all_digits.then(|| format!("{head}COOKIE: {} {rest}", digits.len()))
}
