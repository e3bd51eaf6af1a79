//! What several rules about resolv.conf ask and say.

use std::net::IpAddr;

use crate::kubelet::Version;
use crate::kubelet::choice::NODE_FILE;
use crate::lint::context::Context;
use crate::lint::facts::{Setting, Text};
use crate::lint::options::Role;
use crate::lint::report::Draft;
use crate::lint::subject::ResolverFile;

/// Whether a word begins a comment, for the one who wrote it.
pub(super) fn is_comment(word: &[u8]) -> bool {
    matches!(word.first(), Some(b'#' | b';'))
}

/// How many of the name servers pods get: the kubelet leaves out the rest.
pub(super) fn handed_out_count(file: &ResolverFile<'_>, context: &Context<'_>) -> usize {
    let most = context.pod_rules().limits.servers;
    file.read.servers.len().min(most)
}

/// Those of them that are addresses, scopes left out, in order.
pub(super) fn handed_out<'f>(
    file: &'f ResolverFile<'_>,
    context: &Context<'_>,
) -> impl Iterator<Item = (IpAddr, &'f Text)> {
    let servers = file.read.servers.iter();
    let servers = servers.take(handed_out_count(file, context));
    servers.filter_map(|it| Some((it.server()?, it)))
}

/// Whether somebody made the file for the kubelet: in the node's own file and
/// in those that programs write, options and search domains are for the node.
pub(super) fn is_made_for_kubelet(file: &ResolverFile<'_>) -> bool {
    let named = file.named_by.and_then(Setting::value);
    let is_own = named.is_some_and(|it| it.text != NODE_FILE && !it.text.starts_with("/run/"));
    file.role == Role::Kubelet && is_own
}

/// Points to the setting that names the file for the kubelet, if one was given.
pub(super) fn point_to_setting(finding: &mut Draft, file: &ResolverFile<'_>) {
    finding.also_each(
        file.named_by.map(|it| it.at),
        "the kubelet hands the file to pods because of this",
    );
}

/// `kubelet 1.25`, or `the kubelet` if its version is not known.
pub(super) fn kubelet(version: Option<Version>) -> String {
    match version {
        Some(it) => format!("kubelet {}.{}", it.major, it.minor),
        None => "the kubelet".to_owned(),
    }
}
