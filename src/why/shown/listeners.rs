//! ss and netstat: who listens on port 53.

use std::net::IpAddr;

/// The listeners: the program, if it stands there, and its address; `*` is every one.
#[derive(Debug, Default)]
pub(super) struct Listeners {
    found: Vec<(String, String)>,
}

impl Listeners {
    /// Whether a line is a listener on port 53:
    /// `udp UNCONN 0 0 127.0.0.53%lo:53 0.0.0.0:* users:(("systemd-resolve",pid=7,fd=9))`,
    /// `udp 0 0 127.0.0.53:53 0.0.0.0:* 710/systemd-resolve`.
    pub(super) fn takes(&mut self, line: &str) -> bool {
        let mut words = line.split_whitespace();
        let is_socket = words.next().is_some_and(|it| {
            matches!(it, "UNCONN" | "LISTEN") || it.starts_with("udp") || it.starts_with("tcp")
        });
        let local = words.by_ref().take(4).find_map(|it| it.strip_suffix(":53"));
        let (Some(local), Some(peer)) = (local.filter(|_| is_socket), words.next()) else {
            return false;
        };
        if !peer.ends_with(":*") {
            return false;
        }
        let rest = words.next_back().unwrap_or_default();
        let quoted = rest.split('"').nth(1);
        let program = quoted.or_else(|| rest.split_once('/').map(|it| it.1));
        let address = local.split('%').next().unwrap_or_default();
        let address = address.trim_matches(['[', ']']);
        let address = match address.parse::<IpAddr>() {
            Ok(it) if it.is_unspecified() => "*".to_owned(),
            _ => address.to_owned(),
        };
        let listener = (program.unwrap_or("a program").to_owned(), address);
        if !self.found.contains(&listener) {
            self.found.push(listener);
        }
        true
    }

    /// Who they are.
    pub(super) fn sentence(&self) -> Option<String> {
        let names: Vec<String> = self
            .found
            .iter()
            .map(|(program, address)| format!("{program} on {address}"))
            .collect();
        if names.is_empty() {
            return None;
        }
        let is_loopback = |it: &(String, String)| {
            let address = it.1.parse::<IpAddr>();
            address.is_ok_and(|it| it.is_loopback())
        };
        let only = if self.found.iter().all(is_loopback) {
            "only at loopback addresses"
        } else {
            "by"
        };
        Some(format!("port 53 is held {only}: {}\n", names.join(", ")))
    }
}
