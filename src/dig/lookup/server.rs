//! Servers of a lookup, and what stands between them and it.

use std::borrow::Cow;
use std::net::IpAddr;

use crate::address::{self, Address, DNS_PORT};
use crate::dig::command_line::host;
use crate::engine::secure::{Http, Identity, Secure, Tls, Trust};

/// A server of the command line.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Server {
    /// Its address.
    pub address: Address,
    /// The port that was written with it, if one was.
    pub port: Option<u16>,
    /// The word that stood behind `@`; `None`: it is one of `resolv.conf`.
    pub word: Option<Vec<u8>>,
    /// How it is spoken to where that is neither plain UDP nor TCP.
    pub secure: Option<Box<Secure>>,
}

/// What `+tls…`, `+https…` and `+http-plain…` have said.
///
/// Source: BIND bin/dig/dighost.h: `struct dig_lookup` (9.18)
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Wanted {
    /// `+tls`: TLS, which wins over HTTP.
    pub tls: bool,
    /// The path of `+https` or `+http-plain`.
    pub path: Option<String>,
    /// Whether a word in `+http-plain` was said; nothing takes it back.
    pub plain: bool,
    /// Whether GET was said; nothing takes it back.
    pub get: bool,
    /// Whether the certificate must be right: `+tls-ca`, and all that need it.
    pub verified: bool,
    /// The file of `+tls-ca`, which stays.
    pub authorities: Option<Vec<u8>>,
    /// `+tls-hostname`
    pub host: Option<String>,
    /// `+tls-certfile` and `+tls-keyfile`
    pub identity: Identity,
}

/// The path of DNS over HTTPS that is everybody's.
pub const DEFAULT_PATH: &str = "/dns-query";

impl Secure {
    /// What `@tls://` says, and `@https://` with its path.
    pub fn of_scheme(host: &str, path: Option<String>) -> Self {
        Self {
            tls: Some(Tls {
                host: host.to_owned(),
                trust: Trust::Browsers,
                identity: Identity::default(),
                must_agree: false,
            }),
            http: path.map(|path| Http {
                host: host.to_owned(),
                path,
                get: false,
            }),
        }
    }

    /// Whether options of dig made it, and not a scheme, which dig does not
    /// know.
    pub fn is_digs(&self) -> bool {
        self.tls
            .as_ref()
            .is_none_or(|tls| tls.trust != Trust::Browsers)
    }
}

impl Wanted {
    /// What stands before a server that is called so; `None`: nothing does.
    ///
    /// Source: BIND bin/dig/dighost.c: `start_tcp`, `dig_lookup_is_tls` (9.18)
    fn secure(&self, host: String) -> Option<Secure> {
        let http = self.path.as_ref().filter(|_| !self.tls).map(|path| Http {
            host: host.clone(),
            path: path.clone(),
            get: self.get,
        });
        let is_plain = http.is_some() && self.plain;
        let is_tls = self.tls || self.verified || http.is_some();
        let tls = (is_tls && !is_plain).then(|| Tls {
            host: self.host.clone().unwrap_or(host),
            trust: self.trust(),
            identity: self.identity.clone(),
            must_agree: false,
        });
        let is_any = tls.is_some() || http.is_some();
        is_any.then_some(Secure { tls, http })
    }

    fn trust(&self) -> Trust {
        match &self.authorities {
            _ if !self.verified => Trust::Anyone,
            None => Trust::Machine,
            Some(file) => Trust::File(file.clone()),
        }
    }
}

impl Server {
    /// A server of `resolv.conf`.
    pub fn plain(address: Address) -> Self {
        Self {
            word: None,
            address,
            port: None,
            secure: None,
        }
    }

    /// What it was called: the word, or the address.
    pub fn word(&self) -> Cow<'_, [u8]> {
        match &self.word {
            Some(word) => word.into(),
            None => self.address.to_string().into_bytes().into(),
        }
    }

    /// The same behind what is wanted. A scheme of its own stays, with the
    /// certificates that are wanted.
    pub(super) fn behind(mut self, wanted: &Wanted) -> Self {
        let Some(secure) = &mut self.secure else {
            let host = String::from_utf8_lossy(host(&self.word())).into_owned();
            self.secure = wanted.secure(host).map(Box::new);
            return self;
        };
        if let Some(tls) = &mut secure.tls {
            tls.identity.clone_from(&wanted.identity);
            if wanted.verified {
                tls.trust = wanted.trust();
                tls.host = wanted.host.clone().unwrap_or(std::mem::take(&mut tls.host));
            }
        }
        self
    }

    /// The port that queries go to.
    pub fn port(&self) -> u16 {
        let default = match self.secure.as_deref() {
            None => DNS_PORT,
            Some(Secure { http: None, .. }) => 853,
            Some(Secure { tls: Some(_), .. }) => 443,
            Some(Secure { tls: None, .. }) => 80,
        };
        self.port.unwrap_or(default)
    }

    /// Where queries go.
    pub fn to(&self) -> address::Server {
        address::Server {
            address: self.address.clone(),
            port: self.port(),
        }
    }

    /// Whether this is an IPv4 address in the clothes of IPv6, which is not asked.
    pub fn is_mapped(&self) -> bool {
        matches!(self.address.ip, IpAddr::V6(ip) if ip.to_ipv4_mapped().is_some())
    }

    /// The same for a zone transfer.
    #[must_use]
    pub fn of_transfer(mut self) -> Self {
        if let Some(Secure { tls: Some(tls), .. }) = self.secure.as_deref_mut() {
            tls.must_agree = true;
        }
        self
    }

    /// Whether there is a certificate of one's own without its key, or a key
    /// alone.
    pub fn has_half_identity(&self) -> bool {
        let tls = self.secure.as_ref().and_then(|it| it.tls.as_ref());
        tls.is_some_and(|tls| tls.identity.0.is_some() != tls.identity.1.is_some())
    }

    /// How dig calls the transport: `UDP`, `TCP`, `TLS`, `HTTPS-GET`.
    ///
    /// Source: BIND bin/dig/dig.c: `received` (9.18)
    pub fn transport(&self, tcp: bool) -> &'static str {
        let Some(Secure { tls, http }) = self.secure.as_deref() else {
            return if tcp { "TCP" } else { "UDP" };
        };
        match (tls, http) {
            (_, None) => "TLS",
            (Some(_), Some(Http { get: false, .. })) => "HTTPS",
            (Some(_), Some(_)) => "HTTPS-GET",
            (None, Some(Http { get: false, .. })) => "HTTP",
            (None, Some(_)) => "HTTP-GET",
        }
    }
}
