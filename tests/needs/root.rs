//! Trials that need root, and programs of the PATH.

use std::path::Path;

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
    let path = std::env::var("PATH").unwrap_or_default();
    let is_there = |program: &&&str| {
        path.split(':')
            .any(|it| Path::new(it).join(program).exists())
    };
    let missing = programs.iter().find(|it| !is_there(it))?;
    Some(format!("needs {missing}"))
}
