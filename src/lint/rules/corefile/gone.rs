//! What newer versions of CoreDNS do not start with.

use super::blocks::{is_node_cache, shown, version};
use crate::finding::Severity;
use crate::kubelet::Version;
use crate::lint::context::Context;
use crate::lint::document::{At, Change};
use crate::lint::report::{Draft, Report};
use crate::lint::subject::CorefileText;

/// Says that a version does not start with something that those before `gone`
/// knew: with a fix if the version is known, and as a warning if another one decides,
/// that of an image or of a template.
pub(super) fn unknown_since<'r>(
    report: &'r mut Report,
    (file, context): (&CorefileText<'_>, &Context<'_>),
    at: At,
    what: &str,
    gone: Version,
    fix: (&'static str, Option<Change>),
) -> &'r mut Draft {
    let version = version(file, context);
    let program = match &version {
        Some(version) => shown(version.value),
        None => shown(gone).replacen(' ', " since ", 1),
    };
    let finding = report.add(at, format!("{program} does not start with {what}"));
    match version {
        Some(version) => {
            finding.fix(fix.0, [fix.1]);
            finding.also_each(version.at, "the version");
        }
        None => {
            let image = context.untold_coredns(file.document.file);
            let image = image.filter(|_| !is_node_cache(&file.corefile.blocks));
            if image.is_some() || file.document.is_partial {
                finding.severity(Severity::Warning);
                finding.note("the version is not told here");
            }
            finding.also_each(image, "the image, whose version is not told");
            finding.note("no version that Kubernetes 1.20 or newer came with knows it");
        }
    }
    finding
}
