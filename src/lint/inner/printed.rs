//! Texts that scripts write with `echo` and `printf`.
//!
//! Source: POSIX.1-2024, Shell Command Language, 2.7 Redirection; `echo`, `printf`.

use std::collections::BTreeMap;

use crate::lint::embedded::Layer;
use crate::lint::form::Form;
use crate::lint::inner::command::{self, TEE_ADDS, Token, is_end, parts, tokens};
use crate::lint::inner::heredoc::{Written, known};
use crate::text::Span;

/// What commands print into files, by path. `None`: a text that is not known.
#[derive(Default)]
pub(super) struct Printed(BTreeMap<String, Option<(Span, String)>>);

impl Printed {
    /// Takes a command, which ends on `line`.
    pub(super) fn take(&mut self, command: &[u8], line: Span) {
        let has = |word: &[u8]| memchr::memmem::find(command, word).is_some();
        if self.0.is_empty() && !has(b"echo ") && !has(b"printf ") {
            return;
        }
        for (path, change) in changes(&String::from_utf8_lossy(command)) {
            match (change, self.0.get_mut(&path)) {
                (Change::Replaced(text), None) => {
                    self.0.insert(path, Some((line, text)));
                }
                (Change::Added(text), Some(Some((_, before)))) => before.push_str(&text),
                // Another way of a condition, or what nobody knows.
                (_, Some(known)) => *known = None,
                (_, None) => {}
            }
        }
    }

    /// The files whose text is known.
    pub(super) fn texts(self) -> impl Iterator<Item = Written> {
        self.0.into_iter().filter_map(|(path, text)| {
            let (line, text) = text?;
            let (path, form) = known(&path, text.as_bytes())?;
            (form != Form::Yaml).then(|| Written {
                path,
                form,
                bytes: text.into_bytes(),
                layer: Layer::opaque(line),
                is_open: false,
                is_partial: false,
                is_final: false,
            })
        })
    }
}

/// What a command does to a file.
#[derive(Clone, Debug, Eq, PartialEq)]
enum Change {
    /// The file has this text and no other.
    Replaced(String),
    /// This text is put behind what it has.
    Added(String),
    /// Its text is not known.
    Other,
}

/// The files that the commands of a line change, in order, and those that they may change.
fn changes(line: &str) -> Vec<(String, Change)> {
    let tokens = tokens(line).unwrap_or_default();
    let commands = tokens.split(is_end);
    commands.flat_map(|it| changed(it, 0)).collect()
}

fn changed(command: &[Token], depth: usize) -> Vec<(String, Change)> {
    if let Some(printed) = printed(command) {
        return vec![printed];
    }
    let words: Vec<&str> = command
        .iter()
        .filter_map(|it| match it {
            Token::Word(it) => Some(it.as_str()),
            Token::Operator(_) => None,
        })
        .collect();
    let words = command::command(&words);
    match words.as_slice() {
        ["sh" | "bash" | "/bin/sh" | "/bin/bash", "-c", script] if depth == 0 => {
            let inner = tokens(script).unwrap_or_default();
            let commands = inner.split(is_end);
            commands.flat_map(|it| changed(it, depth + 1)).collect()
        }
        // These read it, or take it away before it is made.
        [
            "rm" | "unlink" | "chattr" | "chmod" | "chown" | "cat" | "ls" | "grep" | "test" | "[",
            ..,
        ] => Vec::new(),
        words => {
            let paths = words.iter().filter(|it| it.starts_with('/'));
            paths.map(|it| ((*it).to_owned(), Change::Other)).collect()
        }
    }
}

/// The file into which `echo` or `printf` writes, and what.
fn printed(command: &[Token]) -> Option<(String, Change)> {
    let mut stages = command.split(|it| *it == Token::Operator("|"));
    let (words, outputs) = parts(stages.next()?)?;
    let words = command::command(&words);
    let text = text(&words);
    let (path, is_added) = match (outputs.as_slice(), stages.next()) {
        ([output], None) => (output.path, output.is_added),
        ([], Some(stage)) => {
            let words = command::command(&parts(stage)?.0);
            let (_, arguments) = words.split_first().filter(|it| *it.0 == "tee")?;
            let is_added = arguments.iter().any(|it| TEE_ADDS.contains(it));
            let path = arguments.iter().find(|it| !it.starts_with('-'))?;
            (*path, is_added)
        }
        _ => return None,
    };
    let change = match (text, is_added) {
        (Some(text), true) => Change::Added(text),
        (Some(text), false) => Change::Replaced(text),
        (None, _) => Change::Other,
    };
    Some((path.to_owned(), change))
}

/// What `echo` or `printf` prints. `None`: another program, or something is put into it,
/// or shells do not agree.
fn text(words: &[&str]) -> Option<String> {
    let (program, mut words) = words.split_first()?;
    let (mut has_escapes, mut end) = (*program == "printf", "\n");
    if has_escapes {
        end = "";
        (words.len() == 1 && !words.first()?.contains('%')).then_some(())?;
    } else {
        (*program == "echo").then_some(())?;
        while let [option @ ("-e" | "-n" | "-ne" | "-en"), rest @ ..] = words {
            has_escapes |= option.contains('e');
            end = if option.contains('n') { "" } else { end };
            words = rest;
        }
    }
    let mut text = words.join(" ");
    if has_escapes {
        text = text.replace("\\n", "\n").replace("\\t", "\t");
    }
    (!text.contains(['$', '`', '\\'])).then(|| text + end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_into_files_is_told() {
        let check = |line: &str, expected: &[(&str, Change)]| {
            let expected = expected
                .iter()
                .map(|(path, it)| ((*path).to_owned(), it.clone()));
            let expected: Vec<(String, Change)> = expected.collect();
            assert_eq!(changes(line), expected, "{line}");
        };
        let a = Change::Replaced("a 1\n".to_owned());
        check("echo 'a 1' > /f", &[("/f", a.clone())]);
        check("sudo sh -c \"echo a 1 > /f\"", &[("/f", a.clone())]);
        check(
            "rm -f /f && printf 'a 1\\n' | sudo tee /f > /dev/null",
            &[("/f", a.clone())],
        );
        check(
            "echo a 1 >/f; echo b >> /f",
            &[("/f", a), ("/f", Change::Added("b\n".to_owned()))],
        );
        check(
            "echo a | tee -a /f",
            &[("/f", Change::Added("a\n".to_owned()))],
        );
        check("echo \"a $b\" > /f", &[("/f", Change::Other)]);
        check("echo 'a\\nb' > /f", &[("/f", Change::Other)]);
        check("sed -i s/a/b/ /f", &[("/f", Change::Other)]);
        check("echo a", &[]);
        check("cat /f # > /g", &[]);
    }
}
