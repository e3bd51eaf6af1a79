//! Where the real resolvers are, and what is missing.

use std::env;
use std::path::PathBuf;
use std::sync::OnceLock;

use super::observe::no_sandbox;
use super::programs::{How, ResolverId};

/// Whether a sandbox can be made here, tried once.
static NO_SANDBOX: OnceLock<Option<String>> = OnceLock::new();

/// The folder that `.ci/install-real` fills: `target/real`, or `KDNS_REAL_DIR`.
pub(crate) fn folder() -> PathBuf {
    env::var_os("KDNS_REAL_DIR").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/target/real")),
        PathBuf::from,
    )
}

/// systemd-resolved's program.
pub(crate) fn resolved() -> Option<PathBuf> {
    let real = folder();
    let places = [
        real.join("resolved/lib/systemd"),
        real.join("resolved/usr/lib/systemd"),
        "/usr/lib/systemd".into(),
        "/lib/systemd".into(),
    ];
    places
        .into_iter()
        .map(|p| p.join("systemd-resolved"))
        .find(|p| p.is_file())
}

/// Why no namespaces can be made here; `None` if they can.
pub(crate) fn no_namespaces() -> Option<String> {
    if !nix::unistd::geteuid().is_root() {
        return Some("needs root".to_owned());
    }
    if !["/usr/sbin/ip", "/sbin/ip", "/usr/bin/ip"]
        .iter()
        .any(|p| PathBuf::from(p).is_file())
    {
        return Some("needs iproute2".to_owned());
    }
    if let Some(reason) = NO_SANDBOX.get_or_init(no_sandbox) {
        return Some(format!("needs namespaces: {reason}"));
    }
    None
}

/// Why this resolver cannot be run here; `None` if it can.
pub(crate) fn missing(resolver: ResolverId) -> Option<String> {
    let reason = no_namespaces();
    if reason.is_some() {
        return reason;
    }
    let program = resolver.program(&folder());
    if !program.exists() {
        let name = program
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        return Some(format!("needs {name}: run .ci/install-real"));
    }
    if resolver
        .needs(&folder())
        .is_some_and(|(_, it)| !it.exists())
    {
        return Some(format!("needs {resolver}: run .ci/install-real"));
    }
    if resolver.how() != How::Program {
        if resolver.daemon(&folder()).is_none() {
            return Some("needs systemd-resolved: run .ci/install-real".to_owned());
        }
        if !matches!(nix::unistd::User::from_name("systemd-resolve"), Ok(Some(_))) {
            return Some("needs the user systemd-resolve: run .ci/install-real".to_owned());
        }
    }
    None
}
