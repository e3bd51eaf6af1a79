//! What options, `kdns.toml` and defaults come to.

use std::io::{self, Write};

use crate::finding::Severity;
use crate::lint::Rule;
use crate::lint::options::Options;

/// What is shown.
#[derive(Debug)]
pub struct Shown<'s> {
    /// The file, safe to print.
    pub config: Option<String>,
    /// From which severity on findings count.
    pub fail_on: Severity,
    /// What is known beside the files.
    pub options: &'s Options,
    /// The rules that run.
    pub rules: Vec<&'static Rule>,
    /// The rules that do not.
    pub left_out: Vec<&'static Rule>,
    /// Patterns with what is ignored.
    pub per_file_ignores: &'s [(String, Vec<String>)],
}

/// Writes a `kdns.toml` that says the same, with its file in a comment.
///
/// # Errors
///
/// Any error of `out`.
pub fn write(shown: &Shown<'_>, out: &mut dyn Write) -> io::Result<()> {
    match &shown.config {
        Some(file) => writeln!(out, "# from {file}, options and defaults")?,
        None => writeln!(
            out,
            "# from options and defaults; there is no kdns.toml here or above in this checkout"
        )?,
    }
    let codes = |rules: &[&Rule]| list(rules.iter().map(|it| it.code));
    writeln!(out, "select = {}", codes(&shown.rules))?;
    writeln!(out, "ignore = {}", codes(&shown.left_out))?;
    writeln!(out, "fail-on = {}", quoted(shown.fail_on.word()))?;
    let options = shown.options;
    if let Some(assume) = options.assume {
        writeln!(out, "assume = {}", quoted(assume.word()))?;
    }
    if let Some(role) = options.role {
        writeln!(out, "role = {}", quoted(role.word()))?;
    }
    let versions = [
        ("kubelet-version", options.kubelet_version),
        ("coredns-version", options.coredns_version),
    ];
    for (key, version) in versions {
        if let Some(it) = version {
            writeln!(out, "{key} = \"{it}\"")?;
        }
    }
    if !options.cluster_dns.is_empty() {
        let servers = options.cluster_dns.iter().map(ToString::to_string);
        writeln!(out, "cluster-dns = {}", list(servers))?;
    }
    if let Some(domain) = &options.cluster_domain {
        writeln!(out, "cluster-domain = {}", quoted(domain))?;
    }
    if !options.pod_cidr.is_empty() {
        let networks = options
            .pod_cidr
            .iter()
            .map(|(address, length)| format!("{address}/{length}"));
        writeln!(out, "pod-cidr = {}", list(networks))?;
    }
    if !shown.per_file_ignores.is_empty() {
        writeln!(out, "\n[per-file-ignores]")?;
        for (pattern, words) in shown.per_file_ignores {
            writeln!(out, "{} = {}", quoted(pattern), list(words))?;
        }
    }
    Ok(())
}

fn list(words: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let words: Vec<String> = words.into_iter().map(|it| quoted(it.as_ref())).collect();
    format!("[{}]", words.join(", "))
}

/// A basic string of TOML.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            it if crate::text::is_unprintable(it) => {
                quoted.extend([format!("\\U{:08X}", u32::from(it))]);
            }
            it => quoted.push(it),
        }
    }
    quoted.push('"');
    quoted
}
