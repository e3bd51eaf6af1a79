//! `ip route`, `ip addr`, ranges of pods and addresses of nodes: a network that has addresses
//! of others in it, and a server that is asked to forward to itself.

use std::net::IpAddr;

use crate::lint::facts::Network;
use crate::why::command::Command;

/// What names the range of the pods, up to the range.
const PODS: [&str; 4] = [
    "pod-network-cidr",
    "cluster-cidr",
    "podSubnet",
    "clusterCIDR",
];

/// How the devices begin that lead to containers of this machine.
const BRIDGES: [&str; 5] = ["docker", "br-", "podman", "lxdbr", "virbr"];

/// Those of a cluster's network: a DNS pod can be behind them.
const PLUGINS: [&str; 3] = ["cni", "cbr", "kube-bridge"];

/// More of each are not compared.
const MOST: usize = 64;

/// What a text says of them.
#[derive(Debug, Default)]
pub(super) struct Routes {
    pods: Vec<Network>,
    /// Networks and the devices that lead there.
    networks: Vec<(Network, String)>,
    own: Vec<IpAddr>,
    /// Addresses of nodes, and of the servers that CoreDNS forwards to: none is a pod's.
    outside: Vec<IpAddr>,
    asked: Vec<IpAddr>,
    forwarded: Vec<IpAddr>,
}

impl Routes {
    /// Looks at a line, which stays in the text.
    pub(super) fn see(&mut self, line: &str) {
        if self.outside.len() + self.asked.len() + self.networks.len() + self.own.len() > MOST {
            return;
        }
        for key in PODS {
            let Some((_, value)) = line.split_once(key) else {
                continue;
            };
            let value = value.trim_start_matches(['=', ':', ' ', '"']);
            let end = value.find(|it: char| !(it.is_ascii_digit() || "./".contains(it)));
            self.pods.extend(network(
                value.get(..end.unwrap_or(value.len())).unwrap_or_default(),
            ));
        }
        if let Some((_, rest)) = line
            .split_once("plugin/errors")
            .and_then(|it| it.1.split_once("->"))
            && let Some((server, _)) = rest.split_once(":53")
        {
            self.outside.extend(address(server));
        }
        let server = Command::find(line).and_then(|it| it.server);
        self.asked.extend(server.map(|it| it.ip()));
        let words: Vec<&str> = line.split_whitespace().collect();
        match *words {
            [_, state, _, _, _, ip, ..] if state.ends_with("Ready") => {
                self.outside.extend(address(ip));
            }
            ["nameserver", server] => self.asked.extend(address(server)),
            ["inet" | "inet6", own, ..] => self
                .own
                .extend(address(own.split('/').next().unwrap_or_default())),
            [range, "dev", device, ..] | [range, "via", _, "dev", device, ..] => {
                let range = network(range).map(|it| (it, device.to_owned()));
                self.networks.extend(range);
            }
            [word] => self
                .forwarded
                .extend(word.strip_prefix("server=").and_then(address)),
            _ => {}
        }
    }

    /// What is wrong between them; `None`: nothing that is seen.
    pub(super) fn sentence(&self) -> Option<String> {
        let told = self
            .taken()
            .or_else(|| self.bridged())
            .or_else(|| self.twice());
        let told = told.map(|it| format!("networks overlap: {it}\n"));
        let itself = self.forwarded.iter().find(|it| self.own.contains(it));
        told.or_else(|| {
            itself.map(|it| format!("forwards to itself: {it} is an address of this machine\n"))
        })
    }

    /// An address outside that the range of the pods has in it.
    fn taken(&self) -> Option<String> {
        let mut all = self
            .pods
            .iter()
            .flat_map(|it| self.outside.iter().map(move |ip| (it, ip)));
        let (range, ip) = all.find(|(range, ip)| range.holds(**ip))?;
        Some(format!(
            "the range of pods {} has {ip} in it",
            written(range)
        ))
    }

    /// A DNS server in the network of a bridge.
    fn bridged(&self) -> Option<String> {
        let is_other = |ip: &&IpAddr| !ip.is_loopback() && !self.own.contains(ip);
        self.asked.iter().filter(is_other).find_map(|ip| {
            let mut routes = self.networks.iter();
            let is_its = |it: &&(Network, String)| begins(&it.1, &BRIDGES) && it.0.holds(*ip);
            let (range, device) = routes.find(is_its)?;
            let range = written(range);
            Some(format!(
                "the network {range} of {device} has the DNS server {ip} in it"
            ))
        })
    }

    /// Two devices with the same network, one of them a bridge.
    fn twice(&self) -> Option<String> {
        let mut routes = self.networks.iter().enumerate();
        routes.find_map(|(at, (range, one))| {
            let mut others = self.networks.iter().skip(at + 1);
            let (_, other) = others.find(|it| it.0 == *range && it.1 != *one)?;
            let is_bridge = |it: &str| begins(it, &BRIDGES) || begins(it, &PLUGINS);
            (is_bridge(one) || is_bridge(other))
                .then(|| format!("{one} and {other} have the same network {}", written(range)))
        })
    }
}

fn begins(device: &str, with: &[&str]) -> bool {
    with.iter().any(|it| device.starts_with(it))
}

fn address(word: &str) -> Option<IpAddr> {
    word.parse().ok()
}

fn network(word: &str) -> Option<Network> {
    Network::parse(word, false)
}

fn written(it: &Network) -> String {
    format!("{}/{}", it.address, it.length)
}
