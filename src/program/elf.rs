//! What an ELF file says about the resolver in it.
//!
//! The file can be anybody's: whatever sizes it names, no read is longer than
//! [`MAX_READ`], and none goes beyond its end.

use std::ops::Range;

use memchr::memmem;
use object::read::elf::{FileHeader, ProgramHeader as _, SectionHeader as _, SectionTable};
use object::{Endianness, FileKind, ReadRef, elf};

use super::go;
use super::release::Product;
use crate::kubelet::Version;
use crate::text::escaped;

/// What lies beyond so many bytes of a section is not looked at.
pub const MAX_READ: u64 = 16 << 20;

/// What the file of a program or library says.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Executable {
    /// The dynamic loader that it asks for, safe to print; `None`: it is
    /// static, or a library.
    pub interpreter: Option<String>,
    /// How Go built it, if Go did.
    pub go: Option<go::Build>,
    /// The C library that is in it.
    pub libc: Option<Libc>,
    /// The version of `BusyBox`, if it is that.
    pub busybox: Option<String>,
    /// The version of hickory's resolver in it, if it has one.
    pub hickory: Option<String>,
    /// What nginx was configured with, if it is that.
    pub nginx: Option<String>,
    /// Whether gRPC's core is linked in.
    pub has_grpc: bool,
    /// Whether c-ares is linked in.
    pub has_c_ares: bool,
    /// Whether it names `/etc/resolv.conf`.
    pub names_resolv_conf: bool,
}

/// A C library.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Libc {
    /// Whose.
    pub family: Family,
    /// `2.36`, `1.2.3`, if the file says so.
    pub version: Option<String>,
}

/// C libraries with a resolver that is known here.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Family {
    /// The GNU C library.
    Glibc,
    /// musl.
    Musl,
}

/// Reads the file; `None`: it is no ELF file, or broken.
pub fn parse_executable<'d>(data: impl ReadRef<'d>) -> Option<Executable> {
    let data = Bounded(data);
    match FileKind::parse(data).ok()? {
        FileKind::Elf32 => Some(Parts::<elf::FileHeader32<_>, _>::parse(data)?.executable()),
        FileKind::Elf64 => Some(Parts::<elf::FileHeader64<_>, _>::parse(data)?.executable()),
        _ => None,
    }
}

/// Which release of `product` the file is; `None`: it is not, or does not tell.
pub fn release<'d>(data: impl ReadRef<'d>, product: &Product) -> Option<Version> {
    let data = Bounded(data);
    match FileKind::parse(data).ok()? {
        FileKind::Elf32 => Parts::<elf::FileHeader32<_>, _>::parse(data)?.release(product),
        FileKind::Elf64 => Parts::<elf::FileHeader64<_>, _>::parse(data)?.release(product),
        _ => None,
    }
}

/// A file with its tables.
struct Parts<'d, Elf: FileHeader<Endian = Endianness>, R: ReadRef<'d>> {
    data: Bounded<R>,
    endian: Endianness,
    segments: &'d [Elf::ProgramHeader],
    sections: Option<SectionTable<'d, Elf, Bounded<R>>>,
}

impl<'d, Elf: FileHeader<Endian = Endianness>, R: ReadRef<'d>> Parts<'d, Elf, R> {
    fn parse(data: Bounded<R>) -> Option<Self> {
        let header = Elf::parse(data).ok()?;
        let endian = header.endian().ok()?;
        Some(Self {
            data,
            endian,
            segments: header.program_headers(endian, data).ok()?,
            sections: header.sections(endian, data).ok(),
        })
    }

    fn section(&self, name: &[u8]) -> Option<&'d [u8]> {
        let table = self.sections.as_ref()?;
        let (_, found) = table.section_by_name(self.endian, name)?;
        let (start, size) = found.file_range(self.endian)?;
        self.data.read_bytes_at(start, size.min(MAX_READ)).ok()
    }

    /// So many bytes at an address of the running program.
    fn at(&self, address: u64, length: u64) -> Option<Vec<u8>> {
        let endian = self.endian;
        self.segments.iter().find_map(|it| {
            let from: u64 = it.p_vaddr(endian).into();
            let within = address.checked_sub(from)?;
            let end = within.checked_add(length)?;
            if it.p_type(endian) != elf::PT_LOAD || end > it.p_filesz(endian).into() {
                return None;
            }
            let start = it.p_offset(endian).into().checked_add(within)?;
            let bytes = self.data.read_bytes_at(start, length).ok()?;
            Some(bytes.to_vec())
        })
    }

    fn release(&self, product: &Product) -> Option<Version> {
        let section = self.section(b".go.buildinfo")?;
        let settings = go::settings(section, |address, length| self.at(address, length))?;
        let text = || self.section(b".rodata").unwrap_or_default();
        product.release(&settings, text)
    }

    fn executable(&self) -> Executable {
        let (data, endian) = (self.data, self.endian);
        let mut segments = self.segments.iter();
        let interpreter = segments.find_map(|it| it.interpreter(endian, data).ok()?);
        let section = self.section(b".go.buildinfo");
        let mut found = Executable {
            interpreter: interpreter.map(escaped),
            go: section
                .and_then(|it| go::parse_build(it, |address, length| self.at(address, length))),
            ..Executable::default()
        };
        match self.section(b".rodata") {
            Some(text) => found.search(text),
            // Without a table of sections the segments have to do.
            None => self.segments.iter().for_each(|it| {
                let (start, size) = it.file_range(endian);
                if it.p_type(endian) == elf::PT_LOAD
                    && let Ok(text) = data.read_bytes_at(start, size.min(MAX_READ))
                {
                    found.search(text);
                }
            }),
        }
        found
    }
}

impl Executable {
    /// Looks for the words that C libraries and others leave in programs.
    fn search(&mut self, text: &[u8]) {
        let has = |word: &[u8]| memmem::find(text, word).is_some();
        let after = |word: &[u8]| version(text.get(memmem::find(text, word)? + word.len()..)?);
        self.busybox = self.busybox.take().or_else(|| after(b"BusyBox v"));
        let hickory = || after(b"/hickory-resolver-").or_else(|| after(b"/trust-dns-resolver-"));
        self.hickory = self.hickory.take().or_else(hickory);
        self.nginx = self.nginx.take().or_else(|| configured(text));
        self.has_grpc |= has(b"GRPC_DNS_RESOLVER\0");
        // c-ares `ares_strerror`, in every version.
        self.has_c_ares |= has(b"Timeout while contacting DNS servers\0");
        self.names_resolv_conf |= has(b"/etc/resolv.conf");
        let (glibc, musl) = (Family::Glibc, Family::Musl);
        let signs: [(&[u8], Family, bool); 4] = [
            (b"GNU C Library (", glibc, true),
            (b"musl libc (", musl, true),
            // What every program has that is linked with it statically.
            (b"GLIBC_TUNABLES", glibc, false),
            // musl `src/network/gai_strerror.c`, word by word its own.
            (b"Name does not resolve\0", musl, false),
        ];
        let found = || signs.iter().find(|(sign, ..)| has(sign));
        self.libc = self.libc.take().or_else(|| {
            let (_, family, has_version) = *found()?;
            let version = match family {
                Family::Glibc => after(b" release version "),
                Family::Musl => lone_version(text),
            };
            Some(Libc {
                family,
                version: version.filter(|_| has_version),
            })
        });
    }
}

/// What nginx says behind `nginx -V`; more of it than this is not kept.
///
/// Source: nginx `src/core/nginx.c: ngx_show_version_info` (1.22)
fn configured(text: &[u8]) -> Option<String> {
    const MAX_WORDS: usize = 16 << 10;
    let start = memmem::find(text, b"configure arguments: ")?;
    let rest = text.get(start + b"configure arguments: ".len()..)?;
    let rest = rest.get(..MAX_WORDS).unwrap_or(rest);
    let end = memchr::memchr(0, rest)?;
    Some(escaped(rest.get(..end)?))
}

/// The digits and dots at the beginning.
fn version(text: &[u8]) -> Option<String> {
    let is_part = |byte: &u8| byte.is_ascii_digit() || *byte == b'.';
    let found: Vec<u8> = text.iter().copied().take(16).take_while(is_part).collect();
    let found = String::from_utf8(found).ok()?;
    let found = found.trim_end_matches('.');
    found.contains('.').then(|| found.to_owned())
}

/// A string that is nothing but a version such as `1.2.3`: musl's own stands alone.
///
/// Source: musl `src/internal/version.c`.
fn lone_version(text: &[u8]) -> Option<String> {
    let strings = text
        .split(|&byte| byte == 0)
        .filter(|it| (5..=24).contains(&it.len()));
    strings.into_iter().find_map(|string| {
        let number = version(string)?;
        let rest = string.get(number.len()..)?;
        let is_whole = rest.is_empty() || rest.starts_with(b"-git");
        (is_whole && number.split('.').count() == 3).then_some(number)
    })
}

/// A file of which no more is read at once than it has, nor than [`MAX_READ`].
#[derive(Clone, Copy)]
struct Bounded<R>(R);

impl<'d, R: ReadRef<'d>> ReadRef<'d> for Bounded<R> {
    fn len(self) -> Result<u64, ()> {
        self.0.len()
    }

    fn read_bytes_at(self, offset: u64, size: u64) -> Result<&'d [u8], ()> {
        let end = offset.checked_add(size).ok_or(())?;
        if size > MAX_READ || end > self.0.len()? {
            return Err(());
        }
        self.0.read_bytes_at(offset, size)
    }

    fn read_bytes_at_until(self, range: Range<u64>, delimiter: u8) -> Result<&'d [u8], ()> {
        let size = range.end.checked_sub(range.start).ok_or(())?;
        let bytes = self.read_bytes_at(range.start, size)?;
        let end = memchr::memchr(delimiter, bytes).ok_or(())?;
        bytes.get(..end).ok_or(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_in_the_text() {
        let check = |text: &[u8], expected: Option<Libc>| {
            let mut found = Executable::default();
            found.search(text);
            assert_eq!(found.libc, expected, "{}", text.escape_ascii());
        };
        let libc = |family, version: Option<&str>| {
            let version = version.map(str::to_owned);
            Some(Libc { family, version })
        };
        check(
            b"\0GNU C Library (Debian GLIBC 2.36-9+deb12u14) stable release version 2.36.\nCopyright",
            libc(Family::Glibc, Some("2.36")),
        );
        check(
            b"musl libc (x86_64)\nVersion %s\n\x001.2.3\0",
            libc(Family::Musl, Some("1.2.3")),
        );
        check(
            b"musl libc (x86_64)\0\x001.2.5-git-12\0",
            libc(Family::Musl, Some("1.2.5")),
        );
        check(b"musl libc (\x00127.0.0.1\0", libc(Family::Musl, None));
        check(b"GLIBC_TUNABLES", libc(Family::Glibc, None));
        check(b"", None);
        let mut found = Executable::default();
        found.search(
            b"BusyBox v1.35.0 (Debian)\0/root/.cargo/hickory-resolver-0.24.1/src/resolver.rs",
        );
        assert_eq!(found.busybox.as_deref(), Some("1.35.0"));
        assert_eq!(found.hickory.as_deref(), Some("0.24.1"));
        assert!(!found.names_resolv_conf && !found.has_c_ares);
        found.search(b"Timeout while contacting DNS servers\0End of file\0");
        assert!(found.has_c_ares);
    }

    /// A program without code but with words: `gcc -nostdlib`, by hand.
    const MUSL: &[u8] = include_bytes!("../../testdata/elf/musl");

    #[test]
    fn a_whole_file() {
        let found = parse_executable(MUSL).unwrap();
        assert_eq!(
            found.interpreter.as_deref(),
            Some("/lib/ld-musl-x86_64.so.1")
        );
        let version = found.libc.and_then(|it| it.version);
        assert_eq!(version.as_deref(), Some("1.2.5"));
        assert!(found.names_resolv_conf);
        assert_eq!(found.go, None);
    }

    /// As Debian builds containerd 1.6.20, with the texts that its linker wrote.
    const CONTAINERD: &[u8] = include_bytes!("../../testdata/elf/containerd");

    #[test]
    fn a_go_program_tells_its_release() {
        use crate::program::release;
        let found = release(CONTAINERD, &release::CONTAINERD);
        assert_eq!(found, Some(Version::release(1, 6, 20)));
        assert_eq!(release(CONTAINERD, &release::KUBELET), None);
        assert_eq!(release(MUSL, &release::CONTAINERD), None);
    }

    /// Without its table of sections the segments are searched.
    #[test]
    fn a_file_without_sections() {
        let mut bytes = MUSL.to_vec();
        // e_shoff, e_shnum and e_shstrndx.
        bytes[40..48].fill(0);
        bytes[60..64].fill(0);
        let found = parse_executable(bytes.as_slice()).unwrap();
        assert!(found.interpreter.is_some());
        assert!(found.names_resolv_conf && found.libc.is_some());
    }

    /// Cut, and with wild bytes in its headers.
    #[test]
    fn broken_files_are_none_or_little() {
        let head = MUSL;
        for end in 0..head.len().min(256) {
            let _ = parse_executable(&head[..end]);
        }
        let mut bytes = head.to_vec();
        for at in 0..bytes.len().min(1024) {
            let old = bytes[at];
            for new in [0, 0xff, 0x7f] {
                bytes[at] = new;
                let _ = parse_executable(bytes.as_slice());
            }
            bytes[at] = old;
        }
        assert_eq!(parse_executable(&b"#!/bin/sh\n"[..]), None);
        assert_eq!(parse_executable(&b""[..]), None);
    }
}
