use super::*;

fn source(text: &[u8]) -> Source {
    Source::new("f.yaml", text)
}

/// The documents in short: values as `kind text@start..end`, errors with their place.
fn check(text: &str, expected: &[&str]) {
    let source = source(text.as_bytes());
    let found: Vec<String> = documents(&source)
        .iter()
        .map(|document| match &document.root {
            Ok(root) => short(root),
            Err(error) => format!("{} {}", source.place(error.at), error.message),
        })
        .collect();
    assert_eq!(found, expected, "{text:?}");
}

fn short(node: &Node) -> String {
    let list = |parts: Vec<String>| parts.join(", ");
    match &node.value {
        Value::Scalar(scalar) => match scalar.kind() {
            Kind::Text => format!("'{}'", scalar.text),
            Kind::Null => "null".to_owned(),
            Kind::Bool(value) => value.to_string(),
            Kind::Number => scalar.text.clone(),
        },
        Value::Sequence(items) => {
            format!("[{}]", list(items.iter().map(short).collect()))
        }
        Value::Mapping(entries) => {
            let entry = |it: &Entry| format!("{}: {}", short(&it.key), short(&it.value));
            format!("{{{}}}", list(entries.iter().map(entry).collect()))
        }
    }
}

#[test]
fn a_document_is_a_tree_with_repeats() {
    check(
        "a: 1\nb:\n- x\n- 'y'\na: ~\n",
        &["{'a': 1, 'b': ['x', 'y'], 'a': null}"],
    );
    check("", &[]);
    check("# nothing\n", &[]);
    check("---\n---\nx: on\n...\n", &["null", "{'x': true}"]);
    check(
        "a: |\n  x\n  ---\nb: >-\n  y\n  z\n",
        &["{'a': 'x\n---\n', 'b': 'y z'}"],
    );
    check("\u{feff}a: 1\nb: 2\n", &["{'a': 1, 'b': 2}"]);
    check("a: é\r\nb: 2\r\n", &["{'a': 'é', 'b': 2}"]);
}

#[test]
fn json_is_read_too() {
    check(
        "{\"a\": [1, true, null, \"x\\n\"]}",
        &["{'a': [1, true, null, 'x\n']}"],
    );
    check(
        "{\n\t\"a\":\t{\n\t\t\"b\": \"\\ud83d\\ude00\\/\"\n\t}\n}\n",
        &["{'a': {'b': '\u{fffd}\u{fffd}/'}}"],
    );
}

#[test]
fn values_of_json_in_a_row_are_documents() {
    check(
        "{\"a\": 1}\n\n{\"b\": [2]}{\"c\": 3}\n",
        &["{'a': 1}", "{'b': [2]}", "{'c': 3}"],
    );
    // No JSON: kubectl takes it for YAML.
    let behind = "the document has ended before this: Kubernetes reads nothing of it";
    check(
        "{a: 1}\n{b: 2}\n",
        &["{'a': 1}", &format!("f.yaml:2:1 {behind}")],
    );
    check(
        "{\"a\": 1}\nb: 2\n",
        &["{'a': 1}", &format!("f.yaml:2:1 {behind}")],
    );
}

#[test]
fn the_document_after_a_broken_one_goes_on() {
    check(
        "a: 1\n---\nb: [1\n---\nc: 3\n---\nd: \"x\n",
        &[
            "{'a': 1}",
            "f.yaml:3:4 while parsing a flow sequence, did not find expected ',' or ']'",
            "{'c': 3}",
            "f.yaml:7:4 while scanning a quoted scalar, found unexpected end of stream",
        ],
    );
    check(
        "é: [\n---\nb: 2\n",
        &[
            "f.yaml:2:1 while parsing a flow node, did not find expected node content",
            "{'b': 2}",
        ],
    );
}

#[test]
fn bytes_that_yaml_does_not_allow_break_their_document_only() {
    let found = documents(&source(b"a: \xff\n---\nb: \0\n---\nc: 3\n"));
    let errors: Vec<Option<u32>> = found
        .iter()
        .map(|document| document.root.as_ref().err().map(|error| error.at))
        .collect();
    assert_eq!(errors, [Some(3), Some(12), None]);
}

#[test]
fn aliases_are_copies_and_bounded() {
    check("a: &x [1]\nb: *x\n", &["{'a': [1], 'b': [1]}"]);
    check(
        "a: &x {k: 1}\nb:\n  <<: *x\n",
        &["{'a': {'k': 1}, 'b': {'k': 1}}"],
    );
    check(
        "&x [*x]\n",
        &["f.yaml:1:5 the alias stands inside the value that it names"],
    );
    let mut bomb = "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1]\n".to_owned();
    for level in 1..9 {
        let aliases = vec![format!("*a{}", level - 1); 9].join(", ");
        bomb.extend([format!("a{level}: &a{level} [{aliases}]\n")]);
    }
    let found = documents(&source(bomb.as_bytes()));
    let error = found[0].root.as_ref().unwrap_err();
    assert_eq!(error.message, "aliases repeat more than 10000 values");
    assert_eq!(found.len(), 1);
}

#[test]
fn deep_nesting_is_an_error() {
    for deep in ["[".repeat(200), "- ".repeat(5_000), "{a: ".repeat(200)] {
        let found = documents(&source(deep.as_bytes()));
        assert_eq!(
            found[0].root.as_ref().unwrap_err().message,
            "more than 128 levels of nesting"
        );
    }
}

#[test]
fn the_last_of_repeated_keys_counts_and_merge_keys_stand_in_their_place() {
    let value = |entries: &str, key: &str| {
        let text = format!("base: &b {{x: 1, y: 2}}\nmore: &m {{x: 6}}\nc: {{{entries}}}\n");
        let found = documents(&source(text.as_bytes()));
        let mapping = found[0].root.as_ref().unwrap().get("c").unwrap();
        let value = mapping.get(key)?;
        Some(value.as_scalar().unwrap().text.clone())
    };
    let one = |text: &str| Some(text.to_owned());
    assert_eq!(value("<<: *b, x: 3, x: 4, z: 5", "x"), one("4"));
    assert_eq!(value("<<: *b, x: 3, x: 4, z: 5", "y"), one("2"));
    assert_eq!(value("x: 3, <<: *b", "x"), one("1"));
    assert_eq!(value("<<: [*m, *b]", "x"), one("6"));
    assert_eq!(value("'<<': *b", "x"), None);
    assert_eq!(value("<<: *b", "none"), None);
    for wrong in [
        "a: {<<: 3}\n",
        "a: {<<: }\n",
        "a: {<<: [1]}\n",
        "l: &l [{k: v}]\na: {<<: *l}\n",
    ] {
        let found = documents(&source(wrong.as_bytes()));
        let error = found[0].root.as_ref().unwrap_err();
        assert_eq!(
            error.message,
            "a merge key (<<) needs a mapping or a list of mappings"
        );
    }
}

#[test]
fn plain_scalars_are_what_go_takes_them_for() {
    for (text, kind) in [
        ("", Kind::Null),
        ("~", Kind::Null),
        ("nUll", Kind::Text),
        ("y", Kind::Bool(true)),
        ("OFF", Kind::Bool(false)),
        ("tRue", Kind::Text),
        ("2", Kind::Number),
        ("-1_000", Kind::Number),
        ("0x1F", Kind::Number),
        ("0o17", Kind::Number),
        ("0b12", Kind::Text),
        ("0x", Kind::Text),
        ("08", Kind::Number),
        ("1.5e3", Kind::Number),
        ("1e", Kind::Text),
        (".5", Kind::Number),
        (".", Kind::Text),
        ("+.inf", Kind::Number),
        (".nan", Kind::Number),
        ("-", Kind::Text),
        ("10.96.0.10", Kind::Text),
        ("1.5.", Kind::Text),
        ("2001-01-01", Kind::Text),
        ("fd00::1", Kind::Text),
    ] {
        assert_eq!(plain_kind(text), kind, "{text:?}");
    }
}

/// Every text of up to five pieces, in a fixed order: no panic, no endless
/// loop, and places lie in the text, those of plain words on the words.
#[test]
fn any_text_gives_documents() {
    let pieces = [
        "a", "é", ":", " ", "\n", "- ", "---", "[", "]", "{", "}", "\"", "*a", "&a ", "|", "\t",
        "#", ",", "?",
    ];
    let mut last = vec![String::new()];
    for _ in 0..4 {
        last = last
            .iter()
            .flat_map(|text| pieces.iter().map(move |piece| format!("{text}{piece}")))
            .collect();
        for text in &last {
            for document in documents(&source(text.as_bytes())) {
                assert!(document.start as usize <= text.len());
                match document.root {
                    Ok(root) => words_lie_on_their_places(&root, text),
                    Err(error) => assert!(error.at as usize <= text.len()),
                }
            }
        }
    }
}

fn words_lie_on_their_places(node: &Node, text: &str) {
    assert!(node.span.end as usize <= text.len(), "{text:?}");
    match &node.value {
        Value::Scalar(scalar) if scalar.style == Style::Plain && scalar.text == "a" => {
            let place = node.span.slice(text.as_bytes());
            assert!(place == b"a" || place == b"*a", "{text:?}");
        }
        Value::Scalar(_) => {}
        Value::Sequence(items) => items
            .iter()
            .for_each(|it| words_lie_on_their_places(it, text)),
        Value::Mapping(entries) => entries.iter().for_each(|it| {
            words_lie_on_their_places(&it.key, text);
            words_lie_on_their_places(&it.value, text);
        }),
    }
}

#[test]
fn a_scalar_ends_before_its_comment() {
    for (written, rest) in [
        ("\"x y\"", "  # it's \"quoted\""),
        ("'it''s'", " # 'c'"),
        ("\"a\\\"b\"", "\t# c"),
        ("\"x\"", "   "),
        ("!!str \"x\"", " # c"),
        ("x y", "  # c"),
        ("12", " # c"),
        ("x", "   "),
        ("\"x\"", ""),
        ("\"\"", " # c"),
        ("\"a\n  b\"", " # c"),
    ] {
        for text in [
            format!("k: {written}{rest}\nl: 1\n"),
            format!("- {written}{rest}\n- 1\n"),
        ] {
            let documents = documents(&source(text.as_bytes()));
            let root = documents[0].root.as_ref().unwrap();
            let first = root.as_sequence().map(|it| &it[0]);
            let value = first.unwrap_or_else(|| root.get("k").unwrap());
            let found = value.span.slice(text.as_bytes());
            let expected = written.trim_start_matches("!!str ");
            assert_eq!(String::from_utf8_lossy(found), expected, "{text:?}");
        }
    }
}

#[test]
fn a_quoted_value_ends_with_its_quotes() {
    for (text, value) in [
        ("a: \"b\" # c\n", "\"b\""),
        ("a: \"b\"\t# c \"d\"\n", "\"b\""),
        ("a: 'b' # it's\n", "'b'"),
        ("a: 'it''s' # c\n", "'it''s'"),
        ("a: \"b \\\" c\" # d\n", "\"b \\\" c\""),
        ("a: \"é\\\\\" # d\n", "\"é\\\\\""),
        ("a: !!str \"b\" # c\nd: e\n", "\"b\""),
        ("a: &x 'b' # c\n", "'b'"),
        ("a: ''\n", "''"),
        ("a: b # c\n", "b"),
        ("{a: \"b\" , c: d}", "\"b\""),
        ("a: \"b\r\n  c\" # d\r\n", "\"b\r\n  c\""),
    ] {
        let found = documents(&source(text.as_bytes()));
        let Value::Mapping(entries) = &found[0].root.as_ref().unwrap().value else {
            panic!("{text:?}");
        };
        let place = entries[0].value.span.slice(text.as_bytes());
        assert_eq!(String::from_utf8_lossy(place), value, "{text:?}");
    }
}

#[test]
fn a_tab_behind_dashes_is_where_it_stands() {
    for (text, tab) in [
        ("a:\n- b\n-\tc\n", 8),
        ("a:\n  - - \tb\n", 9),
        ("a:\n  -  \tb\n", 8),
    ] {
        let error = documents(&source(text.as_bytes()))[0].root.clone();
        assert_eq!(error.map_err(|it| it.at), Err(tab), "{text:?}");
    }
}
