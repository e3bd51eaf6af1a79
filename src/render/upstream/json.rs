//! `kdns upstream` as JSON.

use std::io::{self, Write};

use schemars::JsonSchema;
use serde::Serialize;

use super::words;
use crate::doctor::Route;
use crate::render::json::{self, PlaceForm};
use crate::render::path::service::{self, ServiceForm};
use crate::render::sentence::Sentence;
use crate::topology::resolved::Mode;
use crate::upstream::{self, End, Health, Role};

/// The name servers of a node, who they are, and where their queries end up.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(title = "kdns upstream")]
pub(in crate::render) struct Report<'r> {
    /// The version of this format.
    version: u32,
    /// Whether a server or file leads nowhere: `clean`, `dead`, `unknown` (a file could not be
    /// read), `nothing`.
    health: &'static str,
    /// The kubelet's file and the node's, or the address that was asked for.
    files: Vec<File<'r>>,
    /// Why not all is known; null: it is.
    doubt: Option<Sentence>,
    /// What else is worth knowing: whole sentences.
    remarks: Vec<Sentence>,
    /// What `kdns path` says of the address that was asked for, where rules of the node
    /// translate it.
    services: Vec<ServiceForm>,
    /// What could not be read, and why.
    skipped: &'r [String],
}

/// A file and its name servers.
#[derive(Debug, Serialize, JsonSchema)]
struct File<'r> {
    /// Whose file it is: `kubelet`, `node`, `both`, `restarted-kubelet` (the one that the kubelet
    /// has from its restart on, where that is another one), `asked` for an address that was given,
    /// or `cluster-dns` for none: its pods send queries on to servers that no file leads to.
    role: &'static str,
    /// Its path; null: no file lists the address, or which file the kubelet has is not known.
    path: Option<&'r str>,
    /// What the path becomes with each link on the way.
    links: &'r [String],
    /// What it is to systemd-resolved: `stub`, `static`, `uplink`, `foreign`,
    /// `missing`; null where that does not run.
    mode: Option<&'static str>,
    /// Why there are no servers.
    problem: Option<Sentence>,
    /// What the file says less than its writer knows.
    lost: Vec<Sentence>,
    /// Its name servers, in order.
    servers: Vec<Server<'r>>,
}

/// A name server and where it leads.
#[derive(Debug, Serialize, JsonSchema)]
struct Server<'r> {
    /// Its address; null: it has none.
    address: Option<String>,
    /// Its port.
    port: Option<u16>,
    /// Only names of this zone go there; null: all others.
    zone: Option<&'r str>,
    /// Where its address is written.
    place: Option<PlaceForm<'r>>,
    /// A short name of its kind: `systemd-resolved`, `dnsmasq`, `server`.
    id: &'static str,
    /// The server's owner or program, as a phrase.
    who: String,
    /// What confirms that; empty: only the address says so.
    confirmed_by: Vec<String>,
    /// Remarks beside the answer.
    notes: Vec<Sentence>,
    /// What a list of its servers would not say.
    lost: Vec<Sentence>,
    /// How it goes on: `forwards`, `answers` (by itself), `outside`, `above` (it was followed
    /// before), `cycle`, `refused`, `unknown`.
    end: &'static str,
    /// Why it is refused or unknown.
    reason: Option<Sentence>,
    /// To whom it forwards.
    servers: Vec<Self>,
}

/// Writes the report as one document.
///
/// # Errors
///
/// `out` cannot be written.
pub fn write(
    report: &upstream::Report,
    services: &[Result<Route, String>],
    health: Health,
    out: &mut dyn Write,
) -> io::Result<()> {
    let document = Report {
        // Since 2 sentences have codes.
        version: 2,
        health: match health {
            Health::Clean => "clean",
            Health::Dead => "dead",
            Health::Unknown => "unknown",
            Health::Nothing => "nothing",
        },
        files: report.files.iter().map(file).collect(),
        doubt: words::doubt(report),
        remarks: report.remarks.iter().map(words::remark).collect(),
        services: service::forms(services),
        skipped: &report.skipped,
    };
    json::document(&document, out)
}

fn file(file: &upstream::FileReport) -> File<'_> {
    File {
        role: match file.role {
            Role::Kubelet | Role::OfPod => "kubelet",
            Role::Restarted => "restarted-kubelet",
            Role::Node => "node",
            Role::Both => "both",
            Role::Asked => "asked",
            Role::Cluster => "cluster-dns",
        },
        path: Some(file.path.as_str()).filter(|path| !path.is_empty()),
        links: &file.links,
        mode: file.mode.map(Mode::word),
        problem: file.problem.as_ref().map(words::problem),
        lost: file.lost.iter().map(words::lost).collect(),
        servers: file.servers.iter().map(server).collect(),
    }
}

fn server(step: &upstream::Step) -> Server<'_> {
    let (end, reason) = match &step.end {
        End::Forwards | End::Endpoints => ("forwards", None),
        End::Answers => ("answers", None),
        End::Outside => ("outside", None),
        End::Above => ("above", None),
        End::Cycle => ("cycle", None),
        End::Refused(reason) => ("refused", Some(words::refused(reason))),
        End::Unknown(reason) => ("unknown", Some(words::unknown(reason))),
    };
    Server {
        address: step.address.map(|it| it.ip().to_string()),
        port: step.address.map(|it| it.port()),
        zone: step.zone.as_deref(),
        place: step.place.as_ref().map(PlaceForm::from),
        id: step.id,
        who: words::who(&step.who),
        confirmed_by: step.confirmed_by.iter().map(words::confirmed).collect(),
        notes: step.notes.iter().map(words::note).collect(),
        lost: step.lost.iter().map(words::lost).collect(),
        end,
        reason,
        servers: step.next.iter().map(server).collect(),
    }
}
