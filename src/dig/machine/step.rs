//! What the machine says and is told.

use std::borrow::Cow;
use std::rc::Rc;

use crate::dig::lookup::{Lookup, Server};
use crate::dig::message::Message;
use crate::engine::message::Transport;

/// What holds for the whole run.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "they are options of dig")]
pub struct Settings {
    /// The servers of `resolv.conf`, for lookups that name none.
    pub servers: Vec<Server>,
    /// The search list, in order.
    pub search: Vec<Vec<u8>>,
    /// Names with so many dots are asked as they are first.
    pub ndots: u32,
    /// Whether the search list is used.
    pub use_search: bool,
    /// Whether the replies of all its names are shown.
    pub show_search: bool,
    /// How long to wait, in seconds; `None`: 5 over UDP, 10 over TCP.
    pub timeout: Option<u32>,
    /// Whether a TCP connection is kept for the next lookup.
    pub keep_open: bool,
    /// Whether warnings are kept back: they would stand amid YAML.
    pub keeps_warnings: bool,
    /// The client's cookie.
    pub cookie: [u8; 8],
}

/// What the caller does next.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Print this, then ask for the next step.
    Print(Printed),
    /// Open a socket or connection and report [`Event::Opened`] or
    /// [`Event::Failed`].
    Open {
        /// UDP: a connected socket with a port of its own.
        transport: Transport,
        /// Where to.
        server: Server,
        /// How long, in seconds.
        timeout: u32,
        /// Whether an open connection to this server may be used.
        reuse: bool,
    },
    /// Send a message on what is open; then ask for the next step.
    Send(Vec<u8>),
    /// Wait for one message, so many seconds, and report it.
    Receive(u32),
    /// Wait for one more message, as long as the last [`Step::Receive`] lasts.
    ReceiveOn,
    /// Close what is open; then ask for the next step.
    Close,
    /// All is done: the exit status.
    Done(u8),
}

/// What came of a step.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Event {
    /// The socket is there.
    Opened,
    /// It is not, or nothing came, or the connection broke.
    Failed(Failure),
    /// A message came.
    Arrived(Vec<u8>),
}

/// What went wrong on the way, as BIND names it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Failure {
    /// Nothing came in time.
    TimedOut,
    /// Nobody listens there.
    Refused,
    /// The connection was closed.
    EndOfFile,
    /// The connection was broken off.
    Reset,
    /// No way to that network.
    NetUnreachable,
    /// No way to that host.
    HostUnreachable,
    /// The source address is not of this machine.
    AddressNotAvailable,
    /// The source port is taken.
    AddressInUse,
    /// The kernel does not allow it.
    NoPermission,
    /// The certificate is not right.
    Certificate(Certificate),
    /// There are no certificates to begin with: their files are not as they
    /// should be.
    NoContext,
    /// There is a certificate of one's own without its key, or a key alone.
    HalfIdentity,
    /// The server wants to see a certificate.
    WantsCertificate,
    /// The server speaks something else behind TLS.
    OtherProtocol,
    /// What came is no TLS.
    NoTls,
    /// The server does not speak HTTP/2 behind TLS.
    NoHttp2,
    /// The server does not say that it speaks DNS behind TLS.
    NoDot,
    /// What came is no HTTP/2.
    Unexpected,
    /// HTTP had this status instead of a reply.
    Http(u16),
    /// What came behind TLS is no DNS message.
    NoMessage,
    /// This process, or this machine, has no descriptor left.
    TooManyFiles,
    /// Something else.
    Failed,
}

/// What is wrong with a certificate.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Certificate {
    /// Nobody that is trusted has signed it.
    UnknownIssuer,
    /// It has signed itself.
    SelfSigned,
    /// The last of those that came with it has signed itself.
    SelfSignedInChain,
    /// Its time is over.
    Expired,
    /// Its time has not come.
    NotYetValid,
    /// It is for another name.
    OtherName,
    /// It is for another address.
    OtherAddress,
    /// It is not for servers.
    Purpose,
    /// Something else.
    Other,
}

/// What is printed.
#[derive(Clone, Debug, PartialEq)]
pub enum Printed {
    /// The greeting, before an error that ends a lookup.
    Greeting(Vec<u8>),
    /// The query, with the size of its message where that is wanted too.
    Query(Rc<Exchange>, Box<Message>),
    /// A reply; `true`: the first of its lookup, with a header.
    Reply(Rc<Exchange>, Box<Message>, bool),
    /// Time, server and size of a reply, or of a whole transfer.
    Received(Rc<Exchange>, Total),
    /// A line as it is.
    Plain(&'static str),
    /// A message that could not be read: why, and its bytes.
    BadPacket(&'static str, Vec<u8>),
    /// `;;` and this, in spite of everything.
    Error(String),
    /// `;;` and this, unless output is for machines.
    Warning(String),
    /// `;;` and this, where comments are wanted.
    Comment(String),
    /// `dig: ` and this, on standard error.
    Stderr(String),
    /// `kdns: ` and this, on standard error: what dig does not say.
    Note(String),
}

/// How much came.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Total {
    /// Bytes of the last message, or of all of a transfer.
    pub bytes: usize,
    /// Records and messages of a zone transfer.
    pub transfer: Option<(u32, u32)>,
}

/// A lookup, and whom it was put to.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Exchange {
    /// The lookup.
    pub lookup: Lookup,
    /// The server.
    pub server: Server,
    /// Whether it went over TCP.
    pub tcp: bool,
    /// Whether the reply's cookie begins with ours; `None`: there was none.
    pub cookie_ok: Option<bool>,
    /// The bytes of the query.
    pub query_size: usize,
}

impl Failure {
    /// In BIND's words.
    ///
    /// Source: BIND lib/isc/result.c: `description` (9.18)
    pub fn text(self) -> Cow<'static, str> {
        let text = match self {
            Self::Http(status) => {
                return format!("the server answers with HTTP status {status}").into();
            }
            Self::TimedOut => "timed out",
            Self::Refused => "connection refused",
            Self::EndOfFile => "end of file",
            Self::Reset => "connection reset",
            Self::NetUnreachable => "network unreachable",
            Self::HostUnreachable => "host unreachable",
            Self::AddressNotAvailable => "address not available",
            Self::AddressInUse => "address in use",
            Self::NoPermission => "permission denied",
            Self::Certificate(certificate) => certificate.sentence(),
            Self::NoContext => "TLS context cannot be created",
            Self::HalfIdentity => {
                "both TLS client certificate and key file must be specified a the same time"
            }
            Self::WantsCertificate => {
                "the server wants a certificate of the client: name one with +tls-certfile and +tls-keyfile"
            }
            Self::OtherProtocol => "the server speaks another protocol behind TLS",
            Self::NoTls => "TLS error",
            Self::NoHttp2 => "ALPN for HTTP/2 failed",
            Self::NoDot => {
                "zone transfers over the established TLS connection are not allowed: ALPN for DoT failed"
            }
            Self::Unexpected => "unexpected error",
            Self::NoMessage => "what the server sends is no DNS message",
            Self::TooManyFiles => "too many open files",
            Self::Failed => "failure",
        };
        text.into()
    }
}

impl Certificate {
    /// In OpenSSL's words.
    ///
    /// Source: `OpenSSL` `crypto/x509/x509_txt.c`: `X509_verify_cert_error_string` (3.0)
    pub fn text(self) -> &'static str {
        match self {
            Self::UnknownIssuer => "unable to get local issuer certificate",
            Self::SelfSigned => "self-signed certificate",
            Self::SelfSignedInChain => "self-signed certificate in certificate chain",
            Self::Expired => "certificate has expired",
            Self::NotYetValid => "certificate is not yet valid",
            Self::OtherName => "hostname mismatch",
            Self::OtherAddress => "IP address mismatch",
            Self::Purpose => "unsuitable certificate purpose",
            Self::Other => "unspecified certificate verification error",
        }
    }

    /// What it means, behind a scheme.
    fn sentence(self) -> &'static str {
        match self {
            Self::UnknownIssuer | Self::SelfSigned | Self::SelfSignedInChain => {
                "TLS peer certificate verification failed: neither an authority that browsers trust nor one of SSL_CERT_FILE has signed it"
            }
            Self::Expired | Self::NotYetValid => {
                "TLS peer certificate verification failed: it is not valid at this machine's time"
            }
            Self::OtherName | Self::OtherAddress => {
                "TLS peer certificate verification failed: it is for another name; write the server's own name behind @"
            }
            Self::Purpose | Self::Other => {
                "TLS peer certificate verification failed: it is made for another use, or cannot be read"
            }
        }
    }
}

impl std::fmt::Display for Certificate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.text())
    }
}

impl std::error::Error for Certificate {}
