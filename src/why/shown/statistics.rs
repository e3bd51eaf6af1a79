//! conntrack: entries to port 53 (`-L`), and `conntrack -S`: counters of the node's connection
//! tracking, a line for each CPU, or, before version 1.4.5 and in `/proc`, a line for each
//! counter.

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
}

impl Statistics {
    /// Whether a line is one of them.
    pub(super) fn takes(&mut self, line: &str) -> bool {
        if line.contains("insert_failed=") && line.contains("drop=") {
            let pairs = line.split_whitespace().filter_map(|it| it.split_once('='));
            pairs.for_each(|(name, count)| self.add(name, count));
            self.is_seen = true;
            return true;
        }
        // Of what AWS limits a zero is no sign.
        if line.trim() == "linklocal_allowance_exceeded: 0" {
            return true;
        }
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
