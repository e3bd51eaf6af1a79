//! What newer versions of CoreDNS do not start with.

use super::blocks::{is_node_cache, shown, version};
use crate::finding::Severity;
use crate::kubelet::Version;
use crate::lint::context::{Context, Known};
use crate::lint::document::{At, Change};
use crate::lint::report::{Draft, Report};
use crate::lint::subject::CorefileText;

/// What the versions before `since` knew, in a Corefile that another one can read.
pub(super) struct Gone<'f, 'w> {
    file: &'f CorefileText<'w>,
    context: &'f Context<'w>,
    since: Version,
    /// The version that reads the file, if it is known.
    version: Option<Known<Version>>,
}

impl<'f, 'w> Gone<'f, 'w> {
    /// `None`: an older version reads the file.
    pub(super) fn since(
        since: Version,
        file: &'f CorefileText<'w>,
        context: &'f Context<'w>,
    ) -> Option<Self> {
        let version = version(file, context);
        let is_older = version.as_ref().is_some_and(|it| it.value < since);
        (!is_older).then_some(Self {
            file,
            context,
            since,
            version,
        })
    }

    /// Says that a version does not start with something: with a fix if the version
    /// is known, as a warning if another one decides, that of an image or of a
    /// template, and as a remark if an older CoreDNS was given elsewhere.
    pub(super) fn said<'r>(
        &self,
        report: &'r mut Report,
        at: At,
        what: &str,
        fix: (&'static str, Option<Change>),
    ) -> &'r mut Draft {
        let program = match &self.version {
            Some(version) => shown(version.value),
            None => shown(self.since).replacen(' ', " since ", 1),
        };
        let finding = report.add(at, format!("{program} does not start with {what}"));
        if let Some(version) = &self.version {
            finding.fix(fix.0, [fix.1]);
            return finding.also_each(version.at, "the version");
        }
        let document = self.file.document;
        let (mut image, mut older) = (None, None);
        // That of the cluster's DNS is another program.
        if !is_node_cache(&self.file.corefile.blocks) {
            older = self.context.older_coredns(document.file, self.since);
            image = self.context.untold_coredns(document.file);
            image = image.filter(|it| Some(it.0) != older);
        }
        if older.is_some() {
            finding.severity(Severity::Info);
        } else if image.is_some() || document.is_partial {
            finding.severity(Severity::Warning);
            finding.note("the version is not told here");
        }
        let label = match image {
            Some((_, true)) => "one of the images, which have several versions",
            _ => "the image, whose version is not told",
        };
        finding.also_each(image.map(|it| it.0), label);
        finding.also_each(older, "this CoreDNS is older, and starts with it");
        finding.note("no version that Kubernetes 1.20 or newer came with knows it")
    }
}
