//! systemd's units, as far as they say how a service is started.
//!
//! Source: systemd `src/shared/conf-parser.c: config_parse`,
//! `src/basic/extract-word.c`, `src/basic/env-util.c: replace_env_argv`.

use crate::config::traced::{Spot, Traced};

/// `KEY=VALUE` in a section.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Entry {
    /// The section: `Service`.
    pub section: String,
    /// The key: `ExecStart`.
    pub key: String,
    /// The value, lines that a `\` continues joined with a space.
    pub value: Traced,
}

/// How a service is started.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Service {
    /// The values of `ExecStart=`, in order.
    pub exec_start: Vec<Traced>,
    /// The variables of `Environment=`, in order, repeats kept.
    pub environment: Vec<(String, Traced)>,
    /// The paths of `EnvironmentFile=`, in order, the `-` before them kept.
    pub environment_files: Vec<String>,
    /// `WorkingDirectory=`.
    pub working_directory: Option<String>,
}

/// The entries of a unit or a drop-in, in order. `file` is the number that
/// their spots get. Total: any bytes give a result.
pub fn entries(bytes: &[u8], file: usize) -> Vec<Entry> {
    let mut entries = Vec::new();
    let mut section = String::new();
    let mut pending = Traced::default();
    let mut goes_on = false;
    let mut start = 0;
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        let offset = start;
        start += line.len();
        let line = line.trim_ascii_end();
        let indent = line.len() - line.trim_ascii_start().len();
        let text = line.trim_ascii_start();
        if text.starts_with(b"#") || text.starts_with(b";") {
            continue;
        }
        let continued = text.strip_suffix(b"\\");
        if goes_on {
            pending.push(b' ', None);
        }
        pending.append(&Traced::of(
            continued.unwrap_or(text),
            file,
            offset + indent,
        ));
        goes_on = continued.is_some();
        if !goes_on {
            finish(std::mem::take(&mut pending), &mut section, &mut entries);
        }
    }
    finish(pending, &mut section, &mut entries);
    entries
}

fn finish(line: Traced, section: &mut String, entries: &mut Vec<Entry>) {
    let line = line.trimmed_end();
    if let Some(name) = line.bytes().strip_prefix(b"[") {
        let name = name.strip_suffix(b"]").unwrap_or(name);
        *section = String::from_utf8_lossy(name).into_owned();
        return;
    }
    let Some(equals) = line.bytes().iter().position(|&byte| byte == b'=') else {
        return;
    };
    let key = line.bytes().get(..equals).unwrap_or_default();
    let value = line.after(equals + 1);
    let blanks = value.bytes().len() - value.bytes().trim_ascii_start().len();
    entries.push(Entry {
        section: section.clone(),
        key: String::from_utf8_lossy(key).trim().to_owned(),
        value: value.after(blanks),
    });
}

impl Service {
    /// What the entries of a unit and then of its drop-ins, in order, come to:
    /// an empty value takes back those before it.
    pub fn of<'e>(entries: impl IntoIterator<Item = &'e Entry>) -> Self {
        let mut service = Self::default();
        for entry in entries {
            if entry.section != "Service" {
                continue;
            }
            let is_empty = entry.value.bytes().is_empty();
            match entry.key.as_str() {
                "ExecStart" if is_empty => service.exec_start.clear(),
                "ExecStart" => service.exec_start.push(entry.value.clone()),
                "Environment" if is_empty => service.environment.clear(),
                "Environment" => {
                    let words = words(&entry.value, Escapes::C);
                    service
                        .environment
                        .extend(words.iter().filter_map(assignment));
                }
                "EnvironmentFile" if is_empty => service.environment_files.clear(),
                "EnvironmentFile" => service
                    .environment_files
                    .push(entry.value.text().into_owned()),
                "WorkingDirectory" => {
                    let path = entry.value.text().trim_start_matches('-').to_owned();
                    service.working_directory = Some(path).filter(|path| !path.is_empty());
                }
                _ => {}
            }
        }
        service
    }
}

/// `NAME=VALUE` as its two parts.
fn assignment(word: &Traced) -> Option<(String, Traced)> {
    let equals = word.bytes().iter().position(|&byte| byte == b'=')?;
    let name = String::from_utf8_lossy(word.bytes().get(..equals)?).into_owned();
    Some((name, word.after(equals + 1)))
}

/// The words of a command: the program, without the marks before it, and its
/// arguments, variables replaced by their last value in `environment`.
pub fn command(exec_start: &Traced, environment: &[(String, Traced)]) -> Vec<Traced> {
    let words = words(exec_start, Escapes::C);
    let mut arguments = Vec::new();
    let mut expands = true;
    for (index, word) in words.into_iter().enumerate() {
        // What follows is another command.
        if word.bytes() == b";" {
            break;
        }
        if index == 0 {
            let is_mark = |byte: &&u8| b"@-:+!|".contains(byte);
            let marks = word.bytes().iter().take_while(is_mark).count();
            let given = word.bytes().get(..marks).unwrap_or_default();
            expands = !given.contains(&b':');
            arguments.push(word.after(marks));
        } else if expands {
            arguments.extend(expanded(&word, environment));
        } else {
            arguments.push(word);
        }
    }
    arguments
}

/// The words that a word stands for: `$NAME` for those of its value, `${NAME}`
/// inside a word for the value as it is.
fn expanded(word: &Traced, environment: &[(String, Traced)]) -> Vec<Traced> {
    let value = |name: &[u8]| {
        let has = |(other, _): &&(String, Traced)| other.as_bytes() == name;
        environment.iter().rfind(has).map(|(_, value)| value)
    };
    if let Some(name) = word.bytes().strip_prefix(b"$")
        && !name.starts_with(b"{")
        && !name.starts_with(b"$")
    {
        return value(name).map_or_else(Vec::new, |value| words(value, Escapes::Plain));
    }
    let mut result = Traced::default();
    let mut at = 0;
    while let Some((&byte, after)) = word.bytes().get(at..).and_then(<[u8]>::split_first) {
        let braced = after.strip_prefix(b"{").filter(|_| byte == b'$');
        let name = braced.and_then(|it| it.split(|&byte| byte == b'}').next());
        if let (Some(braced), Some(name)) = (braced, name)
            && name.len() < braced.len()
        {
            if let Some(value) = value(name) {
                result.append(value);
            }
            at += name.len() + b"${}".len();
        } else {
            result.push(byte, word.spot(at));
            let is_doubled = matches!(byte, b'$' | b'%') && after.first() == Some(&byte);
            at += if is_doubled { 2 } else { 1 };
        }
    }
    vec![result]
}

/// What `\` stands for in a word.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Escapes {
    /// As in C: `\n`, `\s` for a space; unknown ones are kept.
    C,
    /// The next byte is itself.
    Plain,
}

/// The words of a text, quotes and escapes undone.
pub fn words(text: &Traced, escapes: Escapes) -> Vec<Traced> {
    let mut words = Vec::new();
    let mut word: Option<Traced> = None;
    let mut quote = None;
    let mut escaped: Option<Option<Spot>> = None;
    for (byte, spot) in text.iter() {
        if let Some(backslash) = escaped.take() {
            let word = word.get_or_insert_default();
            match unescaped(byte).filter(|_| escapes == Escapes::C) {
                Some(meant) => word.push(meant, spot),
                None => {
                    if escapes == Escapes::C {
                        word.push(b'\\', backslash);
                    }
                    word.push(byte, spot);
                }
            }
        } else if byte == b'\\' {
            escaped = Some(spot);
        } else if quote == Some(byte) {
            quote = None;
        } else if quote.is_some() {
            word.get_or_insert_default().push(byte, spot);
        } else if matches!(byte, b'\'' | b'"') {
            quote = Some(byte);
            word.get_or_insert_default();
        } else if byte.is_ascii_whitespace() {
            words.extend(word.take());
        } else {
            word.get_or_insert_default().push(byte, spot);
        }
    }
    words.extend(word);
    words
}

fn unescaped(byte: u8) -> Option<u8> {
    Some(match byte {
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b's' => b' ',
        b'\\' | b'"' | b'\'' | b';' => byte,
        _ => return None,
    })
}

/// The words of a text that blanks part, without any quotes: for texts that
/// another program splits so.
pub fn plain_words(bytes: &[u8], file: usize, offset: usize) -> Vec<Traced> {
    let mut words = Vec::new();
    let mut start = 0;
    for part in bytes.split(u8::is_ascii_whitespace) {
        if !part.is_empty() {
            words.push(Traced::of(part, file, offset + start));
        }
        start += part.len() + 1;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn started(units: &[&str], environment: &[(&str, &str)]) -> Vec<Vec<String>> {
        let entries: Vec<Entry> = units
            .iter()
            .enumerate()
            .flat_map(|(file, unit)| entries(unit.as_bytes(), file))
            .collect();
        let service = Service::of(&entries);
        let mut all = service.environment.clone();
        all.extend(environment.iter().map(|(name, value)| {
            let value = Traced::untraced(value.as_bytes());
            ((*name).to_owned(), value)
        }));
        service
            .exec_start
            .iter()
            .map(|it| {
                let words = command(it, &all);
                words.iter().map(|it| it.text().into_owned()).collect()
            })
            .collect()
    }

    fn check(units: &[&str], environment: &[(&str, &str)], expected: &[&[&str]]) {
        assert_eq!(started(units, environment), expected, "{units:?}");
    }

    #[test]
    fn lines_go_on_and_comments_between_them_do_not_count() {
        check(
            &[
                "[Service]\nExecStart=/bin/a --b \\\n  # no\n  --c\\\n\n[Install]\nExecStart=/bin/d\n",
            ],
            &[],
            &[&["/bin/a", "--b", "--c"]],
        );
    }

    #[test]
    fn an_empty_value_takes_back_those_before() {
        check(
            &[
                "[Service]\nEnvironment=A=1 \"B=2 3\"\nExecStart=/bin/a",
                "[Service]\nExecStart=\nExecStart=-/bin/b $A ${B} $B x${A}y $C ${C} a$A $$A\n",
            ],
            &[("A", "--x --y='1 2'")],
            &[&[
                "/bin/b",
                "--x",
                "--y=1 2",
                "2 3",
                "2",
                "3",
                "x--x --y='1 2'y",
                "",
                "a$A",
                "$A",
            ]],
        );
    }

    #[test]
    fn words_have_quotes_and_escapes() {
        check(
            &["[Service]\nExecStart=:@/bin/a 'b c' --d=\"e f\"g \\x41 h\\si '' $A ; /bin/k"],
            &[("A", "1")],
            &[&["/bin/a", "b c", "--d=e fg", "\\x41", "h i", "", "$A"]],
        );
    }

    #[test]
    fn every_byte_of_an_argument_knows_where_it_stands() {
        let unit = "[Service]\nEnvironment=\"A=--x=y\"\nExecStart=/bin/a $A";
        let entries = entries(unit.as_bytes(), 7);
        let service = Service::of(&entries);
        let words = command(&service.exec_start[0], &service.environment);
        let offset = u32::try_from(unit.find('y').unwrap()).unwrap();
        assert_eq!(words[1].spot(4), Some(Spot { file: 7, offset }));
    }
}
