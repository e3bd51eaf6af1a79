//! Programs that are called as other files are.

/// Whether the file begins with a call of a function, as pipelines of Jenkins in Groovy do:
/// `podTemplate(…`, `pipeline {`, behind comments and annotations.
pub(super) fn is_program(bytes: &[u8]) -> bool {
    let mut rest = bytes.trim_ascii_start();
    while let Some(end) = passed(rest) {
        let end = memchr::memmem::find(rest, end).map_or(rest.len(), |it| it + end.len());
        rest = rest.get(end..).unwrap_or_default().trim_ascii_start();
    }
    let end = rest.iter().position(|it| !it.is_ascii_alphanumeric());
    let behind = rest.get(end.filter(|it| *it > 0).unwrap_or(rest.len())..);
    let line = behind.unwrap_or_default().split(|it| *it == b'\n').next();
    let line = line.unwrap_or_default().trim_ascii();
    line.starts_with(b"(") || line == b"{"
}

/// What ends that which stands before the program.
fn passed(rest: &[u8]) -> Option<&'static [u8]> {
    match rest {
        [b'/', b'*', ..] => Some(b"*/"),
        [b'/', b'/', ..] | [b'#', b'!', ..] | [b'@', ..] => Some(b"\n"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::is_program;

    #[test]
    fn pipelines_are_known_by_their_first_call() {
        for (text, expected) in [
            ("podTemplate(yaml: ''\n", true),
            ("podTemplate (yaml: ''\n", true),
            ("// pipeline\n\npipeline {\n", true),
            ("#!/usr/bin/env groovy\n/* a\nb: 1 */ pipeline {\r\n", true),
            ("@Library('x') _\npodTemplate(\n", true),
            ("# a\na: {b: 1}\n", false),
            ("{\"a\": 1}\n", false),
            ("a: (b)\n", false),
            ("// a", false),
            ("", false),
        ] {
            assert_eq!(is_program(text.as_bytes()), expected, "{text}");
        }
    }
}
