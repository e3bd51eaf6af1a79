//! What fits no query as it should: responses from elsewhere, ends of
//! connections, ICMP errors.

use super::{Joiner, Message};
use crate::packet::{Content, Quoted, Seen, Unreachable};
use crate::watch::lookup::{Exchange, Sent};

impl Joiner {
    /// A response that fits no query: from another address, with another
    /// question, or to another port.
    pub(super) fn misfit(&mut self, one: &Message<'_>) {
        let seen = one.seen;
        if let Some(place) = self.table.same_question(one.header.id, one.question)
            && let Some(known) = self.table.exchange(place)
            && known.transport == seen.transport
        {
            let sent = Sent::from(seen);
            if known.client == seen.to {
                let is_waiting = known.reply.is_none();
                if let Some(exchange) = self.table.touch(place, seen.time) {
                    let odd = exchange.oddities();
                    if is_waiting || odd.wrong_source.is_none() {
                        odd.wrong_source.get_or_insert((seen.from, sent));
                    }
                }
                return;
            }
            if known.client.ip() == seen.to.ip() && known.server == seen.from {
                if let Some(exchange) = self.table.touch(place, seen.time) {
                    exchange.oddities().other_port += 1;
                }
                return;
            }
        }
        let id = one.header.id;
        let is_its = |it: &Exchange| {
            it.client == seen.to && it.server == seen.from && it.id == id && it.qtype != 0
        };
        let found = self.table.of_port(seen.to.port(), is_its).first().copied();
        match found.and_then(|it| self.table.exchange_mut(it)) {
            // Some servers leave the question out of error messages.
            Some(exchange) if one.header.question.is_none() && one.header.rcode() != 0 => {
                exchange.take(one.reply());
            }
            Some(exchange) => exchange.oddities().other_question += 1,
            None => self.strays.orphans += 1,
        }
    }

    /// A side ends or breaks off a connection.
    pub(super) fn closed(&mut self, seen: &Seen<'_>) {
        let sent = Sent::from(seen);
        if matches!(seen.content, Content::Reset) {
            self.connections.reset(seen);
        }
        // What a side ends is ended for all queries on it.
        for (client, server) in [(seen.from, seen.to), (seen.to, seen.from)] {
            let is_its = |it: &Exchange| {
                let is_of_both = it.client == client && it.server == server;
                is_of_both && it.transport == seen.transport && it.reply.is_none()
            };
            for place in self.table.of_port(client.port(), is_its) {
                let Some(odd) = self.table.exchange_mut(place).map(Exchange::oddities) else {
                    continue;
                };
                // A server ends what a client has left.
                if seen.from == client {
                    odd.is_left |= odd.broken.is_none();
                } else if !odd.is_left {
                    odd.broken.get_or_insert(sent);
                }
            }
        }
    }

    /// An ICMP error about a query, or about a response.
    pub(super) fn unreachable(&mut self, seen: &Seen<'_>, kind: Unreachable, quoted: Quoted) {
        let sent = Sent::from(seen);
        if quoted.is_tcp {
            self.connections.unreachable(quoted.from, quoted.to, sent);
            return;
        }
        let id = seen.bytes.first_chunk().map(|it| u16::from_be_bytes(*it));
        for (client, server, is_query) in [
            (quoted.from, quoted.to, true),
            (quoted.to, quoted.from, false),
        ] {
            let is_its = |it: &Exchange| {
                it.client == client && it.server == server && id.is_none_or(|id| it.id == id)
            };
            let newest = self.table.of_port(client.port(), is_its).first().copied();
            if let Some(exchange) = newest.and_then(|it| self.table.exchange_mut(it)) {
                if is_query {
                    exchange.oddities().unreachable.get_or_insert((kind, sent));
                } else {
                    exchange.oddities().unread += 1;
                    self.strays.unread += 1;
                }
                return;
            }
        }
        self.strays.unread += 1;
    }
}
