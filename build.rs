//! The pages of `why` and the schemas, compressed; the helps of manual pages; and how kdns is linked:
//! statically, at a fixed address, where this machine has the archives of its C library. Such a program
//! starts in two thirds of the time, runs in an empty root, and needs nothing of
//! the namespaces it enters.
//!
//! The trade-off: the code is not at a random address. kdns itself has no unsafe
//! code, but libraries below it do (ring, tokio, rustix). Stack, heap and
//! system calls stay where the kernel puts them at random.

#[path = "src/cli/manual/page.rs"]
mod page;

use std::env;
use std::error::Error;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use flate2::Compression;
use flate2::write::GzEncoder;
use page::Page;

/// What rustc links on glibc, and the archive that does instead.
const LIBRARIES: [(&str, &str); 7] = [
    ("gcc_s", "libgcc_eh.a"),
    ("util", "libutil.a"),
    ("rt", "librt.a"),
    ("pthread", "libpthread.a"),
    ("m", "libm.a"),
    ("dl", "libdl.a"),
    ("c", "libc.a"),
];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    let out = PathBuf::from(env::var("OUT_DIR")?);
    compress_pages(&out)?;
    write_helps(&out)?;
    compress_schemas(&out)?;
    let is = |key, value| env::var(key).is_ok_and(|it| it == value);
    let is_native = env::var("HOST").ok() == env::var("TARGET").ok();
    let is_glibc = is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu");
    if !(is_native && is_glibc) {
        return Ok(());
    }
    let features = env::var("CARGO_CFG_TARGET_FEATURE").unwrap_or_default();
    if !features.split(',').any(|it| it == "crt-static") && !archives(&out)? {
        return Ok(());
    }
    for argument in ["-static", "-no-pie"] {
        println!("cargo::rustc-link-arg-bins={argument}");
    }
    Ok(())
}

/// Writes the pages that `why` knows, compressed: `src/why/messages/SPEAKER/*.md`, each
/// behind a line with its speaker, and `src/why/causes/*.md`. A NUL stands between two.
fn compress_pages(out: &Path) -> Result<(), Box<dyn Error>> {
    let why = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("src/why");
    let mut messages = Vec::new();
    for speaker in sorted(&why.join("messages"))? {
        let name = speaker.file_name().unwrap_or_default().to_string_lossy();
        for page in sorted(&speaker)? {
            messages.push(format!("{name}\n{}", said(&page)?));
        }
    }
    let causes = sorted(&why.join("causes"))?;
    let causes = causes.iter().map(|it| said(it));
    let causes: Vec<String> = causes.collect::<Result<_, _>>()?;
    compress(&out.join("why_messages.gz"), &messages.join("\0"))?;
    compress(&out.join("why_causes.gz"), &causes.join("\0"))
}

/// A page without what only tests read: its examples, and what is none of it.
fn said(page: &Path) -> Result<String, Box<dyn Error>> {
    let text = fs::read_to_string(page)?;
    let is_said = |it: &&str| !it.starts_with("Examples\n") && !it.starts_with("Near misses\n");
    let parts: Vec<&str> = text.split("\n## ").filter(is_said).collect();
    Ok(parts.join("\n## "))
}

/// Writes what stands before and below the options of each command's help, from
/// `src/cli/manual/*.md`.
fn write_helps(out: &Path) -> Result<(), Box<dyn Error>> {
    let manual = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("src/cli/manual");
    let about = fs::read_to_string(manual.join("about.md"))?;
    let mut list = String::from("const HELPS: &[(&str, &str, &str)] = &[\n");
    for file in sorted(&manual)? {
        if file.extension().is_none_or(|it| it != "md") || file.ends_with("about.md") {
            continue;
        }
        let page = Page {
            text: fs::read_to_string(file)?,
            about: about.clone(),
        };
        let name = page.command().split(' ').next_back().unwrap_or_default();
        let (examples, below) = help(&page);
        writeln!(list, "    ({name:?}, {examples:?}, {below:?}),")?;
    }
    list += "];\n";
    Ok(fs::write(out.join("helps.rs"), list)?)
}

fn help(page: &Page) -> (String, String) {
    let mut text = String::from("Examples:");
    for line in page.examples().into_iter().flat_map(|it| it.1) {
        text.extend(["\n  ", &folded(line.trim_start_matches("$ "))]);
    }
    let notes = page.section("Notes");
    if !notes.is_empty() {
        text.extend(["\n\n", notes]);
    }
    let rows = page.rows("Exit status").into_iter();
    let rows: Vec<String> = rows.map(|it| format!("{} {}", it.0, it.1)).collect();
    (text, format!("Exit status: {}.", rows.join("; ")))
}

/// A command on lines of 80 columns, as a shell takes it: broken before an option, a
/// text in quotes or a pipe.
fn folded(line: &str) -> String {
    let (mut text, mut rest, mut room) = (String::new(), line, 78);
    while rest.chars().count() > room {
        let mut is_quoted = false;
        let is_end = |(index, character): (usize, char)| {
            is_quoted ^= character == '\'';
            let is_begin = matches!(rest.as_bytes().get(index + 1), Some(b'-' | b'|' | b'\''));
            (character == ' ' && !is_quoted && is_begin && index + 2 <= room).then_some(index)
        };
        let Some(end) = rest.char_indices().filter_map(is_end).last() else {
            break;
        };
        let (first, last) = rest.split_at(end);
        text.extend([first, " \\\n      "]);
        (rest, room) = (last.trim_start(), 74);
    }
    text + rest
}

/// Writes `docs/schemas/*.json` compressed: a sixth of them.
fn compress_schemas(out: &Path) -> Result<(), Box<dyn Error>> {
    let schemas = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("docs/schemas");
    for file in sorted(&schemas)? {
        let name = file.file_name().unwrap_or_default();
        compress(&out.join(name), &fs::read_to_string(&file)?)?;
    }
    Ok(())
}

fn compress(file: &Path, text: &str) -> Result<(), Box<dyn Error>> {
    let mut writer = GzEncoder::new(File::create(file)?, Compression::best());
    writer.write_all(text.as_bytes())?;
    writer.finish()?;
    Ok(())
}

/// What is in a directory, in order; cargo looks at it, too.
fn sorted(directory: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    println!("cargo::rerun-if-changed={}", directory.display());
    let entries = fs::read_dir(directory)?.collect::<Result<Vec<_>, _>>()?;
    let mut paths: Vec<PathBuf> = entries.iter().map(fs::DirEntry::path).collect();
    paths.sort();
    Ok(paths)
}

/// Has the linker find archives first, under the names that rustc gives to
/// shared libraries; `false`: one is not here.
fn archives(out: &Path) -> Result<bool, Box<dyn Error>> {
    let directory = out.join("archives");
    if directory.exists() {
        fs::remove_dir_all(&directory)?;
    }
    fs::create_dir(&directory)?;
    for (library, archive) in LIBRARIES {
        let Some(found) = found(archive) else {
            println!("cargo::warning=no {archive} here: kdns is linked to shared libraries");
            return Ok(false);
        };
        symlink(found, directory.join(format!("lib{library}.a")))?;
    }
    println!("cargo::rustc-link-arg-bins=-L{}", directory.display());
    // For what the C library needs of the compiler's.
    println!("cargo::rustc-link-arg-bins=-lgcc");
    Ok(true)
}

/// Where the C compiler has this archive.
fn found(archive: &str) -> Option<PathBuf> {
    let output = Command::new("cc")
        .arg(format!("-print-file-name={archive}"))
        .output()
        .ok()?;
    let path = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim_end());
    // A name that it does not know comes back as it is.
    path.is_absolute().then_some(path)
}
