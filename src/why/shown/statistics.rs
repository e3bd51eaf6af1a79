//! conntrack: entries to port 53 (`-L`), and `conntrack -S`: counters of the node's connection
//! tracking, a line for each CPU, or, before version 1.4.5 and in `/proc`, a line for each
//! counter; the entries that the table has and may have; what `nstat`, `netstat -su` and
//! `ethtool -S` count of packets that were lost.

/// What was counted.
#[derive(Debug, Default)]
pub(super) struct Statistics {
    is_seen: bool,
    insert_failed: u64,
    drop: u64,
    early_drop: u64,
    /// Entries to port 53, and those of them without a reply.
    entries: u64,
    unreplied: u64,
    /// Entries of the table, and how many it may have.
    count: Option<u64>,
    most: Option<u64>,
    /// Which of both the lines below are, where files of `/proc` are printed.
    awaited: Vec<bool>,
    /// UDP packets that were lost for a wrong checksum, and for want of a buffer.
    checksums: u64,
    buffers: u64,
}

/// Fewer packets that were lost since a machine started are usual.
const FEW: u64 = 100;

/// A table that holds so many of a hundred entries that it may have is full now and then.
const FULL: u64 = 95;

impl Statistics {
    /// Whether a line is one of them.
    pub(super) fn takes(&mut self, line: &str) -> bool {
        if line.contains("insert_failed=") && line.contains("drop=") {
            let pairs = line.split_whitespace().filter_map(|it| it.split_once('='));
            pairs.for_each(|(name, count)| self.add(name, count));
            self.is_seen = true;
            return true;
        }
        // Of what AWS limits, and of what CoreDNS counts, a zero is no sign.
        let is_zero = line.trim_end().ends_with("_allowance_exceeded: 0")
            || line.starts_with("coredns_") && line.ends_with(" 0");
        if is_zero || self.udp(line) {
            return true;
        }
        self.table(line);
        if line.contains("src=") && line.contains("dport=53 ") {
            self.entries += 1;
            self.unreplied += u64::from(line.contains("[UNREPLIED]"));
            return true;
        }
        let mut words = line.split_whitespace();
        let (Some(name), Some(count), None) = (words.next(), words.next(), words.next()) else {
            return false;
        };
        let is_one =
            matches!(name, "insert_failed" | "early_drop") || name == "drop" && self.is_seen;
        if is_one && count.parse::<u64>().is_ok() {
            self.add(name, count);
            self.is_seen = true;
            return true;
        }
        false
    }

    /// Whether a line counts UDP packets: `UdpInCsumErrors 402 0.0`, `402 receive buffer errors`.
    fn udp(&mut self, line: &str) -> bool {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (counter, count) = match *words {
            [
                "UdpInCsumErrors" | "Udp6InCsumErrors" | "InCsumErrors:",
                count,
                ..,
            ] => (&mut self.checksums, count),
            [
                "UdpRcvbufErrors" | "Udp6RcvbufErrors" | "RcvbufErrors:",
                count,
                ..,
            ]
            | [count, "receive", "buffer", "errors"] => (&mut self.buffers, count),
            // What other ports got says nothing.
            [
                _,
                "packets",
                "to",
                "unknown",
                "port",
                "received." | "received",
            ] => return true,
            _ => return false,
        };
        let count = count.parse::<u64>();
        *counter = counter.saturating_add(count.clone().unwrap_or_default());
        count.is_ok()
    }

    /// `net.netfilter.nf_conntrack_count = 5`, or what `cat` prints below the names.
    fn table(&mut self, line: &str) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let is_of_table = |it: &&&str| it.contains("nf_conntrack_");
        let names: Vec<_> = words.iter().filter(is_of_table).collect();
        let value = words.last().and_then(|it| it.rsplit(['=', ':']).next());
        let value = value.and_then(|it| it.parse().ok());
        let is_count = match (names.as_slice(), value) {
            ([name], Some(_)) => Some(name.contains("_count")),
            ([], Some(_)) if words.len() == 1 => self.awaited.pop(),
            _ => None,
        };
        match is_count {
            Some(true) => self.count = value,
            Some(false) => self.most = value,
            None => self.awaited = names.iter().rev().map(|it| it.contains("_count")).collect(),
        }
    }

    /// That the table is full, or what was lost on the way to a socket.
    fn lost(&self) -> Option<String> {
        if let (Some(count), Some(most)) = (self.count, self.most)
            && most > 0
            && count.saturating_mul(100) >= most.saturating_mul(FULL)
        {
            return Some(format!(
                "the conntrack table holds {count} of at most {most} entries\n"
            ));
        }
        match (self.checksums, self.buffers) {
            (lost @ FEW.., _) => Some(format!(
                "{lost} UDP packets were lost for a wrong checksum\n"
            )),
            (_, lost @ FEW..) => Some(format!(
                "{lost} UDP packets were lost for want of a receive buffer\n"
            )),
            _ => None,
        }
    }

    fn add(&mut self, name: &str, count: &str) {
        let counter = match name {
            "insert_failed" => &mut self.insert_failed,
            "drop" => &mut self.drop,
            "early_drop" => &mut self.early_drop,
            _ => return,
        };
        *counter = counter.saturating_add(count.parse().unwrap_or_default());
    }

    /// What they say. What was lost in a race counts as dropped, too.
    pub(super) fn sentence(&self) -> Option<String> {
        if let Some(told) = self.lost() {
            return Some(told);
        }
        if self.unreplied > 0 && !self.is_seen {
            return Some(format!(
                "conntrack lists {} of {} entries to port 53 without a reply\n",
                self.unreplied, self.entries
            ));
        }
        let dropped = self.drop.saturating_sub(self.insert_failed);
        let dropped = dropped.saturating_add(self.early_drop);
        let told = match (self.insert_failed, dropped) {
            _ if !self.is_seen => return None,
            (0, 0) => "no packet lost".to_owned(),
            (lost, more) if lost >= more => {
                format!("{lost} packets lost in a race")
            }
            (_, more) => format!("{more} packets or entries dropped for want of room"),
        };
        Some(format!("conntrack -S counts {told}\n"))
    }
}
