//! Lines of tcpdump and tshark: which queries got which reply.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use super::tshark::{UNSAID, row};
use super::types;

/// Whoever asks again, or gets no reply for so long, in seconds, has lost something: the
/// C libraries wait five.
const LATE: f64 = 2.0;

/// The queries and replies of a dump.
#[derive(Debug, Default)]
pub(super) struct Dump {
    queries: Vec<Query>,
    /// The queries by id, type and name; the first of those that are alike.
    known: BTreeMap<(u16, String, String), usize>,
    is_unreachable: bool,
    /// The clients that began a connection to port 53 and have sent nothing more.
    begun: BTreeSet<String>,
    /// Whether such a connection was refused, and whether one was not.
    refuses_tcp: bool,
    takes_tcp: bool,
    now: Option<f64>,
}

#[derive(Debug)]
struct Query {
    name: String,
    kind: String,
    client: String,
    server: String,
    /// The servers that this client asked, and what they replied to it.
    asked: BTreeMap<String, Option<Reply>>,
    at: Option<f64>,
    is_repeated: bool,
    /// The last one, whoever got it.
    reply: Option<Reply>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Reply {
    Answer,
    /// No record.
    Empty,
    NxDomain,
    /// One that is cut, or sends the client to other servers.
    Other,
    ServFail,
    Refused,
}

impl Dump {
    /// Whether a line is about packets from or to port 53.
    pub(super) fn takes(&mut self, line: &str) -> bool {
        if let Some(row) = row(line) {
            self.now = row.at.or(self.now);
            let words: Vec<&str> = row.words.split_whitespace().collect();
            if row.is_query {
                self.query(row.id, (row.client, row.server), &words);
            } else {
                self.reply(row.id, (row.client, row.server), &words);
            }
            return true;
        }
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
        if let ["Flags", flags, ..] = *words {
            if is_query && flags.starts_with("[S") {
                self.begun.insert(client.to_owned());
            } else {
                let is_begun = self.begun.remove(client) && !is_query;
                self.refuses_tcp |= is_begun && flags.starts_with("[R.]");
                self.takes_tcp |= !is_query && flags.starts_with("[S.]");
            }
            return true;
        }
        let id = words.first().map(|it| digits(it));
        let Some(id) = id.and_then(|it| it.parse().ok()) else {
            return false;
        };
        if is_query {
            self.query(id, (client, server), &words);
        } else {
            self.reply(id, (client, server), &words);
        }
        true
    }

    fn query(&mut self, id: u16, between: (&str, &str), words: &[&str]) {
        let Some((kind, name)) = question(words) else {
            return;
        };
        let key = (id, kind.to_owned(), name.to_owned());
        if let Some(query) = self.known.get(&key) {
            // The same packet is seen on each link that it passes.
            if let Some(query) = self.queries.get_mut(*query) {
                let is_later = |at| self.now.is_some_and(|now| now - at >= LATE / 4.0);
                query.is_repeated |= query.reply.is_none() && query.at.is_some_and(is_later);
                if query.client == between.0 {
                    query.asked.entry(between.1.to_owned()).or_default();
                }
            }
            return;
        }
        self.known.insert(key, self.queries.len());
        self.queries.push(Query {
            name: name.to_owned(),
            kind: kind.to_owned(),
            client: between.0.to_owned(),
            server: between.1.to_owned(),
            asked: BTreeMap::from([(between.1.to_owned(), None)]),
            at: self.now,
            is_repeated: false,
            reply: None,
        });
    }

    /// A reply names its question with `-v` only; ids are drawn for each query.
    fn reply(&mut self, id: u16, between: (&str, &str), words: &[&str]) {
        let is_other = |query: &Query| {
            question(words).is_some_and(|(kind, name)| {
                query.kind != kind || name != UNSAID && query.name != name
            })
        };
        let known = self.known.range((id, String::new(), String::new())..);
        let same_id = known.take_while(|it| it.0.0 == id).map(|it| *it.1);
        let place = same_id.min_by_key(|&it| {
            let query = self.queries.get(it);
            query.map(|it| (is_other(it), it.client != between.0))
        });
        let Some(query) = place.and_then(|it| self.queries.get_mut(it)) else {
            return;
        };
        let has = |word: &str| words.iter().any(|it| it.starts_with(word));
        let is_cut = words.first().is_some_and(|it| it.ends_with('|'));
        let reply = match () {
            () if has("ServFail") => Reply::ServFail,
            () if has("Refused") => Reply::Refused,
            () if has("NXDomain") => Reply::NxDomain,
            () if is_cut || words.get(1) == Some(&UNSAID) => Reply::Other,
            () if has("0/") => Reply::Empty,
            () => Reply::Answer,
        };
        query.reply = Some(reply);
        // Others draw the same id for another query.
        if query.client == between.0
            && !is_other(query)
            && let Some(its) = query.asked.get_mut(between.1)
        {
            *its = Some(reply);
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
        let is_late = |it: &&Query| it.is_repeated && !it.is_bad() && it.reply.is_some();
        let mut lost: Vec<&Query> = self.queries.iter().filter(is_lost).collect();
        let is_answered = lost.is_empty();
        let unlike = self.queries.iter().find_map(Query::unlike);
        let wrong = self.wrong_type().filter(|_| is_answered);
        if wrong.is_some() && unlike.is_none() {
            return wrong;
        }
        let again = if lost.is_empty() {
            lost = self.queries.iter().filter(is_late).collect();
            " when it was asked again"
        } else {
            ""
        };
        let told = if self.is_unreachable {
            "that udp port 53 is unreachable: nobody listens, or a rule rejects".to_owned()
        } else if is_answered && self.refuses_tcp && !self.takes_tcp {
            "that tcp port 53 is refused: nobody listens, or a rule rejects".to_owned()
        } else if let Some((server, name)) = unlike.filter(|_| is_answered) {
            let without = to(server).replace(" to ", " ");
            format!(
                "no answer of{without}{}, for which another server has one",
                named(name)
            )
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
            let bad = self.queries.iter().find(|it| it.is_bad())?;
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

    /// That AAAA, and it alone, got an error where A got an address.
    fn wrong_type(&self) -> Option<String> {
        let code = |it: &Reply| match it {
            Reply::NxDomain => Some("NXDOMAIN"),
            Reply::ServFail => Some("SERVFAIL"),
            Reply::Refused => Some("REFUSED"),
            _ => None,
        };
        let of = |it: &Query, server: &String| it.asked.get(server).copied().flatten();
        self.queries.iter().find_map(|bad| {
            let mut replies = bad.asked.iter().filter(|_| bad.kind == "AAAA");
            let (server, error) =
                replies.find_map(|(server, it)| Some((server, code(it.as_ref()?)?)))?;
            let mut all = self.queries.iter().filter(|it| it.name == bad.name);
            let is_well =
                |it: &Query| it.reply.as_ref().and_then(code).is_some() == (it.kind == "AAAA");
            let is_answered = |it: &Query| it.kind == "A" && of(it, server) == Some(Reply::Answer);
            (all.clone().all(is_well) && all.any(is_answered))
                .then(|| types::sentence(&bad.name, error))
        })
    }
}

impl Query {
    /// Whether a server failed, or refused.
    fn is_bad(&self) -> bool {
        matches!(self.reply, Some(Reply::ServFail | Reply::Refused))
    }

    /// A server that has no answer for the name, which another one has that the client asked.
    fn unlike(&self) -> Option<(&str, &str)> {
        let mut replies = self.asked.iter();
        let without = replies
            .clone()
            .find(|it| matches!(it.1, Some(Reply::Empty | Reply::NxDomain)))?;
        let has_another = replies.any(|it| *it.1 == Some(Reply::Answer));
        has_another.then_some((without.0, &self.name))
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
