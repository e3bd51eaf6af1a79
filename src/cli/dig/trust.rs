//! Files of certificates: `SSL_CERT_FILE`, this machine's, and those of
//! `+tls-ca`, `+tls-certfile` and `+tls-keyfile`.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use crate::dig::lookup::{Globals, Lookup};
use crate::engine::secure::{Identity, Tls, Trust as Whose};
use crate::host::{self, FileRead, ReadError};
use crate::wire::Roots;

/// Source: `OpenSSL` `crypto/x509/x509_def.c`: `X509_get_default_cert_file_env`
const VARIABLE: &str = "SSL_CERT_FILE";
/// Where systems keep whom they trust; the first that is there counts.
const MACHINE: &[&str] = &[
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// The files, and what they say once that is asked for.
#[derive(Debug, Default)]
pub(super) struct Trust {
    variable: Option<Result<FileRead, ReadError>>,
    roots: Roots,
    /// What was read, or was not to be had.
    known: BTreeSet<(Whose, Identity)>,
    /// What is wrong with files without which dig goes on.
    pub(super) troubles: Vec<String>,
}

impl Trust {
    /// Reads the files if these lookups, or lines that nobody has read yet,
    /// can need them. That is to be done before a target is entered, whose
    /// files are other ones.
    pub(super) fn read_files(globals: &Globals, lookups: &[Lookup]) -> Self {
        let needed = needed(lookups);
        let is_needed = globals.batch.is_some() || needed.iter().any(heeds_variable);
        let path = std::env::var_os(VARIABLE).filter(|path| is_needed && !path.is_empty());
        let mut trust = Self {
            variable: path.map(|path| host::read_path(Path::new(&path))),
            ..Self::default()
        };
        trust.learn(needed);
        trust
    }

    /// Whose certificates count for the lookups that were [`Self::prepare`]d.
    pub(super) fn roots(&self) -> &Roots {
        &self.roots
    }

    /// Sees to it that these lookups have their certificates.
    ///
    /// # Errors
    ///
    /// A sentence: there are none in `SSL_CERT_FILE`.
    pub(super) fn prepare(&mut self, lookups: &[Lookup]) -> Result<(), String> {
        let needed = needed(lookups);
        let heeds_variable = needed.iter().any(heeds_variable);
        self.learn(needed);
        let Some(file) = self.variable.take_if(|_| heeds_variable) else {
            return Ok(());
        };
        let trusted = pem(file).and_then(|(name, pem)| {
            // Where the machine's are not asked for yet, they are when they are.
            self.machine();
            let mut trust = |who| self.roots.trust(who, &pem);
            trust(Whose::Browsers)
                .and_then(|()| trust(Whose::Machine))
                .map_err(|why| format!("cannot use {name}: {why}"))
        });
        trusted.map_err(|why| {
            format!(
                "kdns: {VARIABLE}: {why}; name a file of certificates in PEM, or unset the variable"
            )
        })
    }

    /// Reads what these need and nobody has read.
    fn learn(&mut self, needed: Vec<Tls>) {
        for tls in needed {
            let what = (tls.trust, tls.identity);
            if !self.known.insert(what.clone()) {
                continue;
            }
            let (trust, identity) = what;
            let learnt = match trust {
                Whose::File(path) => self.authorities(path),
                Whose::Machine => {
                    self.machine();
                    Ok(())
                }
                Whose::Anyone | Whose::Browsers => Ok(()),
            };
            let learnt = learnt.and_then(|()| match identity {
                (Some(certificate), Some(key)) => self.identity(certificate, key),
                _ => Ok(()),
            });
            self.troubles.extend(learnt.err());
        }
    }

    fn authorities(&mut self, path: Vec<u8>) -> Result<(), String> {
        let trusted = pem(file(&path)).and_then(|(name, pem)| {
            let trusted = self.roots.trust(Whose::File(path), &pem);
            trusted.map_err(|why| format!("cannot use {name}: {why}"))
        });
        trusted.map_err(|why| format!("kdns: +tls-ca: {why}; name a file of certificates in PEM"))
    }

    fn identity(&mut self, certificate: Vec<u8>, key: Vec<u8>) -> Result<(), String> {
        let said = |is_key: bool, why: String| {
            let (option, what) = if is_key {
                ("keyfile", "the certificate's key")
            } else {
                ("certfile", "a certificate")
            };
            format!("kdns: +tls-{option}: {why}; name a file of {what} in PEM")
        };
        let (certificate_name, certificate_pem) =
            pem(file(&certificate)).map_err(|why| said(false, why))?;
        let (key_name, key_pem) = pem(file(&key)).map_err(|why| said(true, why))?;
        let pems = (certificate_pem.as_slice(), key_pem.as_slice());
        let owned = self.roots.own((certificate, key), pems);
        owned.map_err(|(why, is_key)| {
            let name = if is_key { key_name } else { certificate_name };
            said(is_key, format!("cannot use {name}: {why}"))
        })
    }

    /// Whom this machine trusts; those of browsers where it does not say.
    fn machine(&mut self) {
        if self.roots.knows(&Whose::Machine) {
            return;
        }
        let mut files = MACHINE.iter().map(|path| file(path.as_bytes()));
        let found = files.find_map(|file| pem(file).ok());
        let trusted = found.map(|(_, pem)| self.roots.trust(Whose::Machine, &pem));
        if trusted != Some(Ok(())) {
            self.roots.trust_browsers();
        }
    }
}

/// What TLS the lookups can need.
fn needed(lookups: &[Lookup]) -> Vec<Tls> {
    lookups.iter().flat_map(Lookup::tls).collect()
}

fn heeds_variable(tls: &Tls) -> bool {
    matches!(tls.trust, Whose::Browsers | Whose::Machine)
}

fn file(path: &[u8]) -> Result<FileRead, ReadError> {
    host::read_path(Path::new(OsStr::from_bytes(path)))
}

/// Name and text of a file that was read whole; else why not.
fn pem(file: Result<FileRead, ReadError>) -> Result<(String, Vec<u8>), String> {
    match file {
        Err(error) => Err(error.to_string()),
        Ok(file) if file.is_cut => Err(format!("{} is longer than 1 MiB", file.source.name)),
        Ok(file) => Ok((file.source.name, file.source.bytes)),
    }
}
