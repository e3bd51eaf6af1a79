//! What goes wrong between a program and a server.

/// What went wrong, as far as any program tells it apart.
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
    /// No route to that network.
    NetUnreachable,
    /// No route to that host.
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

/// Why a socket could not be connected, as far as models of resolvers care.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ConnectError {
    /// There is no route to the server (`EHOSTUNREACH`, `ENETUNREACH`).
    Unreachable,
    /// The TCP port is closed (`ECONNREFUSED`).
    Refused,
}

impl From<Failure> for ConnectError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Refused | Failure::Reset => Self::Refused,
            _ => Self::Unreachable,
        }
    }
}

impl From<ConnectError> for Failure {
    fn from(error: ConnectError) -> Self {
        match error {
            ConnectError::Unreachable => Self::HostUnreachable,
            ConnectError::Refused => Self::Refused,
        }
    }
}
