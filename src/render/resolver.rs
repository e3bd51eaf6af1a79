//! What is said of resolvers that stand for others.

use crate::resolver::Likeness;
use crate::resolver::glibc::borrowed::LeftOut;

/// How well a resolver stands for a version, behind its name.
pub fn likeness(likeness: Likeness) -> &'static str {
    match likeness {
        Likeness::Observed => "it was observed to do the same",
        Likeness::Read => "the model is from its source, and that version was not observed",
        Likeness::Unseen => "no difference is known, but that version was not observed",
        Likeness::Older => "it is the oldest that is known, and that version is older",
        Likeness::Differs => "it is the nearest, and that version differs in part",
        Likeness::MayDiffer => "it is the nearest, and that version may differ in part",
        Likeness::Depends => "versions that begin so differ, and it is as the newest of them",
    }
}

/// What of a target no program of the node gets to see, without a full stop.
pub fn left_out(left_out: &LeftOut) -> String {
    const FILE: &str = "the target's nsswitch.conf";
    match left_out {
        LeftOut::Unknown(name) => format!(
            "{FILE} has hosts looked up by `{name}`, which would be a library of the target's choice: left out"
        ),
        LeftOut::Missing(name) => format!(
            "{FILE} has hosts looked up by `{name}`, for which the node has no library: left out"
        ),
        LeftOut::GoesOn(name) => format!(
            "{FILE} goes on after `{name}` has found a host, which glibc up to 2.36 does not do safely: left out"
        ),
        LeftOut::TooMany(most) => format!(
            "{FILE} has hosts looked up by more than {most} services: the others are left out"
        ),
        LeftOut::Unreadable => format!(
            "glibc cannot read {FILE}, and finds no host there; here it does as without a hosts line"
        ),
        LeftOut::NoNodeFile => {
            let file = "/etc/nsswitch.conf";
            format!(
                "the node has no {file} to have the target's hosts line in: its programs do as without one"
            )
        }
        LeftOut::HostName(name) => format!(
            "the target's host name is `{name}`, which shells and terminals could take for more than a name: \
             the node's is kept"
        ),
    }
}
