//! Invariants of the code that the compiler does not check.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Longest source file, in lines.
const MAX_LINES: usize = 400;

/// The core, from the inside out, as in `src/lib.rs`: a module may use those
/// before it. What follows are adapters, output and commands.
fn core() -> Vec<String> {
    modules()
        .into_iter()
        .take_while(|name| !is_outside(name))
        .collect()
}

fn is_outside(module: &str) -> bool {
    ["host", "netns", "probe", "wire", "render", "cli"].contains(&module)
}

/// The modules in the order of `src/lib.rs`.
fn modules() -> Vec<String> {
    let lib = fs::read_to_string(root().join("src/lib.rs")).unwrap();
    lib.lines()
        .filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'))
        .map(str::to_owned)
        .collect()
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every file below `directory` that ends in `.rs`, sorted.
fn sources(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The files of a module: `src/NAME.rs` and all below `src/NAME/`.
fn files_of(module: &str) -> Vec<PathBuf> {
    let file = root().join("src").join(module).with_extension("rs");
    let folder = root().join("src").join(module);
    let mut files = if folder.is_dir() {
        sources(&folder)
    } else {
        Vec::new()
    };
    files.extend(Some(file).filter(|file| file.is_file()));
    assert!(!files.is_empty(), "no file of module {module}");
    files
}

/// The file without its comments, which may point anywhere, and its tests.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let code = text.split("#[cfg(test)]").next().unwrap();
    let is_code = |line: &&str| !line.trim_start().starts_with("//");
    let lines: Vec<&str> = code.lines().filter(is_code).collect();
    lines.join("\n")
}

#[test]
fn files_stay_short() {
    let mut long = Vec::new();
    let folders = ["src", "tests", "benches"].map(|it| root().join(it));
    for folder in folders.iter().filter(|it| it.is_dir()) {
        for path in sources(folder) {
            let lines = fs::read_to_string(&path).unwrap().lines().count();
            if lines > MAX_LINES {
                long.push(format!("{}: {lines} lines", path.display()));
            }
        }
    }
    assert!(long.is_empty(), "{}", long.join("\n"));
}

#[test]
fn a_module_uses_only_those_before_it() {
    let modules = modules();
    let mut wrong = Vec::new();
    for (index, module) in modules.iter().enumerate() {
        for path in files_of(module) {
            for line in code(&path).lines() {
                let used = line.split("crate::").skip(1).map(|rest| {
                    rest.split(|c: char| !(c.is_alphanumeric() || c == '_'))
                        .next()
                        .unwrap()
                });
                let later = &modules[index + 1..];
                wrong.extend(
                    used.filter(|used| later.iter().any(|other| other == used))
                        .map(|used| format!("{}: uses {used}: {line}", path.display())),
                );
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The modules of `cli` by their paths, and their code: `["lint", "fix"]`.
fn cli() -> BTreeMap<Vec<String>, String> {
    let folder = root().join("src/cli");
    let module = |path: PathBuf| {
        let inside = path.strip_prefix(&folder).unwrap().with_extension("");
        let mut names: Vec<String> = inside
            .iter()
            .map(|it| it.to_str().unwrap().to_owned())
            .collect();
        names.pop_if(|it| it == "mod");
        (names, code(&path))
    };
    sources(&folder).into_iter().map(module).collect()
}

/// The modules of `cli` that own what `code` of the module `asking` names
/// through `super::` and `crate::cli::`, with the names.
fn uses(
    asking: &[String],
    code: &str,
    modules: &BTreeMap<Vec<String>, String>,
) -> Vec<(Vec<String>, String)> {
    let flat: String = code.split_whitespace().collect();
    let marked = flat.replace("crate::cli::", "^");
    let mut found = Vec::new();
    for (at, _) in marked.match_indices(['^', 's']) {
        let (before, mut rest) = marked.split_at(at);
        let mut base = asking.to_vec();
        if let Some(path) = rest.strip_prefix('^') {
            (rest, base) = (path, Vec::new());
        } else if !rest.starts_with("super::") || before.ends_with("super::") {
            continue;
        }
        while let Some(path) = rest.strip_prefix("super::") {
            base.pop();
            rest = path;
        }
        let names: Vec<&str> = match rest.strip_prefix('{') {
            Some(group) => group.split('}').next().unwrap().split(',').collect(),
            None => vec![rest],
        };
        for name in names {
            let mut owner = base.clone();
            let is_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
            let path = name.split(|c: char| !is_path(c)).next().unwrap();
            for word in path.split("::") {
                owner.push(word.to_owned());
                if !modules.contains_key(&owner) {
                    owner.pop();
                    break;
                }
            }
            found.push((owner, path.to_owned()));
        }
    }
    found
}

/// A module of `cli` uses nothing of those that it is a part of, and no two
/// commands use each other.
#[test]
fn no_arrow_leads_upward_in_cli() {
    let modules = cli();
    let mut wrong = Vec::new();
    let mut arrows = BTreeSet::new();
    for (asking, code) in &modules {
        for (owner, name) in uses(asking, code, &modules) {
            if asking.len() > owner.len() && asking.starts_with(&owner) {
                wrong.push(format!("cli::{}: uses {name}", asking.join("::")));
            }
            let ends = (asking.first(), owner.first());
            if let (Some(from), Some(to)) = ends
                && from != to
            {
                arrows.insert((from.clone(), to.clone()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(arrows.len() > 20, "{arrows:?}");
    // What nothing uses that is left is taken away, until nothing or a circle is.
    loop {
        let before = arrows.len();
        let used: BTreeSet<String> = arrows.iter().map(|it| it.1.clone()).collect();
        arrows.retain(|(from, _)| used.contains(from));
        if arrows.len() == before {
            break;
        }
    }
    assert!(arrows.is_empty(), "a circle in cli: {arrows:?}");
}

/// `clippy.toml` forbids the calls; this forbids the very words.
#[test]
fn the_core_names_no_file_socket_clock_or_process() {
    let words = [
        "std::fs",
        "std::env",
        "std::process",
        "std::thread",
        "std::io::stdin",
        "UdpSocket",
        "TcpStream",
        "TcpListener",
        "Instant",
        "SystemTime",
        "nix::",
    ];
    let mut wrong = Vec::new();
    for module in core() {
        for path in files_of(&module) {
            // Rules run on all cores; the order of threads does not show.
            let words = words
                .iter()
                .filter(|it| **it != "std::thread" || !path.ends_with("src/lint/parallel.rs"));
            let text = fs::read_to_string(&path).unwrap();
            let code = text
                .lines()
                .filter(|line| !line.trim_start().starts_with("//"));
            for line in code {
                wrong.extend(
                    words
                        .clone()
                        .filter(|word| line.contains(**word))
                        .map(|word| format!("{}: {word}: {line}", path.display())),
                );
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn core_modules_are_checked_by_clippy() {
    let lib = fs::read_to_string(root().join("src/lib.rs")).unwrap();
    for module in core() {
        let declared = format!("#[deny(clippy::disallowed_methods)]\npub mod {module};");
        assert!(
            lib.contains(&declared),
            "src/lib.rs lets module {module} do I/O"
        );
    }
}

/// The minimum Rust version is the highest that a dependency asks for, no more
/// and no less. Only dependencies of this platform count: a build downloads no
/// others.
#[test]
fn rust_version_is_what_the_dependencies_need() {
    let platform = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let output = std::process::Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--offline", "--locked"])
        .args(["--filter-platform", &platform])
        .current_dir(root())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo metadata: {said}");
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let version = |package: &serde_json::Value| -> Option<Vec<u32>> {
        let text = package["rust_version"].as_str()?;
        let mut parts: Vec<u32> = text.split('.').map(|part| part.parse().unwrap()).collect();
        parts.resize(3, 0);
        Some(parts)
    };
    let packages = metadata["packages"].as_array().unwrap();
    let (own, others): (Vec<_>, Vec<_>) = packages.iter().partition(|it| it["name"] == "kdns");
    let highest = others.iter().filter_map(|it| version(it)).max();
    assert_eq!(
        version(own[0]),
        highest,
        "rust-version is not what the dependencies need"
    );
}

/// Cargo and others follow links to directories: one that leads out of the
/// repository leads them over the whole machine.
/// Else the fuzz targets are not built: what locks them is a file of their own.
#[test]
fn the_lock_file_of_the_fuzz_targets_follows() {
    let read = |name: &str| fs::read_to_string(root().join(name)).unwrap();
    let (lock, manifest) = (read("fuzz/Cargo.lock"), read("Cargo.toml"));
    let own = lock
        .split("[[package]]")
        .find(|it| it.contains("name = \"kdns\"\n"));
    let section = manifest
        .split("\n[")
        .find(|it| it.starts_with("dependencies]"));
    let named = section
        .unwrap()
        .lines()
        .filter_map(|it| it.split_once(" = "));
    for (name, _) in named.filter(|it| !it.0.starts_with('#')) {
        let line = format!("\"{name}\"");
        let is_locked =
            own.unwrap().contains(&line) || own.unwrap().contains(&format!("\"{name} "));
        assert!(
            is_locked,
            "{name}: cargo fetch --manifest-path fuzz/Cargo.toml"
        );
    }
}

#[test]
fn no_link_leads_to_a_directory_outside() {
    let list = std::process::Command::new("git")
        .args(["ls-files", "-z"])
        .current_dir(root())
        .output()
        .unwrap();
    let list = String::from_utf8(list.stdout).unwrap();
    assert!(list.contains("Cargo.toml"), "git lists nothing");
    for path in list.split_terminator('\0').map(|it| root().join(it)) {
        if path.is_symlink() && path.is_dir() {
            let end = fs::canonicalize(&path).unwrap();
            let is_inside = end.starts_with(fs::canonicalize(root()).unwrap());
            assert!(is_inside, "{} leads to {}", path.display(), end.display());
        }
    }
}

/// The pages about trust name a test behind each claim: `` `tests/x` `name` ``.
#[test]
fn tests_that_pages_name_are_there() {
    for page in ["docs/security.md", "docs/reliability.md"] {
        let text = fs::read_to_string(root().join(page)).unwrap();
        let words: Vec<&str> = text.split('`').collect();
        let mut named = 0;
        for it in words.windows(3) {
            let [file, " ", name] = it else { continue };
            let is_file = file.starts_with("tests/") || file.starts_with("src/");
            assert!(is_file, "{page}: {file} {name}");
            let path = root().join(file);
            let files = if path.is_dir() {
                sources(&path)
            } else {
                vec![path]
            };
            let code = files.iter().map(|it| fs::read_to_string(it).unwrap());
            let code = code.collect::<String>();
            let last = name.rsplit("::").next().unwrap();
            let is_there = [
                format!("fn {last}("),
                format!("\"{name}\""),
                format!("\"{last}\""),
            ]
            .iter()
            .any(|it| code.contains(it));
            assert!(is_there, "{page}: no test {name} in {file}");
            named += 1;
        }
        assert!(named >= 15, "{page} names {named} tests");
    }
}
