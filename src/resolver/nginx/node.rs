//! A name that is asked, and what replies make of it.
//!
//! Source: nginx `src/core/ngx_resolver.c` (1.22.1)

use std::net::IpAddr;
use std::time::Duration;

use hickory_proto::rr::RecordType;

use crate::address::{Address, Server};
use crate::engine::message::{
    Because, Data, Query, QueryId, Question, Rcode, Reply, SocketId, Transport,
};
use crate::name::Name;

pub(super) const TYPES: [RecordType; 2] = [RecordType::A, RecordType::AAAA];

/// A name that is asked.
pub(super) struct Node {
    pub(super) name: Vec<u8>,
    pub(super) because: Because,
    /// The server that is asked.
    pub(super) connection: usize,
    pub(super) halves: [Half; 2],
    /// The error of the type that was answered first.
    pub(super) code: Option<Rcode>,
    /// The second in which it is sent again.
    pub(super) expire: Duration,
    /// Which half each query is of.
    pub(super) sent: Vec<(QueryId, usize)>,
}

/// What is known of one type.
#[derive(Default)]
pub(super) struct Half {
    /// Its addresses; `None`: it is asked still.
    pub(super) addresses: Option<Vec<Address>>,
    /// Whether it is asked over TCP from now on.
    pub(super) tcp: bool,
}

/// What a reply means for its name.
pub(super) enum Ended {
    Not,
    Found(Vec<Address>),
    Failed(Rcode),
    Alias(Name),
}

impl Node {
    pub(super) fn query(
        &self,
        half: usize,
        server: &Server,
        (socket, transport): (SocketId, Transport),
    ) -> Query {
        let record_type = TYPES.get(half).copied().unwrap_or(RecordType::A);
        Query {
            server: server.clone(),
            question: question(&self.name, record_type),
            transport,
            socket,
            edns: None,
            authentic_data: false,
            because: self.because.clone(),
        }
    }

    /// Makes something of a whole reply. Both types are waited for, and an
    /// error of either is one of the name.
    ///
    /// Source: `ngx_resolver_process_a`
    pub(super) fn process_a(&mut self, half: usize, reply: &Reply) -> Ended {
        let [a, aaaa] = &mut self.halves;
        let (own, other) = if half == 0 { (a, aaaa) } else { (aaaa, a) };
        let code = match reply.rcode {
            Rcode::NoError => self.code,
            code => Some(code),
        };
        if code.is_none() && reply.answers.is_empty() {
            own.addresses = Some(Vec::new());
            return match &other.addresses {
                None => Ended::Not,
                Some(found) if !found.is_empty() => self.export(),
                Some(_) => Ended::Failed(Rcode::NxDomain),
            };
        }
        if let Some(code) = code {
            own.addresses = Some(Vec::new());
            if other.addresses.is_none() {
                self.code = Some(code);
                return Ended::Not;
            }
            return Ended::Failed(code);
        }
        let (mut addresses, mut alias) = (Vec::new(), None);
        for record in &reply.answers {
            match (&record.data, half) {
                (Data::A(ip), 0) => addresses.push(IpAddr::V4(*ip).into()),
                (Data::Aaaa(ip), 1) => addresses.push(IpAddr::V6(*ip).into()),
                (Data::A(_) | Data::Aaaa(_), _) => return Ended::Not,
                (Data::Cname(target), _) => alias = Some(target),
                (Data::Other(_), _) => {}
            }
        }
        own.addresses = Some(addresses);
        match (&own.addresses, &other.addresses, alias) {
            (_, None, _) => Ended::Not,
            (Some(own), Some(other), _) if !own.is_empty() || !other.is_empty() => self.export(),
            (_, _, Some(target)) => Ended::Alias(target.clone()),
            // It is not asked again, and not answered: the time runs out.
            (_, _, None) => Ended::Not,
        }
    }

    /// IPv4 first. Source: `ngx_resolver_export`
    fn export(&self) -> Ended {
        let all = self.halves.iter().filter_map(|it| it.addresses.as_ref());
        Ended::Found(all.flatten().cloned().collect())
    }
}

/// The question; labels of up to 255 bytes are sent as they are.
///
/// Source: `ngx_resolver_create_name_query`
fn question(name: &[u8], record_type: RecordType) -> Question {
    let labels = || name.split(|&byte| byte == b'.');
    if let Ok(name) = Name::from_labels_unlimited(labels()) {
        return Question::Asked(name, record_type);
    }
    let mut message = vec![1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    for label in labels() {
        message.push(u8::try_from(label.len()).unwrap_or(u8::MAX));
        message.extend_from_slice(label);
    }
    message.push(0);
    message.extend(u16::from(record_type).to_be_bytes());
    message.extend([0, 1]);
    Question::Malformed(message)
}

/// A name from a reply, as it is kept. Source: `ngx_resolver_copy`
pub(super) fn plain(name: &Name) -> Vec<u8> {
    let labels: Vec<&[u8]> = name.labels().collect();
    labels.join(&b'.').to_ascii_lowercase()
}
