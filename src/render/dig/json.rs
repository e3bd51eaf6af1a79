//! A message as JSON: RFC 8427, with what is not in it under names of our own.

use schemars::JsonSchema;
use serde::Serialize;

use super::reply::{Shown, data_text};
use super::style::Style;
use super::words::name;
use crate::dig::message::{Message, Record, flag};
use crate::dig::mnemonic::{class_text, rcode_text, type_text};

/// A message (RFC 8427, section 2.1).
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(title = "kdns dig +json")]
pub(in crate::render) struct MessageForm {
    #[serde(rename = "ID")]
    id: u16,
    #[serde(rename = "QR")]
    qr: bool,
    #[serde(rename = "Opcode")]
    opcode: u8,
    #[serde(rename = "AA")]
    aa: bool,
    #[serde(rename = "TC")]
    tc: bool,
    #[serde(rename = "RD")]
    rd: bool,
    #[serde(rename = "RA")]
    ra: bool,
    #[serde(rename = "AD")]
    ad: bool,
    #[serde(rename = "CD")]
    cd: bool,
    /// With the upper bits of the OPT record.
    #[serde(rename = "RCODE")]
    rcode: u16,
    /// The response code's name.
    #[serde(rename = "RCODEname")]
    rcode_name: String,
    #[serde(rename = "QDCOUNT")]
    qdcount: u16,
    #[serde(rename = "ANCOUNT")]
    ancount: u16,
    #[serde(rename = "NSCOUNT")]
    nscount: u16,
    #[serde(rename = "ARCOUNT")]
    arcount: u16,
    #[serde(rename = "QNAME", skip_serializing_if = "Option::is_none")]
    qname: Option<String>,
    #[serde(rename = "QTYPE", skip_serializing_if = "Option::is_none")]
    qtype: Option<u16>,
    #[serde(rename = "QTYPEname", skip_serializing_if = "Option::is_none")]
    qtype_name: Option<String>,
    #[serde(rename = "QCLASS", skip_serializing_if = "Option::is_none")]
    qclass: Option<u16>,
    #[serde(rename = "QCLASSname", skip_serializing_if = "Option::is_none")]
    qclass_name: Option<String>,
    #[serde(rename = "answerRRs")]
    answers: Vec<RecordObject>,
    #[serde(rename = "authorityRRs")]
    authorities: Vec<RecordObject>,
    /// Without the OPT record, whose contents are in `EDNS`.
    #[serde(rename = "additionalRRs")]
    additionals: Vec<RecordObject>,
    #[serde(rename = "EDNS", skip_serializing_if = "Option::is_none")]
    edns: Option<Edns>,
    /// The server that answered, with its port.
    server: String,
    /// `UDP` or `TCP`.
    transport: &'static str,
    /// How long the reply took, in microseconds.
    query_time_microseconds: u64,
    /// The message's bytes.
    message_octets: usize,
}

/// A record (RFC 8427, section 2.2).
#[derive(Serialize, JsonSchema)]
struct RecordObject {
    #[serde(rename = "NAME")]
    name: String,
    #[serde(rename = "TYPE")]
    rdtype: u16,
    #[serde(rename = "TYPEname")]
    type_name: String,
    #[serde(rename = "CLASS")]
    class: u16,
    #[serde(rename = "CLASSname")]
    class_name: String,
    #[serde(rename = "TTL")]
    ttl: u32,
    #[serde(rename = "RDLENGTH")]
    length: usize,
    /// The data as in a master file.
    #[serde(rename = "rdata")]
    data: String,
    /// The data in hexadecimal digits.
    #[serde(rename = "RDATAHEX")]
    hex: String,
}

/// The OPT record.
#[derive(Serialize, JsonSchema)]
struct Edns {
    version: u8,
    /// Whether DO is set.
    #[serde(rename = "DO")]
    dnssec: bool,
    /// UDP payload size.
    udp: u16,
    options: Vec<EdnsOption>,
}

/// An option of the OPT record.
#[derive(Serialize, JsonSchema)]
struct EdnsOption {
    code: u16,
    /// The data in hexadecimal digits.
    #[serde(rename = "DATAHEX")]
    hex: String,
}

/// Writes one message as one line.
pub fn write(shown: &Shown<'_>, out: &mut String) {
    let document = document(shown);
    if let Ok(text) = serde_json::to_string(&document) {
        out.push_str(&text);
        out.push('\n');
    }
}

fn document(shown: &Shown<'_>) -> MessageForm {
    let message = shown.message;
    let is = |bit: u16| message.flags & bit != 0;
    let question = message.questions.first();
    let [questions, answers, authorities, additionals] = message.counts;
    let server = &shown.exchange.server;
    let style = Style::short(&shown.exchange.lookup.print, shown.globals, shown.now());
    let all = |section: &[Record]| section.iter().map(|it| record(it, &style)).collect();
    MessageForm {
        id: message.id,
        qr: is(flag::QR),
        opcode: message.opcode,
        aa: is(flag::AA),
        tc: is(flag::TC),
        rd: is(flag::RD),
        ra: is(flag::RA),
        ad: is(flag::AD),
        cd: is(flag::CD),
        rcode: message.rcode,
        rcode_name: rcode_text(message.rcode).into_owned(),
        qdcount: questions,
        ancount: answers,
        nscount: authorities,
        arcount: additionals,
        qname: question.map(|it| name(&it.name)),
        qtype: question.map(|it| it.rdtype),
        qtype_name: question.map(|it| type_text(it.rdtype).into_owned()),
        qclass: question.map(|it| it.rdclass),
        qclass_name: question.map(|it| class_text(it.rdclass).into_owned()),
        answers: all(&message.answers),
        authorities: all(&message.authorities),
        additionals: all(&message.additionals),
        edns: edns(message),
        server: format!("{}#{}", server.address, server.port()),
        transport: if shown.exchange.tcp { "TCP" } else { "UDP" },
        query_time_microseconds: u64::try_from(shown.exchange.times.elapsed.as_micros())
            .unwrap_or(u64::MAX),
        message_octets: message.size,
    }
}

fn record(record: &Record, style: &Style) -> RecordObject {
    RecordObject {
        name: name(&record.owner),
        rdtype: record.rdtype,
        type_name: type_text(record.rdtype).into_owned(),
        class: record.rdclass,
        class_name: class_text(record.rdclass).into_owned(),
        ttl: record.ttl,
        length: record.data.len(),
        data: data_text(record, style),
        hex: super::words::hex(&record.data, 0, ""),
    }
}

fn edns(message: &Message) -> Option<Edns> {
    let opt = message.opt.as_ref()?;
    let options = opt.options().map(|(code, data)| EdnsOption {
        code,
        hex: super::words::hex(data, 0, ""),
    });
    Some(Edns {
        version: opt.version(),
        dnssec: opt.ttl & 0x8000 != 0,
        udp: opt.size,
        options: options.collect(),
    })
}
