//! What went wrong, in the words of BIND and OpenSSL.

use std::borrow::Cow;

use crate::engine::failure::{Certificate, Failure};

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
