//! kubeadm's range of pods and the nodes of `kubectl get nodes -o wide`: kubeadm gives each
//! node a part of the range, and no node is in it.

use std::net::IpAddr;

use crate::lint::facts::Network;

/// What names the range for kubeadm, up to the range.
const KEYS: [&str; 2] = ["pod-network-cidr", "podSubnet"];

/// More nodes are not compared.
const MOST: usize = 64;

/// What a text says of them.
#[derive(Debug, Default)]
pub(super) struct PodRange {
    range: Option<Network>,
    nodes: Vec<IpAddr>,
}

impl PodRange {
    /// Looks at a line, which stays in the text.
    pub(super) fn see(&mut self, line: &str) {
        for (_, value) in KEYS.iter().filter_map(|it| line.split_once(it)) {
            let value = value.trim_start_matches(['=', ':', ' ', '"']);
            let end = value.find(|it: char| !(it.is_ascii_digit() || "./".contains(it)));
            let value = value.get(..end.unwrap_or(value.len())).unwrap_or_default();
            self.range = self.range.or(Network::parse(value, false));
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        if let [_, state, _, _, version, ip, ..] = *words
            && (state.ends_with("Ready") || state.starts_with("Ready,"))
            && version.starts_with("v1.")
            && self.nodes.len() < MOST
        {
            self.nodes.extend(ip.parse::<IpAddr>());
        }
    }

    /// A node in the range.
    pub(super) fn sentence(&self) -> Option<String> {
        let range = self.range?;
        let ip = self.nodes.iter().find(|it| range.holds(**it))?;
        let (address, length) = (range.address, range.length);
        Some(format!(
            "networks overlap: the range of pods {address}/{length} has {ip} in it\n"
        ))
    }
}
