//! Where all is well, and where the file of the authority is not.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use libtest_mimic::{Failed, Trial};

use super::certificates::{Authority, Kind, Leaf};
use super::serve::{self, Dot, Http};
use crate::compare::{self, Line};

/// What is asked: by kdns behind `tls://` and `https://`, by BIND's dig
/// with `+tls` and `+https`, and by kdns over TCP.
const LINES: &[&str] = &[
    "www.example.test",
    "example.test MX +dnssec",
    "txt.example.test TXT +short",
    "big.example.test A",
    "nosuch.example.test",
    "example.test SOA +multiline +nocookie",
    "-x 10.0.0.1 +nocomments",
    "example.test AXFR",
    "www.example.test +yaml",
    "www.example.test +subnet=10.1.2.0/24 +nsid +qr",
    "www.example.test ANY +noall +answer",
    "version.bind TXT CH",
];

pub(super) fn trials(authority: &Arc<Authority>, is_list: bool) -> Vec<Trial> {
    let here = super::address(1);
    if !is_list {
        let chain = || {
            authority.chain(&Kind {
                leaf: Leaf::Good,
                address: here,
            })
        };
        serve::dot((here, 853), Dot::Answers, &chain());
        serve::http((here, 443), Http::Answers, &chain());
        serve::plain_http((here, 80));
    }
    let mut trials = Vec::new();
    for line in LINES {
        for (scheme, option) in [("tls", "+tls"), ("https", "+https")] {
            let authority = Arc::clone(authority);
            trials.push(Trial::test(format!("secure {scheme}: {line}"), move || {
                compare::both(
                    &beside_dig(line, scheme, option, &authority.file),
                    Path::new("/"),
                )
            }));
        }
    }
    for word in [
        "@tls://dns.secure.test",
        "@https://dns.secure.test/dns-query",
    ] {
        let file = authority.file.clone();
        trials.push(Trial::test(format!("secure {word}"), move || {
            by_name(word, &file)
        }));
    }
    trials
}

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

fn beside_dig(line: &str, scheme: &str, option: &str, file: &str) -> Line {
    let here = super::address(1);
    let theirs = format!("@{here} {option} +tls-ca={file} +tls-hostname={here} +qid=7 {line}");
    let ours = format!("@{scheme}://{here} +qid=7 {line}");
    Line {
        words: [words(&theirs), words(&ours)],
        variables: vec![("SSL_CERT_FILE".to_owned(), file.to_owned())],
        same: vec![
            [theirs, ours, "WORDS".to_owned()],
            [
                format!("#{}({here})", if scheme == "tls" { 853 } else { 443 }),
                format!(
                    "#{}({scheme}://{here})",
                    if scheme == "tls" { 853 } else { 443 }
                ),
                "PEER".to_owned(),
            ],
        ],
        ..Line::default()
    }
}

/// The certificate is looked at for the name that was written.
fn by_name(word: &str, file: &str) -> Result<(), Failed> {
    let words = [word, "example.test", "MX", "+short"];
    let output = compare::ours(&words, &[("SSL_CERT_FILE", file)])?;
    let text = String::from_utf8_lossy(&output.stdout);
    if output.status.success() && text == "10 mail.example.test.\n20 mail2.other.test.\n" {
        return Ok(());
    }
    Err(text.into_owned().into())
}

/// The file is not as it should be.
pub(super) fn files(authority: &Arc<Authority>, folder: &Path) -> Vec<Trial> {
    let mut broken = fs::read_to_string(&authority.file).unwrap();
    broken.insert_str(40, "!!!");
    let der = [0x30_u8, 0x82, 1, 2, 3];
    let twice = fs::read_to_string(&authority.file).unwrap() + &broken;
    let leaf = "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n";
    let long = "#\n".repeat(600_000);
    let hint = "; name a file of certificates in PEM, or unset the variable\n";
    let cases: [(&str, Option<&[u8]>, &str); 8] = [
        (
            "missing",
            None,
            "cannot read FILE: no such file or directory",
        ),
        (
            "empty",
            Some(b""),
            "cannot use FILE: it holds no certificate in PEM (-----BEGIN CERTIFICATE-----)",
        ),
        (
            "garbage",
            Some(b"\x1b[2J\xff\x00"),
            "cannot use FILE: it holds no certificate in PEM (-----BEGIN CERTIFICATE-----)",
        ),
        (
            "der",
            Some(&der),
            "cannot use FILE: it holds no certificate in PEM (-----BEGIN CERTIFICATE-----)",
        ),
        (
            "broken",
            Some(broken.as_bytes()),
            "cannot use FILE: its first certificate is broken",
        ),
        (
            "half",
            Some(twice.as_bytes()),
            "cannot use FILE: what follows its first 1 certificates is broken",
        ),
        (
            "unusable",
            Some(leaf.as_bytes()),
            "cannot use FILE: none of its certificates can be the root of another one",
        ),
        ("long", Some(long.as_bytes()), "FILE is longer than 1 MiB"),
    ];
    let mut trials = Vec::new();
    for (name, bytes, said) in cases {
        let path = folder.join(format!("{name}.pem")).display().to_string();
        if let Some(bytes) = bytes {
            fs::write(&path, bytes).unwrap();
        }
        let said = format!("kdns: SSL_CERT_FILE: {}{hint}", said.replace("FILE", &path));
        trials.push(Trial::test(format!("secure file: {name}"), move || {
            is_said(&path, &said)
        }));
    }
    trials
}

fn is_said(path: &str, said: &str) -> Result<(), Failed> {
    let variables = [("SSL_CERT_FILE", path)];
    let word = format!("@tls://{}", super::address(1));
    let output = compare::ours(&[&word, "www.example.test"], &variables)?;
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    if (output.status.code(), err.as_str()) != (Some(10), said) || !output.stdout.is_empty() {
        return Err(format!("{:?}: {err}", output.status.code()).into());
    }
    // Who does not need it is not told.
    let plain = compare::ours(&["@127.0.0.1", "www.example.test", "+short"], &variables)?;
    let is_well = plain.status.success() && plain.stderr.is_empty();
    if is_well {
        Ok(())
    } else {
        Err("without TLS it matters too".into())
    }
}
