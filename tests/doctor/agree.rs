//! `kdns why MESSAGE --root` and `kdns doctor` say the same of each node.

use std::path::{Path, PathBuf};
use std::{fs, io};

use kdns::cli::{self, Streams};
use libtest_mimic::Trial;
use serde_json::Value;

use crate::faults::HEALTHY;
use crate::lab::{Said, doctor, nodes};

/// Messages that together have every cause which a node's files decide.
const MESSAGES: &[&str] = &[
    "[FATAL] plugin/loop: Loop (127.0.0.1:55953 -> :53) detected for zone \".\"",
    "[ERROR] plugin/errors: 2 4.5. HINFO: read udp 127.0.0.1:1->127.0.0.53:53: read: connection refused",
    "dial tcp: lookup db on 10.96.0.10:53: read udp 10.244.0.9:1->10.96.0.10:53: i/o timeout",
    "Nameserver limits were exceeded, some nameservers have been omitted",
    "kubelet does not have ClusterDNS IP configured and cannot create Pod using \"ClusterFirst\" policy",
    "open /run/systemd/resolve/resolv.conf: no such file or directory",
];

pub(crate) fn trials() -> Vec<Trial> {
    vec![Trial::test("agree::why and doctor", || {
        agree();
        Ok(())
    })]
}

fn agree() {
    let mut wrong = Vec::new();
    let mut decided = 0;
    for node in all() {
        let name = node.file_name().unwrap().to_string_lossy().into_owned();
        let said = doctor(&node, &[]);
        for message in MESSAGES {
            for (code, state) in why(&node, message) {
                decided += usize::from(state != "unknown");
                if !fits(&name, &said, &code, &state) {
                    let (verdict, checks) = (&said.document["verdict"], said.wrong());
                    wrong.push(format!(
                        "{name}: {code} is {state}, doctor: {verdict} {checks:?}"
                    ));
                }
            }
        }
    }
    wrong.sort();
    wrong.dedup();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(decided > 500, "{decided}");
}

/// Whether what doctor says leaves room for it.
fn fits(name: &str, said: &Said, code: &str, state: &str) -> bool {
    match (code, state) {
        // This is about the address in the message, which no file of the node need name.
        ("stub-down" | "nodelocal-down", _) => true,
        // What is true is seen by doctor, too.
        (_, "true") if HEALTHY.contains(&name) => false,
        ("dns-loop", "true") => said.state("loop") == "error",
        (_, "true") => !said.wrong().is_empty(),
        ("dns-loop", "false") => said.first() != "loop",
        ("conntrack-full", "false") => said.first() != "connection-table-full",
        ("kubelet-file-missing", "false") => said.first() != "resolv-conf-missing",
        _ => true,
    }
}

/// The states of the causes of a message on a node.
fn why(node: &Path, message: &str) -> Vec<(String, String)> {
    let root = node.to_str().unwrap();
    let words = [
        "kdns",
        "why",
        "--format",
        "json",
        "--root",
        root,
        "--message",
        message,
    ];
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let mut streams = Streams {
        colors: false,
        terminal: None,
        input: &mut io::empty(),
        is_input_read: false,
        out: &mut out,
        err: &mut err,
    };
    // Three thousand programs would each read the same pages.
    cli::run(words.map(Into::into), &mut streams);
    let document: Value = serde_json::from_slice(&out).unwrap();
    let causes = document["causes"].as_array().unwrap().iter();
    let text = |it: &Value| it.as_str().unwrap().to_owned();
    causes
        .map(|it| (text(&it["code"]), text(&it["state"])))
        .collect()
}

/// The directories of the nodes.
fn all() -> Vec<PathBuf> {
    let entries = fs::read_dir(nodes()).unwrap().flatten();
    let paths = entries.map(|it| it.path());
    let mut all: Vec<PathBuf> = paths.filter(|it| it.is_dir()).collect();
    all.sort();
    all
}
