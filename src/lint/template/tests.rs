//! Templates and what is read of them.

use super::*;

fn check(template: &str, expected: Option<&str>) {
    let found = plain(template.as_bytes());
    let found = found.map(|it| {
        assert_eq!(it.len(), template.len(), "{template}");
        lines(&it)
    });
    assert_eq!(found.as_deref(), expected, "{template}");
}

/// The lines that say anything.
fn lines(bytes: &[u8]) -> String {
    let lines = std::str::from_utf8(bytes).unwrap().lines();
    let lines: Vec<&str> = lines.filter(|it| !it.trim().is_empty()).collect();
    lines.join("|")
}

#[test]
fn a_command_of_a_unit_goes_on_over_what_is_hidden() {
    let says = |text: &str, expected: &str| {
        let bytes = plain(text.as_bytes()).unwrap();
        let found = joined(text.as_bytes(), bytes);
        assert_eq!(found.len(), text.len());
        let lines = lines(&found);
        let words: Vec<&str> = lines.split_whitespace().collect();
        assert_eq!(words.join(" "), expected, "{text}");
    };
    says(
        "a \\\n  {% if x %}\n  b \\\n  {% else -%}\n  c \\\n  {% endif %}\n  d\n[e]\n",
        "a \\| d|[e]",
    );
    says("a \\\n{{ b }}\nc\n", "a \\| c");
    says("a \\\n{{ b }}\n \n{{ b }}\nc\n", "a \\| c");
    says("[a]\n{% if x %}\nb\n{% endif %}\nc\n", "[a]|c");
    says("{% if x %}\nb\n{% endif %}", "b");
}

#[test]
fn long_units_cost_little() {
    let text = format!("a \\\n{}", "{{ b }}\n \n".repeat(100_000));
    let found = joined(text.as_bytes(), plain(text.as_bytes()).unwrap());
    let rest = found.strip_prefix(b"a \\\n").unwrap();
    assert!(rest.iter().all(u8::is_ascii_whitespace));
    let lines = rest.split(|&it| it == b'\n').count();
    assert_eq!(lines, 100_001, "each line behind a tag goes on");
}

#[test]
fn what_is_under_no_condition_is_left() {
    check("a: 1\nb: {{ x }}\n", Some("a: 1|b: $______"));
    check("{% if x %}\na: 1\n{% endif %}\nb: 2\n", Some("b: 2"));
    check("{{- if x }}\na: 1\n{{- end }}\n", Some("a: 1"));
    check(
        "a: {{ if x }}1{{ else }}2{{ end }}\n",
        Some("a: $______________________________"),
    );
    check("{{- include \"a\" . | nindent 4 }}\nb: 2", Some("b: 2"));
    check("{# if #}\na: 1", Some("a: 1"));
    // What is only defined need not be used; what stands in its place is there.
    check("{{ define \"x\" }}\na: 1\n{{ end }}", Some(""));
    check("{% raw %}\na: 1\n{% endraw %}", Some("a: 1"));
    check("%{ if x ~}\na: 1\n%{ endif ~}\nb: 2\n", Some("b: 2"));
    // Variables that are called as words of other languages.
    for name in [
        "block['zones']",
        "endpoint",
        "filter",
        "call .x",
        "range_of",
        "set",
    ] {
        let width = name.len() + 5;
        let word = format!("a: ${}", "_".repeat(width));
        check(&format!("a: {{{{ {name} }}}}\n"), Some(&word));
    }
    check("{{ block \"x\" . }}\na: 1\n{{ end }}\nb: 2\n", Some("b: 2"));
    check("{% block x %}\na: 1\n{% endblock %}\nb: 2\n", Some("b: 2"));
}

#[test]
fn each_condition_is_a_way() {
    let text = "a: 1\n{% if x %}\nb: {{ y }}\n{% if z %}\nc: 1\n{% endif %}\n{% else %}\nb: 2\n{% endif %}\n";
    let ways = ways(text.as_bytes(), &|_| true);
    let shown = ways.iter().map(|it| lines(&it.bytes));
    let shown: Vec<String> = shown.collect();
    assert_eq!(
        shown,
        ["a: 1|b: $______", "a: 1|b: $______|c: 1", "a: 1|b: 2"]
    );
    let inside: Vec<&[u8]> = ways
        .iter()
        .map(|it| it.inside.slice(text.as_bytes()))
        .collect();
    assert_eq!(inside.last().unwrap().trim_ascii(), b"b: 2");
    let one = |text: &str, expected: &str| {
        let ways = super::ways(text.as_bytes(), &|_| true);
        let shown: Vec<String> = ways.iter().map(|it| lines(&it.bytes)).collect();
        let shown = shown.join(" ");
        let words: Vec<&str> = shown.split_whitespace().collect();
        assert_eq!(words.join(" "), expected, "{text}");
    };
    one("a: {{ if x }}1{{ else }}2{{ end }}", "a: 1 a: 2");
    // A part of a word, and what stands elsewhere.
    one("a: /{{ if x }}1{{ end }}/2", "");
    one("{{ block \"x\" . }}\na: 1\n{{ end }}", "");
    one("{{ define \"x\" }}\na: 1\n{{ end }}\nb: 2\n", "a: 1|b: 2");
    one("{{ define \"x\" }}\na: 1\n{{ end }}", "a: 1");
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
    check(two, Some(""));
}

#[test]
fn a_block_that_each_way_begins_is_one() {
    check(
        "{% if a %}\n b {{ c }} {\n{% else %}\n b d {\n{% endif %}\n e\n }\n",
        Some(" $__ {| e| }"),
    );
    check("{% if a %}\nb {\n{% endif %}\ne\n}\n", Some("e|}"));
    for way in ["b {\n c {", "b {\n # c {", "}\nb {\n c {", "b # {"] {
        let text = format!("{{% if a %}}\n{way}\n{{% else %}}\nb {{\n{{% endif %}}\ne\n");
        check(&text, Some("e"));
    }
    check(
        "{% if a %}\nb {\n}\n{% else %}\nd {\n{% endif %}\ne\n",
        Some("e"),
    );
}
