//! Names and addresses in whole texts.
//!
//! Addresses are known by their form. A name looks like any other word, so the
//! names are learnt first, where the syntax of a file says that a word is one.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};

use super::{KEPT, Shown, label, tables};
use crate::text::WordList;

/// Words of every cluster: they say nothing, and what a server is goes by them.
const OF_EVERY_CLUSTER: WordList = WordList(
    "agent arpa base cgroup cluster conf config container containerd containers coredns corefile \
     cri data default docker env etc host hosts hostname http https ip6 json k3s k8s kube \
     kube-node-lease kube-proxy kube-public kube-system kubelet kubernetes lib local localdomain \
     localhost log logs main named net node node-cache pause plugin pods proc resolv resolve root \
     rootfs run sandboxes search self service state svc sys system systemd tcp toml udp unbound \
     usr var volumes yaml",
);

/// Shorter labels are parts of too many words, and say too little: they stay.
const SHORTEST: usize = 3;

/// Labels of names that are hidden wherever they stand in a text.
#[derive(Clone, Debug, Default)]
pub struct Names(BTreeSet<Vec<u8>>);

impl Names {
    /// Learns the names that stand in the file at `path`, and in its path.
    pub fn learn(&mut self, path: &str, bytes: &[u8]) {
        self.of_path(path);
        let file = path.rsplit('/').next().unwrap_or_default();
        let is_log = path.starts_with("/var/log/");
        let is_corefile = file.to_ascii_lowercase().contains("corefile");
        if file == "hostname" {
            self.add(bytes.trim_ascii());
        }
        for line in bytes.split(|&byte| byte == b'\n') {
            let line = String::from_utf8_lossy(line);
            let mut words = line.split_ascii_whitespace();
            match words.next() {
                Some("search" | "domain") if file.contains("resolv") => self.all(words),
                Some(first) if file.ends_with("hosts") && first.parse::<IpAddr>().is_ok() => {
                    self.all(words);
                }
                Some(first) if is_corefile && line.trim_end().ends_with('{') => {
                    self.all(
                        std::iter::once(first)
                            .chain(words)
                            .filter(|it| it.contains('.')),
                    );
                }
                Some(first) if is_log => self.logged(std::iter::once(first).chain(words)),
                _ => {}
            }
            for setting in [
                "Domains=",
                "clusterDomain:",
                "--cluster-domain=",
                "--hostname-override=",
            ] {
                if let Some((_, value)) = line.split_once(setting) {
                    let end = |it: char| it == '\0' || it == '#';
                    let value = value.split(end).next().unwrap_or_default();
                    self.all(value.split_ascii_whitespace());
                }
            }
            for key in [
                "\"io.kubernetes.pod.name\":",
                "\"io.kubernetes.pod.namespace\":",
                "\"hostname\":",
            ] {
                for (at, _) in line.match_indices(key) {
                    let rest = line.get(at + key.len()..).unwrap_or_default();
                    self.all(rest.split('"').nth(1).into_iter());
                }
            }
        }
    }

    /// Names in the paths of logs: `/var/log/pods/NAMESPACE_NAME_UID/CONTAINER`,
    /// `/var/log/containers/NAME_NAMESPACE_CONTAINER-ID.log`.
    fn of_path(&mut self, path: &str) {
        if let Some(rest) = path.strip_prefix("/var/log/pods/") {
            let mut parts = rest.split('/');
            let pod = parts.next().unwrap_or_default();
            self.all(pod.split('_').take(2).chain(parts.next()));
        } else if let Some(rest) = path.strip_prefix("/var/log/containers/") {
            self.all(rest.split('_').take(2));
        }
    }

    /// Names that a DNS server logs have a dot at their end, and mostly others.
    fn logged<'w>(&mut self, words: impl Iterator<Item = &'w str>) {
        let is_part = |it: char| it.is_ascii_alphanumeric() || "-_.".contains(it);
        let is_name = |it: &&str| {
            let it = it.trim_end_matches(':');
            it.strip_suffix('.').is_some_and(|it| it.contains('.')) && it.chars().all(is_part)
        };
        self.all(words.map(|it| it.trim_matches('"')).filter(is_name));
    }

    fn all<'w>(&mut self, words: impl Iterator<Item = &'w str>) {
        for word in words {
            word.split(['.', ':', '~', ',', '"'])
                .for_each(|it| self.add(it.as_bytes()));
        }
    }

    fn add(&mut self, label: &[u8]) {
        let label = label.to_ascii_lowercase();
        let is_plain = label
            .iter()
            .all(|it| it.is_ascii_alphanumeric() || *it == b'-' || *it == b'_');
        let is_word = label.iter().any(u8::is_ascii_alphabetic);
        let is_kept = std::str::from_utf8(&label).is_ok_and(|it| {
            // What a pod is goes by such names.
            let is_dns = it.contains("dns");
            is_dns || KEPT.contains(&it) || OF_EVERY_CLUSTER.has(it)
        });
        if label.len() >= SHORTEST && is_plain && is_word && !is_kept {
            self.0.insert(label);
        }
    }
}

impl Shown {
    /// The text of the file at `path` with all addresses and all these names as they
    /// are shown.
    pub fn text<'t>(&self, names: &Names, path: &str, bytes: &'t [u8]) -> Cow<'t, [u8]> {
        if !self.is_anonymous() {
            return Cow::Borrowed(bytes);
        }
        if let Some(table) = tables::table_at(path) {
            return Cow::Owned(self.table(table, bytes));
        }
        let mut text = Vec::with_capacity(bytes.len());
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b".:-".contains(&byte);
        let mut rest = bytes;
        while !rest.is_empty() {
            let word = rest
                .iter()
                .position(|&it| !is_part(it))
                .unwrap_or(rest.len());
            let (word, behind) = rest.split_at_checked(word).unwrap_or_default();
            self.word(names, word, &mut text);
            let next = behind
                .iter()
                .position(|&it| is_part(it))
                .unwrap_or(behind.len());
            let (between, behind) = behind.split_at_checked(next).unwrap_or_default();
            text.extend_from_slice(between);
            rest = behind;
        }
        Cow::Owned(text)
    }

    /// A word: an address, one with a port, or labels.
    fn word(&self, names: &Names, word: &[u8], text: &mut Vec<u8>) {
        let plain = std::str::from_utf8(word).unwrap_or_default();
        let core = plain.trim_end_matches(['.', ':', '-']);
        // `::` ends an address.
        let core = if plain.starts_with(core)
            && plain
                .get(core.len()..)
                .unwrap_or_default()
                .starts_with("::")
        {
            plain.get(..core.len() + 2).unwrap_or(core)
        } else {
            core
        };
        let behind = plain.get(core.len()..).unwrap_or_default();
        if let Ok(ip) = core.parse::<IpAddr>() {
            text.extend_from_slice(self.ip(ip).as_bytes());
        } else if let Ok(server) = core.parse::<SocketAddr>() {
            let server = SocketAddr::new(self.address(server.ip()), server.port());
            text.extend_from_slice(server.to_string().as_bytes());
        } else {
            self.labels(names, core.as_bytes(), text);
        }
        text.extend_from_slice(behind.as_bytes());
    }

    fn labels(&self, names: &Names, word: &[u8], text: &mut Vec<u8>) {
        let is_end = |byte: &u8| matches!(byte, b'.' | b':');
        for part in word.split_inclusive(is_end) {
            let own = part
                .strip_suffix(b".")
                .or_else(|| part.strip_suffix(b":"))
                .unwrap_or(part);
            match &self.key {
                Some(key) if names.0.contains(&own.to_ascii_lowercase()) => {
                    text.extend_from_slice(label(key, own).as_bytes());
                    text.extend_from_slice(part.get(own.len()..).unwrap_or_default());
                }
                _ => text.extend_from_slice(part),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hidden(files: &[(&str, &str)]) -> Vec<String> {
        let shown = Shown::anonymous();
        let mut names = Names::default();
        for (path, text) in files {
            names.learn(path, text.as_bytes());
        }
        let text = |(path, text): &(&str, &str)| {
            String::from_utf8(shown.text(&names, path, text.as_bytes()).into_owned()).unwrap()
        };
        files.iter().map(text).collect()
    }

    #[test]
    fn names_that_were_learnt_are_hidden_everywhere() {
        let conf =
            "search shop.svc.cluster.local corp.example\nnameserver 192.0.2.7\noptions ndots:5\n";
        let log =
            "[INFO] 192.0.2.9:40111 - 1 \"A IN orders.corp.example. udp 40 false 512\" NOERROR\n";
        let path = "/var/log/pods/shop_web-1_1-2/main/0.log";
        let files = hidden(&[("/etc/resolv.conf", conf), (path, log), ("/etc/x", path)]);
        for text in &files {
            for secret in ["shop", "corp", "example", "orders", "web-1", "192.0.2"] {
                assert!(!text.contains(secret), "{secret}: {text}");
            }
        }
        let kept = [".svc.cluster.local ", "nameserver 10.", "options ndots:5\n"];
        assert!(kept.iter().all(|it| files[0].contains(it)), "{}", files[0]);
        assert!(files[1].contains(":40111 - 1 \"A IN x"), "{}", files[1]);
        assert!(files[2].starts_with("/var/log/pods/x"), "{}", files[2]);
        assert!(files[2].ends_with("_1-2/main/0.log"), "{}", files[2]);
    }

    #[test]
    fn addresses_are_hidden_in_every_form() {
        let text = "a=192.0.2.7:53 [2001:db8::1]:53 2001:db8::/32 192.0.2.7. 127.0.0.53 ::1 fe80::1 12:30:01";
        let shown = hidden(&[("/x", text)]).remove(0);
        assert!(
            !shown.contains("192.0.2") && !shown.contains("2001:db8"),
            "{shown}"
        );
        assert!(
            shown.ends_with(" 127.0.0.53 ::1 fe80::1 12:30:01"),
            "{shown}"
        );
        let words: Vec<&str> = shown.split(' ').collect();
        let (first, last) = (words[0].strip_prefix("a=").unwrap(), words[3]);
        assert_eq!(first.strip_suffix(":53"), last.strip_suffix('.'));
        assert!(
            words[1].starts_with("[fd00::") && words[1].ends_with("]:53"),
            "{shown}"
        );
    }

    #[test]
    fn sockets_of_the_kernel_are_hidden() {
        let text = "  sl  local_address\n 0: 070200C0:0035 00000000:0000 07\n 1: 0100007F:0035 00000000:0000 07\n";
        let shown = hidden(&[("/proc/1/net/udp", text), ("/x", "192.0.2.7")]);
        let ip: std::net::Ipv4Addr = shown[1].parse().unwrap();
        let hex = format!("{:08X}:0035", u32::from_le_bytes(ip.octets()));
        assert!(shown[0].contains(&hex), "{shown:?}");
        assert!(
            shown[0].contains("0100007F:0035") && !shown[0].contains("070200C0"),
            "{shown:?}"
        );
    }
}
