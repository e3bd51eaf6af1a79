use super::*;
use crate::config::yaml::{self, Node};
use crate::text::Source;

/// The text under `a` in the document, and the bytes of the document that
/// each word of it stands for; changed, the document with `x` for the
/// first word, and without the first line.
fn check(document: &str, words: &[&str], changed: Option<&str>, without: Option<&str>) {
    let source = Source::new("f", document);
    let documents = yaml::documents(&source);
    let root = documents[0].root.as_ref().unwrap();
    let node = root.get("a").unwrap();
    let text = &node.as_scalar().unwrap().text;
    let layers = Layers::default().within(Layer::of_scalar(&source.bytes, node).unwrap());
    let mut at = 0;
    let mut found = Vec::new();
    for word in text.split_whitespace() {
        at += text.get(at..).unwrap().find(word).unwrap();
        let span = Span::new(at, at + word.len());
        found.push(String::from_utf8_lossy(layers.outer(span).slice(&source.bytes)).into_owned());
        at += word.len();
    }
    assert_eq!(found, words, "{document:?}");
    let edited = |change: Option<(Span, String)>| {
        let (span, text) = change?;
        let mut bytes = source.bytes.clone();
        bytes.splice(span.start as usize..span.end as usize, text.into_bytes());
        Some(String::from_utf8(bytes).unwrap())
    };
    let first = text.split_whitespace().next().unwrap();
    let start = text.find(first).unwrap();
    let change = layers.change(Span::new(start, start + first.len()), "x\ny".to_owned());
    assert_eq!(edited(change).as_deref(), changed, "{document:?}");
    let end = text.find('\n').map_or(text.len(), |at| at + 1);
    let line = layers.whole_line(Span::new(0, end));
    let removed = edited(line.map(|line| (line, String::new())));
    assert_eq!(removed.as_deref(), without, "{document:?}");
}

#[test]
fn blocks_stand_line_for_line() {
    check(
        "a: |\n  one two\n\n    three\nb: c\n",
        &["one", "two", "three"],
        Some("a: |\n  x\n  y two\n\n    three\nb: c\n"),
        Some("a: |\n\n    three\nb: c\n"),
    );
    check(
        "a: |-\n      one",
        &["one"],
        Some("a: |-\n      x\n      y"),
        Some("a: |-\n"),
    );
    check(
        "a: |2 # why\n   one\n",
        &["one"],
        Some("a: |2 # why\n   x\n  y\n"),
        Some("a: |2 # why\n"),
    );
    check(
        "a: |\r\n  one\r\n  two\r\n",
        &["one", "two"],
        Some("a: |\r\n  x\r\n  y\r\n  two\r\n"),
        Some("a: |\r\n  two\r\n"),
    );
    // What was folded stands nowhere as it is: every place is the whole value.
    let whole = ">\n  one\n  two\n";
    check("a: >\n  one\n  two\n", &[whole, whole], None, None);
}

#[test]
fn quoted_texts_stand_between_escapes() {
    check("a: one two\n", &["one", "two"], None, None);
    check("a: 'one two'\n", &["one", "two"], None, None);
    check(
        "a: \"one\\ntwo\\tthr\\u0065e\"\n",
        &["one", "two", "thr\\u0065e"],
        Some("a: \"x\\ny\\ntwo\\tthr\\u0065e\"\n"),
        None,
    );
    check(
        "{\"a\": \"one\\n\u{e9} two\"}",
        &["one", "\u{e9}", "two"],
        Some("{\"a\": \"x\\ny\\n\u{e9} two\"}"),
        None,
    );
    check("a: 'it''s'\n", &["'it''s'"], None, None);
}

#[test]
fn layers_are_put_one_into_the_other() {
    let outer = b"0123456789";
    let node = |start, end, text: &str| Node::plain(Span::new(start, end), text);
    let first = Layer::of_scalar(outer, &node(2, 9, "2345678")).unwrap();
    let second = Layer::of_scalar(b"2345678", &node(3, 6, "567")).unwrap();
    let layers = Layers::default().within(first).within(second);
    assert_eq!(layers.outer(Span::new(1, 3)), Span::new(6, 8));
    let opaque = layers.within(Layer::opaque(Span::new(0, 3)));
    assert_eq!(opaque.outer(Span::new(100, 200)), Span::new(5, 8));
    assert_eq!(opaque.change(Span::new(0, 1), "x".to_owned()), None);
}

#[test]
fn words_are_put_behind_others_whatever_ends_the_line() {
    for (document, expected) in [
        ("a: |\n  one\n  two\n", "a: |\n  one x\n  y\n  two\n"),
        (
            "a: |\r\n  one\r\n  two\r\n",
            "a: |\r\n  one x\r\n  y\r\n  two\r\n",
        ),
        ("{\"a\": \"one\\ntwo\"}", "{\"a\": \"one x\\ny\\ntwo\"}"),
    ] {
        let source = Source::new("f", document);
        let documents = yaml::documents(&source);
        let node = documents[0].root.as_ref().unwrap().get("a").unwrap();
        let layers = Layers::default().within(Layer::of_scalar(&source.bytes, node).unwrap());
        let (span, text) = layers.change(Span::new(3, 3), " x\ny".to_owned()).unwrap();
        let mut bytes = source.bytes.clone();
        bytes.splice(span.start as usize..span.end as usize, text.into_bytes());
        assert_eq!(String::from_utf8(bytes).unwrap(), expected);
    }
}
