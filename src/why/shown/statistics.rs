//! conntrack: entries to port 53 (`-L`), and `conntrack -S`: counters of the node's connection
//! tracking, a line for each CPU, or, before version 1.4.5 and in `/proc`, a line for each
//! counter; the entries that the table has and may have; what `nstat` and `ethtool -S`
//! count of packets that were lost.

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
    /// What the lines below are, the last one first, where files of `/proc` are printed.
    awaited: Vec<String>,
    /// UDP packets that were lost for a wrong checksum.
    checksums: u64,
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
        // Of what AWS limits a zero is no sign, and a line of help none.
        let last = line.trim_end().rsplit([' ', ':']).next();
        let is_zero =
            line.contains("_allowance_exceeded") && (last == Some("0") || line.starts_with('#'));
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

    /// Whether a line counts UDP packets with a wrong checksum: `UdpInCsumErrors 402 0.0`.
    fn udp(&mut self, line: &str) -> bool {
        let mut words = line.split_whitespace();
        let is_one = matches!(words.next(), Some("UdpInCsumErrors" | "Udp6InCsumErrors"));
        let count = words
            .next()
            .filter(|_| is_one)
            .and_then(|it| it.parse().ok());
        self.checksums = self.checksums.saturating_add(count.unwrap_or_default());
        count.is_some()
    }

    /// `net.netfilter.nf_conntrack_count = 5`, or what `cat` prints below the names.
    fn table(&mut self, line: &str) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let names = words.iter().filter(|it| it.contains("nf_conntrack_"));
        let names = names.map(|it| it.split(['=', ':']).next().unwrap_or_default());
        let mut names: Vec<String> = names.map(str::to_owned).collect();
        let value = words.last().and_then(|it| it.rsplit(['=', ':']).next());
        let value = value.and_then(|it| it.parse().ok());
        let name = match (names.len(), words.len(), value) {
            (1, ..=3, Some(_)) => names.pop(),
            (0, 1, Some(_)) => self.awaited.pop(),
            _ => {
                names.reverse();
                self.awaited = names;
                return;
            }
        };
        match name.as_deref().and_then(|it| it.rsplit(['/', '.']).next()) {
            Some("nf_conntrack_count") => self.count = value,
            Some("nf_conntrack_max") => self.most = value,
            _ => {}
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
        let lost = self.checksums;
        (lost >= FEW).then(|| format!("{lost} UDP packets were lost for a wrong checksum\n"))
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
