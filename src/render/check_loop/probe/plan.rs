//! What a probe would ask.

use std::io::{self, Write};

use hickory_proto::rr::RecordType;

use crate::check_loop::seen::Target;
use crate::render::paragraph;
use crate::text::counted;
use crate::text::escaped;
use crate::topology::Network;

/// Writes what each server would be asked: of every zone these types.
///
/// # Errors
///
/// Any error of `out`.
pub fn write(targets: &[Target], types: &[RecordType], out: &mut dyn Write) -> io::Result<()> {
    let zones: usize = targets.iter().map(|it| it.zones.len()).sum();
    let questions = zones * types.len();
    if questions == 0 {
        return writeln!(out, "The probe would ask nothing: no DNS server was found.");
    }
    let queries = counted(questions, "query", "queries");
    let servers = counted(targets.len(), "server", "servers");
    writeln!(
        out,
        "The probe would send {queries} to {servers}; nothing was sent."
    )?;
    for target in targets {
        let (who, server) = (escaped(target.who.to_string().as_bytes()), target.server);
        writeln!(out)?;
        paragraph::write(out, "", "  ", &format!("{who} {server} {}", place(target)))?;
        for zone in &target.zones {
            // As the probe makes them: below the root with two labels.
            let zone = match zone.as_str() {
                "." => "kdns-RANDOM.".to_owned(),
                zone => escaped(zone.as_bytes()),
            };
            let types: Vec<String> = types.iter().map(ToString::to_string).collect();
            writeln!(out, "  kdns-RANDOM.{zone} {}", types.join(", "))?;
        }
    }
    Ok(())
}

/// Where it is asked.
fn place(target: &Target) -> String {
    match (&target.namespace, &target.network) {
        (Some(file), _) => format!("in the network of {}", escaped(file.path.as_bytes())),
        (None, Network::Node) => "on the node".to_owned(),
        (None, Network::Pod(_)) => "in the pod's network".to_owned(),
    }
}
