//! Whose certificates count, and which are one's own.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustls::ClientConfig;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use webpki::anchor_from_trusted_cert;
use webpki_roots::TLS_SERVER_ROOTS;

use super::tls::PROTOCOL as DOT;
use super::verifier::{Store, Verifier, is_own_issuer};
use crate::engine::failure::Failure;
use crate::engine::secure::{Tls, Trust};

/// Whose certificates are trusted, by default those of browsers only; and
/// certificates that a server can ask for.
#[derive(Clone, Debug, Default)]
pub struct Roots {
    stores: BTreeMap<Trust, Arc<Store>>,
    /// By the files of certificate and key.
    own: BTreeMap<(Vec<u8>, Vec<u8>), Arc<CertifiedKey>>,
}

impl Roots {
    /// Trusts all certificates of these texts, which are what stands in a file
    /// like `/etc/ssl/certs/ca-certificates.crt`; of browsers' besides. What
    /// cannot be anybody's root there is passed over.
    ///
    /// # Errors
    ///
    /// A part of a sentence: no certificate is there, or one is broken.
    pub fn trust(&mut self, who: Trust, pem: &[u8]) -> Result<(), String> {
        let mut store = match (self.stores.get(&who), &who) {
            (Some(known), _) => Store::clone(known),
            (None, Trust::Browsers) => browsers(),
            (None, _) => Store::default(),
        };
        let before = store.anchors.len();
        let read = certificates(pem)?;
        // OpenSSL builds ways from what stands in a file, but none ends at one
        // that somebody else has signed.
        let is_file = matches!(who, Trust::File(_));
        let roots = read.iter().filter(|it| !is_file || is_own_issuer(it));
        let anchors = roots.filter_map(|it| Some(anchor_from_trusted_cert(it).ok()?.to_owned()));
        store.anchors.extend(anchors);
        if is_file {
            store.read = read;
        } else if store.anchors.len() == before {
            return Err("none of its certificates can be the root of another one".to_owned());
        }
        self.stores.insert(who, Arc::new(store));
        Ok(())
    }

    /// Whether there is something to go by.
    pub fn knows(&self, who: &Trust) -> bool {
        self.stores.contains_key(who)
    }

    /// Takes the roots of browsers for the machine's.
    pub fn trust_browsers(&mut self) {
        let browsers = self.store(&Trust::Browsers).unwrap_or_default();
        self.stores.insert(Trust::Machine, browsers);
    }

    /// Takes a certificate and its key for what servers ask of their clients.
    ///
    /// # Errors
    ///
    /// A part of a sentence, and whether it is about the key.
    pub fn own(
        &mut self,
        files: (Vec<u8>, Vec<u8>),
        (certificate, key): (&[u8], &[u8]),
    ) -> Result<(), (String, bool)> {
        let chain = certificates(certificate).map_err(|why| (why, false))?;
        let about_key = |why: &str| (why.to_owned(), true);
        let key = PrivateKeyDer::from_pem_slice(key)
            .map_err(|_| about_key("it holds no private key in PEM that is not encrypted"))?;
        let key = CertifiedKey::from_der(chain, key, &default_provider()).map_err(|_| {
            about_key("it is not the key of the certificate, or of an unknown kind")
        })?;
        self.own.insert(files, Arc::new(key));
        Ok(())
    }

    /// What TLS goes by; the server is told whom it is taken for behind a
    /// scheme only, as dig never tells.
    pub(super) fn config(&self, tls: &Tls, protocol: &[u8]) -> Result<ClientConfig, Failure> {
        let provider = Arc::new(default_provider());
        let store = self.store(&tls.trust);
        if store.is_none() && tls.trust != Trust::Anyone {
            return Err(Failure::NoContext);
        }
        let config = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(|_| Failure::NoContext)?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(Verifier {
                provider,
                store,
                heeds_subject: protocol != DOT && tls.trust != Trust::Browsers,
            }));
        let mut config = match &tls.identity {
            (Some(certificate), Some(key)) => {
                let files = (certificate.clone(), key.clone());
                let own = self.own.get(&files).ok_or(Failure::NoContext)?;
                let own = SingleCertAndKey::from(Arc::clone(own));
                config.with_client_cert_resolver(Arc::new(own))
            }
            _ => config.with_no_client_auth(),
        };
        config.alpn_protocols = vec![protocol.to_vec()];
        config.enable_sni = tls.trust == Trust::Browsers;
        Ok(config)
    }

    /// `None` where nobody's certificates are looked at, or what they are is
    /// not known.
    fn store(&self, who: &Trust) -> Option<Arc<Store>> {
        let known = self.stores.get(who).cloned();
        known.or_else(|| (*who == Trust::Browsers).then(|| Arc::new(browsers())))
    }
}

fn browsers() -> Store {
    Store {
        anchors: TLS_SERVER_ROOTS.to_vec(),
        read: Vec::new(),
    }
}

/// All certificates of a text.
fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, String> {
    let mut read = Vec::new();
    for certificate in CertificateDer::pem_slice_iter(pem) {
        let Ok(certificate) = certificate else {
            return Err(match read.len() {
                0 => "its first certificate is broken".to_owned(),
                read => format!("what follows its first {read} certificates is broken"),
            });
        };
        read.push(certificate);
    }
    if read.is_empty() {
        return Err("it holds no certificate in PEM (-----BEGIN CERTIFICATE-----)".to_owned());
    }
    Ok(read)
}
