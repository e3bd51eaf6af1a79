//! Files of variables as systemd reads them: `EnvironmentFile=`.
//!
//! Source: systemd `src/basic/env-file.c: parse_env_file_internal`.

use crate::config::traced::{Spot, Traced};

/// A variable that a file sets.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Variable {
    /// Its name, as written.
    pub name: String,
    /// Its value, quotes and escapes undone.
    pub value: Traced,
}

/// Where the reader is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum State {
    BeforeName,
    Name,
    /// After `=` or after a closing quote: the next quote opens one.
    BeforeValue,
    Value,
    ValueEscape,
    SingleQuoted,
    DoubleQuoted,
    DoubleQuotedEscape,
    Comment,
    CommentEscape,
}

/// The variables of a file, in order, repeats kept. `file` is the number that
/// their spots get. Total: any bytes give a result.
pub fn variables(bytes: &[u8], file: usize) -> Vec<Variable> {
    let mut reader = Reader {
        state: State::BeforeName,
        name: Vec::new(),
        value: Traced::default(),
        keeps_blanks: 0,
        variables: Vec::new(),
    };
    for (offset, &byte) in bytes.iter().enumerate() {
        reader.take(byte, Some(Spot::new(file, offset)));
    }
    if !matches!(
        reader.state,
        State::BeforeName | State::Name | State::Comment | State::CommentEscape
    ) {
        reader.finish();
    }
    reader.variables
}

struct Reader {
    state: State,
    name: Vec<u8>,
    value: Traced,
    /// So many bytes of the value were quoted or escaped, and stay.
    keeps_blanks: usize,
    variables: Vec<Variable>,
}

impl Reader {
    fn take(&mut self, byte: u8, spot: Option<Spot>) {
        let is_end = matches!(byte, b'\n' | b'\r');
        self.state = match self.state {
            State::BeforeName => match byte {
                b'#' | b';' => State::Comment,
                _ if byte.is_ascii_whitespace() => State::BeforeName,
                _ => {
                    self.name = vec![byte];
                    State::Name
                }
            },
            State::Name | State::Comment if is_end => State::BeforeName,
            State::Name if byte == b'=' => State::BeforeValue,
            State::Name => {
                self.name.push(byte);
                State::Name
            }
            State::BeforeValue | State::Value if is_end => self.finish(),
            State::BeforeValue => match byte {
                b'\'' => State::SingleQuoted,
                b'"' => State::DoubleQuoted,
                b'\\' => State::ValueEscape,
                _ if byte.is_ascii_whitespace() => State::BeforeValue,
                _ => self.push(byte, spot, State::Value),
            },
            State::Value if byte == b'\\' => State::ValueEscape,
            State::Value => self.push(byte, spot, State::Value),
            // The end of the line is escaped too: the next one goes on.
            State::ValueEscape if is_end => State::Value,
            State::ValueEscape => self.push_quoted(byte, spot, State::Value),
            State::SingleQuoted if byte == b'\'' => State::BeforeValue,
            State::SingleQuoted => self.push_quoted(byte, spot, State::SingleQuoted),
            State::DoubleQuoted if byte == b'"' => State::BeforeValue,
            State::DoubleQuoted if byte == b'\\' => State::DoubleQuotedEscape,
            State::DoubleQuoted => self.push_quoted(byte, spot, State::DoubleQuoted),
            State::DoubleQuotedEscape => {
                if !matches!(byte, b'"' | b'\\' | b'`' | b'$' | b'\n') {
                    self.push_quoted(b'\\', spot, State::DoubleQuoted);
                }
                if byte == b'\n' {
                    State::DoubleQuoted
                } else {
                    self.push_quoted(byte, spot, State::DoubleQuoted)
                }
            }
            State::Comment if byte == b'\\' => State::CommentEscape,
            State::Comment | State::CommentEscape => State::Comment,
        };
    }

    fn push(&mut self, byte: u8, spot: Option<Spot>, next: State) -> State {
        self.value.push(byte, spot);
        next
    }

    fn push_quoted(&mut self, byte: u8, spot: Option<Spot>, next: State) -> State {
        self.value.push(byte, spot);
        self.keeps_blanks = self.value.bytes().len();
        next
    }

    /// Keeps the variable, blanks at the end of an unquoted value cut off.
    fn finish(&mut self) -> State {
        let name = String::from_utf8_lossy(&self.name).trim().to_owned();
        let value = std::mem::take(&mut self.value);
        let value = if self.keeps_blanks < value.bytes().len() {
            value.trimmed_end()
        } else {
            value
        };
        self.keeps_blanks = 0;
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if !name.is_empty() && name.chars().all(is_name) {
            self.variables.push(Variable { name, value });
        }
        State::BeforeName
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(&str, &str)]) {
        let found = variables(text.as_bytes(), 0);
        let found: Vec<(&str, String)> = found
            .iter()
            .map(|it| (it.name.as_str(), it.value.text().into_owned()))
            .collect();
        let found: Vec<(&str, &str)> = found.iter().map(|(name, it)| (*name, &**it)).collect();
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn quotes_escapes_and_comments_are_those_of_systemd() {
        check(
            "# c\n; c\nA=1\n B = 2  \nC=\n",
            &[("A", "1"), ("B", "2"), ("C", "")],
        );
        check("A=\"x y\" 'z'\nB='a\\b'", &[("A", "x yz"), ("B", "a\\b")]);
        check("A=\"a \\\n  b\\\"c\\n\"\n", &[("A", "a   b\"c\\n")]);
        check("A=a\\\nb\nB=c\\ \n", &[("A", "ab"), ("B", "c ")]);
        check("A=a\"b\"\n", &[("A", "a\"b\"")]);
        check("export A=1\nnothing\nB=2", &[("B", "2")]);
        check("# c \\\nA=1\nB=2\n", &[("B", "2")]);
        check("A=1\r\nB=\"open", &[("A", "1"), ("B", "open")]);
    }

    #[test]
    fn a_value_knows_where_it_stands() {
        let found = variables(b"A=1\nB=\"x --y\"\n", 3);
        let spot = |offset| Some(Spot { file: 3, offset });
        assert_eq!(found[1].value.spot(2), spot(9));
        assert_eq!(found[1].value.spot(5), spot(12));
    }
}
