//! One type of a name, server after server.
//!
//! Source: resolv.rb `Resolv::DNS#fetch_resource, Requester, Config#resolv` (0.2.1)

use std::rc::Rc;
use std::time::Duration;

use hickory_proto::rr::RecordType;

use crate::address::{Address, Server};
use crate::engine::io::{Came, ConnectError, Io};
use crate::engine::message::{
    Because, Data, Query, QueryId, Question, Rcode, Reply, SocketId, Transport,
};
use crate::name::Name;
use crate::resolver::glibc;
use crate::resolver::ruby::Error;
use crate::resolver::ruby::read::{Config, Labels, same};
use crate::scenario::{Family, Scenario};

/// A name's type is fetched.
pub(super) struct Fetch<'r> {
    io: &'r Rc<Io>,
    scenario: &'r Scenario,
    config: &'r Config<'r>,
    record_type: RecordType,
    requester: Requester,
    /// Whether the connection was reset, which is taken for a time-out: what is written then fails.
    is_reset: bool,
    /// What was sent with this requester, for which name and server.
    sent: Vec<(QueryId, Labels, usize)>,
}

/// The sockets that it sends from.
enum Requester {
    /// One server: its socket is connected, and sees a closed port.
    Connected(Option<(SocketId, Server)>),
    /// Several: a socket for each kind of address.
    Unconnected([Option<SocketId>; 2]),
    /// A connection to this server, from the first truncated reply on.
    Tcp(SocketId, Server, usize),
}

/// How a request ends without a reply.
enum Ended {
    /// The next server is asked: `ResolvTimeout`.
    Timeout,
    /// The server is passed over.
    Passed,
    Raised(Error),
}

impl<'r> Fetch<'r> {
    pub(super) fn new(
        io: &'r Rc<Io>,
        scenario: &'r Scenario,
        config: &'r Config<'r>,
        record_type: RecordType,
    ) -> Self {
        let requester = if config.servers.len() == 1 {
            Requester::Connected(None)
        } else {
            Requester::Unconnected([None, None])
        };
        Self {
            io,
            scenario,
            config,
            record_type,
            requester,
            is_reset: false,
            sent: Vec::new(),
        }
    }

    /// The addresses that it finds. After NXDOMAIN the next name is asked; any
    /// other reply is the end, and so is silence.
    pub(super) async fn resource(mut self) -> Result<Vec<Address>, Error> {
        let names = self.config.candidates(&self.scenario.name);
        'names: for (name, because) in names {
            for timeout in self.config.timeouts() {
                for at in 0..self.config.servers.len() {
                    let question = (&name, &because);
                    let reply = match self.ask(question, at, timeout).await {
                        Ok(reply) => reply,
                        Err(Ended::Timeout | Ended::Passed) => continue,
                        Err(Ended::Raised(error)) => return Err(error),
                    };
                    match reply.rcode {
                        Rcode::NoError => return Ok(self.extract(&name, &reply)),
                        Rcode::NxDomain => continue 'names,
                        _ => return Ok(Vec::new()),
                    }
                }
            }
            break;
        }
        Ok(Vec::new())
    }

    /// Asks one server, once more over TCP if the reply is truncated.
    async fn ask(
        &mut self,
        question: (&Labels, &Because),
        at: usize,
        timeout: Duration,
    ) -> Result<Reply, Ended> {
        let reply = self.request(question, at, timeout).await?;
        let is_tcp = matches!(self.requester, Requester::Tcp(..));
        if reply.rcode != Rcode::NoError || !reply.truncated || is_tcp {
            return Ok(reply);
        }
        let server = self.server(at).await?;
        let opened = self.io.connect(&server, Transport::Tcp).await;
        let socket = opened.map_err(|error| Ended::Raised(errno(error)))?;
        self.requester = Requester::Tcp(socket, server, at);
        self.sent.clear();
        self.request(question, at, timeout).await
    }

    /// The address of the server at this place, for which the C library may be asked.
    ///
    /// Source: Ruby `lib/resolv.rb: ConnectedUDP#lazy_initialize, UnconnectedUDP#sender` (0.2.1)
    async fn server(&self, at: usize) -> Result<Server, Ended> {
        let word = self.config.servers.get(at).copied().unwrap_or_default();
        if let Some(address) = Address::parse_c(word) {
            return Ok(Server::from(address));
        }
        // A socket that is connected is of one family before the name is looked up.
        let family = match self.requester {
            Requester::Connected(_) if word.contains(&b':') => Family::Inet6,
            Requester::Connected(_) => Family::Inet,
            Requester::Unconnected(_) | Requester::Tcp(..) => Family::Both,
        };
        let found = glibc::addresses_of(self.io, self.scenario, word, (family, 0)).await;
        let first = found.and_then(|it| it.into_iter().next());
        first.map(Server::from).ok_or(Ended::Raised("SocketError"))
    }

    /// Source: `Requester#request`
    async fn request(
        &mut self,
        (name, because): (&Labels, &Because),
        at: usize,
        timeout: Duration,
    ) -> Result<Reply, Ended> {
        let until = self.io.now() + timeout;
        let (socket, server, transport) = self.sender(at).await?;
        let query = self.io.send(Query {
            server: server.clone(),
            question: question(name, self.record_type),
            transport,
            socket,
            edns: None,
            authentic_data: false,
            because: because.clone(),
        });
        self.sent.push((query, name.clone(), at));
        let is_connected = !matches!(self.requester, Requester::Unconnected(_));
        // A reply has to come from the address as it is written.
        let is_heard =
            is_connected || !server.address.ip.is_unspecified() && !server.address.lacks_scope();
        loop {
            let Some(arrival) = self.io.receive(&self.sockets(), Some(until)).await else {
                return Err(Ended::Timeout);
            };
            match arrival.what {
                Came::Reply(reply) if is_heard && self.is_for(arrival.query, name, at) => {
                    return Ok(reply);
                }
                Came::Refused | Came::Reset if is_connected => {
                    self.is_reset = matches!(self.requester, Requester::Tcp(..));
                    return Err(Ended::Timeout);
                }
                Came::Closed => return Err(Ended::Raised("NoMethodError")),
                Came::Reply(_) | Came::Refused | Came::Reset => {}
            }
        }
    }

    /// Whether a reply to `query` is one to this question: it is sent again with its id.
    fn is_for(&self, query: QueryId, name: &Labels, at: usize) -> bool {
        let sent = self.sent.iter().find(|it| it.0 == query);
        sent.is_some_and(|(_, other, place)| *place == at && same(other, name))
    }

    fn sockets(&self) -> Vec<SocketId> {
        match &self.requester {
            Requester::Connected(socket) => socket.iter().map(|it| it.0).collect(),
            Requester::Unconnected(sockets) => sockets.iter().flatten().copied().collect(),
            Requester::Tcp(socket, ..) => vec![*socket],
        }
    }

    /// What it is sent from, and to whom.
    async fn sender(&mut self, at: usize) -> Result<(SocketId, Server, Transport), Ended> {
        match &self.requester {
            Requester::Connected(Some((socket, server))) => {
                return Ok((*socket, server.clone(), Transport::Udp));
            }
            Requester::Tcp(_, _, place) if *place == at && self.is_reset => {
                return Err(Ended::Raised("Errno::EPIPE"));
            }
            Requester::Tcp(socket, server, place) if *place == at => {
                return Ok((*socket, server.clone(), Transport::Tcp));
            }
            Requester::Tcp(..) => {
                return Err(Ended::Raised("Resolv::DNS::Requester::RequestError"));
            }
            Requester::Connected(None) | Requester::Unconnected(_) => {}
        }
        let server = self.server(at).await?;
        if matches!(self.requester, Requester::Connected(_)) {
            if server.address.lacks_scope() {
                return Err(Ended::Raised("Errno::EINVAL"));
            }
            let opened = self.io.connect(&server, Transport::Udp).await;
            let socket = opened.map_err(|error| Ended::Raised(errno(error)))?;
            self.requester = Requester::Connected(Some((socket, server.clone())));
            return Ok((socket, server, Transport::Udp));
        }
        let socket = self.unconnected(&server)?;
        // `send(2)` fails where there is no route.
        match self.io.connect(&server, Transport::Udp).await {
            Ok(probe) => self.io.close(probe),
            Err(_) => return Err(Ended::Timeout),
        }
        Ok((socket, server, Transport::Udp))
    }

    /// The socket for this kind of address; there is none where no server is written as one.
    fn unconnected(&mut self, server: &Server) -> Result<SocketId, Ended> {
        let Requester::Unconnected(sockets) = &mut self.requester else {
            return Err(Ended::Passed);
        };
        let is_v6 = server.address.ip.is_ipv6();
        let written = |word: &&[u8]| word.contains(&b':') == is_v6;
        let [v4, v6] = sockets;
        let place = if is_v6 { v6 } else { v4 };
        if !self.config.servers.iter().any(written) {
            return Err(Ended::Passed);
        }
        Ok(*place.get_or_insert_with(|| self.io.socket()))
    }

    /// The addresses at the end of the answer's aliases.
    ///
    /// Source: `Resolv::DNS#extract_resources`
    fn extract(&self, name: &Labels, reply: &Reply) -> Vec<Address> {
        let mut owner = name.clone();
        let mut found = Vec::new();
        for pass in 0..2 {
            for record in &reply.answers {
                let labels = record.name.labels().map(<[u8]>::to_vec).collect();
                if !same(&owner, &labels) {
                    continue;
                }
                match &record.data {
                    data if data.record_type() == self.record_type => {
                        found.extend(data.ip().map(Address::from));
                    }
                    Data::Cname(target) if pass == 0 => {
                        owner = target.labels().map(<[u8]>::to_vec).collect();
                    }
                    _ => {}
                }
            }
            if !found.is_empty() {
                break;
            }
        }
        found
    }
}

/// The name of the exception.
fn errno(error: ConnectError) -> Error {
    match error {
        ConnectError::Unreachable => "Errno::EHOSTUNREACH",
        ConnectError::Refused => "Errno::ECONNREFUSED",
    }
}

/// What is sent: nothing looks at the length of a label or a name.
fn question(labels: &Labels, record_type: RecordType) -> Question {
    match Name::from_labels_unlimited(labels.iter().map(Vec::as_slice)) {
        Ok(name) => Question::Asked(name, record_type),
        Err(_) => Question::Malformed(malformed(labels, record_type)),
    }
}

/// Source: resolv.rb `MessageEncoder#put_label` (0.2.1)
fn malformed(labels: &Labels, record_type: RecordType) -> Vec<u8> {
    let mut message = vec![1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    for label in labels {
        // The lower byte of the length.
        message.extend(label.len().to_be_bytes().last());
        message.extend_from_slice(label);
    }
    message.push(0);
    message.extend(u16::from(record_type).to_be_bytes());
    message.extend([0, 1]);
    message
}
