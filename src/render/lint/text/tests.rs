use super::*;
use crate::text::{LineIndex, Position, Source, Span};

#[test]
fn a_code_is_a_link_where_terminals_open_one() {
    let finding = Finding {
        code: "KR001",
        name: "loopback-nameserver",
        severity: Severity::Error,
        message: "a".to_owned(),
        primary: Label {
            file: "b".to_owned(),
            span: Span::default(),
            start: Position::default(),
            end: Position::default(),
            excerpt: String::new(),
            excerpt_column: 1,
            text: String::new(),
        },
        secondary: Vec::new(),
        help: None,
        notes: Vec::new(),
        fix: None,
    };
    for (colors, links, expected) in [(true, true, 2), (true, false, 0), (false, true, 0)] {
        let (verbose, columns) = (false, 80);
        let style = Style {
            colors,
            verbose,
            links,
            columns,
        };
        let text = String::from_utf8(block(&finding, style).unwrap()).unwrap();
        assert_eq!(text.matches("\u{1b}]8;;").count(), expected, "{text:?}");
        let is_linked = text.contains("#kr001-loopback-nameserver\u{1b}\\");
        assert_eq!(is_linked, expected > 0, "{text:?}");
    }
}

#[test]
fn marks_of_lines_that_follow_each_other_stay_where_they_are() {
    let source = Source::new("f", "one\ntwo\n");
    let lines = LineIndex::new(&source.bytes);
    let label = |start, end| Label::spanning(&source, &lines, Span::new(start, end), "here".into());
    for (primary, secondary) in [((0, 3), (4, 7)), ((4, 7), (0, 3))] {
        let finding = Finding {
            code: "KR000",
            name: "rule",
            severity: Severity::Error,
            message: String::new(),
            primary: label(primary.0, primary.1),
            secondary: vec![label(secondary.0, secondary.1)],
            help: None,
            notes: Vec::new(),
            fix: None,
        };
        let excerpts = excerpts(&finding);
        let [excerpt] = excerpts.as_slice() else {
            unreachable!("they are one");
        };
        assert_eq!((excerpt.line, excerpt.text.as_str()), (1, "one\ntwo"));
        let marked = excerpt
            .marks
            .iter()
            .map(|it| excerpt.text.get(it.0.clone()));
        assert_eq!(marked.collect::<Vec<_>>(), [Some("one"), Some("two")]);
    }
}
