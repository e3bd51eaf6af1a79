//! Whose certificates count, and what is wrong with one.

use std::sync::Arc;

use hickory_resolver::TlsConfig;
use hickory_resolver::net::NetError;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{CertificateError, ClientConfig, RootCertStore};
use webpki_roots::TLS_SERVER_ROOTS;

use crate::dig::machine::Failure;

/// Whose certificates are trusted; by default those of browsers only.
#[derive(Clone, Debug, Default)]
pub struct Roots {
    /// `None`: what hickory takes by itself, which is `webpki-roots`.
    store: Option<Arc<RootCertStore>>,
}

impl Roots {
    /// Those of browsers, and all certificates of this text, which is what
    /// stands in a file like `/etc/ssl/certs/ca-certificates.crt`. What cannot
    /// be anybody's root there is passed over.
    ///
    /// # Errors
    ///
    /// A part of a sentence: no certificate is there, or one is broken.
    pub fn with(pem: &[u8]) -> Result<Self, String> {
        let mut store = RootCertStore {
            roots: TLS_SERVER_ROOTS.to_vec(),
        };
        let mut read = 0;
        for certificate in CertificateDer::pem_slice_iter(pem) {
            let Ok(certificate) = certificate else {
                return Err(match read {
                    0 => "its first certificate is broken".to_owned(),
                    read => format!("what follows its first {read} certificates is broken"),
                });
            };
            store.add_parsable_certificates([certificate]);
            read += 1;
        }
        match (read, store.len() - TLS_SERVER_ROOTS.len()) {
            (0, _) => {
                Err("it holds no certificate in PEM (-----BEGIN CERTIFICATE-----)".to_owned())
            }
            (_, 0) => Err("none of its certificates can be the root of another one".to_owned()),
            _ => Ok(Self {
                store: Some(Arc::new(store)),
            }),
        }
    }

    /// For DNS over TLS.
    pub(super) fn config(&self) -> Result<Arc<ClientConfig>, Failure> {
        let mut tls = self.hickory().map_err(|_| Failure::NoHandshake)?;
        // Zone transfers want it (RFC 9103, section 7.1).
        tls.config.alpn_protocols = vec![b"dot".to_vec()];
        Ok(Arc::new(tls.config))
    }

    /// For hickory.
    pub(super) fn hickory(&self) -> Result<TlsConfig, NetError> {
        let mut tls = TlsConfig::new()?;
        if let Some(store) = &self.store {
            let provider = Arc::clone(tls.config.crypto_provider());
            tls.config = ClientConfig::builder_with_provider(provider)
                .with_safe_default_protocol_versions()?
                .with_root_certificates(Arc::clone(store))
                .with_no_client_auth();
        }
        Ok(tls)
    }
}

/// What rustls says about a handshake.
pub(super) fn certificate(error: &rustls::Error) -> Failure {
    let rustls::Error::InvalidCertificate(error) = error else {
        return Failure::NoHandshake;
    };
    match error {
        CertificateError::UnknownIssuer => Failure::UnknownIssuer,
        CertificateError::Expired
        | CertificateError::ExpiredContext { .. }
        | CertificateError::NotValidYet
        | CertificateError::NotValidYetContext { .. } => Failure::NotValidNow,
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            Failure::NotValidForName
        }
        _ => Failure::BadCertificate,
    }
}
