//! What nslookup and ping show: the name that was answered, which may be another than
//! the one that was asked.

use crate::explain::cluster::is_of_the_world;

/// The name that was asked, and one below a search domain that was answered.
#[derive(Debug, Default)]
pub(super) struct Answers {
    asked: Option<String>,
    found: Option<(String, String)>,
}

impl Answers {
    /// Looks at a line, which stays in the text.
    pub(super) fn see(&mut self, line: &str) {
        let mut words = line.split_whitespace();
        while let Some(word) = words.next() {
            match word {
                "nslookup" | "ping" | "wget" | "curl" => {
                    let mut names = words.clone().filter(|it| !it.starts_with('-'));
                    self.asked = names.next().map(str::to_ascii_lowercase);
                }
                "Name:" | "PING" => {
                    let name = words.next().unwrap_or_default().trim_end_matches('.');
                    self.answer(&name.to_ascii_lowercase());
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
        let (name, domain) = self.found.as_ref()?;
        Some(format!(
            "an answer for {name} came from the search domain {domain}\n"
        ))
    }
}
