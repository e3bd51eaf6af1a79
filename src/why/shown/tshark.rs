//! Rows of tshark, and of Wireshark's list.

use std::net::IpAddr;

/// What a row does not say.
pub(super) const UNSAID: &str = "-";

/// A row of tshark, or of Wireshark's list.
pub(super) struct Row<'l> {
    pub(super) at: Option<f64>,
    pub(super) client: &'l str,
    pub(super) server: &'l str,
    pub(super) is_query: bool,
    pub(super) id: u16,
    /// What it says, as tcpdump does.
    pub(super) words: String,
}

/// `5 20.97 172.17.0.65 -> 172.17.42.1 DNS 72 Standard query 0xb7ce A db.prod`, and
/// `Standard query response 0xb7ce No such name A db.prod SOA a.root-servers.net`.
pub(super) fn row(line: &str) -> Option<Row<'_>> {
    let (head, tail) = line.split_once(" Standard query ")?;
    let is_address = |it: &&str| it.parse::<IpAddr>().is_ok();
    let mut addresses = head.split_whitespace().filter(is_address);
    let (from, to) = (addresses.next()?, addresses.next()?);
    let mut times = head.split_whitespace().filter(|it| it.contains('.'));
    let reply = tail.strip_prefix("response ");
    let (id, rest) = reply.unwrap_or(tail).split_once(' ')?;
    let id = u16::from_str_radix(id.strip_prefix("0x")?, 16).ok()?;
    let states = [
        ("No such name", "NXDomain"),
        ("Server failure", "ServFail"),
        ("Refused", "Refused"),
    ];
    let state = states.iter().find_map(|(said, word)| {
        let rest = rest.strip_prefix(said)?;
        Some((rest, *word))
    });
    let (rest, word) = state.unwrap_or_else(|| (rest, counts(rest)));
    let mut words = rest.split_whitespace();
    let (kind, name) = (words.next()?, words.next().unwrap_or_default());
    let (client, server) = if reply.is_some() {
        (to, from)
    } else {
        (from, to)
    };
    Some(Row {
        at: times.find_map(|it| it.parse().ok()),
        client,
        server,
        is_query: reply.is_none(),
        id,
        words: match reply {
            Some(_) => format!("{id} {word} {kind}? {UNSAID}"),
            None => format!("{id} {kind}? {name}."),
        },
    })
}

/// How many records a row shows; the screen may have cut it.
fn counts(row: &str) -> &'static str {
    let words: Vec<&str> = row.split_whitespace().collect();
    match *words {
        _ if words.contains(&"SOA") => "0/1/0",
        _ if row.ends_with("...") || row.ends_with('…') => UNSAID,
        // Older versions show no question.
        [_, first, ..] if first.parse::<IpAddr>().is_ok() => "1/0/0",
        [kind, _, first, ..] if kind == first => "1/0/0",
        [_, _, "CNAME", .., last] if last.parse::<IpAddr>().is_ok() => "1/0/0",
        [kind, _] if kind != "CNAME" => "0/0/0",
        _ => UNSAID,
    }
}
