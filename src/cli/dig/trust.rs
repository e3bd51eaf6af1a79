//! `SSL_CERT_FILE`: certificates that are trusted besides those of browsers.

use std::path::Path;

use crate::dig::lookup::{Globals, Lookup};
use crate::host::{self, FileRead, ReadError};
use crate::wire::Roots;

/// Source: `OpenSSL` `crypto/x509/x509_def.c`: `X509_get_default_cert_file_env`
const VARIABLE: &str = "SSL_CERT_FILE";

/// The file, and what it says once that is asked for.
#[derive(Debug, Default)]
pub(super) struct Trust {
    file: Option<Result<FileRead, ReadError>>,
    roots: Roots,
}

impl Trust {
    /// Reads the file if these lookups, or lines that nobody has read yet,
    /// can need it. That is to be done before a target is entered, whose
    /// files are other ones.
    pub(super) fn read(globals: &Globals, lookups: &[Lookup]) -> Self {
        let is_needed = globals.batch.is_some() || is_secure(lookups);
        let path = std::env::var_os(VARIABLE).filter(|path| is_needed && !path.is_empty());
        Self {
            file: path.map(|path| host::read_path(Path::new(&path))),
            roots: Roots::default(),
        }
    }

    /// Whose certificates count for the lookups that were [`Self::prepare`]d.
    pub(super) fn roots(&self) -> &Roots {
        &self.roots
    }

    /// Sees to it that these lookups have their roots.
    ///
    /// # Errors
    ///
    /// A sentence: there are none in the file.
    pub(super) fn prepare(&mut self, lookups: &[Lookup]) -> Result<(), String> {
        if !is_secure(lookups) {
            return Ok(());
        }
        let Some(file) = self.file.take() else {
            return Ok(());
        };
        let roots = match file {
            Err(error) => Err(error.to_string()),
            Ok(file) if file.is_cut => Err(format!("{} is longer than 1 MiB", file.source.name)),
            Ok(file) => Roots::with(&file.source.bytes)
                .map_err(|why| format!("cannot use {}: {why}", file.source.name)),
        };
        self.roots = roots.map_err(|why| {
            format!(
                "kdns: {VARIABLE}: {why}; name a file of certificates in PEM, or unset the variable"
            )
        })?;
        Ok(())
    }
}

fn is_secure(lookups: &[Lookup]) -> bool {
    let mut servers = lookups.iter().flat_map(|it| &it.servers);
    servers.any(|it| it.secure.is_some())
}
