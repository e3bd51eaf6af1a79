//! The prober's own messages.

use hickory_proto::op::{Header, Message, MessageType, OpCode, Query, ResponseCode};
use hickory_proto::rr::{Name, RecordType};
use hickory_proto::serialize::binary::{BinDecodable as _, BinDecoder};

/// A query with the RD bit; `None`: this is no name.
pub(super) fn query(id: u16, name: &str, record_type: RecordType) -> Option<Vec<u8>> {
    let name = Name::from_ascii(name).ok()?;
    let mut message = Message::new(id, MessageType::Query, OpCode::Query);
    message.metadata.recursion_desired = true;
    message.add_query(Query::query(name, record_type));
    message.to_vec().ok()
}

/// The id of a response and its code. The rest is not looked at: the socket
/// takes only what its server sent, and the id is random.
pub(super) fn response(bytes: &[u8]) -> Option<(u16, ResponseCode)> {
    let header = Header::read(&mut BinDecoder::new(bytes)).ok()?;
    let is_response = header.message_type == MessageType::Response;
    is_response.then_some((header.id, header.response_code))
}
