//! What was answered for A and for AAAA, as dig, host, nslookup and CoreDNS's log show it:
//! a server that has an address fails where it is asked for the other type.

use std::net::IpAddr;

use crate::why::command::Command;

/// More answers are not compared.
const MOST: usize = 256;

/// The codes by which a server says that it has no answer.
const ERRORS: [&str; 5] = ["NXDOMAIN", "SERVFAIL", "REFUSED", "NOTIMP", "FORMERR"];

/// The answers of a text, in its order.
#[derive(Debug, Default)]
pub(super) struct Types {
    found: Vec<Answer>,
    /// What dig prints, up to the next command.
    open: Open,
    /// How many commands stand before.
    runs: usize,
    /// The name after which nslookup prints addresses.
    named: Option<String>,
}

#[derive(Debug, Default)]
struct Open {
    question: Option<(String, bool)>,
    server: Option<IpAddr>,
    error: Option<&'static str>,
    has_answer: bool,
}

#[derive(Debug)]
struct Answer {
    name: String,
    /// Whether for AAAA; `None`: the tool asks both, and does not say.
    is_aaaa: Option<bool>,
    whose: Whose,
    /// The code; `None`: an address.
    error: Option<&'static str>,
}

/// Only answers of one server, or of one run of a tool that asks both types, say something of
/// each other.
#[derive(Debug, Eq, PartialEq)]
enum Whose {
    Server(Option<IpAddr>),
    Run(usize),
    Log,
}

impl Types {
    /// Looks at a line, which stays in the text.
    pub(super) fn see(&mut self, line: &str) {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let Some(command) = Command::find(line) {
            self.close();
            self.runs += 1;
            let is_aaaa = words.iter().any(|it| it.eq_ignore_ascii_case("aaaa"));
            self.open.question = command.name.map(|it| (name_of(it), is_aaaa));
            self.open.server = command.server.map(|it| it.ip());
        }
        if let Some((_, query)) = line.split_once(" IN ") {
            self.log(line, query);
        }
        let named = self.named.take();
        match *words {
            [";;", "->>HEADER<<-", ..] => {
                let open = std::mem::take(&mut self.open);
                (self.open.question, self.open.server) = (open.question, open.server);
                self.open.error = error(line);
            }
            [";;", "flags:", ..] => {
                self.open.has_answer = !line.contains("ANSWER: 0") && line.contains("ANSWER:");
            }
            [name, "IN", kind @ ("A" | "AAAA")] if name.starts_with(';') => {
                self.open.question = Some((name_of(name.trim_start_matches(';')), kind == "AAAA"));
            }
            [name, "has", "address", ..] => self.add(name, Some(false), None),
            [name, "has", "IPv6", "address", ..] => self.add(name, Some(true), None),
            ["Host", name, "not", "found:", ..] => self.failed(name, line),
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

    /// `[INFO] 10.1.0.7:5 - 7 "AAAA IN a.example. udp 35 false 512" SERVFAIL qr,rd,ra 35 0.001s`.
    fn log(&mut self, line: &str, query: &str) {
        let mut parts = line.split('"').skip(1);
        let kind = parts.next().and_then(|it| it.split(' ').next());
        let code = parts.next().and_then(|it| it.split_whitespace().next());
        let (Some(kind @ ("A" | "AAAA")), Some(code)) = (kind, code) else {
            return;
        };
        let name = name_of(query.split(' ').next().unwrap_or_default());
        let error = error(code);
        if error.is_some() || code == "NOERROR" {
            self.push(Answer {
                name,
                is_aaaa: Some(kind == "AAAA"),
                whose: Whose::Log,
                error,
            });
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
        let Open {
            question,
            server,
            error,
            has_answer,
        } = std::mem::take(&mut self.open);
        if let Some((name, is_aaaa)) = question.filter(|_| error.is_some() || has_answer) {
            self.push(Answer {
                name,
                is_aaaa: Some(is_aaaa),
                whose: Whose::Server(server),
                error,
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
