use super::*;
use crate::text::{Position, Span};

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
