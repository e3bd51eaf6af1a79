//! The tarball and its checksum.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use flate2::read::GzDecoder;

use crate::lab::{dist, files, said, source, stem};

const BLOCK: usize = 512;

/// As a stranger does: verify, unpack, run, compare with the repository.
pub(crate) fn unpacked() {
    let sums = said(
        Command::new("sha256sum")
            .args(["--check", "--strict", "SHA256SUMS"])
            .current_dir(dist()),
    );
    let all = files(&dist());
    assert_eq!(
        sums.lines().count(),
        all.len() - 1,
        "SHA256SUMS has not every file: {sums}"
    );

    let scratch = tempfile::tempdir().unwrap();
    let directory = unpack(scratch.path()).join(stem());
    let version = said(Command::new(directory.join("kdns")).arg("--version"));
    assert_eq!(version.trim(), concat!("kdns ", env!("CARGO_PKG_VERSION")));
    let mut unlike = vec![PathBuf::from("kdns"), PathBuf::from("LICENSES.txt")];
    for folder in ["man", "completions"] {
        for file in files(&source().join(folder)) {
            assert!(
                directory.join(folder).join(&file).is_file(),
                "{} is missing",
                file.display()
            );
        }
    }
    for file in files(&directory) {
        if let Some(at) = unlike.iter().position(|it| *it == file) {
            unlike.remove(at);
            let released = fs::read(dist().join(&file)).unwrap();
            assert!(
                released == fs::read(directory.join(&file)).unwrap(),
                "{}",
                file.display()
            );
        } else {
            let own = fs::read(source().join(&file)).unwrap();
            assert!(
                own == fs::read(directory.join(&file)).unwrap(),
                "{}",
                file.display()
            );
        }
    }
    assert!(unlike.is_empty(), "{unlike:?} is missing");
}

/// Unpacks the tarball into a directory, which is returned.
pub(crate) fn unpack(directory: &Path) -> &Path {
    said(
        Command::new("tar")
            .arg("xzf")
            .arg(archive())
            .arg("-C")
            .arg(directory),
    );
    directory
}

pub(crate) fn archive() -> PathBuf {
    dist().join(format!("{}.tar.gz", stem()))
}

/// Nothing in it tells who packed it, where and when.
pub(crate) fn entries() {
    let packed = fs::read(archive()).unwrap();
    // RFC 1952, section 2.3.1: no name, and no time.
    assert_eq!((packed[3], &packed[4..8]), (0, &[0; 4][..]));
    let mut tar = Vec::new();
    GzDecoder::new(&*packed).read_to_end(&mut tar).unwrap();
    let mut names = Vec::new();
    let mut times = Vec::new();
    let mut at = 0;
    while tar[at] != 0 {
        let header = &tar[at..at + BLOCK];
        let name = PathBuf::from(field(header, 0, 100));
        let kind = header[156];
        let mode = if kind == b'5' || name.file_name().unwrap() == "kdns" {
            0o755
        } else {
            0o644
        };
        let what = name.display();
        assert_eq!(number(header, 100, 8), mode, "mode of {what}");
        assert_eq!(
            (number(header, 108, 8), number(header, 116, 8)),
            (0, 0),
            "owner of {what}"
        );
        assert!(
            [b'0', b'5'].contains(&kind) && name.starts_with(stem()),
            "{what}"
        );
        times.push(number(header, 136, 12));
        at += BLOCK + number(header, 124, 12).div_ceil(BLOCK) * BLOCK;
        names.push(name);
    }
    assert!(names.is_sorted(), "{names:?}");
    times.dedup();
    assert_eq!(times.len(), 1, "{times:?}");
}

/// A text in a header of POSIX's ustar format, which ends at a zero.
fn field(header: &[u8], start: usize, length: usize) -> String {
    let bytes = &header[start..start + length];
    let text = bytes.split(|it| *it == 0).next().unwrap();
    String::from_utf8(text.to_vec()).unwrap()
}

/// An octal number in a header.
fn number(header: &[u8], start: usize, length: usize) -> usize {
    usize::from_str_radix(field(header, start, length).trim(), 8).unwrap()
}
