//! `kdns upstream` as text for people.

use std::io::{self, Write};

use colored::Colorize as _;

use crate::text::escaped;
use crate::upstream::{End, FileReport, Report, Role, Step};

/// Writes the report.
///
/// # Errors
///
/// `out` cannot be written.
pub fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    for (index, file) in report.files.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        write_file(file, out)?;
    }
    if !report.skipped.is_empty() {
        writeln!(out, "\n{}", "Not read:".bold())?;
    }
    for sentence in &report.skipped {
        writeln!(out, "  {}", escaped(sentence.as_bytes()))?;
    }
    Ok(())
}

fn write_file(file: &FileReport, out: &mut dyn Write) -> io::Result<()> {
    let role = match file.role {
        Role::Kubelet => "the file of the kubelet's resolvConf: ",
        Role::Node => "",
        Role::Both => "the node's file and the kubelet's: ",
        Role::Asked if file.path.is_empty() => "no file of the node lists this address",
        Role::Asked => "listed in ",
    };
    let mut head = format!("{role}{}", file.path);
    for link in &file.links {
        head.extend([" → ", link]);
    }
    writeln!(out, "{}", head.bold())?;
    if let Some(mode) = file.mode {
        let word = mode.word();
        writeln!(out, "  systemd-resolved calls this the {word} mode")?;
    }
    if let Some(problem) = &file.problem {
        writeln!(out, "  {}", problem.red())?;
    }
    for step in &file.servers {
        write_step(step, 1, out)?;
    }
    lost("this file does not say:", &file.lost, 1, out)
}

fn write_step(step: &Step, depth: usize, out: &mut dyn Write) -> io::Result<()> {
    let indent = "  ".repeat(depth);
    let mut line = String::new();
    if let Some(zone) = &step.zone {
        line.extend(["for ", zone, ": "]);
    }
    match &step.address {
        Some(address) if address.port() == 53 => line.push_str(&address.ip().to_string()),
        Some(address) => line.push_str(&address.to_string()),
        None => {}
    }
    let is = if step.address.is_some() { " is " } else { "" };
    write!(out, "{indent}{}{is}{}", line.bold(), step.who)?;
    match &step.place {
        Some(place) => writeln!(out, " ({place})")?,
        None => writeln!(out)?,
    }
    if !step.confirmed_by.is_empty() {
        writeln!(
            out,
            "{indent}  confirmed by {}",
            step.confirmed_by.join(", ")
        )?;
    }
    for note in &step.notes {
        writeln!(out, "{indent}  {note}")?;
    }
    lost(
        "a list of its servers does not say:",
        &step.lost,
        depth + 1,
        out,
    )?;
    match &step.end {
        End::Outside => {}
        End::Forwards => writeln!(out, "{indent}  it forwards to")?,
        End::Above => writeln!(out, "{indent}  where it forwards to: see above")?,
        End::Cycle => {
            let text = "this server is on the way already: the queries go in a circle";
            writeln!(out, "{indent}  {}", text.red())?;
        }
        End::Refused(reason) => {
            writeln!(
                out,
                "{indent}  {}",
                format!("it leads nowhere: {reason}").red()
            )?;
        }
        End::Unknown(reason) if step.notes.contains(reason) => {}
        End::Unknown(reason) => {
            writeln!(out, "{indent}  where it leads is not known: {reason}")?;
        }
    }
    for next in &step.next {
        write_step(next, depth + 2, out)?;
    }
    Ok(())
}

fn lost(head: &str, lost: &[String], depth: usize, out: &mut dyn Write) -> io::Result<()> {
    let indent = "  ".repeat(depth);
    if !lost.is_empty() {
        writeln!(out, "{indent}{head}")?;
    }
    for sentence in lost {
        writeln!(out, "{indent}  {sentence}")?;
    }
    Ok(())
}
