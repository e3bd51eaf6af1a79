//! `kdns lint` from bytes to formats, over files of any name; and `--fix`.

use std::collections::BTreeMap;
use std::sync::Arc;

use kdns::finding::{Label, Severity};
use kdns::lint::document::{Documents, FileId};
use kdns::lint::{Findings, Given, fix, reading, settings};
use kdns::render::findings::{concise, github};
use kdns::render::lint::{Lint, json, junit, sarif, text};
use kdns::text::Source;

use super::{head, inside, printable, printable_lines, source, texts};

/// Rounds in which a fix can show another one.
const MAX_ROUNDS: usize = 10;

/// Files: each the path on a line of its own, then its bytes.
pub(crate) fn run(data: &[u8]) {
    let mut files: BTreeMap<String, Arc<Source>> = BTreeMap::new();
    for (path, bytes) in texts(data).take(6).map(head) {
        let path = kdns::text::escaped(path);
        if path == "kdns.toml"
            && let Err(error) = settings::parse(&source(&path, bytes))
        {
            printable(&error.to_string());
        }
        files.insert(path.clone(), Arc::new(source(&path, bytes)));
    }
    let first = Outcome::of(&files);
    first.places(&files);
    first.formats(&files);
    let mut outcome = first;
    let mut seen = Vec::new();
    for _ in 0..MAX_ROUNDS {
        let changed = outcome.fixed(&files);
        if changed.is_empty() {
            return;
        }
        seen.push(
            outcome
                .found
                .findings
                .iter()
                .map(|it| it.code)
                .collect::<Vec<_>>(),
        );
        let before = outcome.broken();
        files.extend(changed);
        outcome = Outcome::of(&files);
        outcome.places(&files);
        assert!(outcome.broken() <= before, "a fix breaks a file");
    }
    assert!(
        outcome.fixed(&files).is_empty(),
        "fixes do not end: {seen:?}"
    );
}

/// What a run over files gives.
struct Outcome {
    found: Findings,
    read: Vec<Documents>,
}

impl Outcome {
    fn of(files: &BTreeMap<String, Arc<Source>>) -> Self {
        let sources: Vec<Arc<Source>> = files.values().cloned().collect();
        let number = |index: usize| FileId(u32::try_from(index).unwrap());
        let read = sources.iter().enumerate();
        let read = read.map(|(index, it)| reading::documents(number(index), it, None));
        Self {
            found: kdns::lint::run(&sources, &Given::default()),
            read: read.collect(),
        }
    }

    fn broken(&self) -> usize {
        self.read.iter().map(|it| it.broken.len()).sum()
    }

    /// The files that fixes change, as they are afterwards.
    fn fixed(&self, files: &BTreeMap<String, Arc<Source>>) -> BTreeMap<String, Arc<Source>> {
        let edits = fix::edits(&self.found.findings, true);
        let changed = edits.into_iter().filter_map(|(path, edits)| {
            let old = &files.get(&path).expect("a file that was given").bytes;
            let new = fix::applied(old, &edits).expect("edits inside of the file");
            (new != *old).then(|| (path.clone(), Arc::new(source(&path, &new))))
        });
        changed.collect()
    }

    /// Everything stands in its file, and nothing can steer a terminal.
    fn places(&self, files: &BTreeMap<String, Arc<Source>>) {
        for (index, found) in self.read.iter().enumerate() {
            let bytes = &files.values().nth(index).unwrap().bytes;
            for document in &found.documents {
                assert_eq!(document.file.0 as usize, index);
            }
            found.broken.iter().for_each(|it| inside(it.at.span, bytes));
        }
        let suppressed = self.found.suppressed.iter().map(|it| &it.0);
        for finding in self.found.findings.iter().chain(suppressed) {
            printable(&finding.message);
            finding.help.iter().for_each(|it| printable(it));
            finding.notes.iter().for_each(|it| printable(it));
            label(&finding.primary, files);
            finding.secondary.iter().for_each(|it| label(it, files));
            for edit in finding.fix.iter().flat_map(|it| &it.edits) {
                inside(edit.span, &files.get(&edit.file).unwrap().bytes);
            }
        }
    }

    /// Every format can be written and read.
    fn formats(&self, files: &BTreeMap<String, Arc<Source>>) {
        let lint = Lint {
            findings: &self.found.findings,
            suppressed: &self.found.suppressed,
            notices: Vec::new(),
            files: files.len(),
            fail_on: Severity::Warning,
            asides: Vec::new(),
        };
        let mut out = Vec::new();
        let style = kdns::render::Style {
            links: false,
            colors: false,
            verbose: true,
            columns: 80,
        };
        text::write(&lint, style, &mut out).unwrap();
        concise::write(&self.found.findings, &mut out).unwrap();
        github::write(&lint.log(), &mut out).unwrap();
        printable_lines(&out);
        out.clear();
        junit::write(&lint, &mut out).unwrap();
        printable_lines(&out);
        out.clear();
        json::write(&lint, &mut out).unwrap();
        let _: serde_json::Value = serde_json::from_slice(&out).expect("JSON");
        out.clear();
        sarif::write(&lint, &|_| None, &mut out).unwrap();
        let _: serde_json::Value = serde_json::from_slice(&out).expect("JSON");
    }
}

fn label(label: &Label, files: &BTreeMap<String, Arc<Source>>) {
    printable(&label.text);
    printable(&label.file);
    if let Some(file) = files.get(&label.file) {
        inside(label.span, &file.bytes);
        assert!(label.start <= label.end, "{label:?}");
    }
}
