//! Authorities, and what they sign.

use std::fs;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, SanType,
    date_time_ymd,
};
use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

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
        }
    }

    /// What a server shows; it offers HTTP/2 and DNS over TLS.
    pub(super) fn chain(&self, kind: &Kind) -> Arc<ServerConfig> {
        let mut params = CertificateParams::default();
        let own = SanType::IpAddress(IpAddr::V4(kind.address));
        let name = SanType::DnsName("dns.secure.test".try_into().unwrap());
        params.subject_alt_names = vec![own, name];
        match kind.leaf {
            Leaf::OtherName => {
                let other = SanType::DnsName("other.secure.test".try_into().unwrap());
                params.subject_alt_names = vec![other];
            }
            Leaf::Expired => {
                params.not_before = date_time_ymd(2001, 1, 1);
                params.not_after = date_time_ymd(2002, 1, 1);
            }
            Leaf::Future => params.not_before = date_time_ymd(2200, 1, 1),
            Leaf::Authority => params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained),
            Leaf::Good | Leaf::SelfSigned | Leaf::Stranger => {}
        }
        let key = KeyPair::generate().unwrap();
        let certificate = match kind.leaf {
            Leaf::SelfSigned | Leaf::Authority => params.self_signed(&key),
            Leaf::Stranger => params.signed_by(&key, &self.stranger),
            _ => params.signed_by(&key, &self.known),
        };
        let chain: Vec<CertificateDer<'static>> = vec![certificate.unwrap().der().clone()];
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
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
