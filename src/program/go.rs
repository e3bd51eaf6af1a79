//! What the Go linker writes into programs about how they were built.

/// How a Go program was built.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Build {
    /// `go1.27.3`, safe to print.
    pub version: String,
    /// Whether cgo was there (`CGO_ENABLED`); `None`: before Go 1.18 nobody
    /// wrote it down.
    pub cgo: Option<bool>,
    /// The build tags.
    pub tags: Vec<String>,
    /// `//go:debug` settings that hold where the environment has none.
    pub godebug: String,
    /// Whether gRPC's module (`google.golang.org/grpc`) is in it.
    pub has_grpc: bool,
}

const MAGIC: &[u8] = b"\xff Go buildinf:";

/// The strings follow here; before that, up to Go 1.17, are two pointers.
const INLINE: usize = 32;

/// Reads the section `.go.buildinfo`. `at` reads so many bytes at an address
/// of the running program: in old files the strings are elsewhere.
///
/// Source: Go `debug/buildinfo/buildinfo.go` `readRawBuildInfo`.
pub fn parse_build(section: &[u8], at: impl Fn(u64, u64) -> Option<Vec<u8>>) -> Option<Build> {
    let (version, settings) = strings(section, at)?;
    let mut build = Build {
        version: crate::text::escaped(&version),
        ..Build::default()
    };
    build.set(&String::from_utf8_lossy(&settings));
    build
        .version
        .starts_with("go")
        .then_some(build)
        .or_else(|| version.starts_with(b"devel").then(Build::default))
}

/// What the section says of the program's modules and of how it was built, as
/// `go version -m` prints it.
pub fn settings(section: &[u8], at: impl Fn(u64, u64) -> Option<Vec<u8>>) -> Option<String> {
    let (_, settings) = strings(section, at)?;
    let end = settings.len().checked_sub(MARK)?;
    Some(String::from_utf8_lossy(settings.get(MARK..end)?).into_owned())
}

/// So many bytes mark the beginning and the end of the settings.
///
/// Source: Go `cmd/go/internal/modload/build.go: infoStart, infoEnd`.
const MARK: usize = 16;

/// The two texts of the section: Go's version, and the settings.
fn strings(section: &[u8], at: impl Fn(u64, u64) -> Option<Vec<u8>>) -> Option<(Vec<u8>, Vec<u8>)> {
    const HAS_INLINE_STRINGS: u8 = 2;
    let start = memchr::memmem::find(section, MAGIC)?;
    let data = section.get(start..)?;
    let (&size, &flags) = (data.get(14)?, data.get(15)?);
    if flags & HAS_INLINE_STRINGS != 0 {
        let (version, rest) = inline(data.get(INLINE..)?)?;
        let (settings, _) = inline(rest).unwrap_or_default();
        return Some((version.to_vec(), settings.to_vec()));
    }
    let is_big = flags & 1 != 0;
    let size = usize::from(size);
    let string = |from: usize| {
        let pointer = number(data.get(from..from + size)?, is_big)?;
        let header = at(pointer, 2 * size as u64)?;
        let (start, length) = header.split_at_checked(size)?;
        let length = number(length, is_big)?.min(MAX_STRING);
        at(number(start, is_big)?, length)
    };
    Some((string(16)?, string(16 + size).unwrap_or_default()))
}

/// The list of a large program's modules is some 100 KiB.
const MAX_STRING: u64 = 1 << 20;

/// A string behind its length as a varint, and what follows.
fn inline(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut length = 0_usize;
    for (index, &byte) in bytes.iter().take(5).enumerate() {
        length |= usize::from(byte & 0x7f) << (7 * index);
        if byte & 0x80 == 0 {
            return bytes.get(index + 1..)?.split_at_checked(length);
        }
    }
    None
}

fn number(bytes: &[u8], is_big: bool) -> Option<u64> {
    let mut bytes = bytes.to_vec();
    if !is_big {
        bytes.reverse();
    }
    (bytes.len() == 4 || bytes.len() == 8).then(|| {
        bytes
            .iter()
            .fold(0, |all, &byte| all << 8 | u64::from(byte))
    })
}

impl Build {
    /// Takes the lines `build\tKEY=VALUE`.
    fn set(&mut self, settings: &str) {
        for line in settings.lines() {
            self.has_grpc |= line.starts_with("dep\tgoogle.golang.org/grpc\t");
            let Some((key, value)) = line
                .strip_prefix("build\t")
                .and_then(|it| it.split_once('='))
            else {
                continue;
            };
            let value = value.trim_matches('"');
            match key {
                "CGO_ENABLED" => self.cgo = Some(value == "1"),
                "-tags" => self.tags = value.split(',').map(str::to_owned).collect(),
                "DefaultGODEBUG" => value.clone_into(&mut self.godebug),
                _ => {}
            }
        }
    }

    /// The second number of its version: 27 of `go1.27.3`.
    pub fn minor(&self) -> Option<u32> {
        let rest = self.version.strip_prefix("go1.")?;
        let digits = rest.split(|c: char| !c.is_ascii_digit()).next()?;
        digits.parse().ok()
    }

    /// Whether it was built with this tag.
    pub fn has_tag(&self, tag: &str) -> bool {
        self.tags.iter().any(|it| it == tag)
    }
}

/// Which resolver `GODEBUG=netdns=…` asks for, in the environment or else in
/// the program; of several settings the last counts. `None`: it leaves that open.
///
/// Source: Go `src/net/conf.go: goDebugNetDNS, parseGODEBUG`, `src/internal/godebug`.
pub fn netdns(godebug: &str) -> Option<&str> {
    let settings = godebug.split(',').rev();
    let value = settings
        .into_iter()
        .find_map(|it| it.strip_prefix("netdns="))?;
    // `go+1` and `1+go` also print what was chosen.
    value.split('+').find(|it| matches!(*it, "go" | "cgo"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(flags: u8, rest: &[u8]) -> Vec<u8> {
        let mut section = MAGIC.to_vec();
        section.extend([8, flags]);
        section.extend(rest);
        section
    }

    fn nothing(_: u64, _: u64) -> Option<Vec<u8>> {
        None
    }

    #[test]
    fn strings_behind_the_header() {
        let settings = "path\tx\ndep\tgoogle.golang.org/grpc\tv1.60.1\nbuild\tCGO_ENABLED=0\nbuild\t-tags=\"netgo,osusergo\"\nbuild\tDefaultGODEBUG=netdns=cgo\n";
        let mut rest = vec![0; 16];
        rest.push(8);
        rest.extend(b"go1.27.3");
        rest.push(u8::try_from(settings.len()).unwrap());
        rest.extend(settings.as_bytes());
        let build = parse_build(&section(2, &rest), nothing).unwrap();
        assert_eq!(build.version, "go1.27.3");
        assert_eq!((build.minor(), build.cgo), (Some(27), Some(false)));
        assert!(build.has_tag("netgo") && !build.has_tag("net"));
        assert_eq!(build.godebug, "netdns=cgo");
        assert!(build.has_grpc);
        for end in 0..rest.len() {
            let cut = parse_build(&section(2, &rest[..end]), nothing);
            assert!(cut.is_none() || end >= 25, "{end}");
        }
    }

    #[test]
    fn strings_elsewhere() {
        let mut rest = 0x1000_u64.to_le_bytes().to_vec();
        rest.extend(0_u64.to_le_bytes());
        let at = |address: u64, length: u64| match (address, length) {
            (0x1000, 16) => Some([0x2000_u64.to_le_bytes(), 6_u64.to_le_bytes()].concat()),
            (0x2000, 6) => Some(b"go1.16".to_vec()),
            _ => None,
        };
        let build = parse_build(&section(0, &rest), at).unwrap();
        assert_eq!((build.version.as_str(), build.cgo), ("go1.16", None));
        assert!(parse_build(&section(0, &rest), nothing).is_none());
        assert!(parse_build(b"", nothing).is_none());
    }

    #[test]
    fn the_last_netdns_counts() {
        for (text, expected) in [
            ("", None),
            ("netdns=go", Some("go")),
            ("netdns=cgo,http2client=0", Some("cgo")),
            ("netdns=cgo,netdns=2+go", Some("go")),
            ("netdns=1", None),
            ("xnetdns=go", None),
        ] {
            assert_eq!(netdns(text), expected, "{text}");
        }
    }
}
