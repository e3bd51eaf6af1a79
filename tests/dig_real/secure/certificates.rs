//! Authorities, and what they sign.

use std::fs;
use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, SanType, date_time_ymd,
};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::ClientCertVerifier;
use rustls::{RootCertStore, ServerConfig};

/// What is right or wrong with a server's certificate.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Leaf {
    Good,
    OtherName,
    Expired,
    Future,
    SelfSigned,
    Authority,
    Stranger,
    /// Of a stranger, who comes along.
    StrangerToo,
    /// Wrong in two ways.
    ExpiredOtherName,
    ExpiredStranger,
    FutureOtherName,
    /// For clients.
    Client,
    /// Its name is its subject's only.
    Subject,
}

/// A certificate that is wanted.
pub(super) struct Kind {
    pub(super) leaf: Leaf,
    pub(super) address: Ipv4Addr,
}

/// An authority with a file that names it, and one that nobody knows.
pub(super) struct Authority {
    known: CertifiedIssuer<'static, KeyPair>,
    stranger: CertifiedIssuer<'static, KeyPair>,
    /// The path of its certificate.
    pub(super) file: String,
    /// Where servers that signed their own certificates put them.
    folder: PathBuf,
}

impl Authority {
    pub(super) fn new(folder: &Path) -> Self {
        let known = authority("known");
        let path = folder.join("authority.pem");
        fs::write(&path, known.pem()).unwrap();
        Self {
            known,
            stranger: authority("stranger"),
            file: path.display().to_string(),
            folder: folder.to_owned(),
        }
    }

    /// Writes a certificate of a client, and its key.
    pub(super) fn write_client(&self) {
        let mut params = CertificateParams::default();
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.known).unwrap();
        fs::write(self.folder.join("client.pem"), certificate.pem()).unwrap();
        fs::write(self.folder.join("client.key"), key.serialize_pem()).unwrap();
        let other = KeyPair::generate().unwrap();
        fs::write(self.folder.join("other.key"), other.serialize_pem()).unwrap();
    }

    /// Of a server that wants such a certificate.
    pub(super) fn wary(&self, kind: &Kind) -> Arc<ServerConfig> {
        let mut roots = RootCertStore::empty();
        roots.add(self.known.der().clone()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let clients = WebPkiClientVerifier::builder_with_provider(roots.into(), provider);
        self.config(kind, clients.build().unwrap())
    }

    /// What a server shows; it offers HTTP/2 and DNS over TLS.
    pub(super) fn chain(&self, kind: &Kind) -> Arc<ServerConfig> {
        self.config(kind, WebPkiClientVerifier::no_client_auth())
    }

    fn config(&self, kind: &Kind, clients: Arc<dyn ClientCertVerifier>) -> Arc<ServerConfig> {
        use Leaf::{ExpiredOtherName, ExpiredStranger, FutureOtherName};
        let mut params = CertificateParams::default();
        let own = SanType::IpAddress(IpAddr::V4(kind.address));
        let name = SanType::DnsName("dns.secure.test".try_into().unwrap());
        params.subject_alt_names = vec![own, name];
        if let Leaf::OtherName | ExpiredOtherName | FutureOtherName = kind.leaf {
            let other = SanType::DnsName("other.secure.test".try_into().unwrap());
            params.subject_alt_names = vec![other];
        }
        match kind.leaf {
            Leaf::Expired | ExpiredOtherName | ExpiredStranger => {
                params.not_before = date_time_ymd(2001, 1, 1);
                params.not_after = date_time_ymd(2002, 1, 1);
            }
            Leaf::Future | FutureOtherName => params.not_before = date_time_ymd(2200, 1, 1),
            Leaf::Authority => params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained),
            Leaf::Subject => {
                params.subject_alt_names.clear();
                let name = "dns.secure.test";
                params.distinguished_name.push(DnType::CommonName, name);
            }
            Leaf::Client => params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth],
            _ => {}
        }
        let key = KeyPair::generate().unwrap();
        let certificate = match kind.leaf {
            Leaf::SelfSigned | Leaf::Authority => params.self_signed(&key),
            Leaf::Stranger | Leaf::StrangerToo | ExpiredStranger => {
                params.signed_by(&key, &self.stranger)
            }
            _ => params.signed_by(&key, &self.known),
        };
        let certificate = certificate.unwrap();
        let mut chain: Vec<CertificateDer<'static>> = vec![certificate.der().clone()];
        if kind.leaf == Leaf::StrangerToo {
            chain.push(self.stranger.der().clone());
        }
        if let Leaf::SelfSigned | Leaf::Authority = kind.leaf {
            let path = self.folder.join(format!("{}.pem", kind.address));
            fs::write(path, certificate.pem()).unwrap();
        }
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_client_cert_verifier(clients)
            .with_single_cert(chain, key);
        Arc::new(config.unwrap())
    }
}

fn authority(name: &str) -> CertifiedIssuer<'static, KeyPair> {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.distinguished_name.push(DnType::CommonName, name);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}
