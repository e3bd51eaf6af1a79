//! Rules themselves: their pages, their list, and both as JSON.

use std::io::{self, Write};

use schemars::JsonSchema;
use serde::Serialize;

use crate::lint::{Check, Rule};
use crate::render::json;

/// A rule, for machines.
#[derive(Debug, JsonSchema, Serialize)]
#[schemars(title = "kdns rule", inline)]
pub(in crate::render) struct RuleJson {
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
    let rules: Vec<RuleJson> = rules.iter().map(|it| rule_json(it)).collect();
    json::document(&rules, out)
}

fn rule_json(rule: &Rule) -> RuleJson {
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
        Check::Haproxy(_) => "haproxy",
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
