//! Files and rules that stand in a message.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::sync::Arc;

use crate::cli::files::typed;
use crate::cli::path;
use crate::cli::streams::{Status, Streams};
use crate::cli::threshold::Level;
use crate::finding::Severity;
use crate::lint::{self, Findings, Given};
use crate::render::Style;
use crate::render::lint::{Lint, text};
use crate::render::why::write_inside;
use crate::rules::Rules;
use crate::text::Source;
use crate::why::judged::{self, Judged};
use crate::why::{Cause, inside};

/// The files in a message, and what is wrong in them.
pub(super) struct Inside {
    files: Vec<Arc<Source>>,
    /// The message without them.
    pub(super) message: String,
    pub(super) findings: Findings,
    pub(super) has_rules: bool,
    /// Whether the text says which CoreDNS it is about.
    tells_version: bool,
}

impl Inside {
    pub(super) fn found_in(message: &str) -> Self {
        let (files, rest) = inside::split(message);
        let mut given = Given::default();
        given.options.coredns_version = inside::coredns_version(message);
        let files: Vec<_> = files.into_iter().map(Arc::new).collect();
        let mut findings = lint::run(&files, &given);
        findings
            .findings
            .retain(|it| !inside::is_hidden(it, &files));
        Self {
            message: rest,
            tells_version: given.options.coredns_version.is_some(),
            findings,
            files,
            has_rules: inside::has_rules(message),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.findings.files == 0 && !self.has_rules
    }

    /// Whether there are words beside them, which may be a message. A line that ends with the
    /// name of a file leads to it: `$ cat /etc/resolv.conf`.
    pub(super) fn says_more(&self) -> bool {
        let text = |file: &Arc<Source>| String::from_utf8_lossy(&file.bytes).into_owned();
        let texts: Vec<String> = self.files.iter().map(text).collect();
        // The message keeps some of their lines.
        let own = texts.iter().flat_map(|it| it.lines()).map(str::trim);
        let own: BTreeSet<&str> = own.collect();
        let names = self
            .files
            .iter()
            .map(|it| it.name.trim_end_matches(numbered));
        let names: BTreeSet<&str> = names.collect();
        let leads = |line: &str| {
            let line = line.trim_end_matches(|c: char| !c.is_alphanumeric());
            names.iter().any(|it| line.ends_with(it))
        };
        let is_other = |line: &str| {
            line.contains(char::is_alphanumeric) && !own.contains(line) && !leads(line)
        };
        !self.has_rules && self.message.lines().map(str::trim).any(is_other)
    }

    /// How bad the worst is that was found in them.
    pub(super) fn worst(&self) -> Option<Level> {
        let findings = self.findings.findings.iter();
        findings.map(|it| Level::from(it.severity)).max()
    }

    /// Where they speak for a cause.
    pub(super) fn judge(&self, cause: &Cause) -> Judged {
        judged::by_files(cause, &self.findings.findings, self.tells_version)
    }

    /// Writes which files there are, and what is wrong in them.
    pub(super) fn write(&self, style: Style, out: &mut dyn Write) -> io::Result<()> {
        if self.findings.files == 0 {
            return Ok(());
        }
        write_inside(&self.files, out)?;
        let lint = Lint {
            findings: &self.findings.findings,
            suppressed: &[],
            notices: Vec::new(),
            files: self.findings.files,
            fail_on: Severity::Warning,
            asides: Vec::new(),
        };
        text::write(&lint, style, out)
    }
}

/// Walks a packet to the cluster's DNS through the rules in a message, and writes
/// what becomes of it.
pub(super) fn walk(message: &str, streams: &mut Streams<'_>) -> anyhow::Result<Status> {
    match walk_to(None, message, streams) {
        Err(error) if error.is::<path::NoDns>() => {}
        done => return done,
    }
    let rules = Rules::parse(vec![Box::new(Source::new("<stdin>", message))])?;
    let none = "they name no Service of the cluster's DNS";
    let Some(ip) = inside::usual_dns(&rules.services_named()) else {
        writeln!(streams.out, "{none}")?;
        return Ok(Status::Clean);
    };
    writeln!(
        streams.out,
        "{none}: {ip} is taken, which most installers give it"
    )?;
    walk_to(Some(format!("{ip}:53/udp")), message, streams)
}

fn walk_to(to: Option<String>, message: &str, streams: &mut Streams<'_>) -> anyhow::Result<Status> {
    let words: Vec<String> = ["--rules", "-"]
        .map(str::to_owned)
        .into_iter()
        .chain(to)
        .collect();
    let mut input = message.as_bytes();
    let mut inner = Streams {
        input: &mut input,
        is_input_read: false,
        out: &mut *streams.out,
        err: &mut *streams.err,
        colors: streams.colors,
        terminal: streams.terminal,
    };
    path::run(&typed(&words)?, &mut inner)
}

/// What tells the second file of a name from the first: `resolv.conf-2`.
fn numbered(c: char) -> bool {
    c == '-' || c.is_ascii_digit()
}
