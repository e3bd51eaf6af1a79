//! Which resolver a process uses, by its program and what that has mapped.
//!
//! The program itself is never asked: its file, the files that it has mapped
//! and its environment tell. Each answer says how sure it is, and why.

mod choice;
pub mod daemon;
pub mod elf;
pub mod go;
pub mod maps;
pub mod release;
mod why;

use crate::resolver::Likeness;
use crate::text::ordered;

pub use choice::{choose, versions};
pub use why::{Beside, ByGo, Why};

use std::collections::BTreeMap;

use elf::{Executable, Libc};

/// A process, as far as it tells which resolver it has.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// What `/proc/PID/exe` leads to, safe to print; empty if it is not known.
    pub path: String,
    /// Its arguments, the program first, safe to print.
    pub arguments: Vec<String>,
    /// What its file says; `None`: it could not be read, or is no ELF file.
    pub executable: Option<Executable>,
    /// The libraries that it has mapped, as paths that it sees.
    pub libraries: Vec<String>,
    /// The C library among them, if it could be read.
    pub libc: Option<Libc>,
    /// Its environment when it was started, as far as it matters here; a
    /// program can change it for itself later.
    pub env: BTreeMap<String, String>,
    /// What its configuration says of names, if it is a daemon with a resolver
    /// of its own.
    pub daemon: Option<daemon::Names>,
    /// What could not be read, as sentences without a full stop.
    pub skipped: Vec<String>,
}

/// Variables that change what a resolver asks, or which one is asked.
pub const VARIABLES: &[&str] = &[
    "LOCALDOMAIN",
    "RES_OPTIONS",
    "HOSTALIASES",
    "GODEBUG",
    "GRPC_DNS_RESOLVER",
];

/// Which resolver a process uses.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Choice {
    /// The id of one in [`crate::resolver::ALL`]; `None`: it is not known.
    pub resolver: Option<&'static str>,
    /// Whether that is known, or only likely.
    pub certainty: Certainty,
    /// Why, and what else the program may ask.
    pub why: Why,
    /// Whether gRPC in a program of Go asks the same, and more.
    pub has_grpc: bool,
    /// How well the model stands for the program's version; `None`: it was observed, or the
    /// version is not known.
    pub likeness: Option<Likeness>,
}

/// How sure an answer is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Certainty {
    /// The files leave no other way.
    Sure,
    /// Programs of this kind do so, as far as is known.
    Guess,
}

impl Program {
    /// The name of its file, without its directory.
    pub fn name(&self) -> &str {
        let path = self.path.strip_suffix(" (deleted)").unwrap_or(&self.path);
        path.rsplit('/').next().unwrap_or_default()
    }

    /// The variables that hold for its resolver: those of [`VARIABLES`] that it was
    /// started with, and in `GODEBUG` first the settings that Go built into it.
    ///
    /// Source: Go `src/internal/godebug/godebug.go: update`
    pub fn variables(&self) -> BTreeMap<String, String> {
        let known = self.env.iter();
        let known = known.filter(|(name, _)| VARIABLES.contains(&name.as_str()));
        let mut found: BTreeMap<_, _> = ordered(known.map(|(a, b)| (a.clone(), b.clone())));
        let build = self.executable.as_ref().and_then(|it| it.go.as_ref());
        if let Some(build) = build.filter(|it| !it.godebug.is_empty()) {
            let own = found.remove("GODEBUG").unwrap_or_default();
            let all = format!("{},{own}", build.godebug);
            found.insert("GODEBUG".to_owned(), all);
        }
        found
    }

    /// Whether a library whose file name begins so is mapped.
    fn maps(&self, beginning: &str) -> bool {
        let names = self
            .libraries
            .iter()
            .map(|it| it.rsplit('/').next().unwrap_or_default());
        names.into_iter().any(|it| it.starts_with(beginning))
    }
}

/// The variables that matter, of the bytes of `/proc/PID/environ`. Of several
/// with one name the first counts, as for `getenv`.
pub fn environment(bytes: &[u8]) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for variable in bytes.split(|&byte| byte == 0) {
        let text = String::from_utf8_lossy(variable);
        if let Some((name, value)) = text.split_once('=')
            && VARIABLES.contains(&name)
        {
            found
                .entry(name.to_owned())
                .or_insert_with(|| value.to_owned());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_built_in_comes_before_the_environment() {
        let executable = Executable {
            go: Some(go::Build {
                godebug: "netedns0=0".to_owned(),
                ..go::Build::default()
            }),
            ..Executable::default()
        };
        let mut program = Program {
            executable: Some(executable),
            ..Program::default()
        };
        let check = |program: &Program, expected| {
            assert_eq!(
                program.variables().get("GODEBUG").map(String::as_str),
                expected
            );
        };
        check(&program, Some("netedns0=0,"));
        program.env = environment(b"GODEBUG=netedns0=1\0PATH=x");
        program.env.insert("PATH".to_owned(), "x".to_owned());
        check(&program, Some("netedns0=0,netedns0=1"));
        assert_eq!(program.variables().len(), 1);
        program.executable = None;
        check(&program, Some("netedns0=1"));
    }

    #[test]
    fn the_first_variable_of_a_name_counts() {
        let text = b"PATH=/bin\0RES_OPTIONS=ndots:1\0RES_OPTIONS=x\0LOCALDOMAIN=\0GODEBUG\0\xff=\0";
        let found = environment(text);
        let found: Vec<(&str, &str)> = found
            .iter()
            .map(|(a, b)| (a.as_str(), b.as_str()))
            .collect();
        assert_eq!(found, [("LOCALDOMAIN", ""), ("RES_OPTIONS", "ndots:1")]);
    }
}
