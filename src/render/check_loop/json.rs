//! A report as one JSON document. Fields are only added within a format
//! version.

use std::borrow::Cow;
use std::io::{self, Write};

use schemars::JsonSchema;
use serde::Serialize;

use super::probe::{self, ProbeForm};
use super::words;
use crate::check_loop::facts::Concern;
use crate::check_loop::{Chain, End, Fix, Hop, Proof, Report, Setup, Sighting, When};
use crate::doctor::Route;
use crate::render::json::{self, PlaceForm};
use crate::render::path::service::{self, ServiceForm};
use crate::render::sentence::Sentence;

/// Since 2 sentences have codes.
const FORMAT: u32 = 2;

/// What `kdns check-loop --format json` writes.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(title = "CheckLoop")]
pub(in crate::render) struct CheckLoopDocument<'r> {
    /// Version of this format.
    format: u32,
    /// The node's name, if it is known.
    node: Option<&'r str>,
    /// The cluster that it belongs to, if it was named.
    cluster: Option<&'r str>,
    /// The machine's own id, if it is known: two nodes of one name differ in it.
    machine_id: Option<&'r str>,
    /// The id of this start of the machine.
    boot_id: Option<&'r str>,
    /// The answer.
    #[schemars(extend("enum" = ["loop", "mixed", "refused", "will loop", "no loop", "unknown"]))]
    verdict: &'static str,
    /// The running pods with the files they have.
    #[schemars(extend("enum" = ["loop", "mixed", "refused", "no loop", "unknown"]))]
    now: &'static str,
    /// The pods after the next start, with the files the kubelet would write.
    #[schemars(extend("enum" = ["loop", "mixed", "refused", "no loop", "unknown"]))]
    next_start: &'static str,
    /// The verdict in one line.
    headline: String,
    /// What decides where the node's DNS leads: two nodes that are set up alike
    /// have the same.
    setup: Cow<'r, Setup>,
    /// What is wrong though it does not loop.
    concern: Option<ConcernForm>,
    /// The hops of the first of `chains`: the query path that decides.
    chain: Vec<HopForm<'r>>,
    /// Every query path, those that decide first.
    chains: Vec<ChainForm<'r>>,
    /// What ends it.
    fix: Option<FixForm<'r>>,
    /// Log lines that show it.
    evidence: Vec<SightingForm<'r>>,
    /// What would be needed for an answer.
    missing: Vec<Sentence>,
    /// Drift and other things worth knowing.
    remarks: Vec<Sentence>,
    /// What could not be read.
    skipped: &'r [String],
    /// Where the Services on the query paths lead, as the node's rules say, where
    /// these were read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    services: Vec<ServiceForm>,
    /// What the probe saw, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    probe: Option<ProbeForm<'r>>,
    /// What could not be done; the exit status is then 2.
    errors: Vec<ErrorForm<'r>>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ConcernForm {
    /// What is wrong, the worst first. What a log shows has its kind as code.
    troubles: Vec<Sentence>,
    /// What to do about it, in order.
    then: Vec<Sentence>,
}

/// One server on the query path.
#[derive(Debug, Serialize, JsonSchema)]
struct HopForm<'r> {
    who: String,
    /// In which network.
    network: &'static str,
    /// The address and port.
    sends_to: String,
    /// The place that names the address: the last of `proof`.
    #[serde(flatten)]
    at: Option<PlaceForm<'r>>,
    /// Files and places that say so, in the order in which they are followed.
    proof: Vec<ProofForm<'r>>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ProofForm<'r> {
    #[serde(flatten)]
    at: PlaceForm<'r>,
    /// The words there.
    text: &'r str,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ChainForm<'r> {
    #[schemars(extend("enum" = ["now", "next start"]))]
    when: &'static str,
    /// The zone whose names take it.
    zone: &'r str,
    hops: Vec<HopForm<'r>>,
    #[schemars(extend("enum" = ["cycle", "refused", "outside", "unknown"]))]
    end: &'static str,
    /// The hop that comes for the second time, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    back_to: Option<usize>,
    /// Why it cannot be followed.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<Sentence>,
    /// Of how many equal choices this is how many.
    share: ShareForm,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ShareForm {
    paths: u32,
    of: u32,
}

#[derive(Debug, Serialize, JsonSchema)]
struct FixForm<'r> {
    #[serde(flatten)]
    at: PlaceForm<'r>,
    /// What stands there; null: nothing, it is to be added.
    old: Option<&'r str>,
    /// What is to stand there.
    new: &'r str,
    /// What to do after it, in order.
    then: Vec<Sentence>,
    /// What would undo it.
    but: Vec<Sentence>,
    /// What people try that does not fix it.
    not: Vec<Sentence>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct SightingForm<'r> {
    /// `loop-fatal`, `loopback-timeout` and the like.
    kind: &'static str,
    /// Where the first of them is.
    #[serde(flatten)]
    at: PlaceForm<'r>,
    /// That line.
    text: &'r str,
    /// How many there are.
    count: usize,
    /// The time of the first, as the log has it.
    first: Option<&'r str>,
    /// The time of the last.
    last: Option<&'r str>,
    /// The pod whose log it is; null: a log that the caller named.
    pod: Option<&'r str>,
    /// The servers that the lines name as asked, the first eight.
    servers: Vec<String>,
}

/// Something that could not be done.
#[derive(Debug, Serialize, JsonSchema)]
struct ErrorForm<'r> {
    /// One sentence.
    message: &'r str,
}

/// Writes the document with what is known of the Services on the query paths;
/// on one line if wanted.
///
/// # Errors
///
/// Any error of `out`.
pub fn write(
    report: &Report,
    services: &[Result<Route, String>],
    is_line: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let document = CheckLoopDocument {
        services: service::forms(services),
        ..document(report)
    };
    write_document(&document, is_line, out)
}

/// Writes a document that says only what went wrong, on the node of that name; on
/// one line if wanted.
///
/// # Errors
///
/// Any error of `out`.
pub fn write_error(
    message: &str,
    node: Option<&str>,
    is_line: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    write_document(&failure(message, node), is_line, out)
}

fn write_document(
    document: &CheckLoopDocument<'_>,
    is_line: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    if is_line {
        json::line(document, out)
    } else {
        json::document(document, out)
    }
}

/// The document.
pub(in crate::render) fn document(report: &Report) -> CheckLoopDocument<'_> {
    let first = report.chains.first();
    CheckLoopDocument {
        format: FORMAT,
        node: report.node.as_deref(),
        cluster: report.cluster.as_deref(),
        machine_id: report.machine_id.as_deref(),
        boot_id: report.boot_id.as_deref(),
        verdict: report.verdict.word(),
        now: report.now.word(),
        next_start: report.next_start.word(),
        headline: words::headline(report),
        setup: Cow::Borrowed(&report.setup),
        concern: report.concern.as_ref().map(concern),
        chain: first.map(|it| hops(&it.hops)).unwrap_or_default(),
        chains: report.chains.iter().map(chain).collect(),
        fix: report.fix.as_ref().map(fix),
        evidence: report.evidence.iter().map(sighting).collect(),
        missing: report
            .missing
            .iter()
            .map(|it| words::missing(it).begun())
            .collect(),
        remarks: report
            .remarks
            .iter()
            .map(|it| words::remark(it).begun())
            .collect(),
        skipped: &report.skipped,
        services: Vec::new(),
        probe: report.probe.as_ref().map(probe::form),
        errors: Vec::new(),
    }
}

fn failure<'r>(message: &'r str, node: Option<&'r str>) -> CheckLoopDocument<'r> {
    CheckLoopDocument {
        format: FORMAT,
        node,
        verdict: "unknown",
        now: "unknown",
        next_start: "unknown",
        errors: vec![ErrorForm { message }],
        ..CheckLoopDocument::default()
    }
}

fn chain(chain: &Chain) -> ChainForm<'_> {
    let (end, back_to, why) = match &chain.end {
        End::Cycle(hop) => ("cycle", Some(*hop), None),
        End::Refused | End::Stopped => ("refused", None, None),
        End::Outside => ("outside", None, None),
        End::Unknown(why) => ("unknown", None, Some(words::unknown(why))),
    };
    ChainForm {
        when: match chain.when {
            When::Now => "now",
            When::NextStart => "next start",
        },
        zone: &chain.zone,
        hops: hops(&chain.hops),
        end,
        back_to,
        why,
        share: ShareForm {
            paths: chain.share.0,
            of: chain.share.1,
        },
    }
}

fn concern(concern: &Concern) -> ConcernForm {
    let troubles = concern.troubles.iter();
    let then = concern.then.iter();
    ConcernForm {
        troubles: troubles.map(|it| words::trouble(it).begun()).collect(),
        then: then.map(|it| words::action(it).sentence()).collect(),
    }
}

fn hops(hops: &[Hop]) -> Vec<HopForm<'_>> {
    hops.iter().map(hop).collect()
}

fn hop(hop: &Hop) -> HopForm<'_> {
    let (who, network) = words::who(&hop.who);
    HopForm {
        who,
        network,
        sends_to: hop.sends_to.to_string(),
        at: hop.proof.last().map(|it| PlaceForm::from(&it.place)),
        proof: hop.proof.iter().map(proof_form).collect(),
    }
}

fn proof_form(proof: &Proof) -> ProofForm<'_> {
    ProofForm {
        at: PlaceForm::from(&proof.place),
        text: &proof.text,
    }
}

fn fix(fix: &Fix) -> FixForm<'_> {
    FixForm {
        at: PlaceForm::from(&fix.edit.place),
        old: fix.edit.old.as_deref(),
        new: &fix.edit.new,
        then: (fix.then.iter().map(|it| words::action(it).sentence())).collect(),
        but: fix.but.iter().map(words::caveat).collect(),
        not: fix.not.iter().map(words::useless).collect(),
    }
}

fn sighting(sighting: &Sighting) -> SightingForm<'_> {
    SightingForm {
        kind: sighting.kind.word(),
        at: PlaceForm::from(&sighting.place),
        text: &sighting.text,
        count: sighting.count,
        first: sighting.first.as_deref(),
        last: sighting.last.as_deref(),
        pod: sighting.pod.as_deref(),
        servers: sighting.servers.iter().map(ToString::to_string).collect(),
    }
}
