//! From drafts to findings: lines are counted, suppressions taken into
//! account.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::config::yaml;
use crate::finding::{self, Edit, Finding, Fix, Label, Severity};
use crate::lint::Rule;
use crate::lint::document::{At, Broken, Change, FileId};
use crate::lint::report::{Draft, Mark, Report, Spot};
use crate::lint::rules::{self, reading};
use crate::lint::suppress::{self, Suppression};
use crate::lint::workspace::Workspace;
use crate::order::Order as _;
use crate::text::{LineIndex, Place, Source, Span, has_placeholder, merge_conflicts, some_of};

/// Gives a file's bytes once more, as they were read. `None`: they are gone.
pub type Library<'l> = &'l (dyn Fn(FileId) -> Option<Arc<Source>> + Sync);

/// What became of the drafts of a file.
#[derive(Clone, Debug, Default)]
pub struct Settled {
    /// What counts, in the order of its places.
    pub findings: Vec<Finding>,
    /// What a comment suppresses, with the reason that it gives. Not safe to print.
    pub suppressed: Vec<(Finding, String)>,
}

/// What is said of a template, if there is one.
const ONE_TEMPLATE: &str =
    "of a template, which is no YAML before it is rendered, only plain parts were read";

/// What only stands in templates: of Go, Terraform, Jinja, ERB, and of what is put in by
/// `sed` and `envsubst`.
const TEMPLATE_MARKS: [&[u8]; 8] = [b"{{", b"%{", b"\n${", b"{%", b"<%", b": @", b"\n@", b"- @"];
/// What stands in those of a chart, which Helm renders.
const HELMS_MARKS: [&[u8]; 4] = [b".Values", b".Release", b".Chart", b"include \""];

/// Keeps one remark about templates in a run, which counts them.
pub fn join_templates(findings: &mut Vec<Finding>) {
    let is_one = |it: &Finding| it.code == reading::TEMPLATE.code;
    let mut files: Vec<String> = findings
        .iter()
        .filter(|it| is_one(it))
        .map(|it| it.primary.file.clone())
        .collect();
    files.dedup();
    let mut is_first = true;
    findings.retain(|it| !is_one(it) || std::mem::take(&mut is_first));
    let others = files.get(1..).unwrap_or_default();
    let Some(first) = findings.iter_mut().find(|it| is_one(it)) else {
        return;
    };
    if others.is_empty() {
        return;
    }
    let count = files.len();
    first.message = format!(
        "of {count} templates, which are no YAML before they are rendered, only plain parts were read"
    );
    let named = some_of(others, NAMED_TEMPLATES);
    first.notes.push(format!("the others: {named}"));
}

/// So many of them are named.
const NAMED_TEMPLATES: usize = 5;

/// The drafts for the documents of a file that cannot be parsed.
pub fn broken(all: &[Broken], bytes: &[u8]) -> Vec<Draft> {
    if all.is_empty() {
        return Vec::new();
    }
    // What the whole file has is looked for once: there can be many documents.
    let has = |mark: &&[u8]| memchr::memmem::find(bytes, mark).is_some();
    let has_marks = TEMPLATE_MARKS.iter().any(has);
    // In a conflict there can be such marks, too: it is no template before it is solved.
    let has_conflict = merge_conflicts(bytes).next().is_some();
    let help = if HELMS_MARKS.iter().any(has) {
        "lint what it renders: helm template . | kdns lint -"
    } else {
        "lint the file that it renders"
    };
    let draft = |it: &Broken| {
        let is_filled_in = || {
            let lines = lines_to(it.at.span.start, bytes);
            lines.lines().any(|it| has_placeholder(it.trim()))
        };
        let is_template = !has_conflict && (has_marks || is_filled_in());
        let mut report = Report::new(if is_template {
            &reading::TEMPLATE
        } else {
            &reading::UNPARSEABLE
        });
        let draft = if is_template {
            report.add(it.at, ONE_TEMPLATE).help(help)
        } else if it.message == yaml::BEHIND {
            report.add(it.at, yaml::BEHIND).severity(Severity::Warning)
        } else {
            let message = format!("the document cannot be parsed: {}", it.message);
            report.add(it.at, message)
        };
        draft.clone()
    };
    all.iter().map(draft).collect()
}

/// The line where reading stopped, and the one before it: what is filled in there
/// is why.
fn lines_to(stop: u32, bytes: &[u8]) -> String {
    let stop = (stop as usize).min(bytes.len());
    let (before, behind) = bytes.split_at(stop);
    let mut starts = memchr::memrchr_iter(b'\n', before);
    let start = starts.nth(1).map_or(0, |it| it + 1);
    let end = memchr::memchr(b'\n', behind).map_or(bytes.len(), |it| stop + it);
    let end = end.min(start + LONGEST_LINES);
    String::from_utf8_lossy(bytes.get(start..end).unwrap_or_default()).into_owned()
}

/// More of them is not looked at.
const LONGEST_LINES: usize = 4096;

/// The findings of the file `source`: `drafts` are those whose first place is
/// in it. `rules` are the rules that ran, which tells unused suppressions;
/// `is_whole`: nothing of it could not be parsed, and may hold what they suppress.
pub fn findings(
    source: &Source,
    file: FileId,
    drafts: Vec<Draft>,
    workspace: &Workspace<'_>,
    rules: &[&'static Rule],
    is_whole: bool,
    library: Library<'_>,
) -> Settled {
    let has_inline = workspace
        .facts(file)
        .is_none_or(|it| it.resolvers.is_empty() || !it.kubelets.is_empty());
    let suppressions = suppress::suppressions(&source.bytes, has_inline);
    let is_of_file = |it: &(usize, &Suppression)| it.1.lines.is_none();
    let whole = suppressions.iter().enumerate().filter(is_of_file);
    let whole: Vec<usize> = whole.map(|(index, _)| index).collect();
    let mut used = vec![Vec::new(); suppressions.len()];
    let mut settled = Settled::default();
    let mut files = Files {
        workspace,
        library,
        known: BTreeMap::new(),
    };
    for draft in drafts {
        let rule = draft.rule;
        let finding = files.finding(draft);
        match suppressed_by(
            &suppressions,
            rule,
            finding.primary.start.line,
            &whole,
            &mut used,
        ) {
            Some(reason) => settled.suppressed.push((finding, reason)),
            None => settled.findings.push(finding),
        }
    }
    let is_unused_wanted = |it: &&Rule| it.code == reading::UNUSED_SUPPRESSION.code;
    if is_whole && rules.iter().any(is_unused_wanted) {
        for draft in unused(&suppressions, &used, file, rules) {
            let rule = draft.rule;
            let finding = files.finding(draft);
            let line = finding.primary.start.line;
            if suppressed_by(&suppressions, rule, line, &whole, &mut used).is_none() {
                settled.findings.push(finding);
            }
        }
    }
    settled
        .findings
        .order_by(|one, other| order(one).cmp(&order(other)));
    settled.findings.dedup();
    settled
}

/// What findings are sorted by.
pub fn order(finding: &Finding) -> (&str, usize, usize, &str, &str) {
    let (file, line, column) = finding.primary.order();
    (file, line, column, finding.code, &finding.message)
}

/// The reason of the suppression that a finding on a line falls under.
fn suppressed_by(
    suppressions: &[Suppression],
    rule: &Rule,
    line: usize,
    whole: &[usize],
    used: &mut [Vec<usize>],
) -> Option<String> {
    let mut reason = None;
    let of_line = |it: &Suppression| match it.lines {
        Some((first, last)) => (first..=last).contains(&line),
        None => true,
    };
    let of_file = whole.iter().copied();
    for index in nearby(suppressions, line).chain(of_file) {
        let (Some(suppression), Some(used)) = (suppressions.get(index), used.get_mut(index)) else {
            continue;
        };
        let mut words = suppression.words.iter();
        let word = words.position(|(word, _)| rule.is_named(word));
        if let (true, Some(word)) = (of_line(suppression), word) {
            used.push(word);
            reason.get_or_insert_with(|| suppression.reason.clone());
        }
    }
    reason
}

/// The suppressions that can count for a line, the last one first: they are in
/// the order of their lines, and so are their last lines.
fn nearby(suppressions: &[Suppression], line: usize) -> impl Iterator<Item = usize> + '_ {
    let first = |it: &Suppression| it.lines.map_or(it.line, |(first, _)| first);
    let end = suppressions.partition_point(|it| first(it) <= line);
    let before = (0..end).rev();
    before
        .take_while(move |&index| {
            let last = suppressions.get(index).and_then(|it| it.lines);
            last.is_none_or(|(_, last)| last >= line)
        })
        .filter(|&index| suppressions.get(index).is_some_and(|it| it.lines.is_some()))
}

/// A draft for each suppression that suppresses nothing.
fn unused(
    suppressions: &[Suppression],
    used: &[Vec<usize>],
    file: FileId,
    rules: &[&'static Rule],
) -> Vec<Draft> {
    let mut report = Report::new(&reading::UNUSED_SUPPRESSION);
    for (suppression, used) in suppressions.iter().zip(used) {
        let at = |span: Span| At { file, span };
        if suppression.words.is_empty() {
            report
                .add(
                    at(suppression.comment),
                    "a suppression that names no rule suppresses nothing",
                )
                .help("write the codes in brackets: # kdns: ignore[KR003] reason");
        }
        let is_alone = used.is_empty();
        for (index, (word, span)) in suppression.words.iter().enumerate() {
            if used.contains(&index) || word == reading::UNUSED_SUPPRESSION.code {
                continue;
            }
            let is_known = rules::all().any(|rule| rule.is_named(word));
            // What did not run finds nothing.
            let ran = rules
                .iter()
                .any(|rule| rule.is_named(word) && !rule.needs_node());
            if is_known && !ran {
                continue;
            }
            let message = if is_known {
                format!("nothing is found here that {word} would suppress")
            } else {
                format!("no rule has the code or name {word}")
            };
            let draft = report.add(at(*span), message);
            draft.help("remove it");
            if is_alone && suppression.words.len() == 1 {
                let text = String::new();
                let at = at(suppression.removed);
                draft.fix("remove the comment", [Some(Change { at, text })]);
            }
        }
    }
    report.into_found()
}

/// The files that labels of findings are in.
struct Files<'l> {
    workspace: &'l Workspace<'l>,
    library: Library<'l>,
    known: BTreeMap<FileId, Option<Known>>,
}

/// A file and its lines.
type Known = (Arc<Source>, Arc<LineIndex>);

impl Files<'_> {
    fn finding(&mut self, draft: Draft) -> Finding {
        let primary = self.label(draft.primary);
        let secondary = draft.secondary.into_iter();
        let secondary = secondary.map(|it| self.label(it)).collect();
        let is_safe = draft.is_fix_safe;
        let fix = draft.fix.map(|(title, changes)| Fix {
            title,
            edits: changes.into_iter().map(|it| self.edit(it)).collect(),
            is_safe,
        });
        Finding {
            code: draft.rule.code,
            name: draft.rule.name,
            severity: draft.severity,
            message: draft.message,
            primary,
            secondary,
            help: draft.help,
            notes: draft.notes,
            fix,
        }
    }

    fn edit(&mut self, change: Change) -> Edit {
        let span = change.at.span;
        let known = self.known(change.at.file);
        let (start, end) = known
            .map(|(source, lines)| finding::positions(&source, &lines, span))
            .unwrap_or_default();
        Edit {
            file: self.workspace.path(change.at.file).to_owned(),
            span,
            start,
            end,
            text: change.text,
        }
    }

    fn label(&mut self, mark: Mark) -> Label {
        match mark.spot {
            Spot::At(at) => self.label_at(at, mark.text),
            Spot::Place(place) => self.label_place(&place, mark.text),
        }
    }

    fn label_at(&mut self, at: At, text: String) -> Label {
        match self.known(at.file) {
            Some((source, lines)) => Label::spanning(&source, &lines, at.span, text),
            None => Label {
                span: at.span,
                ..Label::at(&Place::nowhere(self.workspace.path(at.file)), text)
            },
        }
    }

    /// A place of which only line and column are known is a word of its line.
    fn label_place(&mut self, place: &Place, text: String) -> Label {
        let file = self.workspace.file_at(&place.file);
        if let Some((source, lines)) = file.and_then(|file| self.known(file)) {
            let span = word_at(&source, place);
            return Label::spanning(&source, &lines, span, text);
        }
        Label::at(place, text)
    }

    fn known(&mut self, file: FileId) -> Option<Known> {
        let library = self.library;
        let read = || {
            let source = library(file)?;
            let lines = LineIndex::new(&source.bytes);
            Some((source, Arc::new(lines)))
        };
        self.known.entry(file).or_insert_with(read).clone()
    }
}

/// The bytes of the word at a place.
fn word_at(source: &Source, place: &Place) -> Span {
    let mut lines = source.bytes.split_inclusive(|&byte| byte == b'\n');
    let before = lines.by_ref().take(place.line.saturating_sub(1));
    let start: usize = before.map(<[u8]>::len).sum();
    let line = lines.next().unwrap_or_default();
    let line = String::from_utf8_lossy(line);
    let skipped = line.chars().take(place.column.saturating_sub(1));
    let column: usize = skipped.map(char::len_utf8).sum();
    let rest = line.get(column..).unwrap_or_default();
    let word = rest.split_whitespace().next().map_or(0, str::len);
    Span::new(start + column, start + column + word)
}
