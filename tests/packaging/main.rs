//! What a release consists of, used as strangers would: `packaging/release`
//! makes it, in `target/dist`.
//!
//! What needs a release, root or a program that is not here is ignored, with
//! the reason in its name; with `KDNS_REQUIRE_REAL=1` that is a failure.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop at the first surprise"
)]

mod crates;
mod debian;
mod image;
mod krew;
mod lab;
#[path = "../needs/mod.rs"]
mod needs;
mod program;
mod tarball;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

use lab::{Needs, trial};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut trials = of_the_program();
    trials.extend(of_the_packages());
    trials.push(trial(
        "crate::has all that the program is built from",
        &[],
        crates::package,
    ));
    needs::run(&arguments, trials)
}

fn of_the_program() -> Vec<Trial> {
    let release = [Needs::Release];
    vec![
        trial("program::is static", &release, program::is_static),
        trial("program::is below 12 MiB", &release, program::is_small),
        trial(
            "program::names no place of its build",
            &release,
            program::names_no_place,
        ),
        trial(
            "program::lists its dependencies",
            &release,
            program::lists_dependencies,
        ),
        trial(
            "program::runs in an empty root",
            &[Needs::Release, Needs::Root],
            program::in_an_empty_root,
        ),
    ]
}

fn of_the_packages() -> Vec<Trial> {
    let with = |program| [Needs::Release, Needs::Program(program)];
    let dpkg = [Needs::Release, Needs::Root, Needs::Program("dpkg")];
    let containers = [
        Needs::Release,
        Needs::Root,
        Needs::Program("buildah"),
        Needs::Program("runc"),
    ];
    vec![
        trial(
            "tarball::checksums, and a run",
            &with("sha256sum"),
            tarball::unpacked,
        ),
        trial(
            "tarball::the same bytes everywhere",
            &[Needs::Release],
            tarball::entries,
        ),
        trial(
            "debian::lintian has nothing to say",
            &with("lintian"),
            debian::lintian,
        ),
        trial("debian::installed, used, removed", &dpkg, debian::installed),
        trial("krew::its rules", &[Needs::Release], krew::rules),
        trial("krew::installed", &[Needs::Release], krew::installed),
        trial(
            "image::built, and run on a node",
            &containers,
            image::on_a_node,
        ),
    ]
}
