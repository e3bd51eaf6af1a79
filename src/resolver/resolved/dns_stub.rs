//! The listener at 127.0.0.53.
//!
//! Source: systemd `src/resolve/resolved-dns-stub.c`.

use crate::engine::message::{Data, Query, QueryId, Question, Rcode, Record, Reply, Transport};
use crate::name::Name;
use crate::resolver::resolved::dns_cache::may_redirect;
use crate::resolver::resolved::dns_query::{CnameResult, DnsQuery};
use crate::resolver::resolved::manager::Manager;
use crate::resolver::resolved::transaction::State;

/// The largest answer to a client that tells no size (RFC 1035).
///
/// Source: `resolved-dns-packet.h: DNS_PACKET_UNICAST_SIZE_MAX`.
pub(super) const UNICAST_SIZE_MAX: u16 = 512;
/// Header of a message, an OPT record, type and class of a question, and what
/// stands before the data of a record whose name is a pointer.
const HEADER_SIZE: usize = 12;
const OPT_SIZE: usize = 11;
const QUESTION_SIZE: usize = 4;
const RECORD_SIZE: usize = 12;

/// A query of a client.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct StubPacket {
    /// Its id.
    pub id: QueryId,
    /// What is asked, from where.
    pub query: Query,
}

/// The answer to a client.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct StubReply {
    /// What it answers.
    pub packet: StubPacket,
    /// The answer.
    pub reply: Reply,
}

impl Manager<'_> {
    /// Source: `dns_stub_process_query`.
    pub(super) async fn dns_stub_process_query(&mut self, packet: StubPacket) {
        let Question::Asked(name, record_type) = packet.query.question.clone() else {
            return;
        };
        // The same packet again, while it is being worked on.
        let same = |other: &StubPacket| {
            other.query.socket == packet.query.socket
                && other.query.transport == packet.query.transport
                && other.query.question == packet.query.question
        };
        let repeat = |query: &DnsQuery| !query.freed && query.request.as_ref().is_some_and(same);
        if self.queries.find(repeat).is_some() {
            return;
        }
        let mut query = DnsQuery::new(name.clone(), name, &[record_type]);
        query.no_search = true;
        query.request = Some(packet);
        let q = self.queries.push(query);
        if !self.dns_query_go(q).await {
            self.dns_stub_send_reply(q, Rcode::ServFail);
        }
    }

    /// Source: `dns_stub_query_complete`.
    pub(super) async fn dns_stub_query_complete(&mut self, q: usize) {
        self.dns_stub_assign_sections(q);
        match self.queries[q].state {
            State::Success => {
                if let Some(rcode) = self.dns_stub_follow(q).await {
                    self.dns_stub_send_reply(q, rcode);
                }
            }
            State::RcodeFailure => self.dns_stub_send_reply(q, self.queries[q].answer_rcode),
            // The client gets no answer either.
            State::Timeout | State::AttemptsMaxReached => self.queries[q].freed = true,
            State::NoServers if !self.version.is_before_248 => {
                self.dns_stub_send_reply(q, Rcode::Refused);
            }
            State::NoServers
            | State::InvalidReply
            | State::Errno
            | State::Null
            | State::Pending => {
                self.dns_stub_send_reply(q, Rcode::ServFail);
            }
        }
    }

    /// Follows CNAME records; the reply code once the answer is complete.
    async fn dns_stub_follow(&mut self, q: usize) -> Option<Rcode> {
        let mut first = true;
        loop {
            let complete = Some(self.queries[q].answer_rcode);
            match self.dns_query_process_cname_one(q) {
                CnameResult::Loop if self.version.is_before_248 => return Some(Rcode::ServFail),
                CnameResult::Loop => return complete,
                CnameResult::NoMatch if first => return complete,
                CnameResult::NoMatch => {
                    if !self.dns_query_go(q).await {
                        self.queries[q].freed = true;
                    }
                    return None;
                }
                CnameResult::Match => {
                    self.dns_stub_assign_sections(q);
                    return complete;
                }
                CnameResult::Redirected => self.dns_stub_assign_sections(q),
            }
            first = false;
        }
    }

    /// Takes over the records that answer the question as it is now.
    ///
    /// Source: `dns_stub_assign_sections`, `dns_stub_collect_answer_by_question`.
    fn dns_stub_assign_sections(&mut self, q: usize) {
        let query = &mut self.queries[q];
        for record in &query.answer.records {
            let record_type = record.data.record_type();
            let alias = matches!(record.data, Data::Cname(_))
                && query.record_types.iter().all(|it| may_redirect(*it));
            let wanted = record.name.eq_ignore_case(&query.name_idna)
                && (query.record_types.contains(&record_type) || alias);
            if wanted && !query.reply_answer.contains(record) {
                query.reply_answer.push(record.clone());
            }
        }
        query.reply_soa |= query.answer.soa;
    }

    /// Source: `dns_stub_send_reply`, `dns_stub_finish_reply_packet`.
    fn dns_stub_send_reply(&mut self, q: usize, rcode: Rcode) {
        let query = &mut self.queries[q];
        query.freed = true;
        let Some(packet) = query.request.clone() else {
            return;
        };
        let (answers, truncated) = fitting(&packet.query, &query.reply_answer);
        let reply = Reply {
            rcode,
            answers,
            soa: query.reply_soa,
            opt: packet.query.edns.is_some(),
            truncated,
            authoritative: query.answer.synthetic,
            recursion_available: true,
            authentic_data: packet.query.authentic_data && query.answer.synthetic,
        };
        self.stub_replies.push_back(StubReply { packet, reply });
    }
}

/// As many records as the client has room for, and whether some did not fit.
///
/// Source: `dns_stub_add_reply_packet_body`, `DNS_PACKET_PAYLOAD_SIZE_MAX`.
fn fitting(query: &Query, records: &[Record]) -> (Vec<Record>, bool) {
    let room = match (query.transport, &query.edns) {
        (Transport::Tcp, _) => usize::from(u16::MAX),
        (Transport::Udp, None) => UNICAST_SIZE_MAX.into(),
        (Transport::Udp, Some(edns)) => edns.size.max(UNICAST_SIZE_MAX).into(),
    };
    let question = query.name().map_or(0, Name::wire_len) + QUESTION_SIZE;
    let mut size = HEADER_SIZE + question;
    let fits = |record: &&Record| {
        size += RECORD_SIZE + data_size(&record.data);
        size <= room
    };
    let answers: Vec<Record> = records.iter().take_while(fits).cloned().collect();
    let opt = if query.edns.is_some() { OPT_SIZE } else { 0 };
    let truncated = answers.len() < records.len() || size + opt > room;
    (answers, truncated)
}

/// Bytes of the data, names taken as not compressed.
fn data_size(data: &Data) -> usize {
    match data {
        Data::A(_) => 4,
        Data::Aaaa(_) => 16,
        Data::Cname(target) => target.wire_len(),
        Data::Other(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use hickory_proto::rr::RecordType;

    use super::*;
    use crate::engine::message::{Because, Edns, SocketId};

    /// How many of 50 addresses fit an answer that tells the name's `bytes`.
    fn fit(bytes: usize, size: Option<u16>) -> usize {
        let label = "n".repeat(bytes - 2);
        let name = Name::from_labels([label.as_bytes()]).unwrap();
        let record = Record::new(name.clone(), Data::A([10, 0, 0, 1].into()));
        let edns = size.map(Edns::plain);
        let query = Query {
            server: std::net::IpAddr::from([127, 0, 0, 53]).into(),
            question: Question::Asked(name, RecordType::A),
            transport: Transport::Udp,
            socket: SocketId(0),
            edns,
            authentic_data: false,
            because: Because::AsIs,
        };
        fitting(&query, &vec![record; 50]).0.len()
    }

    #[test]
    fn an_answer_has_512_bytes_at_least() {
        // Header, question, and 30 records of 16 bytes.
        assert_eq!(fit(16, None), 30);
        assert_eq!(fit(17, None), 29);
        assert_eq!(fit(16, Some(100)), 30);
        assert_eq!(fit(16, Some(528)), 31);
    }
}
