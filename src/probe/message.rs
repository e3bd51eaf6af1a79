//! The prober's own messages.

use hickory_proto::op::{Edns, Header, Message, MessageType, OpCode, Query, ResponseCode};
use hickory_proto::rr::{DNSClass, Name, RecordType};
use hickory_proto::serialize::binary::{BinDecodable as _, BinDecoder};

use crate::dig::message::{Read, read_message};

/// A query with the RD bit; `None`: this is no name.
pub(crate) fn query(id: u16, name: &str, record_type: RecordType) -> Option<Vec<u8>> {
    recursive(id, name, record_type)?.to_vec().ok()
}

fn recursive(id: u16, name: &str, record_type: RecordType) -> Option<Message> {
    let name = Name::from_ascii(name).ok()?;
    let mut message = Message::new(id, MessageType::Query, OpCode::Query);
    message.metadata.recursion_desired = true;
    message.add_query(Query::query(name, record_type));
    Some(message)
}

/// What a response says.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Response {
    pub(crate) id: u16,
    pub(crate) code: ResponseCode,
    /// Whether what is behind the question breaks a rule, or ends before it should
    /// without saying so (TC).
    pub(crate) is_malformed: bool,
    /// Whether it says that it is cut: over TCP nothing more can come.
    pub(crate) is_cut: bool,
    /// Its first question; `None`: it has none, as one that refuses a format.
    pub(crate) question: Option<Query>,
}

/// A query for the version of the server's software.
pub(crate) fn query_version(id: u16) -> Option<Vec<u8>> {
    let name = Name::from_ascii("version.bind.").ok()?;
    let mut message = Message::new(id, MessageType::Query, OpCode::Query);
    let mut query = Query::query(name, RecordType::TXT);
    query.set_query_class(DNSClass::CH);
    message.add_query(query);
    message.to_vec().ok()
}

/// A message of opcode STATUS with the root as its question.
pub(crate) fn query_status(id: u16) -> Option<Vec<u8>> {
    let mut message = Message::new(id, MessageType::Query, OpCode::Status);
    message.add_query(Query::query(Name::root(), RecordType::NS));
    message.to_vec().ok()
}

/// A query for the keys that `name` is signed with, whose reply may have so many
/// bytes: with signatures it has many. `None`: this is no name.
pub(crate) fn query_up_to(id: u16, name: &str, bytes: u16) -> Option<Vec<u8>> {
    let mut message = recursive(id, name, RecordType::DNSKEY)?;
    let mut edns = Edns::new();
    edns.set_max_payload(bytes).set_dnssec_ok(true);
    message.edns = Some(edns);
    message.to_vec().ok()
}

/// A response. Of what is behind the question it is only looked whether it can be read.
pub(crate) fn response(bytes: &[u8]) -> Option<Response> {
    let mut decoder = BinDecoder::new(bytes);
    let header = Header::read(&mut decoder).ok()?;
    let question = match header.counts.queries {
        0 => None,
        _ => Some(Query::read(&mut decoder).ok()?),
    };
    let is_cut = header.truncation;
    let is_response = header.message_type == MessageType::Response;
    is_response.then_some(Response {
        id: header.id,
        code: header.response_code,
        is_malformed: !is_cut && !matches!(read_message(bytes, true), Read::Whole(_)),
        is_cut,
        question,
    })
}

impl Response {
    /// Whether it is about this name and type, or about none.
    pub(crate) fn fits(&self, name: &str, record_type: RecordType) -> bool {
        let name = Name::from_ascii(name).unwrap_or_default();
        // Names are the same whatever their letters.
        let is_it = |it: &Query| *it.name() == name && it.query_type() == record_type;
        self.question.as_ref().is_none_or(is_it)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_is_one_to_the_question() {
        let mut bytes = query(7, "a.probe.", RecordType::A).unwrap();
        assert_eq!(response(&bytes), None);
        bytes[2] |= 0x80;
        bytes[3] |= 3;
        let found = response(&bytes).unwrap();
        assert_eq!((found.id, found.code), (7, ResponseCode::NXDomain));
        assert!(found.fits("A.Probe.", RecordType::A));
        assert!(!found.fits("b.probe.", RecordType::A));
        assert!(!found.fits("a.probe.", RecordType::HINFO));
        assert!(!found.is_malformed);
        // It counts an answer that is not there: one that is cut says so.
        bytes[7] = 1;
        assert!(response(&bytes).unwrap().is_malformed);
        bytes[2] |= 2;
        assert!(!response(&bytes).unwrap().is_malformed);
        bytes[7] = 0;
        // Some that refuse a query do not repeat it.
        let header = [&bytes[..4], &[0; 8]].concat();
        assert!(response(&header).unwrap().fits("a.probe.", RecordType::A));
        assert_eq!(response(&bytes[..14]), None);
        assert_eq!(response(b""), None);
    }
}
