//! Corefiles with what they import, as a whole and as servers.

use kdns::config::corefile::{self, At, Corefile};
use kdns::text::Source;
use kdns::topology::coredns::{self, Site};
use kdns::topology::{Instance, Network, Program};

use super::{inside, printable, source, texts};

/// Texts: the Corefile, then files that it can import, `a`, `b` and so on.
pub(crate) fn run(data: &[u8]) {
    let names = [
        "/etc/coredns/Corefile",
        "/etc/coredns/a",
        "/etc/coredns/b/c",
    ];
    let files: Vec<Source> = names
        .iter()
        .zip(texts(data))
        .map(|(name, bytes)| source(name, bytes))
        .collect();
    let (main, others) = files.split_first().unwrap();
    let parsed = corefile::parse(main.clone(), others);
    assert_eq!(parsed.sources, files, "nothing is lost");
    places(&parsed);
    drop(corefile::in_manifest(main));
    let text = String::from_utf8_lossy(&main.bytes);
    if let Ok(key) = corefile::split_key(&text) {
        drop(format!("{key:?}"));
    }
    drop((corefile::zones(&text), corefile::domain(&text)));
    let site = Site {
        program: Program::CoreDns,
        instance: &Instance::Only,
        network: &Network::Node,
        addresses: &["10.0.0.1".parse().unwrap()],
        interfaces: &[("10.0.0.1".parse().unwrap(), "eth0".to_owned())],
    };
    drop(format!("{:?}", coredns::servers(&parsed, &site)));
    drop(format!("{:?}", coredns::servers_of_files(&files, &site)));
}

/// Every word stands where it says.
fn places(parsed: &Corefile) {
    let check = |at: At| {
        let source = parsed
            .sources
            .get(at.source)
            .expect("a file that was given");
        inside(at.span, &source.bytes);
        printable(&source.place_of(at.span.start).file);
    };
    for block in &parsed.blocks {
        assert!(!block.keys.is_empty());
        block.keys.iter().for_each(|it| check(it.at));
        for directive in &block.directives {
            check(directive.name.at);
            directive.arguments.iter().for_each(|it| check(it.at));
            for line in &directive.lines {
                assert!(!line.is_empty());
                for word in line {
                    check(word.at);
                }
            }
        }
    }
    parsed.imports.iter().for_each(|it| check(it.at));
    for finding in &parsed.findings {
        check(finding.at);
        printable(&finding.message);
    }
}
