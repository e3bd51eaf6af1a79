//! Findings for people: the line, the source with marks, what to write.

use std::io::{self, Write};
use std::ops::Range;

use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Renderer, Snippet};
use colored::{Color, Colorize as _};

use crate::finding::{Finding, Fix, Label, Severity};
use crate::lint::rules;
use crate::order::Order as _;
use crate::render::Style;
use crate::render::findings;
use crate::render::lint::{Lint, page_uri};
use crate::render::paragraph;
use crate::text::{counted, is_unprintable};

/// Without `verbose` no more lines than this are written, and so many of them
/// before the findings that get one line each.
const MAX_LINES: usize = 30;
const MAX_DETAILED: usize = 20;

/// Writes how many findings there are in how many files, then each one as
/// `FILE:LINE:COLUMN: error: CODE[NAME] MESSAGE` with its lines, `help:` and `note:`
/// below: the worst ones first where not all fit on a screen, and the others in
/// one line each; at the end what says more of the worst one.
///
/// # Errors
///
/// Any error of `out`.
pub fn write(lint: &Lint<'_>, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let findings = lint.findings;
    let mut line = summary(findings, lint.files);
    if !lint.asides.is_empty() {
        line = format!("{line} ({})", lint.asides.join("; "));
    }
    let worst = findings.iter().map(|it| it.severity).max();
    let line = match worst {
        _ if !style.colors => line,
        None => line.green().bold().to_string(),
        Some(severity) => line.color(color(severity)).bold().to_string(),
    };
    writeln!(out, "{line}")?;
    // The last two are what says more.
    let (mut blocks, mut used) = (Vec::new(), 3);
    for finding in findings {
        let block = block(finding, style)?;
        if style.verbose {
            out.write_all(&block)?;
            continue;
        }
        used += height(&block);
        if used > MAX_LINES {
            return brief(findings, style, out);
        }
        blocks.push(block);
    }
    blocks.iter().try_for_each(|it| out.write_all(it))?;
    // The first of the worst.
    let Some(finding) = findings.iter().rev().max_by_key(|it| it.severity) else {
        return Ok(());
    };
    let more = format!("kdns rule {} says more", finding.code);
    writeln!(out, "\n{}", dimmed(more, style))
}

/// A finding behind a blank line.
fn block(finding: &Finding, style: Style) -> io::Result<Vec<u8>> {
    let mut block = vec![b'\n'];
    write_one(finding, style, &mut block)?;
    Ok(block)
}

fn height(block: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', block).count()
}

/// The worst ones with their lines, and of the others a line each.
fn brief(findings: &[Finding], style: Style, out: &mut dyn Write) -> io::Result<()> {
    let mut order: Vec<usize> = (0..findings.len()).collect();
    order.order_by_key(|&at| findings.get(at).map(|it| std::cmp::Reverse(it.severity)));
    let mut used = 1;
    let mut rest = order.iter().peekable();
    while let Some(finding) = rest.peek().and_then(|&&at| findings.get(at)) {
        let block = block(finding, style)?;
        if used + height(&block) > MAX_DETAILED {
            break;
        }
        out.write_all(&block)?;
        used += height(&block);
        rest.next();
    }
    writeln!(out)?;
    used += 1;
    while used + 1 < MAX_LINES
        && let Some(finding) = rest.next().and_then(|&at| findings.get(at))
    {
        let rule = format!("{}[{}]", finding.code, finding.name);
        writeln!(out, "{}", heading(finding, word(finding.severity), &rule))?;
        used += 1;
    }
    let left = rest.count();
    let more = if left > 0 {
        format!("… and {left} more; -v shows all, with their lines")
    } else {
        "-v shows all with their lines".to_owned()
    };
    let code = order.first().and_then(|&at| findings.get(at));
    let code = code.map_or("", |it| it.code);
    let more = format!("{more}; kdns rule {code} says more");
    writeln!(out, "{}", dimmed(more, style))
}

fn dimmed(text: String, style: Style) -> String {
    if style.colors {
        text.dimmed().to_string()
    } else {
        text
    }
}

/// A severity, what one and what several findings of it are called.
const WORDS: [(Severity, &str, &str); 3] = [
    (Severity::Error, "error", "errors"),
    (Severity::Warning, "warning", "warnings"),
    (Severity::Info, "remark", "remarks"),
];

fn word(severity: Severity) -> &'static str {
    let found = WORDS.iter().find(|it| it.0 == severity);
    found.map_or("", |it| it.1)
}

/// The first line of a finding, or all of it.
fn heading(finding: &Finding, word: &str, rule: &str) -> String {
    let place = findings::place(&finding.primary);
    format!("{place}: {word}: {rule} {}", finding.message)
}

fn color(severity: Severity) -> Color {
    match severity {
        Severity::Error => Color::Red,
        Severity::Warning => Color::Yellow,
        Severity::Info => Color::Cyan,
    }
}

/// No excerpt is as wide.
const MAX_WIDTH: usize = 1000;

fn write_one(finding: &Finding, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let colors = style.colors;
    let color = color(finding.severity);
    let level = match finding.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Info => Level::INFO,
    };
    let paint = |text: &str, color: Color| {
        if colors {
            text.color(color).bold().to_string()
        } else {
            text.to_owned()
        }
    };
    let mut rule = paint(&format!("{}[{}]", finding.code, finding.name), color);
    if colors
        && style.links
        && let Some(page) = rules::find(finding.code)
    {
        rule = linked(&rule, &page_uri(page));
    }
    let head = heading(finding, &paint(word(finding.severity), color), &rule);
    paragraph::write_within(style.columns, out, "", "  ", &head)?;
    let excerpts = excerpts(finding);
    if !excerpts.is_empty() {
        let snippets = excerpts
            .iter()
            .enumerate()
            .map(|(index, it)| it.snippet(index));
        let group = snippets.fold(Group::with_level(level), Group::element);
        let renderer = if colors {
            Renderer::styled()
        } else {
            Renderer::plain()
        };
        // Lines were cut already.
        let renderer = renderer.term_width(MAX_WIDTH);
        writeln!(out, "{}", renderer.render(&[group]))?;
    }
    for note in &finding.notes {
        let note = format!("{} {note}", paint("note:", Color::Blue));
        paragraph::write_within(style.columns, out, "", "  ", &note)?;
    }
    if let Some(help) = &finding.help {
        let help = format!("{} {help}", paint("help:", Color::Green));
        paragraph::write_within(style.columns, out, "", "  ", &help)?;
    }
    if let Some(fix) = &finding.fix {
        writeln!(
            out,
            "{} {} can {}",
            paint("fix:", Color::Green),
            option(fix),
            fix.title
        )?;
    }
    Ok(())
}

/// A text that leads to an address where a terminal knows OSC 8, and the text elsewhere.
fn linked(text: &str, uri: &str) -> String {
    format!("\x1b]8;;{uri}\x1b\\{text}\x1b]8;;\x1b\\")
}

/// `2 errors, 1 warning in 14 files; 1 can be fixed with --fix`.
fn summary(findings: &[Finding], files: usize) -> String {
    let of = |severity: Severity| findings.iter().filter(|it| it.severity == severity).count();
    let parts: Vec<String> = WORDS
        .map(|(severity, one, many)| (of(severity), one, many))
        .into_iter()
        .filter(|it| it.0 > 0)
        .map(|(count, one, many)| counted(count, one, many))
        .collect();
    let files = counted(files, "file", "files");
    if parts.is_empty() {
        return format!("nothing found in {files}");
    }
    let fixed = |is_safe: bool| {
        let fixes = findings.iter().filter_map(|it| it.fix.as_ref());
        fixes.filter(|it| it.is_safe == is_safe).count()
    };
    let offer = match (fixed(true), fixed(false)) {
        (0, 0) => String::new(),
        (safe, 0) => format!("; {safe} can be fixed with --fix"),
        (0, others) => format!("; {others} can be fixed with --fix --unsafe-fixes"),
        (safe, others) => {
            format!("; {safe} can be fixed with --fix, {others} more with --unsafe-fixes")
        }
    };
    format!("{} in {files}{offer}", parts.join(", "))
}

/// The option that makes a fix.
fn option(fix: &Fix) -> &'static str {
    if fix.is_safe {
        "--fix"
    } else {
        "--fix --unsafe-fixes"
    }
}

/// Lines of a file with marks in them.
struct Excerpt<'f> {
    file: &'f str,
    is_other: bool,
    line: usize,
    text: String,
    marks: Vec<(Range<usize>, AnnotationKind, &'f str)>,
}

/// The lines of a finding's labels: those on the same lines together.
fn excerpts(finding: &Finding) -> Vec<Excerpt<'_>> {
    let mut excerpts: Vec<Excerpt<'_>> = Vec::new();
    let primary = std::iter::once((&finding.primary, AnnotationKind::Primary));
    let secondary = finding
        .secondary
        .iter()
        .map(|it| (it, AnnotationKind::Context));
    for (label, kind) in primary.chain(secondary) {
        if label.start.line == 0 || label.excerpt.is_empty() && label.text.is_empty() {
            continue;
        }
        let text = printable(&label.excerpt);
        let mark = (range(label, &text), kind, label.text.as_str());
        let is_same = |it: &&mut Excerpt<'_>| {
            it.file == label.file && it.line == label.start.line && it.text == text
        };
        match excerpts.iter_mut().find(is_same) {
            Some(known) => known.marks.push(mark),
            None => excerpts.push(Excerpt {
                file: &label.file,
                is_other: label.file != finding.primary.file,
                line: label.start.line,
                text,
                marks: vec![mark],
            }),
        }
    }
    joined(excerpts)
}

/// With excerpts of lines that follow each other in one.
fn joined(excerpts: Vec<Excerpt<'_>>) -> Vec<Excerpt<'_>> {
    let mut done: Vec<Excerpt<'_>> = Vec::new();
    for excerpt in excerpts {
        match done.iter_mut().find(|it| it.is_beside(&excerpt)) {
            Some(known) => known.join(excerpt),
            None => done.push(excerpt),
        }
    }
    done
}

/// The excerpt with one character for each, none of which steers a terminal.
fn printable(excerpt: &str) -> String {
    let shown = |it: char| match it {
        '\n' | '\t' => it,
        it if is_unprintable(it) => char::REPLACEMENT_CHARACTER,
        it => it,
    };
    excerpt.replace("\r\n", "\n").chars().map(shown).collect()
}

/// The bytes of a label in its excerpt.
fn range(label: &Label, text: &str) -> Range<usize> {
    let offset = |line: usize, column: usize| {
        let lines = text.split_inclusive('\n');
        let mut before = 0;
        for (index, content) in lines.enumerate() {
            if index + label.start.line == line {
                // A long first line begins later.
                let skipped = if index == 0 { label.excerpt_column } else { 1 };
                let characters = content
                    .trim_end_matches('\n')
                    .chars()
                    .take(column.saturating_sub(skipped));
                return before + characters.map(char::len_utf8).sum::<usize>();
            }
            before += content.len();
        }
        text.len()
    };
    let start = offset(label.start.line, label.start.column);
    let end = offset(label.end.line, label.end.column);
    start..end.max(start)
}

impl<'f> Excerpt<'f> {
    /// The line behind the last one.
    fn end(&self) -> usize {
        self.line + self.text.split('\n').count()
    }

    fn is_beside(&self, other: &Self) -> bool {
        self.file == other.file && (self.end() == other.line || other.end() == self.line)
    }

    fn join(&mut self, mut other: Self) {
        if other.line < self.line {
            std::mem::swap(&mut self.text, &mut other.text);
            std::mem::swap(&mut self.marks, &mut other.marks);
            self.line = other.line;
        }
        let before = self.text.len() + 1;
        self.text.push('\n');
        self.text.push_str(&other.text);
        let moved = other.marks.into_iter();
        let moved = moved.map(
            |(range, kind, text): (Range<usize>, AnnotationKind, &'f str)| {
                (range.start + before..range.end + before, kind, text)
            },
        );
        self.marks.extend(moved);
    }

    fn snippet(&self, index: usize) -> Snippet<'_, Annotation<'_>> {
        let marks = self.marks.iter().map(|(range, kind, text)| {
            let mark = kind.span(range.clone());
            if text.is_empty() {
                mark
            } else {
                mark.label(*text)
            }
        });
        let snippet = Snippet::source(&self.text)
            .line_start(self.line)
            .annotations(marks);
        // The finding's own place stands in the line above.
        if index == 0 && !self.is_other {
            snippet
        } else {
            snippet.path(self.file)
        }
    }
}

#[cfg(test)]
mod tests;
