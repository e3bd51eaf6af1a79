//! What fits no query as it should: responses from elsewhere, ends of
//! connections, ICMP errors.

use smallvec::SmallVec;

use super::{Joiner, Message};
use crate::packet::{Content, Quoted, SeenMessage, Transport, Unreachable};
use crate::watch::lookup::{Exchange, Sent};
use crate::watch::open::Place;

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
        let (ends, id) = ((seen.to, seen.from), Some(one.header.id));
        let is_whole = |it: &(Place, &Exchange)| it.1.qtype != 0;
        let its = self.table.of_port(ends, seen.transport, id);
        let found = its.filter(is_whole).map(|it| it.0).next();
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
    pub(super) fn closed(&mut self, seen: &SeenMessage<'_>) {
        let sent = Sent::from(seen);
        if matches!(seen.content, Content::Reset) {
            self.connections.reset(seen);
        }
        // What a side ends is ended for all queries on it.
        for ends in [(seen.from, seen.to), (seen.to, seen.from)] {
            let its = self.table.of_port(ends, seen.transport, None);
            let open = its.filter(|it| it.1.reply.is_none()).map(|it| it.0);
            for place in open.collect::<SmallVec<[Place; 2]>>() {
                let Some(odd) = self.table.exchange_mut(place).map(Exchange::oddities) else {
                    continue;
                };
                // A server ends what a client has left.
                if seen.from == ends.0 {
                    odd.is_left |= odd.broken.is_none();
                } else if !odd.is_left {
                    odd.broken.get_or_insert(sent);
                }
            }
        }
    }

    /// An ICMP error about a query, or about a response.
    pub(super) fn unreachable(
        &mut self,
        seen: &SeenMessage<'_>,
        kind: Unreachable,
        quoted: Quoted,
    ) {
        let sent = Sent::from(seen);
        if quoted.is_tcp {
            self.connections.unreachable(quoted.from, quoted.to, sent);
            return;
        }
        let id = seen.bytes.first_chunk().map(|it| u16::from_be_bytes(*it));
        for (ends, is_query) in [
            ((quoted.from, quoted.to), true),
            ((quoted.to, quoted.from), false),
        ] {
            let newest = self.table.of_port(ends, Transport::Udp, id).next();
            let newest = newest.map(|it| it.0);
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
