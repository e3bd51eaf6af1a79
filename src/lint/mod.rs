//! Rules about resolv.conf files, kubelet settings, Corefiles, pods and nodes.
//!
//! [`run()`] lints files, which are whatever implements [`Input`]; `host` and the
//! command line know those of the machine.
//!
//! A rule is a value in a file of its own, with its page beside it; see
//! [`rules::all`]. Rules see the files that were given together through a
//! [`Context`]; what they find goes into a [`Report`].

pub mod baseline;
pub mod check;
pub mod context;
pub mod document;
pub mod egress;
pub mod embedded;
pub mod extract;
pub mod facts;
pub mod fix;
pub mod form;
pub mod imports;
pub mod inner;
mod look;
pub mod options;
mod parallel;
mod pattern;
pub mod reading;
pub mod recognise;
pub mod report;
pub mod rules;
mod run;
pub mod select;
pub mod settings;
pub mod settle;
pub mod subject;
pub mod suppress;
mod template;
pub mod workspace;

use crate::finding::Severity;
use crate::lint::context::Context;
use crate::lint::report::Report;
use crate::lint::subject::{
    CorefileText, DaemonText, Kubelet, KubeletText, Object, ResolverFile, SettingsText, Workload,
};
use crate::node::Node;

pub use self::look::Unread;
pub use self::run::{Content, Findings, Input, Origin, run};
pub use self::workspace::Given;

/// A check and everything that is said about it.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Stable code: `KR`, `KK`, `KC`, `KP`, `KD`, `KN`, `KG`, `KH`, `KE` or `KS` and three digits.
    /// Never given to another rule.
    pub code: &'static str,
    /// What is wrong, in kebab-case; not what to do.
    pub name: &'static str,
    /// How bad it is, if the check does not say otherwise.
    pub severity: Severity,
    /// One line, without a full stop: `every name server is a loopback address`.
    pub summary: &'static str,
    /// Its page without the title: [`Rule::page`].
    body: &'static str,
    /// What it looks at.
    pub check: Check,
}

/// What stands before and behind the first `mark`.
const fn split(text: &'static str, mark: u8) -> (&'static str, &'static str) {
    let (mut length, mut rest) = (0, text.as_bytes());
    while let [first, more @ ..] = rest
        && *first != mark
    {
        (length, rest) = (length + 1, more);
    }
    let (before, behind) = text.split_at(length);
    (before, behind.split_at(1).1)
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
    /// Each configuration of nginx.
    Nginx(fn(&DaemonText<'_>, &Context<'_>, &mut Report)),
    /// Each configuration of `HAProxy`.
    Haproxy(fn(&DaemonText<'_>, &Context<'_>, &mut Report)),
    /// Each object of Kubernetes.
    Object(fn(&Object<'_>, &Context<'_>, &mut Report)),
    /// The node, with `--root` or `--node`.
    Node(fn(&Node, &Context<'_>, &mut Report)),
    /// Found while files are read, not by a check: broken files, suppressions.
    Reading,
}

impl Rule {
    /// The rule of a page that begins with `# CODE: NAME`, a blank line and
    /// `SEVERITY: SUMMARY`.
    ///
    /// Panics, which ends the build, where the page begins otherwise.
    #[expect(
        clippy::panic,
        reason = "it is in no program: rules are made while one is built"
    )]
    const fn new(page: &'static str, check: Check) -> Self {
        let (title, rest) = split(page, b'\n');
        let (_, rest) = split(rest, b'\n');
        let (line, body) = split(rest, b'\n');
        let (code, name) = split(title.split_at("# ".len()).1, b':');
        let (severity, summary) = split(line, b':');
        let (name, summary) = (name.split_at(1).1, summary.split_at(1).1);
        let severity = match severity.as_bytes() {
            b"error" => Severity::Error,
            b"warning" => Severity::Warning,
            b"info" => Severity::Info,
            _ => panic!("a page has a severity in its third line"),
        };
        Self {
            code,
            name,
            severity,
            summary,
            body,
            check,
        }
    }

    /// Its page, in Markdown: what it finds, why that matters, and how to fix it.
    pub fn page(&self) -> String {
        format!("# {}: {}\n{}", self.code, self.name, self.body)
    }

    /// Whether `word` names it: its code, its name, or how its code begins.
    pub fn is_named(&self, word: &str) -> bool {
        self.name == word || self.code.starts_with(word)
    }

    /// Whether it needs a node.
    pub fn needs_node(&self) -> bool {
        matches!(self.check, Check::Node(_))
    }
}
