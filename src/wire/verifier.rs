//! Whether a server's certificate is right.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{
    CryptoProvider, verify_tls12_signature, verify_tls13_signature,
    verify_tls13_signature_with_raw_key,
};
use rustls::pki_types::{
    CertificateDer, ServerName, SubjectPublicKeyInfoDer, TrustAnchor, UnixTime,
};
use rustls::{
    AlertDescription, CertificateError, DigitallySignedStruct, Error, OtherError, SignatureScheme,
};
use webpki::{EndEntityCert, KeyUsage, RawPublicKeyEntity};

use super::fields::Fields;
use crate::engine::failure::{Certificate, Failure};

/// Whose certificates count.
#[derive(Clone, Debug, Default)]
pub(super) struct Store {
    /// Who can be the root of others.
    pub(super) anchors: Vec<TrustAnchor<'static>>,
    /// Certificates that were read, whatever they are for.
    pub(super) read: Vec<CertificateDer<'static>>,
}

/// Looks at certificates; without a store every one will do whose key the
/// server has: nobody can read what is sent on the way, and nobody has shown
/// who is there (RFC 7858, section 4.1).
#[derive(Debug)]
pub(super) struct Verifier {
    pub(super) provider: Arc<CryptoProvider>,
    pub(super) store: Option<Arc<Store>>,
    /// Whether the subject's name counts where no other is: to dig it does
    /// behind HTTPS, and not behind TLS alone (RFC 8310, section 8.1).
    pub(super) heeds_subject: bool,
}

impl Verifier {
    /// What is wrong is what OpenSSL finds first: who signed it, what it is
    /// for, for whom, and when.
    ///
    /// Source: `OpenSSL` `crypto/x509/x509_vfy.c`: `verify_chain` (3.0)
    fn check(
        &self,
        store: &Store,
        chain: (&CertificateDer<'_>, &[CertificateDer<'_>]),
        name: &ServerName<'_>,
        now: UnixTime,
    ) -> Result<(), Certificate> {
        let (first, others) = chain;
        let last = others.last().unwrap_or(first);
        let leaf = match EndEntityCert::try_from(first) {
            Ok(leaf) => leaf,
            Err(_) if store.knows_issuer(last) => return Err(Certificate::Other),
            Err(_) => return Err(unsigned(last, others)),
        };
        let between = [others, &store.read].concat();
        let verified = |at| {
            let algorithms = self.provider.signature_verification_algorithms.all;
            let (anchors, usage) = (&store.anchors, KeyUsage::server_auth());
            leaf.verify_for_usage(algorithms, anchors, &between, at, usage, None, None)
                .map(|_| ())
        };
        let mut signed = verified(now);
        let when = match signed {
            Err(webpki::Error::CertExpired { not_after, .. }) => {
                Some((not_after, Certificate::Expired))
            }
            Err(webpki::Error::CertNotValidYet { not_before, .. }) => {
                Some((not_before, Certificate::NotYetValid))
            }
            _ => None,
        };
        if let Some((at, _)) = when {
            signed = verified(at);
        }
        let is_read = store.read.iter().any(|it| it == first);
        match signed {
            Err(webpki::Error::CaUsedAsEndEntity) if is_read && is_own_issuer(first) => {}
            Err(webpki::Error::UnknownIssuer | webpki::Error::CaUsedAsEndEntity) => {
                return Err(unsigned(last, others));
            }
            Err(webpki::Error::RequiredEkuNotFoundContext(_)) => return Err(Certificate::Purpose),
            Err(webpki::Error::CertExpired { .. } | webpki::Error::CertNotValidYet { .. })
            | Ok(()) => {}
            Err(_) => return Err(Certificate::Other),
        }
        let other = match name {
            ServerName::IpAddress(_) => Certificate::OtherAddress,
            _ => Certificate::OtherName,
        };
        let is_subject = |name: &[u8]| {
            let has_names = leaf.valid_dns_names().next().is_some();
            self.heeds_subject
                && !has_names
                && Fields::of_certificate(first).is_some_and(|it| it.is_called(name))
        };
        let is_named = leaf.verify_is_valid_for_subject_name(name).is_ok()
            || matches!(name, ServerName::DnsName(name) if is_subject(name.as_ref().as_bytes()));
        if !is_named {
            return Err(other);
        }
        when.map_or(Ok(()), |(_, what)| Err(what))
    }
}

impl Store {
    fn knows_issuer(&self, certificate: &CertificateDer<'_>) -> bool {
        let mut anchors = self.anchors.iter();
        Fields::of_certificate(certificate)
            .is_some_and(|fields| anchors.any(|it| it.subject.as_ref() == fields.issuer))
    }
}

/// Whether a certificate names itself as who signed it.
pub(super) fn is_own_issuer(certificate: &CertificateDer<'_>) -> bool {
    Fields::of_certificate(certificate).is_some_and(|it| it.issuer == it.subject)
}

/// Nobody that is trusted has signed the last of a chain.
fn unsigned(last: &CertificateDer<'_>, others: &[CertificateDer<'_>]) -> Certificate {
    match (is_own_issuer(last), others.is_empty()) {
        (true, true) => Certificate::SelfSigned,
        (true, false) => Certificate::SelfSignedInChain,
        (false, _) => Certificate::UnknownIssuer,
    }
}

/// The key of a certificate, whatever else stands there.
fn key<'c>(certificate: &'c CertificateDer<'_>) -> Result<SubjectPublicKeyInfoDer<'c>, Error> {
    let fields = Fields::of_certificate(certificate);
    fields
        .map(|it| it.key)
        .ok_or(Error::InvalidCertificate(CertificateError::BadEncoding))
}

/// What the handshake ended with.
pub(super) fn failure(error: &Error) -> Failure {
    match error {
        Error::InvalidCertificate(CertificateError::Other(OtherError(error))) => {
            let certificate = error.downcast_ref().copied();
            Failure::Certificate(certificate.unwrap_or(Certificate::Other))
        }
        Error::InvalidCertificate(_) => Failure::Certificate(Certificate::Other),
        Error::AlertReceived(AlertDescription::NoApplicationProtocol) => Failure::OtherProtocol,
        _ => Failure::NoTls,
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        first: &CertificateDer<'_>,
        others: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        _: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let checked = match &self.store {
            None => Ok(()),
            Some(store) => self.check(store, (first, others), name, now),
        };
        checked.map_err(|what| {
            Error::InvalidCertificate(CertificateError::Other(OtherError(Arc::new(what))))
        })?;
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        if self.store.is_some() {
            return verify_tls12_signature(message, certificate, signed, algorithms);
        }
        let bad = Error::InvalidCertificate(CertificateError::BadSignature);
        let key = key(certificate)?;
        let key = RawPublicKeyEntity::try_from(&key).map_err(|_| bad.clone())?;
        let scheme = |(scheme, _): &&(SignatureScheme, _)| *scheme == signed.scheme;
        let fit = algorithms.mapping.iter().find(scheme);
        let mut fit = fit.map_or(&[][..], |(_, fit)| fit).iter();
        let is_signed = fit.any(|&it| {
            key.verify_signature(it, message, signed.signature())
                .is_ok()
        });
        is_signed
            .then(HandshakeSignatureValid::assertion)
            .ok_or(bad)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        if self.store.is_some() {
            return verify_tls13_signature(message, certificate, signed, algorithms);
        }
        let key = key(certificate)?;
        verify_tls13_signature_with_raw_key(message, &key, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        let algorithms = &self.provider.signature_verification_algorithms;
        algorithms.supported_schemes()
    }
}
