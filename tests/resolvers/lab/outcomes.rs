//! How the output of a program becomes an outcome.

use super::observation::Outcome;

/// What a program left behind.
#[derive(Debug)]
pub(crate) struct Output {
    /// The exit status, negative for a signal.
    pub(crate) status: i32,
    /// Standard output.
    pub(crate) stdout: String,
    /// Standard error.
    pub(crate) stderr: String,
}

impl Output {
    fn all(&self) -> String {
        format!("{}\n{}", self.stdout, self.stderr)
    }
}

/// The outcome of a probe, which prints it as JSON.
pub(crate) fn probe(output: &Output) -> Outcome {
    if output.status < 0 {
        return Outcome::error("CRASH")
            .with("exit", output.status)
            .with("text", output.stderr.trim());
    }
    serde_json::from_str(output.stdout.trim()).unwrap_or_else(|e| {
        Outcome::lab(&format!(
            "exit {}, {e}: {:?} {:?}",
            output.status, output.stdout, output.stderr
        ))
    })
}

/// `dig`'s.
pub(crate) fn dig(output: &Output) -> Outcome {
    let text = output.all();
    let mut outcome = if let Some(refused) = refusal(&text) {
        Outcome::error(refused)
    } else if let Some((_, rest)) = output.stdout.rsplit_once("->>HEADER<<-") {
        let status = rest
            .split_once("status: ")
            .and_then(|(_, s)| s.split(',').next())
            .unwrap_or("?");
        let addrs = dig_addresses(rest);
        match status {
            "NOERROR" if addrs.is_empty() => Outcome::error("NODATA"),
            "NOERROR" => Outcome::ok(addrs),
            other => Outcome::error(other),
        }
        .with("final_name", question(rest).unwrap_or_default())
    } else if nobody(&text) {
        Outcome::error("NO_SERVERS")
    } else {
        unknown(output)
    };
    let remarks: Vec<&str> = output
        .stdout
        .lines()
        .filter(|l| is_remark(l))
        .chain(output.stderr.lines())
        .collect();
    if !remarks.is_empty() {
        outcome = outcome.with("text", remarks.join("\n"));
    }
    outcome.with("exit", output.status)
}

fn is_remark(line: &str) -> bool {
    const OF_NOTE: [&str; 8] = [
        ";; WARNING",
        ";; You are",
        ";; Truncated",
        ";; Connection",
        ";; communications",
        ";; no servers",
        ";; Skipping",
        ";; No acceptable",
    ];
    OF_NOTE.iter().any(|start| line.starts_with(start))
}

fn question(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once(";; QUESTION SECTION:\n;")?;
    let name = rest.split_whitespace().next()?;
    Some(if name == "." {
        name
    } else {
        name.trim_end_matches('.')
    })
}

fn dig_addresses(text: &str) -> Vec<String> {
    let Some((_, answers)) = text.split_once(";; ANSWER SECTION:\n") else {
        return Vec::new();
    };
    let records = answers.lines().take_while(|l| !l.is_empty());
    let address = |line: &str| {
        let mut words = line.split_whitespace().rev();
        let (data, kind) = (words.next()?, words.next()?);
        matches!(kind, "A" | "AAAA").then(|| data.to_owned())
    };
    records.filter_map(address).collect()
}

/// `host`'s.
pub(crate) fn host(output: &Output) -> Outcome {
    let text = output.all();
    let after = |line: &str, words: &str| line.split_once(words).map(|(_, a)| a.trim().to_owned());
    let addrs: Vec<String> = text
        .lines()
        .filter_map(|l| after(l, " has address ").or_else(|| after(l, " has IPv6 address ")))
        .collect();
    let last = text
        .lines()
        .filter_map(|l| {
            l.split_once(" not found: ")
                .and_then(|(_, r)| r.split(['(', ')']).nth(1))
        })
        .next_back();
    tool(output, &text, addrs, last)
}

/// `nslookup`'s.
pub(crate) fn nslookup(output: &Output) -> Outcome {
    let text = output.all();
    let got = text
        .lines()
        .filter_map(|l| l.strip_prefix(";; Got "))
        .filter_map(|l| l.split_once(" reply").map(|(r, _)| r))
        .next_back();
    let last = cannot_find(&text).or(got);
    tool(output, &text, plain_addresses(&text), last)
}

/// `busybox nslookup`'s.
pub(crate) fn busybox(output: &Output) -> Outcome {
    let text = output.all();
    if text.contains("bad address '") {
        return Outcome::error("CONFIG_ERROR")
            .with("text", text.trim())
            .with("exit", output.status);
    }
    tool(output, &text, plain_addresses(&text), cannot_find(&text))
}

fn plain_addresses(text: &str) -> Vec<String> {
    text.lines()
        .filter_map(|l| l.strip_prefix("Address: "))
        .map(|a| a.trim().to_owned())
        .collect()
}

fn cannot_find(text: &str) -> Option<&str> {
    text.lines()
        .filter(|l| l.contains("can't find "))
        .filter_map(|l| l.rsplit_once(": ").map(|(_, r)| r))
        .rfind(|r| *r != "No answer")
}

/// What the tools have in common: addresses, a refused file or name, an rcode, silence, else no data.
fn tool(output: &Output, text: &str, addrs: Vec<String>, last: Option<&str>) -> Outcome {
    // That one try failed is said, too, where the next one has an answer.
    let has_failed = output.status != 0 && nobody(text);
    let silent = has_failed || NOBODY.iter().any(|it| text.contains(it));
    let outcome = if output.status < 0 {
        Outcome::error("CRASH")
    } else if !addrs.is_empty() {
        Outcome::ok(addrs)
    } else if let Some(refused) = refusal(text) {
        Outcome::error(refused)
    } else if let Some(word) = last {
        Outcome::error(word.trim())
    } else if silent {
        Outcome::error("NO_SERVERS")
    } else {
        Outcome::error("NODATA")
    };
    outcome
        .with("text", text.trim())
        .with("exit", output.status)
}

/// What is said where no server answers at all.
const NOBODY: [&str; 3] = [
    "no servers could be reached",
    ". failed: ",
    "can't connect to remote host",
];

/// Whether BIND's tools say that no server answers, or one try of it.
fn nobody(text: &str) -> bool {
    text.contains("communications error to") || NOBODY.iter().any(|it| text.contains(it))
}

fn refusal(text: &str) -> Option<&'static str> {
    if text.contains("parse of /etc/resolv.conf failed")
        || text.contains("No acceptable nameservers")
    {
        Some("CONFIG_ERROR")
    } else if text.contains("is not a legal name") || text.contains("is not in legal name syntax") {
        Some("BAD_NAME")
    } else {
        None
    }
}

fn unknown(output: &Output) -> Outcome {
    if output.status < 0 {
        return Outcome::error("CRASH");
    }
    Outcome::lab(&format!(
        "exit {}: {:?} {:?}",
        output.status, output.stdout, output.stderr
    ))
}
