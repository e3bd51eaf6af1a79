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
mod program;
mod tarball;

use std::process::ExitCode;

use libtest_mimic::Arguments;

use lab::{Needs, trial};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let root = Needs::ROOT;
    let trials = vec![
        trial(
            "crate::has all that the program is built from",
            &[],
            crates::package,
        ),
        trial("program::is static", &[Needs::Release], program::is_static),
        trial(
            "program::is below 8 MiB",
            &[Needs::Release],
            program::is_small,
        ),
        trial(
            "program::names no place of its build",
            &[Needs::Release],
            program::names_no_place,
        ),
        trial(
            "program::lists its dependencies",
            &[Needs::Release],
            program::lists_dependencies,
        ),
        trial(
            "program::runs in an empty root",
            &[Needs::Release, root],
            program::in_an_empty_root,
        ),
        trial(
            "tarball::checksums, and a run",
            &[Needs::Release, Needs::Program("sha256sum")],
            tarball::unpacked,
        ),
        trial(
            "tarball::the same bytes everywhere",
            &[Needs::Release],
            tarball::entries,
        ),
        trial(
            "debian::lintian has nothing to say",
            &[Needs::Release, Needs::Program("lintian")],
            debian::lintian,
        ),
        trial(
            "debian::installed, used, removed",
            &[Needs::Release, root, Needs::Program("dpkg")],
            debian::installed,
        ),
        trial("krew::its rules", &[Needs::Release], krew::rules),
        trial("krew::installed", &[Needs::Release], krew::installed),
        trial(
            "image::built, and run on a node",
            &[
                Needs::Release,
                root,
                Needs::Program("buildah"),
                Needs::Program("runc"),
            ],
            image::on_a_node,
        ),
    ];
    libtest_mimic::run(&arguments, trials).exit_code()
}
