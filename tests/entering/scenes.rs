//! Scenes by name: each runs in namespaces of its own.

use libtest_mimic::Trial;

use crate::lab::alone;
use crate::node::{UNIQUE, remove_groups};
use crate::root::trial;
use crate::{capture, containers, hostile, pods, privileges, races, stalls, words};

/// What a scene needs is a list of programs.
type Scene = (&'static str, &'static [&'static str], fn());

const PLAIN: &[&str] = &["unshare", "mount", "ip", "setpriv"];
const CHROOT: &[&str] = &["unshare", "mount", "chroot"];
const PYTHON: &[&str] = &["unshare", "mount", "python3"];
const RUNC: &[&str] = &["unshare", "mount", "ip", "runc", "gcc"];
const TRACED: &[&str] = &["unshare", "mount", "ip", "runc", "gcc", "strace"];

const SCENES: &[Scene] = &[
    ("containers::files", RUNC, containers::files),
    ("containers::bind mounts", RUNC, containers::bind_mounts),
    ("containers::users", RUNC, containers::users),
    ("containers::aliases", RUNC, containers::aliases),
    ("hostile::libraries", RUNC, hostile::libraries),
    ("hostile::what is not seen", RUNC, hostile::unseen),
    ("hostile::data", TRACED, hostile::data),
    ("pods::networks", RUNC, pods::networks),
    ("pods::names", RUNC, pods::names),
    ("pods::what is left of the dead", RUNC, pods::dead),
    ("pods::control groups", RUNC, pods::control_groups),
    ("races::reused ids", PLAIN, races::reused_ids),
    (
        "races::reused after a scan",
        PYTHON,
        races::reused_after_a_scan,
    ),
    ("races::ends in the middle", RUNC, races::ends),
    ("races::kills in the middle", PLAIN, races::kills),
    ("privileges::nobody", PLAIN, privileges::nobody),
    ("privileges::one less", PLAIN, privileges::one_less),
    ("words::targets", PLAIN, words::targets),
    ("words::commands", PLAIN, words::commands),
    ("words::a node below a directory", PLAIN, words::below),
    ("capture::getent", RUNC, capture::getent),
    ("stalls::pods", RUNC, stalls::pods),
    ("stalls::many", RUNC, stalls::many),
    ("stalls::overlays", CHROOT, stalls::overlays),
    ("stalls::automounts", CHROOT, stalls::automounts),
    ("stalls::memory", PYTHON, stalls::memory),
    ("stalls::node", RUNC, stalls::node),
    ("stalls::links", CHROOT, stalls::links),
];

pub(crate) fn trials() -> Vec<Trial> {
    let trial = |&(name, programs, _): &Scene| trial(name, programs, move || run_alone(name));
    let mut trials: Vec<Trial> = SCENES.iter().map(trial).collect();
    // Only the machine's own processes have them.
    trials.push(crate::root::trial(
        "words::a thread of the kernel",
        &[],
        words::kernel_thread,
    ));
    trials
}

fn run_alone(name: &str) {
    let unique = unique();
    let ended = std::panic::catch_unwind(|| alone(name, &[(UNIQUE, &unique)]));
    remove_groups(&unique);
    if let Err(panic) = ended {
        std::panic::resume_unwind(panic);
    }
}

/// Eight hexadecimal digits.
fn unique() -> String {
    use std::hash::{BuildHasher as _, RandomState};
    let number = RandomState::new().hash_one(0);
    format!("{:08x}", number >> 32)
}

/// What to run for a name, if it is one of these.
pub(crate) fn find(name: &str) -> Option<fn()> {
    let scene = SCENES.iter().find(|it| it.0 == name)?;
    Some(scene.2)
}
