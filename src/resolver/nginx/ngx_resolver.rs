//! One name and its aliases, asked of one server after the other.
//!
//! Source: nginx `src/core/ngx_resolver.c` (1.22.1); functions have the names
//! that they have there. The clock that a query's end is reckoned by counts
//! whole seconds (`ngx_time`).

use std::time::Duration;

use crate::address::Server;
use crate::engine::io::{Came, ConnectError, Io};
use crate::engine::machine::Outcome;
use crate::engine::message::{Because, Rcode, Reply, SocketId, Transport};
use crate::resolver::nginx::node::{Ended, Half, Node, TYPES, plain};
use crate::resolver::nginx::read::RESEND_TIMEOUT;

/// `resolver_timeout`, of the whole lookup.
/// Source: `src/http/ngx_http_core_module.c: ngx_http_core_merge_loc_conf`
const RESOLVER_TIMEOUT: Duration = Duration::from_secs(30);
/// How long a connection is kept without a query. Source: `ngx_resolver_create`
const TCP_TIMEOUT: Duration = Duration::from_secs(5);
/// A timer that is set anew and ends so little later stays as it is.
/// Source: `src/event/ngx_event_timer.h`
const NGX_TIMER_LAZY_DELAY: Duration = Duration::from_millis(300);
/// Of timers that end together the one that was set first ends first. That of a
/// connection is set after that of the name, unless the name is asked again.
const SET_LATER: Duration = Duration::from_nanos(1);
/// What is left to chance, in a sentence.
const REFUSED: &str = "nginx hears that nobody listens before or after it has sent its second query; if before, it asks the next server at once";

/// A resolver, from its first query on.
pub(super) struct Resolver<'r> {
    io: &'r Io,
    connections: Vec<Connection>,
    /// The server that the next name begins with.
    last_connection: usize,
    /// Whether IPv4 and IPv6 addresses are asked for.
    has: [bool; 2],
    /// `resolver_timeout`, of the whole lookup.
    pub(super) timeout: Duration,
    /// When it looks whether something is to be sent again.
    event: Option<Duration>,
}

/// A server and the sockets to it, which are kept.
struct Connection {
    server: Server,
    udp: Option<SocketId>,
    /// A connection, and until when it is kept.
    tcp: Option<(SocketId, Duration)>,
}

/// Nothing could be sent.
struct Unsent;

impl<'r> Resolver<'r> {
    pub(super) fn new(io: &'r Io, servers: Vec<Server>, has: [bool; 2]) -> Self {
        let connection = |server| Connection {
            server,
            udp: None,
            tcp: None,
        };
        if servers.len() > 1 {
            io.note(
                "nginx begins with the first server only after its start: each further name begins with the next server",
            );
        }
        Self {
            io,
            connections: servers.into_iter().map(connection).collect(),
            last_connection: 0,
            has,
            timeout: RESOLVER_TIMEOUT,
            event: None,
        }
    }

    /// Source: `ngx_resolve_name`, `ngx_resolve_name_locked`
    pub(super) async fn resolve(&mut self, host: &[u8]) -> Outcome {
        let mut name = host.strip_suffix(b".").unwrap_or(host).to_ascii_lowercase();
        let mut because = Because::AsIs;
        let mut aliases = Vec::new();
        let deadline = self.io.now() + self.timeout;
        loop {
            // An alias that is known leads on until there were too many of them.
            if name.split(|&byte| byte == b'.').any(<[u8]>::is_empty) || aliases.contains(&name) {
                return Outcome::Failed(strerror(Rcode::NxDomain));
            }
            let mut node = self.begin(name, because).await;
            match self.wait(&mut node, deadline).await {
                Ended::Found(addresses) => return Outcome::Found(addresses),
                Ended::Failed(code) => return Outcome::Failed(strerror(code)),
                Ended::Not => return Outcome::Failed("Operation timed out"),
                Ended::Alias(target) => {
                    aliases.push(node.name);
                    name = plain(&target);
                    because = Because::Cname;
                }
            }
        }
    }

    /// Asks for a name for the first time.
    async fn begin(&mut self, name: Vec<u8>, because: Because) -> Node {
        let halves = self.has.map(|is_asked| Half {
            addresses: (!is_asked).then(Vec::new),
            ..Half::default()
        });
        let mut node = Node {
            name,
            because,
            connection: self.last_connection,
            halves,
            code: None,
            expire: Duration::ZERO,
            sent: Vec::new(),
        };
        self.last_connection = self.after(self.last_connection);
        if self.send_query(&mut node).await.is_err() {
            node.connection = self.after(node.connection);
            let _ = self.send_query(&mut node).await;
        }
        let until = self.io.now() + RESEND_TIMEOUT;
        let is_near = |it: Duration| until.saturating_sub(it) < NGX_TIMER_LAZY_DELAY;
        if !self.event.is_some_and(is_near) {
            self.event = Some(until);
        }
        node.expire = self.time() + RESEND_TIMEOUT;
        node
    }

    fn after(&self, connection: usize) -> usize {
        (connection + 1) % self.connections.len().max(1)
    }

    /// Source: `ngx_time`
    fn time(&self) -> Duration {
        Duration::from_secs(self.io.now().as_secs())
    }

    /// Reads replies and asks again until the name is answered.
    async fn wait(&mut self, node: &mut Node, deadline: Duration) -> Ended {
        loop {
            let resend = self.event.unwrap_or(deadline);
            let kept = self.connections.iter().filter_map(|it| it.tcp);
            let first_end = kept.map(|(_, until)| until).min().unwrap_or(deadline);
            let until = deadline.min(resend).min(first_end);
            let sockets: Vec<SocketId> = self.sockets().collect();
            let Some(arrival) = self.io.receive(&sockets, Some(until)).await else {
                if until == deadline {
                    return Ended::Not;
                }
                self.close_unused();
                if until == resend {
                    self.resend(node).await;
                }
                continue;
            };
            let half = node.sent.iter().find(|(id, _)| *id == arrival.query);
            match (arrival.what, half) {
                (Came::Reply(reply), Some(&(_, half))) => {
                    let is_tcp = self.is_tcp(arrival.socket);
                    match self.process_response(node, half, &reply, is_tcp).await {
                        Ended::Not => {}
                        ended => return ended,
                    }
                }
                (Came::Reply(_), None) => {}
                (Came::Refused | Came::Closed | Came::Reset, _) => self.lost(arrival.socket),
            }
        }
    }

    fn sockets(&self) -> impl Iterator<Item = SocketId> {
        let both = |it: &Connection| [it.udp, it.tcp.map(|(socket, _)| socket)];
        self.connections.iter().flat_map(both).flatten()
    }

    fn is_tcp(&self, socket: SocketId) -> bool {
        let mut connections = self.connections.iter();
        connections.any(|it| it.tcp.is_some_and(|(tcp, _)| tcp == socket))
    }

    /// Closes a socket on which reading failed. Source: `ngx_resolver_udp_read`,
    /// `ngx_resolver_tcp_read`
    fn lost(&mut self, socket: SocketId) {
        self.io.close(socket);
        for connection in &mut self.connections {
            connection.udp.take_if(|it| *it == socket);
            connection.tcp.take_if(|(it, _)| *it == socket);
        }
    }

    /// Closes connections that had no query for a while. Source: `ngx_resolver_tcp_write`
    fn close_unused(&mut self) {
        let now = self.io.now();
        for connection in &mut self.connections {
            if let Some((socket, _)) = connection.tcp.take_if(|(_, until)| *until <= now) {
                self.io.close(socket);
            }
        }
    }

    /// Source: `ngx_resolver_resend_handler`, `ngx_resolver_resend`
    async fn resend(&mut self, node: &mut Node) {
        let left = node.expire.saturating_sub(self.time());
        if !left.is_zero() {
            self.event = Some(self.io.now() + left);
            return;
        }
        node.connection = self.after(node.connection);
        let _ = self.send_query(node).await;
        node.expire = self.time() + RESEND_TIMEOUT;
        self.event = Some(self.io.now() + RESEND_TIMEOUT);
    }

    /// Sends what is not answered to the server whose turn it is.
    async fn send_query(&mut self, node: &mut Node) -> Result<(), Unsent> {
        let mut sent_on = None;
        for half in 0..TYPES.len() {
            let asked = node.halves.get(half).filter(|it| it.addresses.is_none());
            match asked.map(|it| it.tcp) {
                Some(true) => self.send_tcp_query(node, half, TCP_TIMEOUT).await?,
                Some(false) => {
                    let refused = match sent_on {
                        Some(socket) => self.io.is_refused(socket).await.then_some(socket),
                        None => None,
                    };
                    if let Some(socket) = refused
                        && self.io.choose(2, REFUSED) == 1
                    {
                        self.lost(socket);
                        return Err(Unsent);
                    }
                    sent_on = Some(self.send_udp_query(node, half).await?);
                    if let Some(socket) = refused {
                        self.lost(socket);
                    }
                }
                None => {}
            }
        }
        Ok(())
    }

    async fn send_udp_query(&mut self, node: &mut Node, half: usize) -> Result<SocketId, Unsent> {
        let connection = self.connections.get_mut(node.connection);
        let Some(connection) = connection.filter(|it| !it.server.address.lacks_scope()) else {
            return Err(Unsent);
        };
        let socket = match connection.udp {
            Some(socket) => socket,
            None => {
                let opened = self.io.connect(&connection.server, Transport::Udp).await;
                *connection.udp.insert(opened.map_err(|_| Unsent)?)
            }
        };
        let query = node.query(half, &connection.server, (socket, Transport::Udp));
        node.sent.push((self.io.send(query), half));
        Ok(socket)
    }

    /// A connection that is refused is as good as one that says nothing. It is
    /// kept for `timeout`.
    async fn send_tcp_query(
        &mut self,
        node: &mut Node,
        half: usize,
        timeout: Duration,
    ) -> Result<(), Unsent> {
        let connection = self.connections.get_mut(node.connection);
        let Some(connection) = connection.filter(|it| !it.server.address.lacks_scope()) else {
            return Err(Unsent);
        };
        let socket = match connection.tcp {
            Some((socket, _)) => socket,
            None => match self.io.connect(&connection.server, Transport::Tcp).await {
                Ok(socket) => socket,
                Err(ConnectError::Refused) => return Ok(()),
                Err(_) => return Err(Unsent),
            },
        };
        connection.tcp = Some((socket, self.io.now() + timeout));
        let query = node.query(half, &connection.server, (socket, Transport::Tcp));
        node.sent.push((self.io.send(query), half));
        Ok(())
    }

    /// Source: `ngx_resolver_process_response`, `ngx_resolver_process_a`
    async fn process_response(
        &mut self,
        node: &mut Node,
        half: usize,
        reply: &Reply,
        is_tcp: bool,
    ) -> Ended {
        let Some(own) = node.halves.get_mut(half) else {
            return Ended::Not;
        };
        // Bits that are reserved in its eyes, and that a server sets all the same.
        let is_invalid = reply.authentic_data || reply.truncated && is_tcp;
        let is_asked = own.addresses.is_none() && !(reply.truncated && own.tcp);
        if is_invalid || !is_asked || reply.rcode == Rcode::FormErr {
            return Ended::Not;
        }
        if reply.truncated {
            own.tcp = true;
            let timeout = TCP_TIMEOUT + SET_LATER;
            let _ = self.send_tcp_query(node, half, timeout).await;
            node.expire = self.time() + RESEND_TIMEOUT;
            return Ended::Not;
        }
        node.process_a(half, reply)
    }
}

/// Source: `ngx_resolver_strerror`
fn strerror(code: Rcode) -> &'static str {
    match code {
        Rcode::NoError | Rcode::NxDomain => "Host not found",
        Rcode::FormErr => "Format error",
        Rcode::ServFail => "Server failure",
        Rcode::NotImp => "Unimplemented",
        Rcode::Refused => "Operation refused",
    }
}
