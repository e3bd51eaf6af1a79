//! What CoreDNS logs of the query by which its plugin `loop` looks for loops at its start.

/// Whether such a query was answered.
#[derive(Debug, Default)]
pub(super) struct Checks {
    is_answered: bool,
    is_failed: bool,
}

impl Checks {
    /// Whether a line says that one was answered, which is no error whatever the answer.
    pub(super) fn takes(&mut self, line: &str) -> bool {
        let Some((_, rest)) = line.split_once("\"HINFO IN ") else {
            self.is_failed |= line.contains("plugin/errors:");
            return false;
        };
        let rcode = rest.split('"').nth(1).unwrap_or_default().trim_start();
        let is_answered = rcode.starts_with("NXDOMAIN qr");
        self.is_answered |= is_answered;
        self.is_failed |= !is_answered;
        is_answered
    }

    /// That one was answered, and none was not: then nothing sent queries back.
    pub(super) fn health(&self) -> String {
        if self.is_answered && !self.is_failed {
            "the check for loops was answered\n".to_owned()
        } else {
            String::new()
        }
    }
}
