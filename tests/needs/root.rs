//! Trials that need root, and programs.

use std::env;
use std::path::{Path, PathBuf};

use libtest_mimic::Trial;

/// A trial that needs these programs, and root.
pub(crate) fn trial(name: &str, programs: &[&str], run: impl FnOnce() + Send + 'static) -> Trial {
    crate::needs::trial(name, missing(programs), move || {
        run();
        Ok(())
    })
}

fn missing(programs: &[&str]) -> Option<String> {
    if !nix::unistd::geteuid().is_root() {
        return Some("needs root".to_owned());
    }
    let missing = programs.iter().find(|it| program(it).is_none())?;
    Some(format!("needs {missing}"))
}

/// A program of the PATH, or one that `.ci/install-real` has unpacked.
pub(crate) fn program(name: &str) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let real = env::var_os("KDNS_REAL_DIR");
    let real = real.map_or_else(|| root.join("target/real"), PathBuf::from);
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = env::split_paths(&path).chain([real.join("servers/usr/sbin")]);
    folders.map(|it| it.join(name)).find(|it| it.exists())
}
