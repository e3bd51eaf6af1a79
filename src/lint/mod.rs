//! Rules about resolv.conf files, kubelet settings, Corefiles, pods and nodes.
//!
//! A rule is a value in a file of its own, with its page beside it; see
//! [`rules::all`]. Rules see the files that were given together through a
//! [`Context`]; what they find goes into a [`Report`].

pub mod check;
pub mod context;
pub mod document;
pub mod embedded;
pub mod extract;
pub mod facts;
pub mod fix;
pub mod form;
pub mod imports;
pub mod inner;
pub mod options;
mod pattern;
pub mod reading;
pub mod recognise;
pub mod report;
pub mod rules;
pub mod select;
pub mod settings;
pub mod settle;
pub mod subject;
pub mod suppress;
pub mod workspace;

use crate::finding::Severity;
use crate::lint::context::Context;
use crate::lint::report::Report;
use crate::lint::subject::{
    CorefileText, Kubelet, KubeletText, ResolverFile, SettingsText, Workload,
};
use crate::node::Node;

/// A check and everything that is said about it.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Stable code: `KR`, `KK`, `KC`, `KP`, `KN` or `KS` and three digits.
    /// Never given to another rule.
    pub code: &'static str,
    /// What is wrong, in kebab-case; not what to do.
    pub name: &'static str,
    /// How bad it is, if the check does not say otherwise.
    pub severity: Severity,
    /// One line, without a full stop: `every name server is a loopback address`.
    pub summary: &'static str,
    /// The rule's page, in Markdown.
    pub page: &'static str,
    /// What it looks at.
    pub check: Check,
}

/// What a rule looks at, and how.
#[derive(Clone, Copy, Debug)]
pub enum Check {
    /// Each file in the syntax of resolv.conf, with its role.
    Resolver(fn(&ResolverFile<'_>, &Context<'_>, &mut Report)),
    /// Each text that sets something of a kubelet: `KubeletConfiguration`,
    /// flags in units and variables, k3s's and kubeadm's files.
    KubeletText(fn(&KubeletText<'_>, &Context<'_>, &mut Report)),
    /// Each kubelet, put together from all that was given of it.
    Kubelet(fn(&Kubelet<'_>, &Context<'_>, &mut Report)),
    /// Each Corefile.
    Corefile(fn(&CorefileText<'_>, &Context<'_>, &mut Report)),
    /// Each pod and pod template.
    Workload(fn(&Workload<'_>, &Context<'_>, &mut Report)),
    /// Each `resolved.conf` and `NetworkManager.conf`.
    Settings(fn(&SettingsText<'_>, &Context<'_>, &mut Report)),
    /// The node, with `--root` or `--node`.
    Node(fn(&Node, &Context<'_>, &mut Report)),
    /// Found while files are read, not by a check: broken files, suppressions.
    Reading,
}

impl Rule {
    /// Whether `word` names it: its code, its name, or how its code begins.
    pub fn is_named(&self, word: &str) -> bool {
        self.name == word || self.code.starts_with(word)
    }

    /// Whether it needs a node.
    pub fn needs_node(&self) -> bool {
        matches!(self.check, Check::Node(_))
    }
}
