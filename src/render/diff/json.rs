//! What differs as one JSON document. Fields are only added within a format
//! version.

use std::io::{self, Write};

use schemars::JsonSchema;
use serde::Serialize;

use crate::diff::{Difference, What};
use crate::render::json;
use crate::render::report::json::key;

const FORMAT: u32 = 1;

/// What `kdns diff --format json` writes.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(title = "Diff")]
pub(in crate::render) struct DiffDocument<'d> {
    /// Version of this format.
    format: u32,
    /// The two nodes, as they were given.
    nodes: [&'d str; 2],
    /// Whether nothing that matters for DNS differs.
    same: bool,
    /// What differs, first what changes the verdict.
    differences: Vec<DifferenceForm<'d>>,
}

/// Something that differs.
#[derive(Debug, Serialize, JsonSchema)]
struct DifferenceForm<'d> {
    /// What it is. It stays when the words change.
    code: &'static str,
    /// Whether it leads queries elsewhere, while the verdict differs, too.
    changes_verdict: bool,
    /// What each of the two has.
    values: [&'d [String]; 2],
}

/// Writes what differs between the nodes `names`.
///
/// # Errors
///
/// Any error of `out`.
pub fn write<'d>(
    names: [&'d str; 2],
    differences: &'d [Difference],
    out: &mut dyn Write,
) -> io::Result<()> {
    let form = |it: &'d Difference| DifferenceForm {
        code: code(it.what),
        changes_verdict: it.changes_verdict,
        values: [&it.first, &it.second],
    };
    let document = DiffDocument {
        format: FORMAT,
        nodes: names,
        same: differences.is_empty(),
        differences: differences.iter().map(form).collect(),
    };
    json::document(&document, out)
}

fn code(what: What) -> &'static str {
    match what {
        What::Now => "now",
        What::NextStart => "next_start",
        What::Setup(part) => key(part),
        What::NodeFile => "node_file",
        What::ClusterDns => "cluster_dns",
        What::ClusterDomain => "cluster_domain",
        What::KubeletVersion => "kubelet_version",
        What::Runtime => "runtime",
        What::DnsPods => "dns_pods",
        What::Findings => "findings",
    }
}
