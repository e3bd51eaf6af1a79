//! Rules themselves: their pages, their list, and both as JSON.

use std::io::{self, Write};

use schemars::{JsonSchema, Schema};
use serde::Serialize;

use crate::lint::{Check, Rule};
use crate::render::json;

/// A rule, for machines.
#[derive(Debug, JsonSchema, Serialize)]
#[schemars(title = "kdns rule", inline)]
struct RuleJson {
    /// Stable code: `KR001`.
    code: &'static str,
    /// What is wrong, in kebab-case.
    name: &'static str,
    /// `error`, `warning` or `info`: unless a finding has another by its consequence.
    severity: &'static str,
    /// One line.
    summary: &'static str,
    /// What it looks at: `resolv.conf`, `kubelet`, `Corefile`, `pod`, `object`, `node`…
    subject: &'static str,
    /// Whether it needs `--root` or `--node`.
    needs_node: bool,
    /// The page, in Markdown.
    page: String,
}

/// Writes rules as a JSON list.
///
/// # Errors
///
/// Any error of `out`.
pub fn write_json(rules: &[&Rule], out: &mut dyn Write) -> io::Result<()> {
    let rules: Vec<RuleJson> = rules.iter().map(|it| of(it)).collect();
    json::document(&rules, out)
}

/// The schema of [`write_json`].
pub fn schema() -> Schema {
    json::schema::<Vec<RuleJson>>()
}

fn of(rule: &Rule) -> RuleJson {
    RuleJson {
        code: rule.code,
        name: rule.name,
        severity: rule.severity.word(),
        summary: rule.summary,
        subject: subject(rule),
        needs_node: rule.needs_node(),
        page: rule.page(),
    }
}

fn subject(rule: &Rule) -> &'static str {
    match rule.check {
        Check::Resolver(_) => "resolv.conf",
        Check::KubeletText(_) | Check::Kubelet(_) => "kubelet",
        Check::Corefile(_) => "Corefile",
        Check::Workload(_) => "pod",
        Check::Settings(_) => "settings",
        Check::Nginx(_) => "nginx",
        Check::Object(_) => "object",
        Check::Node(_) => "node",
        Check::Reading => "any",
    }
}

/// Writes a line for each rule: code, severity, name, summary.
///
/// # Errors
///
/// Any error of `out`.
pub fn write_list(rules: &[&Rule], out: &mut dyn Write) -> io::Result<()> {
    let width = rules
        .iter()
        .map(|it| it.name.len())
        .max()
        .unwrap_or_default();
    for rule in rules {
        let (code, name, summary) = (rule.code, rule.name, rule.summary);
        let severity = rule.severity.word();
        writeln!(out, "{code}  {severity:<7}  {name:<width$}  {summary}")?;
    }
    Ok(())
}

/// The page of all rules: a table, then every page one level deeper.
pub fn book(rules: &[&Rule]) -> String {
    let mut text = String::from(
        "# Rules\n\nMade from the rules' own pages by `KDNS_BLESS=1 cargo test --test generated`; `kdns rule CODE` prints one.\n\n\
         | Code | Name | Severity | What is wrong |\n| --- | --- | --- | --- |\n",
    );
    for rule in rules {
        let (code, name, summary) = (rule.code, rule.name, rule.summary);
        let anchor = super::anchor(rule);
        let severity = rule.severity.word();
        text.extend([format!(
            "| [{code}](#{anchor}) | {name} | {severity} | {summary} |\n"
        )]);
    }
    for rule in rules {
        text.push('\n');
        let mut is_code = false;
        for line in rule.page().lines() {
            is_code ^= line.starts_with("```");
            if line.starts_with('#') && !is_code {
                text.push('#');
            }
            text.push_str(line);
            text.push('\n');
        }
    }
    text
}
