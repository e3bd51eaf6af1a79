//! What a probe saw, in the formats that show it.

use std::io::{self, Write};

use schemars::JsonSchema;
use serde::Serialize;

use crate::check_loop::Report;
use crate::check_loop::seen::{Packet, Question, Seen, ServerSeen, Sight};
use crate::topology::Network;

/// So many packets of a question are shown to people.
const SHOWN: usize = 8;

/// What the probe saw.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ProbeForm<'r> {
    /// Whether queries came back to a server that was asked.
    #[schemars(extend("enum" = ["seen to loop", "not seen", "unknown"]))]
    sight: &'static str,
    /// The servers that were asked.
    servers: Vec<ServerForm<'r>>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ServerForm<'r> {
    who: &'r str,
    /// In which network.
    network: &'static str,
    /// Address and port.
    server: String,
    #[schemars(extend("enum" = ["seen to loop", "not seen", "unknown"]))]
    sight: &'static str,
    /// Why it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'r str>,
    /// The question that came back.
    #[serde(skip_serializing_if = "Option::is_none")]
    question: Option<QuestionForm<'r>>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct QuestionForm<'r> {
    name: &'r str,
    /// The record type.
    r#type: String,
    /// The queries for the name that were seen, the prober's own first; at
    /// most 64.
    packets: Vec<PacketForm>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct PacketForm {
    /// Since the probe began, in milliseconds.
    at_ms: f64,
    /// In which network.
    network: &'static str,
    /// Whether it came in or went out there.
    #[schemars(extend("enum" = ["in", "out"]))]
    way: &'static str,
    from: String,
    to: String,
    /// The id of the message.
    id: u16,
}

/// The form of what was seen.
pub(super) fn form(seen: &Seen) -> ProbeForm<'_> {
    ProbeForm {
        sight: sight_word(seen.sight),
        servers: seen.servers.iter().map(server).collect(),
    }
}

fn server(seen: &ServerSeen) -> ServerForm<'_> {
    ServerForm {
        who: &seen.who,
        network: network_words(&seen.network),
        server: seen.server.to_string(),
        sight: sight_word(seen.sight),
        why: seen.reason.as_deref(),
        question: seen.question.as_ref().map(question),
    }
}

fn question(question: &Question) -> QuestionForm<'_> {
    QuestionForm {
        name: &question.name,
        r#type: question.record_type.to_string(),
        packets: question.packets.iter().map(packet).collect(),
    }
}

fn packet(packet: &Packet) -> PacketForm {
    PacketForm {
        at_ms: (packet.at.as_secs_f64() * 1e6).round() / 1e3,
        network: network_words(&packet.network),
        way: if packet.is_outgoing { "out" } else { "in" },
        from: packet.from.to_string(),
        to: packet.to.to_string(),
        id: packet.id,
    }
}

/// Writes what the probe saw, for people; nothing if there was none.
pub(super) fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let Some(seen) = &report.probe else {
        return Ok(());
    };
    writeln!(out, "\nProbe: {}", sight_word(seen.sight))?;
    if seen.servers.is_empty() {
        writeln!(out, "  no server was found that could be asked")?;
    }
    for server in &seen.servers {
        let network = network_words(&server.network);
        let word = sight_word(server.sight);
        write!(out, "  {} {} {network}: {word}", server.who, server.server)?;
        match &server.reason {
            Some(reason) => writeln!(out, ", {reason}")?,
            None => writeln!(out)?,
        }
        if let Some(question) = &server.question {
            write_packets(question, out)?;
        }
    }
    Ok(())
}

fn write_packets(question: &Question, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "    {} {}", question.record_type, question.name)?;
    let begun = question.packets.first().map(|it| it.at).unwrap_or_default();
    for packet in question.packets.iter().take(SHOWN) {
        let since = packet.at.saturating_sub(begun).as_secs_f64() * 1e3;
        let network = network_words(&packet.network);
        let (from, to, id) = (packet.from, packet.to, packet.id);
        writeln!(out, "    {since:8.3} ms  {from} > {to}  id {id} {network}")?;
    }
    let hidden = question.packets.len().saturating_sub(SHOWN);
    if hidden > 0 {
        writeln!(out, "    and {hidden} more")?;
    }
    Ok(())
}

fn sight_word(sight: Sight) -> &'static str {
    match sight {
        Sight::Loops => "seen to loop",
        Sight::NotSeen => "not seen",
        Sight::Unknown => "unknown",
    }
}

fn network_words(network: &Network) -> &'static str {
    match network {
        Network::Node => "on the node",
        Network::Pod(_) => "in the pod's network",
    }
}
