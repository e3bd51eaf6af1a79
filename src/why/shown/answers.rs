//! What nslookup and ping show: the name that was answered, which may be another than
//! the one that was asked, and an address that cannot be that of a name outside.

use std::net::IpAddr;

use crate::explain::cluster::is_of_the_world;

/// The name that was asked, and one below a search domain that was answered.
#[derive(Debug, Default)]
pub(super) struct Answers {
    asked: Option<String>,
    found: Option<(String, String)>,
    loopback: Option<String>,
}

/// What stands around words that are quoted in a sentence.
const AROUND: [char; 7] = ['`', '\'', '"', ',', ';', ')', '('];

impl Answers {
    /// Looks at a line, which stays in the text.
    pub(super) fn see(&mut self, line: &str) {
        let mut words = line.split_whitespace().map(|it| it.trim_matches(AROUND));
        while let Some(word) = words.next() {
            match word {
                "nslookup" | "ping" | "wget" | "curl" => {
                    let mut names = words.clone().filter(|it| !it.starts_with('-'));
                    self.asked = names.next().map(str::to_ascii_lowercase);
                }
                "Name:" | "PING" => {
                    let name = words.next().unwrap_or_default().trim_end_matches('.');
                    self.answer(&name.to_ascii_lowercase());
                    let mut rest = words.clone();
                    let address = rest.next().and_then(|it| it.parse::<IpAddr>().ok());
                    let is_loopback = address.is_some_and(|it| it.is_loopback());
                    if is_loopback && word == "PING" && is_of_the_world(name) {
                        self.loopback = Some(name.to_owned());
                    }
                }
                _ => {}
            }
        }
    }

    /// A name of a Service is to be answered so; one outside is not.
    fn answer(&mut self, name: &str) {
        let Some(asked) = self.asked.as_deref().filter(|it| is_of_the_world(it)) else {
            return;
        };
        let domain = name.strip_prefix(asked).and_then(|it| it.strip_prefix('.'));
        if let Some(domain) = domain.filter(|it| !it.is_empty() && self.found.is_none()) {
            self.found = Some((asked.to_owned(), domain.to_owned()));
        }
    }

    pub(super) fn sentence(&self) -> Option<String> {
        if let (None, Some(name)) = (&self.found, &self.loopback) {
            return Some(format!(
                "{name}, a name outside, leads to a loopback address\n"
            ));
        }
        let (name, domain) = self.found.as_ref()?;
        Some(format!(
            "an answer for {name} came from the search domain {domain}\n"
        ))
    }
}
