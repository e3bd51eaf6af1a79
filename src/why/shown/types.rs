//! What was answered for A and for AAAA, as dig and nslookup show it: a server that has an
//! address fails where it is asked for the other type.

use std::net::IpAddr;

use super::lookups::server_of;
use crate::why::command::Command;

/// More answers are not compared.
const MOST: usize = 256;

/// The codes by which a server says that it has no answer.
const ERRORS: [&str; 5] = ["NXDOMAIN", "SERVFAIL", "REFUSED", "NOTIMP", "FORMERR"];

/// The answers of a text, in its order.
#[derive(Debug, Default)]
pub(super) struct Types {
    found: Vec<Answer>,
    /// What dig prints, up to the next header or command.
    open: Open,
    /// How many lookups by nslookup stand before.
    runs: usize,
    /// The name after which nslookup prints addresses.
    named: Option<String>,
}

#[derive(Debug, Default)]
struct Open {
    question: Option<(String, bool)>,
    server: Option<IpAddr>,
    error: Option<&'static str>,
    /// Whether the lines are those of the answer, and whether it has an address.
    is_answer: bool,
    has_address: bool,
}

#[derive(Debug)]
struct Answer {
    name: String,
    /// Whether for AAAA; `None`: nslookup asks both, and does not say.
    is_aaaa: Option<bool>,
    whose: Whose,
    /// The code; `None`: an address.
    error: Option<&'static str>,
}

/// Only answers of one server to dig, or of one lookup by nslookup, say something of each
/// other.
#[derive(Debug, Eq, PartialEq)]
enum Whose {
    Server(IpAddr),
    Run(usize),
}

impl Types {
    /// Looks at a line, which stays in the text.
    pub(super) fn see(&mut self, line: &str) {
        let is_command = Command::find(line).is_some();
        if is_command || line.contains("->>HEADER<<-") {
            self.close();
        }
        // `> set type=mx` is the begin of another one, too.
        let is_begun = is_command || line.starts_with('>') || line.starts_with("Server:");
        self.runs += usize::from(is_begun);
        let words: Vec<&str> = line.split_whitespace().collect();
        let named = self.named.take();
        match *words {
            [";;", "->>HEADER<<-", ..] => self.open.error = error(line),
            [";;", section, "SECTION:"] => self.open.is_answer = section == "ANSWER",
            [";;", "SERVER:", server, ..] => self.open.server = server_of(server),
            [name, "IN", kind @ ("A" | "AAAA")] if name.starts_with(';') => {
                self.open.question = Some((name_of(name.trim_start_matches(';')), kind == "AAAA"));
            }
            [_, _, "IN", kind @ ("A" | "AAAA"), _] if self.open.is_answer => {
                let asked = self.open.question.as_ref();
                self.open.has_address |= asked.is_some_and(|it| it.1 == (kind == "AAAA"));
            }
            [.., "can't", "find", name, _] => self.failed(name.trim_end_matches(':'), line),
            ["Name:", name] => self.named = Some(name.to_owned()),
            ["Address:" | "Address", .., last] if let Some(name) = named => {
                if let Ok(address) = last.parse::<IpAddr>() {
                    self.add(&name, Some(address.is_ipv6()), None);
                }
            }
            _ => {}
        }
    }

    fn failed(&mut self, name: &str, line: &str) {
        if let Some(error) = error(line) {
            self.add(name, None, Some(error));
        }
    }

    fn add(&mut self, name: &str, is_aaaa: Option<bool>, error: Option<&'static str>) {
        self.push(Answer {
            name: name_of(name),
            is_aaaa,
            whose: Whose::Run(self.runs),
            error,
        });
    }

    fn push(&mut self, answer: Answer) {
        if self.found.len() < MOST {
            self.found.push(answer);
        }
    }

    /// Takes what dig printed for the command before.
    fn close(&mut self) {
        let open = std::mem::take(&mut self.open);
        if let (Some((name, is_aaaa)), Some(server)) = (open.question, open.server)
            && (open.error.is_some() || open.has_address)
        {
            self.push(Answer {
                name,
                is_aaaa: Some(is_aaaa),
                whose: Whose::Server(server),
                error: open.error,
            });
        }
    }

    /// That AAAA, and it alone, got an error.
    pub(super) fn sentence(&mut self) -> Option<String> {
        self.close();
        let bad = self.found.iter().find(|bad| {
            let of_its = || {
                let all = self.found.iter();
                all.filter(|it| it.name == bad.name && it.whose == bad.whose)
            };
            let is_well = |is_aaaa: bool| {
                of_its().any(|it| it.error.is_none() && it.is_aaaa == Some(is_aaaa))
            };
            bad.error.is_some()
                && bad.is_aaaa != Some(false)
                && is_well(false)
                && !is_well(true)
                && !of_its().any(|it| it.error.is_some() && it.is_aaaa == Some(false))
        })?;
        Some(sentence(&bad.name, bad.error?))
    }
}

/// What is said of such a name.
pub(super) fn sentence(name: &str, error: &str) -> String {
    format!("aaaa for {name} gets {error}, and a an address\n")
}

/// The error that a line names.
fn error(line: &str) -> Option<&'static str> {
    ERRORS.into_iter().find(|it| line.contains(it))
}

fn name_of(word: &str) -> String {
    word.trim_end_matches('.').to_ascii_lowercase()
}
