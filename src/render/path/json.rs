//! `kdns path --format json`. Fields are only added within a format version.

use std::io::{self, Write};
use std::net::IpAddr;

use schemars::JsonSchema;
use serde::Serialize;

use super::findings::{self, FindingJson};
use super::probe::{self, ProbeJson};
use super::what::what;
use super::{Shown, conditions, words};
use crate::path::{Direction, Outcome, Reply, Start, Step, Tree, Verdict};
use crate::render::json;
use crate::render::sentence::Sentence;
use crate::rules::Share;

/// Since 2 what an end depends on has codes.
const FORMAT: u32 = 2;

/// What `kdns path --format json` writes.
#[derive(Serialize, JsonSchema)]
#[schemars(title = "Path")]
pub(in crate::render) struct PathDocument {
    /// Version of this format.
    format: u32,
    /// The answer for all packets together.
    #[schemars(extend("enum" = ["reaches", "partly", "nothing", "no-rule", "no-endpoints", "hairpin", "other-proxy", "unknown"]))]
    verdict: &'static str,
    /// The verdict of each packet in one sentence.
    headlines: Vec<String>,
    /// Every end of every packet.
    outcomes: Vec<OutcomeForm>,
    /// What is wrong, the worst first.
    findings: Vec<FindingJson>,
    /// What `--probe` has seen; absent: it was not wanted.
    #[serde(skip_serializing_if = "Option::is_none")]
    probe: Option<ProbeJson>,
    /// The packets, in the order of their outcomes.
    packets: Vec<PacketForm>,
    /// What was not seen, and what is taken for it.
    unseen: Vec<Sentence>,
}

/// A packet that is sent.
#[derive(Serialize, JsonSchema)]
struct PacketForm {
    /// Who sends it; the unspecified address: some pod, or the node.
    source: IpAddr,
    /// To whom.
    destination: IpAddr,
    /// To which port.
    port: u16,
    /// `udp` or `tcp`.
    protocol: &'static str,
    /// Whether the node itself sends it.
    from_host: bool,
    /// The link that it comes in through, where that was said or seen.
    in_interface: Option<String>,
    /// The Service that the rules know it by.
    service: Option<String>,
    /// The answer.
    verdict: &'static str,
}

/// One end of a packet.
#[derive(Serialize, JsonSchema)]
struct OutcomeForm {
    /// What happens there.
    #[schemars(extend("enum" = ["endpoint", "local", "drop", "reject", "no-route", "unknown"]))]
    kind: &'static str,
    /// The address that the packet has there.
    address: IpAddr,
    /// The port that it has there.
    port: u16,
    /// Its share of the packets for which what it depends on holds: `1/3`.
    share: String,
    /// Whether the endpoint sees another sender than the asker.
    masqueraded: bool,
    /// What comes back instead, in the words of iptables.
    error: Option<String>,
    /// The pod there, `NAMESPACE/NAME`.
    pod: Option<String>,
    /// The Service that a rule names.
    service: Option<String>,
    /// What must hold for it, and was not seen.
    depends_on: Vec<Sentence>,
    /// The rules that did something, in the packet's order.
    steps: Vec<StepForm>,
    /// What becomes of the answer.
    reply: Option<ReplyForm>,
    /// `udp` or `tcp`.
    protocol: &'static str,
    /// What was asked: `10.96.0.10:53`.
    destination: String,
}

/// What becomes of the answer.
#[derive(Serialize, JsonSchema)]
struct ReplyForm {
    /// What happens to it.
    #[schemars(extend("enum" = ["returns", "untranslated", "dropped", "partly", "unknown"]))]
    kind: &'static str,
    /// Which share of the answers comes back, where that is known.
    share: Option<String>,
    /// The rules that drop it.
    steps: Vec<StepForm>,
    /// What it depends on.
    depends_on: Vec<Sentence>,
}

/// A rule that did something.
#[derive(Serialize, JsonSchema)]
struct StepForm {
    /// Its table; `ipvs`, `route`, `conntrack`, `ip_forward`, `rp_filter`, `link`, `socket`, `neighbour` are none.
    table: String,
    /// Its chain.
    chain: String,
    /// The file, or tool, that it is written in.
    file: String,
    /// Its line there; 0: it is no line of a text.
    line: usize,
    /// The rule as it is written.
    rule: String,
    /// How many packets have met it.
    packets: Option<u64>,
    /// Which packet met it.
    #[schemars(extend("enum" = ["request", "reply"]))]
    direction: &'static str,
}

/// Writes the document.
///
/// # Errors
///
/// Any error of `out`.
pub fn write(shown: &Shown<'_>, out: &mut dyn Write) -> io::Result<()> {
    let verdict = Verdict::of_all(shown.trees.iter().map(|it| it.verdict));
    let outcomes = |tree| -> Vec<OutcomeForm> { outcomes(tree) };
    let document = PathDocument {
        format: FORMAT,
        verdict: verdict.word(),
        headlines: shown.trees.iter().map(words::verdict).collect(),
        outcomes: shown.trees.iter().flat_map(outcomes).collect(),
        findings: shown.findings.iter().map(findings::json).collect(),
        probe: shown.probe.map(|it| probe::json(it, shown.findings)),
        packets: shown.trees.iter().map(packet).collect(),
        unseen: shown.unseen(),
    };
    json::document(&document, out)
}

fn packet(tree: &Tree) -> PacketForm {
    let packet = &tree.packet;
    let link = match &packet.start {
        Start::Host | Start::Elsewhere => None,
        Start::Link { name } => name.as_ref(),
    };
    PacketForm {
        source: packet.source,
        destination: packet.destination,
        port: packet.port,
        protocol: packet.protocol.word(),
        from_host: packet.start == Start::Host,
        in_interface: link.map(ToString::to_string),
        service: tree.service.clone(),
        verdict: tree.verdict.word(),
    }
}

fn outcomes(tree: &Tree) -> Vec<OutcomeForm> {
    let outcome = |it: &Outcome| OutcomeForm {
        kind: it.kind.word(),
        address: it.address,
        port: it.port,
        share: it.share.to_string(),
        masqueraded: it.masqueraded,
        error: it.error.as_ref().map(ToString::to_string),
        pod: it.pod.clone(),
        service: it.service.clone(),
        depends_on: it.depends_on.iter().map(conditions::assumption).collect(),
        steps: it.steps.iter().map(step).collect(),
        reply: it.reply.as_ref().map(reply),
        protocol: tree.packet.protocol.word(),
        destination: words::socket(tree.packet.destination, tree.packet.port),
    };
    tree.outcomes.iter().map(outcome).collect()
}

fn reply(reply: &Reply) -> ReplyForm {
    let (kind, share, steps) = match reply {
        Reply::Returns => ("returns", Some(Share::ALL), &[][..]),
        Reply::Untranslated => ("untranslated", Some(Share::NONE), &[][..]),
        Reply::Dropped(steps) => ("dropped", Some(Share::NONE), steps.as_slice()),
        Reply::Partly(share, steps) => ("partly", Some(*share), steps.as_slice()),
        Reply::Unknown(_) => ("unknown", None, &[][..]),
    };
    let depends_on = match reply {
        Reply::Unknown(all) => all.iter().map(conditions::assumption).collect(),
        _ => Vec::new(),
    };
    ReplyForm {
        kind,
        share: share.map(|it| it.to_string()),
        steps: steps.iter().map(step).collect(),
        depends_on,
    }
}

fn step(step: &Step) -> StepForm {
    StepForm {
        table: step.stage.to_string(),
        chain: step.chain.to_string(),
        file: step.place.file.clone(),
        line: step.place.line,
        rule: what(&step.what),
        packets: step.packets,
        direction: match step.direction {
            Direction::Request => "request",
            Direction::Reply => "reply",
        },
    }
}
