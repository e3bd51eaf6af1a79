//! Commands that ask DNS servers, where somebody pasted them with what they print:
//! `/ # nslookup db 10.96.0.10`, `$ dig @8.8.8.8 example.com AAAA`.

use std::net::SocketAddr;

use super::asked;

/// What such a command asks.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Command<'t> {
    /// The name.
    pub(super) name: Option<&'t str>,
    /// The server, if it has one.
    pub(super) server: Option<SocketAddr>,
}

/// Programs that take a name and a server.
const PROGRAMS: [&str; 5] = ["nslookup", "host", "dig", "kdig", "drill"];

/// So many words behind a program are looked at.
const MOST: usize = 8;

impl<'t> Command<'t> {
    /// The first one in a text. In a sentence such as "nslookup works" there is none, and in
    /// "dig @10.96.0.10 works" no name: that has a dot, or a server follows.
    pub(super) fn find(text: &'t str) -> Option<Self> {
        let mut words = text.split_ascii_whitespace();
        while let Some(word) = words.next() {
            let program = word.rsplit(['/', '\'', '"', '#', '$', '>']).next();
            if program.is_some_and(|it| PROGRAMS.contains(&it)) {
                let found = Self::of_words(words.clone().take(MOST));
                let has_dot = found.name.is_some_and(|it| it.contains('.'));
                if has_dot || found.server.is_some() {
                    return Some(found);
                }
            }
        }
        None
    }

    /// What the words behind a program say, up to what is none of its arguments.
    fn of_words(words: impl Iterator<Item = &'t str>) -> Self {
        let mut found = Self::default();
        for word in words {
            let word = word.trim_matches(['\'', '"']);
            let is_type =
                word.bytes().all(|it| it.is_ascii_uppercase()) || ["a", "aaaa"].contains(&word);
            if word.starts_with(['-', '+']) || is_type {
                continue;
            }
            let server = asked::parsed(word.trim_start_matches('@')).map(|it| it.0);
            let is_name = |c: char| c.is_alphanumeric() || ".-_".contains(c);
            match server {
                Some(_) if word.starts_with('@') || found.name.is_some() => {
                    found.server = found.server.or(server);
                }
                None if found.name.is_none() && word.chars().all(is_name) => {
                    if found.server.is_some() && !word.contains('.') {
                        break;
                    }
                    found.name = Some(word);
                }
                _ => break,
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_say_what_they_ask() {
        let check = |text: &str, name: Option<&str>, server: Option<&str>| {
            let found = Command::find(text).unwrap_or_default();
            let server = server.map(|it| it.parse().unwrap());
            assert_eq!((found.name, found.server), (name, server), "{text}");
        };
        check(
            "/ # nslookup google.com 169.254.25.10 ;; connection timed out",
            Some("google.com"),
            Some("169.254.25.10:53"),
        );
        check(
            "$ dig +short @8.8.8.8 example.com AAAA",
            Some("example.com"),
            Some("8.8.8.8:53"),
        );
        check("$ dig aaaa a.example", Some("a.example"), None);
        check(
            "root@x:/# host db 10.96.0.10",
            Some("db"),
            Some("10.96.0.10:53"),
        );
        check("nslookup works on the host", None, None);
        check(
            "dig @10.43.0.10 works on the node",
            None,
            Some("10.43.0.10:53"),
        );
        check(
            "sh -c 'nslookup db.prod' Server: 10.0.0.1",
            Some("db.prod"),
            None,
        );
        check("the host has no network", None, None);
    }
}
