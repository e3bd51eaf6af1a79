//! A message without what wraps it: escapes of JSON and Go, entities of HTML,
//! colours, curly quotes, line breaks.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

/// More of a message is not looked at.
pub(super) const MOST: usize = 64 << 10;

/// The message as one line of plain text.
pub(super) fn plain(text: &str) -> String {
    let text = text.get(..boundary(text, MOST)).unwrap_or_default();
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let escape = unescaped(rest);
        if let (None, Some(slashes)) = (escape, before_last_slash(rest)) {
            out.push_str(slashes);
            rest = rest.get(slashes.len()..).unwrap_or_default();
            continue;
        }
        let (character, length) = escape.unwrap_or((straight(first), first.len_utf8()));
        let is_return = first == '\r' || rest.get(..length) == Some("\\r");
        rest = rest.get(length..).unwrap_or_default();
        match character {
            None => {}
            Some(_) if is_return && ends_name(rest) => out.push(RETURN),
            Some(it) if it.is_whitespace() && (out.ends_with(' ') || out.is_empty()) => {}
            Some(it) if it.is_whitespace() => out.push(' '),
            // YAML writes two for one.
            Some('\'') if is_doubled(&out, rest) => {}
            Some(it) => out.push(it),
        }
    }
    out.truncate(out.trim_end().len());
    // As musl says it, and as glibc does.
    out.replace("Address in use", "Address already in use")
}

/// A text without the escapes of a URL, if it is all in them: it has no blank of its own.
pub(super) fn without_url(text: &str) -> Cow<'_, str> {
    let is_url = text.contains("%20") && !text.trim().contains(char::is_whitespace);
    if is_url {
        percent_decode_str(text).decode_utf8_lossy()
    } else {
        Cow::Borrowed(text)
    }
}

/// The text without what a screen or a reply put around its lines; and, where a screen may
/// have cut words at its edge, the same with such lines together.
pub(super) fn unwrapped(text: &str) -> (String, Option<String>) {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let is_framed = |it: &&str| it.is_empty() || it.trim_start().starts_with(FRAMES);
    let lines: Vec<&str> = if lines.iter().all(is_framed) {
        lines.iter().map(|it| unframed(it)).collect()
    } else {
        lines
    };
    let width = |it: &&str| it.chars().count();
    let widest = lines.iter().map(width).max().unwrap_or_default();
    let widest_ones = lines.iter().filter(|it| width(it) == widest).count();
    // Where words are not cut, lines are of many widths.
    let is_screen = widest > SCREEN / 2 && (widest_ones > 1 || widest == SCREEN);
    let is_screen = is_screen && widest_ones * 2 + 1 >= lines.len();
    let mut joined = String::with_capacity(text.len());
    let mut is_next = false;
    for (line, next) in lines.iter().zip(lines.iter().skip(1).chain([&""])) {
        // What is set in is set in on each line.
        let (own, next) = (
            line.trim_start(),
            next.strip_prefix(indent(line)).unwrap_or(next),
        );
        joined.push_str(if is_next { own } else { line });
        let is_cut = is_screen && width(line) == widest && is_in_word(line, next);
        // Lines that begin alike are several.
        is_next = is_cut && !own.bytes().take(3).eq(next.bytes().take(3));
        if !is_next {
            joined.push('\n');
        }
    }
    let apart = lines.iter().flat_map(|it| [*it, "\n"]).collect();
    let is_other = joined != apart;
    (apart, is_other.then_some(joined))
}

/// How wide a terminal is where nobody has changed it.
const SCREEN: usize = 80;

/// Where the lines of a text begin in the same text as [`plain`].
pub(super) fn line_starts(text: &str) -> Vec<usize> {
    let mut next = 0;
    let lengths = text.lines().map(|it| plain(it).len());
    let starts = lengths.filter(|it| *it > 0).map(|length| {
        let start = next;
        next += length + 1;
        start
    });
    starts.collect()
}

/// Of what a line is that reports nothing.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Code {
    /// Of a test: nothing in it has happened.
    Test,
    /// Of a list of changes: nothing without a name or a server has.
    Change,
}

/// Whether a line is of a test or of a list of changes. The title of a ticket may begin with
/// `fix: ` or `test: `, too.
pub(super) fn code_of(text: &str) -> Option<Code> {
    let text = text.trim();
    let line = text.trim_start_matches(['-', '*', '#', ' ']);
    let kind = line.split([':', '(']).next().unwrap_or_default();
    let is_listed = line != text || line.get(kind.len()..)?.starts_with('(');
    let is_kind = CHANGES.contains(&kind) || is_listed && ["fix", "test"].contains(&kind);
    let is_test = text.ends_with(" ... ok") || TESTS.iter().any(|it| text.contains(it));
    if text.contains('\n') {
        None
    } else if is_test {
        Some(Code::Test)
    } else {
        (is_kind && line.contains(": ")).then_some(Code::Change)
    }
}

/// Kinds of changes in the subjects of commits.
const CHANGES: [&str; 4] = ["chore", "docs", "feat", "refactor"];

/// What tests say, and what they print of those that passed.
const TESTS: [&str; 5] = [
    "assert_eq!(",
    "assert.equal(",
    "should throw",
    ".toThrow(",
    "--- PASS",
];

/// What stands at both ends of lines in a frame, or before lines that somebody quotes.
const FRAMES: [char; 3] = ['>', '|', '│'];

fn unframed(line: &str) -> &str {
    let line = line.trim_start().trim_start_matches(FRAMES);
    let line = line.strip_prefix(' ').unwrap_or(line);
    line.trim_end_matches(&FRAMES[1..]).trim_end()
}

/// The blanks that a line begins with.
fn indent(line: &str) -> &str {
    line.strip_suffix(line.trim_start()).unwrap_or_default()
}

/// Whether a word or an address goes on in the next line.
fn is_in_word(line: &str, next: &str) -> bool {
    let is_its = |c: char| c.is_alphanumeric() || ".:-_/@#\"'".contains(c);
    line.ends_with(is_its) && next.starts_with(is_its)
}

/// The backslashes that `text` begins with, but for the last one, which may begin an
/// escape; looked at one by one, many would take the square of their time.
fn before_last_slash(text: &str) -> Option<&str> {
    let slashes = text.len() - text.trim_start_matches('\\').len();
    text.get(..slashes.checked_sub(1)?)
        .filter(|it| !it.is_empty())
}

/// Whether an apostrophe between these is the first of two that stand for one: a word begins or
/// ends there.
fn is_doubled(before: &str, rest: &str) -> bool {
    let behind = rest.strip_prefix('\'').unwrap_or("''");
    let is_word = |it: &str| it.starts_with(char::is_alphanumeric);
    (before.ends_with(char::is_alphanumeric) || is_word(behind)) && !behind.starts_with('\'')
}

/// Stands for a carriage return at the end of a name that was looked up with it.
pub(super) const RETURN: char = '␍';

/// Whether what follows a carriage return goes on behind a name, as in `lookup db\r on`.
fn ends_name(rest: &str) -> bool {
    [" on ", ": ", "\"", "'"]
        .iter()
        .any(|it| rest.starts_with(it))
}

/// The last beginning of a character at or before this byte.
pub(super) fn boundary(text: &str, most: usize) -> usize {
    let most = most.min(text.len());
    (0..=most)
        .rfind(|&it| text.is_char_boundary(it))
        .unwrap_or_default()
}

/// What an escape at the beginning of `text` stands for, and how long it is;
/// nothing for a colour.
fn unescaped(text: &str) -> Option<(Option<char>, usize)> {
    let colors = ["\u{1b}[", "\\u001b[", "\\x1b[", "\\033[", "#033["];
    if let Some(start) = colors.iter().find(|it| text.starts_with(**it)) {
        let codes = text.get(start.len()..)?;
        let end = codes.find(|c: char| !(c.is_ascii_digit() || c == ';'))?;
        return (codes.as_bytes().get(end) == Some(&b'm')).then_some((None, start.len() + end + 1));
    }
    if text.starts_with('\\') {
        let escape = text.trim_start_matches('\\');
        let slashes = text.len() - escape.len();
        let first = escape.chars().next()?;
        let (character, length) = match first {
            'n' | 'r' | 't' if is_end_of_escape(escape) => (' ', 1),
            '"' | '\'' | '/' => (first, 1),
            'u' => {
                let code = u32::from_str_radix(escape.get(1..5)?, 16).ok()?;
                (char::from_u32(code)?, 5)
            }
            _ => return None,
        };
        return Some((straight(character), slashes + length));
    }
    let entity = |it: &&(&str, char)| text.starts_with(it.0);
    let found = ENTITIES.iter().find(entity)?;
    Some((Some(found.1), found.0.len()))
}

/// `\n` is a line break and no path on Windows where no small letter follows.
fn is_end_of_escape(escape: &str) -> bool {
    let next = escape.chars().nth(1);
    next.is_none_or(|it| !it.is_ascii_lowercase())
}

const ENTITIES: [(&str, char); 6] = [
    ("&gt;", '>'),
    ("&lt;", '<'),
    ("&quot;", '"'),
    ("&#39;", '\''),
    ("&#x27;", '\''),
    ("&amp;", '&'),
];

/// Curly quotes as straight ones; without what cannot be seen.
fn straight(character: char) -> Option<char> {
    match character {
        '‘' | '’' | '‚' | '‛' | '‹' | '›' | '`' | '´' => Some('\''),
        '“' | '”' | '„' | '‟' | '«' | '»' | '「' | '」' => Some('"'),
        '→' => Some('>'),
        '\u{200b}'..='\u{200f}' | '\u{feff}' => None,
        it if it.is_whitespace() => Some(' '),
        it if it.is_control() => None,
        it => Some(it),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_screen_cut_is_whole() {
        let cut = "x".repeat(60);
        let rest = "y".repeat(39);
        for (text, apart, joined) in [
            ("│ lookup db │\n│ on x │", "lookup db\non x\n", None),
            ("a > b\n> c", "a > b\n> c\n", None),
            (
                &*format!("{cut} loo\nkup db on 10.96.0.10:53: {rest}\nno such host"),
                &*format!("{cut} loo\nkup db on 10.96.0.10:53: {rest}\nno such host\n"),
                Some(format!(
                    "{cut} lookup db on 10.96.0.10:53: {rest}no such host\n"
                )),
            ),
            (
                &*format!(
                    "Error:\n\n  {cut} for db f   \n  ailed: {rest} {}  \n  again",
                    "z".repeat(22)
                ),
                &*format!(
                    "Error:\n\n  {cut} for db f\n  ailed: {rest} {}\n  again\n",
                    "z".repeat(22)
                ),
                Some(format!(
                    "Error:\n\n  {cut} for db failed: {rest} {}again\n",
                    "z".repeat(22)
                )),
            ),
            (
                &*format!("{cut} db\n{cut} db"),
                &*format!("{cut} db\n{cut} db\n"),
                None,
            ),
        ] {
            assert_eq!(unwrapped(text), (apart.to_owned(), joined));
        }
    }

    #[test]
    fn tests_and_changes_are_no_reports() {
        for (text, code) in [
            ("- fix(retry): handle ENOTFOUND", Some(Code::Change)),
            ("feat: say no such host", Some(Code::Change)),
            ("assert_eq!(err, \"no such host\");", Some(Code::Test)),
            ("test dns::nxdomain ... ok", Some(Code::Test)),
            ("Error: getaddrinfo ENOTFOUND db", None),
            ("fix DNS: no such host", None),
            ("fix: DNS not working in new pods", None),
            ("test: DNS does not work on one node", None),
            ("nslookup kubernetes.default ... ok, but DNS fails", None),
            ("a ... ok\nb", None),
        ] {
            assert_eq!(code_of(text), code, "{text}");
        }
    }

    #[test]
    fn lines_begin_where_they_do_in_one() {
        let text = "a  b\r\n\n \u{200b}\n\tc d\n\u{1b}[31me";
        let plain = plain(text);
        let starts = line_starts(text);
        let lines: Vec<&str> = starts.iter().filter_map(|it| plain.get(*it..)).collect();
        assert_eq!(lines, ["a b c d e", "c d e", "e"]);
    }

    #[test]
    fn escapes_of_a_url_go_if_all_is_in_them() {
        let url = "lookup%20db%20on%2010.96.0.10%3A53%3A%20no%20such%20host\n";
        assert_eq!(
            without_url(url),
            "lookup db on 10.96.0.10:53: no such host\n"
        );
        for text in ["get /a%20b", "100%", "%2F"] {
            assert_eq!(without_url(text), text);
        }
    }

    #[test]
    fn wrappings_go() {
        for (text, expected) in [
            ("a  b\n\tc ", "a b c"),
            (
                r#"{"msg":"read udp a-\u003eb: \"x\""}"#,
                r#"{"msg":"read udp a->b: "x""}"#,
            ),
            (r#"say \"x\"\nNext"#, r#"say "x" Next"#),
            ("\u{1b}[31mERROR\u{1b}[0m x", "ERROR x"),
            (r"\u001b[1;31mE", "E"),
            ("host address ‘db’", "host address 'db'"),
            ("host name \"db\r\" to", "host name \"db␍\" to"),
            (
                r"lookup db\r on 10.96.0.10:53",
                "lookup db␍ on 10.96.0.10:53",
            ),
            ("a\r\nb\rc", "a b c"),
            ("bind: Address in use", "bind: Address already in use"),
            ("upstream „db“, »db«, «db»", r#"upstream "db", "db", "db""#),
            ("a -&gt; b", "a -> b"),
            (r"C:\new\table", r"C:\new\table"),
            (r"\", r"\"),
            (r"\u12", r"\u12"),
            (r"\\\q", r"\\\q"),
            (r"\\x1b[31mE", r"\E"),
        ] {
            assert_eq!(plain(text), expected);
        }
    }
}
