//! A pod's file as one JSON document.

use std::io::{self, Write};

use schemars::JsonSchema;
use serde::Serialize;

use crate::kubelet::Kubelet;
use crate::node::Maker;
use crate::pod::{Dropped, Event, Limit, Object, PodError, PodFile, Remark, Word, WordOrigin};
use crate::render::json;
use crate::render::sentence::Sentence;

/// Since 2 remarks have codes.
const FORMAT: u32 = 2;

/// What `kdns pod-file --format json` writes. Fields are only added within a
/// format version.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(title = "Document")]
pub(in crate::render) struct PodFileDocument {
    /// Version of this format.
    format: u32,
    /// The kubelet that makes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    kubelet: Option<MakerForm>,
    /// The runtime that writes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    runtime: Option<MakerForm>,
    /// The file, byte for byte; bytes that are not UTF-8 are replaced. Absent
    /// if there is no such pod or no answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    resolv_conf: Option<String>,
    /// Its name servers, in order.
    servers: Vec<WordForm>,
    /// Its search domains, in order.
    searches: Vec<WordForm>,
    /// Its options.
    options: Vec<WordForm>,
    /// Whether the kubelet writes the options in any order.
    options_in_any_order: bool,
    /// What did not fit.
    dropped: Vec<DroppedForm>,
    /// The events that the kubelet records, in order.
    events: Vec<EventForm>,
    /// Why the pod would not start, or would not be taken; the exit status is
    /// then 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<String>,
    /// What was assumed, and what else is worth knowing.
    about: Vec<Sentence>,
    /// What could not be done; the exit status is then 2.
    errors: Vec<String>,
}

/// A program that has a part in the file.
#[derive(Debug, Serialize, JsonSchema)]
struct MakerForm {
    /// `kubelet`, `containerd`, `CRI-O` or `Docker`.
    name: &'static str,
    /// Its version, as far as it is known; absent: the newest was assumed, or it
    /// does not matter.
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    /// What tells the version: a file or an option.
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct WordForm {
    value: String,
    #[serde(flatten)]
    origin: OriginForm,
}

/// Where a word comes from.
#[derive(Debug, Serialize, JsonSchema)]
struct OriginForm {
    /// `kubelet-file`, `node-file`, `clusterDNS`, `clusterDomain`, `dnsConfig`
    /// or `kubelet`.
    from: &'static str,
    /// `FILE:LINE:COLUMN`, if it stands in a file of the node.
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct DroppedForm {
    /// `nameserver` or `search`.
    kind: &'static str,
    value: String,
    #[serde(flatten)]
    origin: OriginForm,
    /// `servers`, `searches`, `search-chars` or `domain-chars`.
    limit: &'static str,
    /// How much that limit lets in.
    most: usize,
    /// The reason of the event that announces it.
    event: &'static str,
}

#[derive(Debug, Serialize, JsonSchema)]
struct EventForm {
    /// `pod` or `node`.
    object: &'static str,
    /// Always `Warning`.
    r#type: &'static str,
    reason: &'static str,
    message: String,
}

/// Writes the document of a file, or of why there is none.
///
/// # Errors
///
/// Any error of `out`.
pub fn write(
    about: &[Remark],
    kubelet: &Kubelet,
    runtime: &Maker,
    result: &Result<PodFile, PodError>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut document = match result {
        Ok(file) => of_file(file),
        Err(error) if error.is_answer() => PodFileDocument {
            refused: Some(error.to_string()),
            ..PodFileDocument::default()
        },
        Err(error) => PodFileDocument {
            errors: vec![error.to_string()],
            ..PodFileDocument::default()
        },
    };
    document.format = FORMAT;
    document.kubelet = Some(MakerForm {
        name: "kubelet",
        version: kubelet.version.map(|it| it.to_string()),
        from: kubelet.version_from.clone(),
    });
    document.runtime = Some(MakerForm {
        name: runtime.runtime.kind.name(),
        version: runtime.runtime.version.map(|it| it.to_string()),
        from: runtime.version_from.clone(),
    });
    document.about.splice(0..0, about.iter().map(super::remark));
    json::document(&document, out)
}

/// Writes a document that says only what went wrong, or why the pod is
/// refused.
///
/// # Errors
///
/// Any error of `out`.
pub fn write_error(message: &str, is_answer: bool, out: &mut dyn Write) -> io::Result<()> {
    let message = message.to_owned();
    let (refused, errors) = if is_answer {
        (Some(message), Vec::new())
    } else {
        (None, vec![message])
    };
    let document = PodFileDocument {
        format: FORMAT,
        refused,
        errors,
        ..PodFileDocument::default()
    };
    json::document(&document, out)
}

fn of_file(file: &PodFile) -> PodFileDocument {
    let words = |words: &[Word]| words.iter().map(word).collect();
    PodFileDocument {
        resolv_conf: Some(lossy(&file.bytes)),
        servers: words(&file.servers),
        searches: words(&file.searches),
        options: words(&file.options),
        options_in_any_order: file.draws_options,
        dropped: file.dropped.iter().map(dropped).collect(),
        events: file.events.iter().map(event).collect(),
        about: file.remarks.iter().map(super::remark).collect(),
        ..PodFileDocument::default()
    }
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn word(word: &Word) -> WordForm {
    WordForm {
        value: lossy(&word.text),
        origin: origin(&word.origin),
    }
}

fn origin(origin: &WordOrigin) -> OriginForm {
    let (from, at) = match origin {
        WordOrigin::KubeletFile(place) => ("kubelet-file", Some(place.to_string())),
        WordOrigin::NodeFile(place) => ("node-file", Some(place.to_string())),
        WordOrigin::ClusterDns => ("clusterDNS", None),
        WordOrigin::ClusterDomain => ("clusterDomain", None),
        WordOrigin::DnsConfig => ("dnsConfig", None),
        WordOrigin::Kubelet => ("kubelet", None),
    };
    OriginForm { from, at }
}

fn dropped(dropped: &Dropped) -> DroppedForm {
    let (limit, most) = match dropped.limit {
        Limit::Servers(most) => ("servers", most),
        Limit::Searches(most) => ("searches", most),
        Limit::SearchChars(most) => ("search-chars", most),
        Limit::DomainChars(most) => ("domain-chars", most),
    };
    DroppedForm {
        kind: if dropped.limit.is_of_servers() {
            "nameserver"
        } else {
            "search"
        },
        value: lossy(&dropped.word.text),
        origin: origin(&dropped.word.origin),
        limit,
        most,
        event: "DNSConfigForming",
    }
}

fn event(event: &Event) -> EventForm {
    EventForm {
        object: match event.object {
            Object::Node => "node",
            Object::Pod => "pod",
        },
        r#type: "Warning",
        reason: event.reason,
        message: event.message.clone(),
    }
}
