//! Lookups on the wire as a picture.

use libtest_mimic::{Failed, Trial};

use crate::run::run;
use crate::trial;

pub(crate) fn trials() -> Vec<Trial> {
    vec![trial("picture::what_came_is_drawn", drawn)]
}

/// A closed port, a truncated reply, an answer with an alias, and a server that fails.
const SCENARIO: &str = r#"{"name": "x", "resolv_conf": "search a.test\nnameserver 10.96.0.10\nnameserver 10.96.0.11\noptions timeout:1\n",
    "answers": [{"server": "10.96.0.10", "reply": "ICMP"}, {"name": "db.a.test", "reply": "NXDOMAIN"},
    {"proto": "udp", "type": "A", "reply": "TC"},
    {"type": "A", "reply": "ANSWER", "a": ["192.0.2.9"], "cname": "real.x"}, {"reply": "SERVFAIL"}]}"#;

fn drawn() -> Result<(), Failed> {
    let words = ["explain", "--live", "--format", "svg", "db"];
    let ran = run(SCENARIO, &[&words[..], &["--resolver", "glibc"]].concat())?;
    let picture = &ran.stdout;
    if !picture.starts_with("<svg ") || !picture.ends_with("</svg>\n") {
        return Err(format!("{ran:?}").into());
    }
    let texts = texts(picture);
    for part in [
        "glibc 2.36: 192.0.2.9",
        "10.96.0.10",
        "10.96.0.11",
        "db.a.test.",
        "NXDOMAIN",
        "closed port",
        "truncated",
        "TCP",
    ] {
        if !texts.iter().any(|it| it.contains(part)) {
            return Err(format!("{part:?} is not in {texts:#?}").into());
        }
    }
    Ok(())
}

/// What is read in a picture: all between tags.
fn texts(picture: &str) -> Vec<&str> {
    let behind_tags = picture.split('>').filter_map(|it| it.split('<').next());
    behind_tags.filter(|it| !it.trim().is_empty()).collect()
}
