//! Lines of tcpdump: which queries got which reply.

use std::collections::BTreeMap;
use std::net::IpAddr;

/// Whoever asks again, or gets no reply for so long, in seconds, has lost something: the
/// C libraries wait five.
const LATE: f64 = 2.0;

/// The queries and replies of a dump.
#[derive(Debug, Default)]
pub(super) struct Dump {
    queries: Vec<Query>,
    /// The queries by id and type; the first of those that are alike.
    known: BTreeMap<(u16, String), usize>,
    is_unreachable: bool,
    now: Option<f64>,
}

#[derive(Debug)]
struct Query {
    name: String,
    kind: String,
    client: String,
    server: String,
    at: Option<f64>,
    is_repeated: bool,
    reply: Option<Reply>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Reply {
    Answer,
    ServFail,
    Refused,
}

impl Dump {
    /// Whether a line is about packets from or to port 53.
    pub(super) fn takes(&mut self, line: &str) -> bool {
        let time = line.split_whitespace().next().and_then(seconds);
        let is_header = time.is_some() && line.contains(" IP");
        if is_header {
            self.now = time.or(self.now);
        }
        let unreachable = ["udp port 53 unreachable", "udp port domain unreachable"];
        if unreachable.iter().any(|it| line.contains(it)) {
            self.is_unreachable = true;
            return true;
        }
        let Some((client, server, body, is_query)) = packet(line) else {
            return is_header && line.contains("proto ");
        };
        let words: Vec<&str> = body.split_whitespace().collect();
        let id = words.first().map(|it| digits(it));
        let Some(id) = id.and_then(|it| it.parse().ok()) else {
            return false;
        };
        if is_query {
            self.query(id, (client, server), &words);
        } else {
            self.reply(id, client, &words);
        }
        true
    }

    fn query(&mut self, id: u16, between: (&str, &str), words: &[&str]) {
        let Some((kind, name)) = question(words) else {
            return;
        };
        if let Some(query) = self.known.get(&(id, kind.to_owned())) {
            // The same packet is seen on each link that it passes.
            if let Some(query) = self.queries.get_mut(*query) {
                let is_later = |at| self.now.is_some_and(|now| now - at >= LATE / 4.0);
                query.is_repeated |= query.at.is_some_and(is_later);
            }
            return;
        }
        self.known.insert((id, kind.to_owned()), self.queries.len());
        self.queries.push(Query {
            name: name.to_owned(),
            kind: kind.to_owned(),
            client: between.0.to_owned(),
            server: between.1.to_owned(),
            at: self.now,
            is_repeated: false,
            reply: None,
        });
    }

    /// A reply names its question with `-v` only; ids are drawn for each query.
    fn reply(&mut self, id: u16, client: &str, words: &[&str]) {
        let is_it = |query: &Query| match question(words) {
            Some((kind, _)) => query.kind == kind,
            None => query.client == client,
        };
        let mut known = self.known.range((id, String::new())..);
        let same_id = known.by_ref().take_while(|it| it.0.0 == id).map(|it| *it.1);
        let places: Vec<usize> = same_id.collect();
        let own = places
            .iter()
            .copied()
            .find(|&it| self.queries.get(it).is_some_and(is_it));
        let place = own.or_else(|| places.first().copied());
        if let Some(query) = place.and_then(|it| self.queries.get_mut(it)) {
            let has = |word: &str| words.iter().any(|it| it.starts_with(word));
            query.reply = Some(match () {
                () if has("ServFail") => Reply::ServFail,
                () if has("Refused") => Reply::Refused,
                () => Reply::Answer,
            });
        }
    }

    /// What the dump shows; `None`: nothing of DNS, or nothing wrong.
    pub(super) fn sentence(&self) -> Option<String> {
        let last = self.now;
        let is_lost = |it: &&Query| {
            let waited = |at| last.is_some_and(|last| last - at >= LATE);
            it.reply.is_none() && (it.is_repeated || it.at.is_some_and(waited))
        };
        // What got its reply only when it was sent again was lost the first time.
        let is_late = |it: &&Query| it.is_repeated && it.reply == Some(Reply::Answer);
        let mut lost: Vec<&Query> = self.queries.iter().filter(is_lost).collect();
        let again = if lost.is_empty() {
            lost = self.queries.iter().filter(is_late).collect();
            " when it was asked again"
        } else {
            ""
        };
        let told = if self.is_unreachable {
            "that udp port 53 is unreachable: nobody listens, or a rule rejects".to_owned()
        } else if let Some(first) = lost.first() {
            let whom = format!("{}{}", to(&first.server), named(&first.name));
            let is_half = lost.iter().all(|it| self.has_pair(it));
            match (lost.len(), self.queries.len()) {
                _ if is_half => {
                    let from = to(&first.server).replace(" to ", " from ");
                    let name = named(&first.name);
                    format!("a reply to one of A and AAAA only{again},{from}{name}")
                }
                (lost, all) if !again.is_empty() => {
                    format!("a reply to {lost} of {all} queries only{again}, the first{whom}")
                }
                (lost, all) if lost == all => {
                    format!("no reply to any of {all} queries, the first{whom}")
                }
                (lost, all) => format!("no reply to {lost} of {all} queries, the first{whom}"),
            }
        } else {
            let is_bad = |it: &&Query| it.reply.is_some_and(|it| it != Reply::Answer);
            let bad = self.queries.iter().find(is_bad)?;
            let word = match bad.reply {
                Some(Reply::Refused) => "REFUSED",
                _ => "SERVFAIL",
            };
            let from = to(&bad.server).replace(" to ", " from ");
            format!("{word}{from}{}", named(&bad.name))
        };
        Some(format!("tcpdump shows {told}\n"))
    }

    /// Whether the other of A and AAAA, from the same port, was answered.
    fn has_pair(&self, lost: &Query) -> bool {
        let mut queries = self.queries.iter();
        queries.any(|it| {
            it.client == lost.client
                && it.name == lost.name
                && it.kind != lost.kind
                && it.reply.is_some()
        })
    }
}

/// The client, the server and what is behind the colon, and whether it is a query:
/// `IP 10.1.0.7.6069 > 10.64.0.10.53: 5042+ A? a.b. (46)`.
fn packet(line: &str) -> Option<(&str, &str, &str, bool)> {
    let (before, behind) = line.split_once(" > ")?;
    let from = before.split_whitespace().next_back()?;
    let (to, body) = behind.split_once(": ")?;
    let (from, to) = (from.rsplit_once('.')?, to.rsplit_once('.')?);
    let is_dns = |port: &str| matches!(port, "53" | "domain");
    let mut body = body;
    if let Some(rest) = body.strip_prefix('[') {
        body = rest.split_once("] ")?.1;
    }
    let client = |at: (&str, &str)| at.0.len() + 1 + at.1.len();
    if is_dns(to.1) {
        let client = before.get(before.len() - client(from)..)?;
        return Some((client, to.0, body, true));
    }
    let client = behind.get(..client(to))?;
    is_dns(from.1).then_some((client, from.0, body, false))
}

/// The type and the name of `A? a.b.`.
fn question<'w>(words: &[&'w str]) -> Option<(&'w str, &'w str)> {
    let at = words
        .iter()
        .position(|it| it.len() > 1 && it.ends_with('?'))?;
    let name = words.get(at + 1)?;
    Some((
        words.get(at)?.trim_end_matches('?'),
        name.trim_end_matches('.'),
    ))
}

/// The digits that a word begins with.
fn digits(word: &str) -> &str {
    let end = word.find(|it: char| !it.is_ascii_digit());
    word.get(..end.unwrap_or(word.len())).unwrap_or_default()
}

/// `03:34:39.19`, `1.5` as seconds.
fn seconds(word: &str) -> Option<f64> {
    let mut seconds = 0.0;
    for part in word.splitn(3, ':') {
        let part: f64 = part
            .parse()
            .ok()
            .filter(|it: &f64| (0.0..1e11).contains(it))?;
        seconds = seconds * 60.0 + part;
    }
    Some(seconds)
}

fn to(server: &str) -> String {
    let address = server.parse::<IpAddr>();
    address.map_or_else(
        |_| String::new(),
        |it| format!(" to {}", std::net::SocketAddr::new(it, 53)),
    )
}

fn named(name: &str) -> String {
    if name.is_empty() {
        String::new()
    } else {
        format!(" for {name}")
    }
}
