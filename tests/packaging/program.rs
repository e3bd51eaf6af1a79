//! The static program.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Stdio};

use flate2::read::ZlibDecoder;
use object::Endianness;
use object::elf::{FileHeader64, PT_DYNAMIC, PT_INTERP};
use object::read::elf::{Dyn as _, FileHeader as _, ProgramHeader as _, SectionHeader as _};

use crate::lab::{dist, program, source, texts};

/// A program of this size starts as fast as a smaller one: only what is touched is read.
const MAX_BYTES: usize = 12 * 1024 * 1024;

pub(crate) fn is_small() {
    let size = program().len();
    assert!(size < MAX_BYTES, "{size} bytes, not below {MAX_BYTES}");
}

/// Nothing loads it but the kernel, and it loads no library.
pub(crate) fn is_static() {
    let bytes = program();
    let elf = FileHeader64::<Endianness>::parse(&*bytes).unwrap();
    let order = elf.endian().unwrap();
    for header in elf.program_headers(order, &*bytes).unwrap() {
        assert_ne!(header.p_type(order), PT_INTERP);
        if header.p_type(order) == PT_DYNAMIC {
            let entries = header.dynamic(order, &*bytes).unwrap().unwrap();
            let needed = i64::from(object::elf::DT_NEEDED);
            assert!(
                entries
                    .iter()
                    .all(|it| i64::try_from(it.d_tag(order)) != Ok(needed))
            );
        }
    }
    let sections = elf.sections(order, &*bytes).unwrap();
    for name in [".symtab", ".debug_info"] {
        assert!(
            sections.section_by_name(order, name.as_bytes()).is_none(),
            "not stripped: {name}"
        );
    }
}

/// Neither the builder's directories nor the builder's name.
pub(crate) fn names_no_place() {
    let bytes = program();
    let home = env::var("HOME").unwrap();
    let cargo = env::var("CARGO_HOME").unwrap_or_else(|_| format!("{home}/.cargo"));
    let rustup = env::var("RUSTUP_HOME").unwrap_or_else(|_| format!("{home}/.rustup"));
    for place in [env!("CARGO_MANIFEST_DIR"), &cargo, &rustup] {
        let found = memchr::memmem::find(&bytes, place.as_bytes());
        let around = found.map(|at| String::from_utf8_lossy(&bytes[at..][..120]).into_owned());
        assert_eq!(around, None);
    }
}

/// What `cargo auditable` wrote, read back: scanners find it without the source.
pub(crate) fn lists_dependencies() {
    let inside = dependencies();
    let lock = fs::read_to_string(source().join("Cargo.lock")).unwrap();
    let lock: toml::Value = toml::from_str(&lock).unwrap();
    let locked: BTreeSet<(String, String)> = lock["package"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (text(&it["name"]), text(&it["version"])))
        .collect();
    for dependency in &inside {
        assert!(
            locked.contains(dependency),
            "{dependency:?} is not in Cargo.lock"
        );
    }
    let names: BTreeSet<&str> = inside.iter().map(|it| it.0.as_str()).collect();
    for expected in [
        "kdns",
        "clap",
        "hickory-proto",
        "ring",
        "rustls",
        "serde_json",
    ] {
        assert!(
            names.contains(expected),
            "{expected} is missing in {names:?}"
        );
    }
    // Whose licence is named is in the list, too.
    let licences = fs::read_to_string(dist().join("LICENSES.txt")).unwrap();
    let head = licences.split("\n===").next().unwrap();
    let from_heading = head
        .lines()
        .skip_while(|it| !it.ends_with("of their own for it:"));
    let licensed: Vec<(&str, &str)> = from_heading
        .filter_map(|it| it.get(4..)?.split_once(": ")?.0.split_once(' '))
        .collect();
    assert!(licensed.len() > 100, "{licensed:?}");
    for (name, version) in licensed {
        let is_listed = inside.contains(&(name.to_owned(), version.to_owned()));
        assert!(is_listed, "{name} {version} is linked in, but not listed");
    }
}

fn text(value: &toml::Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// Name and version of the packages in the program's list.
fn dependencies() -> BTreeSet<(String, String)> {
    let bytes = program();
    let elf = FileHeader64::<Endianness>::parse(&*bytes).unwrap();
    let order = elf.endian().unwrap();
    let sections = elf.sections(order, &*bytes).unwrap();
    let (_, section) = sections.section_by_name(order, b".dep-v0").unwrap();
    let packed = section.data(order, &*bytes).unwrap();
    let list: serde_json::Value = serde_json::from_reader(ZlibDecoder::new(packed)).unwrap();
    let packages = list["packages"].as_array().unwrap();
    let field = |it: &serde_json::Value, name: &str| it[name].as_str().unwrap().to_owned();
    packages
        .iter()
        .map(|it| (field(it, "name"), field(it, "version")))
        .collect()
}

/// Command lines in a root that has nothing but the program, with the status
/// and the beginning of what is said.
const RUNS: [(&[&str], i32, &str); 19] = [
    (
        &["--version"],
        0,
        concat!("kdns ", env!("CARGO_PKG_VERSION")),
    ),
    (&["--help"], 0, "Explain and check"),
    (&["rule"], 0, ""),
    (&["rule", "KR001"], 0, ""),
    (&["schema", "explain"], 0, "{"),
    (&["completions", "bash"], 0, "_clap_complete_kdns()"),
    (&["explain", "db"], 0, ""),
    (&["explain", "db", "--root", "/"], 0, ""),
    (&["check-loop"], 2, ""),
    (&["upstream"], 2, ""),
    (&["pod-file", "--namespace", "shop"], 2, ""),
    (&["pods"], 2, ""),
    (&["lint", "/"], 2, ""),
    (&["explain", "db", "--target", "1"], 2, "kdns: "),
    (&["nsenter", "1", "dig", "db"], 10, "kdns: "),
    (&["nsenter", "1", "--", "true"], 125, "kdns: "),
    (
        &["dig", "@127.0.0.1", "-p", "1", "+time=1", "+tries=1", "db"],
        9,
        "",
    ),
    // Random bytes without /dev/urandom.
    (
        &["dig", "@dns.test", "+time=1", "+tries=1", "db"],
        1,
        "dig: couldn't get address for 'dns.test'",
    ),
    (
        &[
            "dig",
            "@https://127.0.0.1:1/dns-query",
            "+time=1",
            "+tries=1",
            "db",
        ],
        9,
        "",
    ),
];

pub(crate) fn in_an_empty_root() {
    let root = tempfile::tempdir().unwrap();
    fs::copy(dist().join("kdns"), root.path().join("kdns")).unwrap();
    for (words, status, beginning) in RUNS {
        let mut command = Command::new("unshare");
        command
            .args(["--net", "--root"])
            .arg(root.path())
            .arg("/kdns")
            .args(words);
        let output = command
            .env_clear()
            .env("PATH", env::var("PATH").unwrap())
            // Many developers set it.
            .env("RUST_BACKTRACE", "1")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let (out, err) = texts(&output);
        assert_eq!(output.status.signal(), None, "{words:?}: {err}");
        assert_eq!(output.status.code(), Some(status), "{words:?}: {out}{err}");
        assert!(!err.contains("panicked"), "{words:?}: {err}");
        assert!(
            !(out.is_empty() && err.is_empty()),
            "{words:?} says nothing"
        );
        let said = if out.is_empty() { &err } else { &out };
        assert!(said.starts_with(beginning), "{words:?}: {said}");
    }
    // It wrote nothing.
    assert_eq!(fs::read_dir(root.path()).unwrap().count(), 1);
}
