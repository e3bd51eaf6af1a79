//! The plain parts of a template: what stands in it whatever it is rendered with.
//!
//! Source: Go `text/template`, "Actions"; Jinja, "Template Designer
//! Documentation", "List of Control Structures"; Terraform, "Strings and Templates", "Directives".

/// What a value of a template becomes: the first byte, and all others.
const UNKNOWN: (u8, u8) = (b'$', b'_');

/// More conditions in conditions than this are none.
const MAX_DEPTH: usize = 1_000;

/// What a tag does.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Effect {
    /// It begins a part that need not be there once: `if`, `range`, `for`.
    Opens,
    /// It ends one.
    Closes,
    /// It begins another way of one: `else`.
    Turns,
    /// It puts something in, or nothing.
    Stands,
}

/// A tag: `{{ … }}`, `{% … %}`, `{# … #}`, and Terraform's `%{ … }`.
#[derive(Clone, Copy, Debug)]
struct Tag {
    start: usize,
    end: usize,
    effect: Effect,
}

/// The template with blanks where something is under a condition or a line is
/// put in, and a word that is no value, `$___`, where a value is: every byte that
/// is left stands where it stood. `None`: it has no tags, or they do not fit
/// together.
pub(super) fn plain(bytes: &[u8]) -> Option<Vec<u8>> {
    let tags = tags(bytes)?;
    let around = around(bytes, &tags);
    let mut plain = bytes.to_vec();
    let (mut depth, mut opened) = (0_usize, 0);
    for (index, tag) in tags.iter().enumerate() {
        let is_around = around.is_some_and(|last| index == 0 || index == last);
        match tag.effect {
            Effect::Opens if !is_around => {
                if depth == 0 {
                    opened = tag.start;
                }
                depth += 1;
                (depth <= MAX_DEPTH).then_some(())?;
            }
            Effect::Closes if !is_around => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    hide(&mut plain, opened, tag.end);
                }
            }
            // Outside of every condition it is that of the one around all.
            Effect::Turns if depth == 0 => return None,
            _ if depth == 0 => hide(&mut plain, tag.start, tag.end),
            _ => {}
        }
    }
    (depth == 0).then_some(plain)
}

/// The last tag, if it ends the condition that the first one begins, around all
/// that there is.
fn around(bytes: &[u8], tags: &[Tag]) -> Option<usize> {
    let last = tags.len().checked_sub(1)?;
    let (first, end) = (tags.first()?, tags.get(last)?);
    let is_blank = |it: Option<&[u8]>| it.is_some_and(|it| it.trim_ascii().is_empty());
    let is_whole = is_blank(bytes.get(..first.start)) && is_blank(bytes.get(end.end..));
    let mut depth = 0_usize;
    let mut closes = tags.iter().position(|it| {
        match it.effect {
            Effect::Opens => depth += 1,
            Effect::Closes => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0
    });
    let is_pair = closes.take() == Some(last) && first.effect == Effect::Opens;
    (is_whole && is_pair && last > 0).then_some(last)
}

/// Hides bytes: with blanks if they are all of their lines, else with a word.
fn hide(plain: &mut [u8], start: usize, end: usize) {
    let is_blank = |it: &&u8| matches!(it, b' ' | b'\t' | b'\r');
    let before = plain.get(..start).unwrap_or_default();
    let begins = before.iter().rev().find(|it| !is_blank(it));
    let behind = plain.get(end..).unwrap_or_default();
    let ends = behind.iter().find(|it| !is_blank(it));
    let is_line = |it: Option<&u8>| it.is_none_or(|it| *it == b'\n');
    let is_alone = is_line(begins) && is_line(ends);
    let hidden = plain.get_mut(start..end).unwrap_or_default();
    let is_value = !is_alone && !hidden.contains(&b'\n');
    for (index, byte) in hidden.iter_mut().enumerate() {
        *byte = match *byte {
            b'\n' => b'\n',
            _ if !is_value => b' ',
            _ if index == 0 => UNKNOWN.0,
            _ => UNKNOWN.1,
        };
    }
}

/// The tags, in order. `None`: there is none, or one without an end.
fn tags(bytes: &[u8]) -> Option<Vec<Tag>> {
    let mut tags = Vec::new();
    let mut at = 0;
    while let Some(next) = memchr::memchr(b'{', bytes.get(at..)?) {
        let brace = at + next;
        let is_terraforms = brace > at && bytes.get(brace - 1) == Some(&b'%');
        let start = brace - usize::from(is_terraforms);
        let rest = bytes.get(start..)?;
        let close: &[u8] = match rest.get(1) {
            Some(b'{') if is_terraforms => b"}",
            Some(b'{') => b"}}",
            Some(b'%') => b"%}",
            Some(b'#') => b"#}",
            _ => {
                at = start + 1;
                continue;
            }
        };
        let length = memchr::memmem::find(rest, close)?;
        let end = start + length + close.len();
        let effect = if close == b"#}" {
            Effect::Stands
        } else {
            effect(rest.get(2..length)?)
        };
        tags.push(Tag { start, end, effect });
        at = end;
    }
    (!tags.is_empty()).then_some(tags)
}

fn effect(inside: &[u8]) -> Effect {
    let is_mark = |it: &u8| it.is_ascii_whitespace() || matches!(it, b'-' | b'+' | b'~');
    let start = inside
        .iter()
        .position(|it| !is_mark(it))
        .unwrap_or(inside.len());
    let rest = inside.get(start..).unwrap_or_default();
    let is_word = |it: &u8| it.is_ascii_alphabetic();
    let end = rest
        .iter()
        .position(|it| !is_word(it))
        .unwrap_or(rest.len());
    match rest.get(..end).unwrap_or_default() {
        b"if" | b"range" | b"with" | b"define" | b"block" | b"for" | b"macro" | b"call"
        | b"filter" | b"raw" => Effect::Opens,
        b"set" if !rest.contains(&b'=') => Effect::Opens,
        b"else" | b"elif" | b"elseif" => Effect::Turns,
        it if it.starts_with(b"end") => Effect::Closes,
        _ => Effect::Stands,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(template: &str, expected: Option<&str>) {
        let found = plain(template.as_bytes());
        let found = found.map(|it| String::from_utf8(it).unwrap());
        assert_eq!(found.as_deref(), expected, "{template}");
    }

    #[test]
    fn what_is_under_no_condition_is_left() {
        check("a: 1\nb: {{ x }}\n", Some("a: 1\nb: $______\n"));
        check(
            "{% if x %}\na: 1\n{% endif %}\nb: 2\n",
            Some("          \n    \n           \nb: 2\n"),
        );
        check(
            "{{- if x }}\na: 1\n{{- end }}\n",
            Some("           \na: 1\n          \n"),
        );
        check(
            "a: {{ if x }}1{{ else }}2{{ end }}\n",
            Some("a: $______________________________\n"),
        );
        check(
            "{{- include \"a\" . | nindent 4 }}\nb: 2",
            Some("                                \nb: 2"),
        );
        check("{# if #}\na: 1", Some("        \na: 1"));
        check(
            "%{ if x ~}\na: 1\n%{ endif ~}\nb: 2\n",
            Some("          \n    \n           \nb: 2\n"),
        );
    }

    #[test]
    fn what_does_not_fit_together_is_none() {
        check("a: 1\n", None);
        check("a: {b: 1}\n", None);
        check("a: {{ x\n", None);
        check("{{ if x }}\n", None);
        check("{{ end }}\n", None);
        check("{{ if x }}\na: 1\n{{ else }}\na: 2\n{{ end }}", None);
        check(&"{{if}}".repeat(MAX_DEPTH + 2), None);
        let two = "{{ if x }}\na: 1\n{{ end }}\n{{ if y }}\nb: 1\n{{ end }}";
        let blank: String = two
            .chars()
            .map(|it| if it == '\n' { it } else { ' ' })
            .collect();
        check(two, Some(&blank));
    }
}
