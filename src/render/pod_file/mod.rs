//! What there is to say about a pod's file, one line each, for people.

pub mod json;

use std::io::{self, Write};

use crate::pod::{Event, Object, PodFile};

/// Writes what was assumed, what did not fit, and the events; nothing if there
/// is nothing.
///
/// # Errors
///
/// Any error of `out`.
pub fn write_notes(about: &[String], file: &PodFile, out: &mut dyn Write) -> io::Result<()> {
    for sentence in about.iter().chain(&file.remarks) {
        writeln!(out, "kdns: {sentence}")?;
    }
    if file.draws_options {
        writeln!(out, "kdns: the kubelet writes these options in any order")?;
    }
    for dropped in &file.dropped {
        writeln!(out, "kdns: left out of the pod's file: {dropped}")?;
    }
    for event in &file.events {
        writeln!(out, "kdns: event: {}", line(event))?;
    }
    Ok(())
}

/// `Warning DNSConfigForming on the pod: …`.
fn line(event: &Event) -> String {
    let object = match event.object {
        Object::Node => "the node",
        Object::Pod => "the pod",
    };
    format!("Warning {} on {object}: {}", event.reason, event.message)
}
