//! What there is to say about a pod's file, one line each, for people.

pub mod json;

use std::io::{self, Write};

use crate::pod::{
    DEFAULT_CLUSTER_DNS, DEFAULT_CLUSTER_DOMAIN, Dropped, Event, Limit, Object, PodFile, Remark,
};
use crate::render::kubelet;
use crate::render::sentence::{Sentence, sentence};
use crate::text::escaped;

/// Writes what was assumed, what did not fit, and the events; nothing if there
/// is nothing.
///
/// # Errors
///
/// Any error of `out`.
pub fn write_notes(about: &[Remark], file: &PodFile, out: &mut dyn Write) -> io::Result<()> {
    for remark in about.iter().chain(&file.remarks) {
        writeln!(out, "kdns: {}", words(remark))?;
    }
    if file.draws_options {
        writeln!(out, "kdns: the kubelet writes these options in any order")?;
    }
    for dropped in &file.dropped {
        writeln!(out, "kdns: {}", left_out(dropped))?;
    }
    for event in &file.events {
        writeln!(out, "kdns: event: {}", line(event))?;
    }
    Ok(())
}

/// `left out of the pod's file: 10.0.0.3 (name server, more than 3)`.
pub fn left_out(dropped: &Dropped) -> String {
    let limit = match dropped.limit {
        Limit::Servers(most) => format!("name server, more than {most}"),
        Limit::Searches(most) => format!("search domain, more than {most}"),
        Limit::SearchChars(most) => {
            format!("search domain, the list has more than {most} characters")
        }
        Limit::DomainChars(most) => format!("search domain of more than {most} characters"),
    };
    let word = escaped(&dropped.word.text);
    format!("left out of the pod's file: {word} ({limit})")
}

/// A remark as a clause.
pub fn words(remark: &Remark) -> String {
    self::remark(remark).text
}

/// The remark as a clause.
fn remark(remark: &Remark) -> Sentence {
    let nothing = "the kubelet hands over no servers, searches and options, and";
    match remark {
        Remark::Unread(reason) => Sentence::new("not-read", reason),
        Remark::Kubelet(remark) => kubelet::remark(remark),
        Remark::NotRestarted(running) => kubelet::not_restarted(running),
        Remark::OfPod { path, origin } => sentence!(
            "file-of-pod",
            "taken for the kubelet's file: {path}, which was made since ({})",
            kubelet::origin(origin)
        ),
        Remark::Versions { kubelet, runtime } => {
            let kubelet = kubelet
                .iter()
                .map(|(it, from)| format!("kubelet {it} ({from})"));
            let runtime = runtime
                .iter()
                .map(|(kind, it, from)| format!("{} {it} ({from})", kind.name()));
            let parts: Vec<String> = kubelet.chain(runtime).collect();
            sentence!("versions", "the node has {}", parts.join(" and "))
        }
        Remark::AssumedDns => sentence!(
            "assumed-cluster-dns",
            "assumed: the cluster's DNS is {DEFAULT_CLUSTER_DNS} (--cluster-dns)"
        ),
        Remark::AssumedDomain => sentence!(
            "assumed-cluster-domain",
            "assumed: the cluster's domain is {DEFAULT_CLUSTER_DOMAIN} (--cluster-domain)"
        ),
        Remark::AssumedVersion { known, other } => {
            let known = known.map_or_else(String::new, |it| format!(" {it}"));
            sentence!(
                "assumed-kubelet-version",
                "assumed: the newest kubelet{known}; {other} does something else (--kubelet-version)"
            )
        }
        Remark::FirstOf { first, others } => sentence!(
            "first-pod",
            "only {first} counts, the first of the file; not {}",
            others.join(", ")
        ),
        Remark::Ignored(words) => sentence!(
            "keyword-ignored",
            "{}: the kubelet silently ignores `{}`",
            words.place,
            words.value
        ),
        Remark::Empty(runtime) => sentence!(
            "empty-file",
            "{nothing} {} writes an empty file",
            runtime.name()
        ),
        Remark::Copied(runtime) => sentence!(
            "node-file-copied",
            "{nothing} {} copies the node's own file",
            runtime.name()
        ),
    }
}

/// `Warning DNSConfigForming on the pod: …`.
fn line(event: &Event) -> String {
    let object = match event.object {
        Object::Node => "the node",
        Object::Pod => "the pod",
    };
    format!("Warning {} on {object}: {}", event.reason, event.message)
}
