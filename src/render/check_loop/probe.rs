//! What a probe saw, in the formats that show it.

pub mod plan;

use std::io::{self, Write};

use hickory_proto::op::ResponseCode;
use schemars::JsonSchema;
use serde::Serialize;

use crate::check_loop::Report;
use crate::check_loop::seen::{Barrier, Packet, ProbeResult, Question, ServerSeen, Sight, Unseen};
use crate::render::paragraph;
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
    who: String,
    /// In which network.
    network: &'static str,
    /// Address and port.
    server: String,
    #[schemars(extend("enum" = ["seen to loop", "not seen", "unknown"]))]
    sight: &'static str,
    /// Why it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
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
pub(super) fn form(seen: &ProbeResult) -> ProbeForm<'_> {
    ProbeForm {
        sight: sight_word(seen.sight),
        servers: seen.servers.iter().map(server).collect(),
    }
}

fn server(seen: &ServerSeen) -> ServerForm<'_> {
    ServerForm {
        who: seen.who.to_string(),
        network: network_words(&seen.network),
        server: seen.server.to_string(),
        sight: sight_word(seen.sight),
        why: why(seen),
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
    match &report.probe {
        Some(seen) => write_seen(seen, out),
        None => Ok(()),
    }
}

fn write_seen(seen: &ProbeResult, out: &mut dyn Write) -> io::Result<()> {
    // What holds for all of them is said once.
    let mut reasons = seen.servers.iter().map(why);
    let first = reasons.next().flatten();
    let shared = first
        .filter(|it| seen.servers.len() > 1 && reasons.all(|other| other.as_ref() == Some(it)));
    let because = |reason: Option<&String>| reason.map_or_else(String::new, |it| format!(", {it}"));
    let heading = format!(
        "Probe: {}{}",
        sight_word(seen.sight),
        because(shared.as_ref())
    );
    writeln!(out)?;
    paragraph::write(out, "", "  ", &heading)?;
    if seen.servers.is_empty() {
        writeln!(out, "  no server was found that could be asked")?;
    }
    for server in &seen.servers {
        let network = network_words(&server.network);
        let word = sight_word(server.sight);
        let why = because(why(server).filter(|_| shared.is_none()).as_ref());
        let line = format!("{} {} {network}: {word}{why}", server.who, server.server);
        paragraph::write(out, "  ", "    ", &line)?;
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

/// Why it is not known, without a full stop.
fn why(seen: &ServerSeen) -> Option<String> {
    let server = seen.server;
    Some(match seen.reason.as_ref()? {
        Unseen::Trouble(reason) => reason.clone(),
        Unseen::NoTime => format!("there was no time to ask {server} about every zone"),
        Unseen::Silent((record_type, name)) => {
            format!("{server} did not answer {record_type} {name}")
        }
        Unseen::NobodyListens => format!("nobody listens on {server}"),
        Unseen::NotReached(Barrier::Filter) => format!("a firewall refuses packets to {server}"),
        Unseen::NotReached(Barrier::Unreachable) => {
            format!("{server} is unreachable: no route leads there, or a firewall rejects packets")
        }
        Unseen::NotReached(Barrier::Other) => format!("packets to {server} cannot be sent"),
        Unseen::Failed((record_type, name), code) => {
            let code = rcode(*code);
            format!("{server} answered {record_type} {name} with {code}")
        }
        Unseen::NoAnswer => format!("{server} answered no question"),
        Unseen::NotOnWire => format!("the queries to {server} were not seen on the wire"),
    })
}

/// The code's word: `SERVFAIL`.
fn rcode(code: ResponseCode) -> String {
    match code {
        ResponseCode::ServFail => "SERVFAIL".to_owned(),
        ResponseCode::Refused => "REFUSED".to_owned(),
        other => format!("rcode {}", u16::from(other)),
    }
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

#[cfg(test)]
pub(super) mod tests {
    use std::time::Duration;

    use hickory_proto::rr::RecordType;

    use super::*;
    use crate::render::check_loop::tests::only;

    /// A loop that was seen, and a server that was not asked for this reason.
    pub(in crate::render::check_loop) fn seen(reason: &str) -> ProbeResult {
        let packet = |ms, from: &str, id| Packet {
            at: Duration::from_millis(ms),
            network: Network::Node,
            is_outgoing: false,
            from: from.parse().unwrap(),
            to: "127.0.1.1:53".parse().unwrap(),
            id,
        };
        let question = Question {
            target: 0,
            name: "kdns-1.kdns-2.".to_owned(),
            record_type: RecordType::HINFO,
            id: 7,
            from: "127.0.0.1:4000".parse().unwrap(),
            sent: Duration::ZERO,
            reply: None,
            packets: vec![
                packet(5, "127.0.0.1:4000", 7),
                packet(6, "127.0.0.1:4001", 8),
            ],
        };
        let server = |who: &str, sight, reason: Option<&str>, question| ServerSeen {
            who: only(who),
            network: Network::Node,
            server: "127.0.1.1:53".parse().unwrap(),
            sight,
            reason: reason.map(|it| Unseen::Trouble(it.to_owned())),
            question,
        };
        ProbeResult {
            sight: Sight::Loops,
            servers: vec![
                server("dnsmasq", Sight::Loops, None, Some(question)),
                server("unbound", Sight::Unknown, Some(reason), None),
            ],
        }
    }

    #[test]
    fn people_see_the_packets() {
        let mut out = Vec::new();
        write_seen(&seen("no way in"), &mut out).unwrap();
        let expected = "
Probe: seen to loop
  dnsmasq 127.0.1.1:53 on the node: seen to loop
    HINFO kdns-1.kdns-2.
       0.000 ms  127.0.0.1:4000 > 127.0.1.1:53  id 7 on the node
       1.000 ms  127.0.0.1:4001 > 127.0.1.1:53  id 8 on the node
  unbound 127.0.1.1:53 on the node: unknown, no way in
";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn what_holds_for_all_is_said_once() {
        let mut all = seen("no way in");
        all.sight = Sight::Unknown;
        for server in &mut all.servers {
            server.sight = Sight::Unknown;
            server.reason = Some(Unseen::Trouble("no way in".to_owned()));
            server.question = None;
        }
        let mut out = Vec::new();
        write_seen(&all, &mut out).unwrap();
        let expected = "
Probe: unknown, no way in
  dnsmasq 127.0.1.1:53 on the node: unknown
  unbound 127.0.1.1:53 on the node: unknown
";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
