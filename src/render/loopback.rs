//! What is said of a name server on a loopback or link-local address.

use crate::address::Address;
use crate::loopback::owners::{Elsewhere, Reach};
use crate::loopback::{Confirmation, Lead, Upstream};
use crate::render::sentence::{Sentence, sentence};

/// Who it is, where it leads and who can reach it, as one line for people.
pub fn lead(lead: &Lead) -> String {
    let Lead { address, owner, .. } = lead;
    let who = owner.who;
    let address = if address.is_unspecified() {
        let reached = Address::from(*address).reached();
        format!("{address}, this host as {reached},")
    } else {
        address.to_string()
    };
    let is = match (lead.is_guess(), owner.is_vague) {
        (false, _) => format!("is {who}"),
        (true, false) => format!("is probably {who} (a guess: only the address says so)"),
        (true, true) => format!("is {who}, which one is not known"),
    };
    let servers = match (&lead.upstream, owner.elsewhere) {
        (Some(upstream), _) => format!(": it forwards to {}", servers(upstream)),
        (None, Some(place)) => format!(": {}", elsewhere(place).text),
        (None, None) => String::new(),
    };
    format!("{address} {is}{servers}; {}", reach(owner.reach).text)
}

/// `192.0.2.1 and 192.0.2.2 (/run/systemd/resolve/resolv.conf:23:12)`.
fn servers(upstream: &Upstream) -> String {
    let mut words = Vec::new();
    for server in &upstream.servers {
        let is_loopback = Address::from(server.address).reached().is_loopback();
        let again = if is_loopback { " (loopback again)" } else { "" };
        words.push(format!("{}{again}", server.address));
    }
    if upstream.more > 0 {
        words.push(format!("{} more", upstream.more));
    }
    let first = upstream.servers.first();
    let place = first.map(|it| format!(" ({})", it.place));
    let words = match words.as_slice() {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => words.concat(),
    };
    words + &place.unwrap_or_default()
}

/// Where its servers can be seen, when no file lists them.
pub(super) fn elsewhere(place: Elsewhere) -> Sentence {
    const CODE: &str = "upstream-elsewhere";
    let text = match place {
        Elsewhere::Configuration => "where it forwards to stands in its own configuration",
        Elsewhere::Corefile => "where it forwards to stands in its Corefile",
        Elsewhere::Docker => "it forwards to the servers of Docker's --dns or of the host's file",
        Elsewhere::Windows => "it forwards to the servers of Windows",
        Elsewhere::Command(command @ "tailscale dns status") => {
            return sentence!(CODE, "where it forwards to, `{command}` tells");
        }
        Elsewhere::Command(command) => {
            return sentence!(CODE, "no file lists where it forwards to, `{command}` does");
        }
    };
    Sentence::new(CODE, text)
}

/// What an address means inside a pod.
pub(super) fn reach(reach: Reach) -> Sentence {
    let text = match reach {
        Reach::Loopback => "inside a pod this address is the pod itself",
        Reach::Node => "pods reach it on their own node",
        Reach::Link => "whether pods reach it depends on the node",
        Reach::Cloud => {
            "it is an upstream server, no local one, and pods reach it as the node does"
        }
        Reach::Machine => "pods often cannot reach it",
    };
    Sentence::new("reach", text)
}

/// `the comment at /etc/resolv.conf:1`.
pub(super) fn confirmation(confirmation: &Confirmation) -> String {
    match confirmation {
        Confirmation::Header(place) => format!("the comment at {place}"),
        Confirmation::Link(target) => format!("the link to {target}"),
        Confirmation::File(path) => format!("the file {path}"),
    }
}
