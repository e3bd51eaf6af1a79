#![doc = include_str!("search_root.md")]

use crate::lint::rules::prelude::*;
use crate::lint::rules::resolver_file::common::{kubelet, point_to_setting};
use crate::pod::Rules;
use crate::pod::rules::FinalDots;

pub(super) fn check(file: &ResolverFile<'_>, context: &Context<'_>, report: &mut Report) {
    // Systemd writes it on every node without a domain: without an old
    // version it is fine.
    let Some(version) = context.kubelet_version() else {
        return;
    };
    let searches = file.read.searches.iter();
    let mut roots = searches.filter(|it| it.text == ".");
    let (Some(root), Role::Kubelet) = (roots.next(), file.role) else {
        return;
    };
    let who = kubelet(Some(version));
    let finding = match Rules::of_version(Some(version)).final_dots {
        FinalDots::RootDropped => return,
        FinalDots::Cut => report
            .add(
                root.at,
                format!("{who} makes an empty search domain of this dot"),
            )
            .severity(Severity::Info)
            .note("it takes a place of the pods' search list"),
        FinalDots::Kept | FinalDots::RootKept => report
            .add(
                root.at,
                format!("{who} hands this dot to pods, where musl up to 1.2.3 fails at it"),
            )
            .note("in images with an older musl (Alpine) no name outside of the cluster resolves"),
    };
    finding.help(
        "run a kubelet since 1.25.1, which leaves it out, or give this one a file without it",
    );
    point_to_setting(finding, file);
}
