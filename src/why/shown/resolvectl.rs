//! `resolvectl status`: which servers systemd-resolved has, and for which domains.

use std::net::IpAddr;

/// More are not in the resolv.conf of pods.
const MOST: usize = 3;

/// What it shows.
#[derive(Debug, Default)]
pub(super) struct Status {
    is_seen: bool,
    /// Whether the lines below continue a list of servers.
    is_list: bool,
    servers: Vec<IpAddr>,
    /// Links that have servers and domains of their own.
    routed: usize,
    links: usize,
    has_servers: bool,
}

impl Status {
    /// Looks at a line, which stays in the text.
    pub(super) fn see(&mut self, line: &str) {
        let line = line.trim();
        let (key, value) = line.split_once(':').unwrap_or((line, ""));
        if line.starts_with("Link ") || line == "Global" {
            (self.is_list, self.has_servers) = (false, false);
        }
        match key {
            "resolv.conf mode" | "Current Scopes" => self.is_seen = true,
            "DNS Servers" | "DNS Server" => {
                self.is_list = true;
                self.links += 1;
                self.has_servers = true;
                self.add(value);
            }
            "DNS Domain" if !value.trim().is_empty() => {
                self.is_list = false;
                self.routed += usize::from(self.has_servers);
            }
            // Further servers stand below the first, alone; an IPv6 address has colons.
            _ if self.is_list && line.split('#').next().is_some_and(is_address) => self.add(line),
            _ => self.is_list = false,
        }
    }

    fn add(&mut self, value: &str) {
        let words = value.split_whitespace();
        let words = words.filter_map(|it| it.split('#').next());
        for server in words.filter_map(|it| it.parse().ok()) {
            if !self.servers.contains(&server) {
                self.servers.push(server);
            }
        }
    }

    /// What is unusual in it, or that nothing is.
    pub(super) fn sentence(&self) -> Option<String> {
        let servers = self.servers.len();
        let told = match () {
            () if !self.is_seen => return None,
            () if servers == 0 => "no DNS server".to_owned(),
            () if self.links > 1 && self.routed > 0 => {
                "links with servers and domains of their own".to_owned()
            }
            () if servers > MOST => format!("{servers} DNS servers"),
            () => "nothing unusual".to_owned(),
        };
        Some(format!("resolvectl status shows {told}\n"))
    }
}

fn is_address(word: &str) -> bool {
    word.trim().parse::<IpAddr>().is_ok()
}
