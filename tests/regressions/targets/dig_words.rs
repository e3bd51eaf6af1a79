//! dig's words: the command line, `~/.digrc` and batch files, and the messages
//! that they make.

use kdns::dig::command_line::server_names;
use kdns::dig::command_line::{Parser, Said, Surroundings};
use kdns::dig::lookup::Lookup;
use kdns::dig::message::{self, Read};
use kdns::dig::request::{self, Parts};
use kdns::name::Name;

use super::texts;

/// Texts: the command line, each word on a line of its own; a line of
/// `~/.digrc`; lines of a batch file.
pub(crate) fn run(data: &[u8]) {
    let mut texts = texts(data);
    let words: Vec<&[u8]> = texts
        .next()
        .unwrap_or_default()
        .split(|&it| it == b'\n')
        .collect();
    let mut parser = Parser::new(Surroundings {
        tries: 3,
        version: "DiG 9.18".to_owned(),
        ..Surroundings::default()
    });
    drop(server_names(&words));
    if parser.preparse(&words).is_ok()
        && let Some(line) = texts.next()
    {
        let _ = parser.digrc_line(line);
    }
    if let Ok(lookups) = parser.command_line(&words) {
        lookups.iter().for_each(sent);
    }
    for line in texts.take(8) {
        if let Ok(Some(lookups)) = parser.batch_line(line) {
            lookups.iter().for_each(sent);
        }
    }
    // The output formats escape it; it is one line or a few.
    for Said::Out(text) | Said::Err(text) in &parser.said {
        assert!(!text.is_empty());
    }
}

/// The message of a lookup is one that can be read.
fn sent(lookup: &Lookup) {
    let Ok(name) = Name::from_master_file(&lookup.text) else {
        return;
    };
    let parts = Parts {
        name: &name,
        id: 7,
        cookie: &[1; 8],
    };
    let wire = request::message(lookup, &parts);
    assert!(u16::try_from(wire.len()).is_ok(), "{} bytes", wire.len());
    let (id, _) = message::peek(&wire).expect("a header");
    assert_eq!(id, lookup.qid.unwrap_or(7));
    if let Read::Whole(read) = message::read_own(&wire, lookup.edns.padding != 0)
        && let Some(question) = read.questions.first()
    {
        assert_eq!(question.name, name);
        assert_eq!(question.rdtype, lookup.rdtype);
    }
}
