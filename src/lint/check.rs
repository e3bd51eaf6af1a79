//! Runs rules over documents.

use std::borrow::Cow;

use crate::lint::context::Context;
use crate::lint::document::{Document, Documents, Syntax};
use crate::lint::extract::{self, objects, pod_specs};
use crate::lint::report::{Draft, Report};
use crate::lint::subject::{
    CorefileText, DaemonText, Entry, Kubelet, KubeletText, Object, ResolverFile, SettingsText,
    Workload,
};
use crate::lint::{Check, Rule};

/// What the rules find in the documents of a file, in the order of the rules.
pub fn documents(found: &Documents, context: &Context<'_>, rules: &[&'static Rule]) -> Vec<Draft> {
    let subjects: Vec<Subjects<'_>> = found.documents.iter().map(Subjects::in_document).collect();
    let mut drafts = Vec::new();
    for rule in rules {
        let mut report = Report::new(rule);
        for subjects in &subjects {
            let before = report.count();
            if subjects.document.is_partial && !OF_PARTS.contains(&rule.code) {
                continue;
            }
            subjects.check(rule.check, context, &mut report);
            if let Syntax::ResolvConf(_) = subjects.document.syntax {
                report.keep(before + MAX_OF_RESOLVER_FILE);
            }
            if let Some(condition) = subjects.document.condition {
                report.under(condition, before);
            }
        }
        drafts.extend(report.into_found());
    }
    drafts
}

/// Rules about what stands there, whatever stands beside it: those that look at the
/// plain parts of a template, and at lines that are put into a file.
const OF_PARTS: [&str; 35] = [
    "KC001", "KC002", "KC005", "KC006", "KC008", "KC013", "KC026", "KC032", "KC033", "KC039",
    "KD013", "KD014", "KK003", "KK013", "KK022", "KK026", "KK027", "KK028", "KP001", "KP003",
    "KP008", "KP016", "KP017", "KP018", "KP019", "KP022", "KP023", "KP027", "KP028", "KP029",
    "KR010", "KR019", "KR020", "KR022", "KR025",
];

/// More findings of one rule about a file that resolvers read are counted: its
/// lines can be as short as a word, and what is said about one is not.
const MAX_OF_RESOLVER_FILE: usize = 100;

/// What the rules find in what was put together from several files: kubelets
/// and the node.
pub fn across(context: &Context<'_>, rules: &[&'static Rule]) -> Vec<Draft> {
    let mut drafts = Vec::new();
    for rule in rules {
        let mut report = Report::new(rule);
        match rule.check {
            Check::Kubelet(check) => {
                let kubelets = context.kubelets().iter();
                kubelets.for_each(|it| check(it, context, &mut report));
            }
            Check::Node(check) => {
                let node = context.node().into_iter();
                node.for_each(|it| check(it, context, &mut report));
            }
            _ => {}
        }
        drafts.extend(report.into_found());
    }
    drafts
}

/// What there is to look at in a document.
struct Subjects<'d> {
    document: &'d Document,
    facts: crate::lint::facts::Facts,
    workloads: Vec<Workload<'d>>,
    entries: Vec<Entry<'d>>,
}

impl<'d> Subjects<'d> {
    fn in_document(document: &'d Document) -> Self {
        let roots = document.yaml().map(objects).unwrap_or_default();
        let workloads = roots.into_iter().flat_map(|object| {
            let specs = pod_specs(object).into_iter();
            specs.map(move |spec| Workload {
                document,
                kind: object.word(&["kind"]).unwrap_or("this pod"),
                object,
                spec,
            })
        });
        let entries = match &document.syntax {
            Syntax::ResolvConf(conf) => Entry::all(conf),
            _ => Vec::new(),
        };
        Self {
            document,
            facts: extract::facts_of(document),
            workloads: workloads.collect(),
            entries,
        }
    }

    fn check(&self, check: Check, context: &Context<'_>, report: &mut Report) {
        let document = self.document;
        match (check, &document.syntax) {
            (Check::Resolver(check), Syntax::ResolvConf(conf)) => {
                for read in &self.facts.resolvers {
                    let (role, named_by) = context.role(read);
                    let file = ResolverFile {
                        document,
                        conf,
                        entries: &self.entries,
                        read,
                        role,
                        named_by,
                    };
                    check(&file, context, report);
                }
            }
            (Check::Corefile(check), Syntax::Corefile(corefile)) => {
                check(&CorefileText { document, corefile }, context, report);
            }
            (Check::Settings(check), Syntax::Settings(entries)) => {
                check(&SettingsText { document, entries }, context, report);
            }
            (Check::Nginx(check), Syntax::Nginx(statements))
            | (Check::Haproxy(check), Syntax::Haproxy(statements)) => {
                let text = DaemonText {
                    document,
                    statements,
                };
                check(&text, context, report);
            }
            // What need not be there is put together with nothing else.
            (Check::Kubelet(check), _) if document.condition.is_some() => {
                self.kubelets().for_each(|it| check(&it, context, report));
            }
            (Check::KubeletText(check), _) => {
                for facts in &self.facts.kubelets {
                    let (form, settings) = (facts.form, facts.settings.as_slice());
                    let text = KubeletText {
                        document,
                        form,
                        settings,
                    };
                    check(&text, context, report);
                }
            }
            (Check::Object(check), Syntax::Yaml(root)) => {
                for object in objects(root) {
                    check(&Object { document, object }, context, report);
                }
            }
            (Check::Workload(check), _) => {
                self.workloads
                    .iter()
                    .for_each(|it| check(it, context, report));
            }
            _ => {}
        }
    }

    /// The kubelets of this document alone.
    fn kubelets(&self) -> impl Iterator<Item = Kubelet<'_>> {
        self.facts.kubelets.iter().map(|facts| {
            let mut kubelet = Kubelet::default();
            let settings = facts.settings.iter().map(Cow::Borrowed);
            settings.for_each(|it| kubelet.set(it));
            kubelet
        })
    }
}
