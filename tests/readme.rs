//! The README's examples are real: every `console` block is run and compared.
//!
//! `KDNS_BLESS=1 cargo test` rewrites the output in the README.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use kdns::cli::{self, Streams};

#[test]
fn examples_are_real() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    // Examples name files relative to the project.
    std::env::set_current_dir(env!("CARGO_MANIFEST_DIR")).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    let mut actual = String::new();
    let mut rest = text.as_str();
    while let Some((before, block)) = rest.split_once("```console\n") {
        let (block, after) = block.split_once("```\n").unwrap();
        let command = block.lines().next().unwrap();
        let output = output(command);
        actual.extend([before, "```console\n", command, "\n", &output, "```\n"]);
        rest = after;
    }
    actual.push_str(rest);
    if std::env::var_os("KDNS_BLESS").is_some() {
        fs::write(&path, &actual).unwrap();
    } else {
        assert!(
            text == actual,
            "README.md is stale: run KDNS_BLESS=1 cargo test"
        );
    }
}

fn output(command: &str) -> String {
    let words = command.strip_prefix("$ ").unwrap().split_whitespace();
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let mut streams = Streams {
        input: &mut std::io::empty(),
        is_input_read: false,
        out: &mut out,
        err: &mut err,
        colors: false,
    };
    cli::run(words.map(OsString::from), &mut streams);
    assert!(
        err.is_empty(),
        "{command}: {}",
        String::from_utf8_lossy(&err)
    );
    String::from_utf8(out).unwrap()
}
