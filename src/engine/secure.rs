//! What stands between TCP and DNS.

/// TLS, HTTP, or both; never none.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Secure {
    /// DNS over TLS (RFC 7858), or what HTTP is in; `None`: HTTP as it is.
    pub tls: Option<Tls>,
    /// DNS over HTTPS (RFC 8484).
    pub http: Option<Http>,
}

/// How TLS is spoken.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Tls {
    /// Whom the certificate must be for: a name or an address.
    pub host: String,
    /// Whose certificates count.
    pub trust: Trust,
    /// The files of the client's own certificate and of its key.
    pub identity: Identity,
    /// Whether the server must say that it speaks DNS (RFC 9103, section 7.1).
    pub must_agree: bool,
}

/// Whose certificates count.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Trust {
    /// Anybody's.
    Anyone,
    /// Those that browsers trust; certificates for the host only.
    Browsers,
    /// Those that this machine trusts.
    Machine,
    /// Those in a file.
    File(Vec<u8>),
}

/// The files of a certificate and of its key: both, or none.
pub type Identity = (Option<Vec<u8>>, Option<Vec<u8>>);

/// What is asked of HTTP.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Http {
    /// The name or address that is asked for, without its port.
    pub host: String,
    /// The path.
    pub path: String,
    /// GET instead of POST.
    pub get: bool,
}
