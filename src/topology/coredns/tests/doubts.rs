use super::*;
use crate::topology::Weight;

/// What of that keeps it from starting, and how much can hide something.
#[test]
fn some_doubts_count_more_than_others() {
    let check = |corefile: &str, stops: bool, hides: usize| {
        let servers = servers_of(&[source("/c/Corefile", corefile)]);
        let server = servers.first().unwrap();
        let hiding = server.doubts.iter().map(Doubt::weight);
        let hiding = hiding.filter(|it| *it == Weight::Hides).count();
        let found = (server.first(Weight::Stops).is_some(), hiding);
        assert_eq!(found, (stops, hides), "{corefile}: {server:?}");
    };
    check(". {\n forward . 1.1.1.1\n}", false, 0);
    check(
        &format!(". {{\n forward .{}\n}}", " 1.1.1.1".repeat(15)),
        false,
        0,
    );
    check(
        &format!(". {{\n forward .{}\n}}", " 1.1.1.1".repeat(16)),
        true,
        0,
    );
    check(". {\n forward\n}", true, 0);
    check(". {\n forward .\n}", true, 0);
    check(". {\n forward . 1.1.1.1\n", true, 0);
    check(". {\n alternate x\n}", false, 1);
    check(". {\n view a {\n  expr true\n }\n}", false, 1);
    check(". {\n auto\n import x/*.override\n}", false, 0);
    check(". {\n import x.conf\n}", false, 1);
    check("{$ZONE} {\n forward . 1.1.1.1\n}", false, 2);
    check("", false, 1);
}

/// A large file is read in time that grows with its length.
#[test]
fn large_files_end() {
    let mut text = String::new();
    for number in 0..20_000 {
        text.extend([format!(
            "z{number}.example:53 {{\n forward . 10.0.0.1 10.0.0.2\n}}\n"
        )]);
    }
    assert_eq!(servers_of(&[source("/Corefile", &text)]).len(), 1);
    let keys = "a:1 ".repeat(100_000);
    servers_of(&[source("/Corefile", &format!("{keys}{{\n}}"))]);
    let names: Vec<String> = (0..500).map(|it| format!("n{it}:{it}")).collect();
    let names = names.join(" ");
    let addresses: Vec<String> = (1..250).map(|it| format!("10.0.0.{it}")).collect();
    let addresses = addresses.join(" ");
    let block = format!("{names} {{\n bind {addresses}\n}}\n");
    servers_of(&[source("/Corefile", &block.repeat(80))]);
    let plugins = " kubernetes 0.0.0.0/1\n hosts\n".repeat(20_000);
    servers_of(&[source("/Corefile", &format!("{names} {{\n{plugins}}}"))]);
    let stanzas = " forward x 10.0.0.1 {\n  except a b c d e f\n }\n".repeat(20_000);
    servers_of(&[source("/Corefile", &format!(". {{\n{stanzas}}}"))]);
}
