//! One name to the servers, in rounds.
//!
//! Source: OTP `inet_res.erl: do_query, query_retries, query_nss_result,
//! query_ns, query_udp, query_tcp` (25)

use std::time::Duration;

use hickory_proto::rr::RecordType;

use crate::address::Server;
use crate::engine::io::{Came, ConnectError, Io};
use crate::engine::message::{Because, Query, Question, Rcode, Reply, SocketId, Transport};
use crate::name::Name;
use crate::resolver::erlang::read::Configuration;
use crate::resolver::erlang::{Error, NXDOMAIN};

/// `timeout` of `inet_res`, which each round has a part of, twice the one before.
const TIMEOUT_MS: u64 = 2000;
/// `retry`: rounds.
const RETRY: u32 = 3;
/// Source: OTP `inet_res.hrl: RES_SERVFAIL_RETRY_TO` (25)
const SERVFAIL_RETRY: Duration = Duration::from_millis(1500);
/// Over TCP it waits five times `timeout`, for the connection and for the reply.
const TCP_TIMEOUT: Duration = Duration::from_millis(5 * TIMEOUT_MS);

/// What is asked, and where the name comes from.
pub(super) type Asked = (Name, RecordType, Because);

/// A question on its way.
struct Asking<'r> {
    io: &'r Io,
    asked: Asked,
}

/// How a server's turn ends without an answer.
enum Ended {
    /// The answer is that there is none.
    NoName,
    /// The server is not asked again.
    Drop(Error),
    /// It may be asked again: in silence, or not.
    Again(Option<Error>),
    /// It is asked again, but not before some time has passed.
    Later,
}

/// A server that is left, and when it may be asked.
type Left = (Server, Duration);

pub(super) async fn res_query(
    io: &Io,
    configuration: &Configuration<'_>,
    asked: Asked,
) -> Result<Reply, Error> {
    let servers = configuration.reading.servers.iter();
    let mut left: Vec<Left> = servers
        .map(|it| (it.value.clone(), Duration::ZERO))
        .collect();
    if left.is_empty() {
        return Err(NXDOMAIN);
    }
    let asking = Asking { io, asked };
    let mut reason = "timeout";
    for round in 0..RETRY {
        let timeout = Duration::from_millis((TIMEOUT_MS << round) / u64::from(RETRY));
        let mut next = Vec::new();
        for (server, not_before) in left {
            io.sleep(not_before.max(io.now())).await;
            match asking.query_ns(&server, timeout).await {
                Ok(reply) => return Ok(reply),
                Err(Ended::NoName) => return Err(NXDOMAIN),
                Err(Ended::Drop(why)) => reason = why,
                Err(Ended::Again(why)) => {
                    reason = why.unwrap_or(reason);
                    next.push((server, Duration::ZERO));
                }
                Err(Ended::Later) => {
                    reason = "servfail";
                    next.push((server, io.now() + SERVFAIL_RETRY));
                }
            }
        }
        left = next;
    }
    Err(reason)
}

impl Asking<'_> {
    /// Asks one server, over TCP as well if its reply is truncated.
    async fn query_ns(&self, server: &Server, timeout: Duration) -> Result<Reply, Ended> {
        let reply = self.query_udp(server, timeout).await?;
        if reply.rcode == Rcode::NoError && reply.truncated {
            return judged(self.query_tcp(server).await?);
        }
        judged(reply)
    }

    /// The socket is connected anew each time, with another port: what comes late is lost.
    async fn query_udp(&self, server: &Server, timeout: Duration) -> Result<Reply, Ended> {
        const REFUSED: Ended = Ended::Drop("econnrefused");
        if server.address.lacks_scope() {
            return Err(REFUSED);
        }
        // Where there is no route it cannot be connected.
        let opened = self.io.connect(server, Transport::Udp).await;
        let socket = opened.map_err(|_| REFUSED)?;
        let until = self.io.now() + timeout;
        self.send(server, (socket, Transport::Udp));
        let is_source = !server.address.ip.is_unspecified();
        let ended = loop {
            let arrival = self.io.receive(&[socket], Some(until)).await;
            match arrival.map(|it| it.what) {
                None => break Err(Ended::Again(None)),
                Some(Came::Reply(reply)) if is_source => break Ok(reply),
                Some(Came::Refused) => break Err(REFUSED),
                Some(_) => {}
            }
        };
        self.io.close(socket);
        ended
    }

    async fn query_tcp(&self, server: &Server) -> Result<Reply, Ended> {
        let opened = self.io.connect(server, Transport::Tcp).await;
        let socket = opened.map_err(|error| match error {
            ConnectError::Refused => Ended::Drop("econnrefused"),
            ConnectError::Unreachable => Ended::Again(Some("ehostunreach")),
        })?;
        let until = self.io.now() + TCP_TIMEOUT;
        self.send(server, (socket, Transport::Tcp));
        let arrival = self.io.receive(&[socket], Some(until)).await;
        self.io.close(socket);
        match arrival.map(|it| it.what) {
            Some(Came::Reply(reply)) => Ok(reply),
            Some(_) => Err(Ended::Again(Some("closed"))),
            None => Err(Ended::Again(None)),
        }
    }

    fn send(&self, server: &Server, (socket, transport): (SocketId, Transport)) {
        let (name, record_type, because) = &self.asked;
        self.io.send(Query {
            server: server.clone(),
            question: Question::Asked(name.clone(), *record_type),
            transport,
            socket,
            edns: None,
            authentic_data: false,
            because: because.clone(),
        });
    }
}

/// What a whole reply means. Source: `decode_answer, query_nss_result`
fn judged(reply: Reply) -> Result<Reply, Ended> {
    match reply.rcode {
        Rcode::NoError => Ok(reply),
        Rcode::NxDomain => Err(Ended::NoName),
        Rcode::ServFail => Err(Ended::Later),
        Rcode::FormErr => Err(Ended::Drop("qfmterror")),
        Rcode::NotImp => Err(Ended::Drop("notimp")),
        Rcode::Refused => Err(Ended::Drop("refused")),
    }
}
