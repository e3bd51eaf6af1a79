//! Encodings that files inside files have: base64, gzip, `data:` URLs.

use std::io::Read as _;

use data_encoding::{Encoding, Specification};
use flate2::read::MultiGzDecoder;
use percent_encoding::percent_decode;

/// What is longer than this when it is unpacked is not looked at: as much as
/// is read of a file.
const MAX_UNPACKED: usize = 1 << 20;

/// The bytes of a text in base64, line ends and blanks left out. `None`: it is
/// none.
pub fn base64(text: &[u8]) -> Option<Vec<u8>> {
    let mut text: Vec<u8> = text
        .iter()
        .copied()
        .filter(|it| !it.is_ascii_whitespace())
        .collect();
    while text.last() == Some(&b'=') {
        text.pop();
    }
    encoding()?.decode(&text).ok()
}

/// The letters of RFC 4648, both alphabets, without padding.
fn encoding() -> Option<Encoding> {
    let mut specification = Specification::new();
    specification
        .symbols
        .push_str("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");
    specification.translate.from.push_str("-_");
    specification.translate.to.push_str("+/");
    specification.check_trailing_bits = false;
    specification.encoding().ok()
}

/// What was packed with gzip. `None`: it is not, or it is too long.
pub fn gzip(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut unpacked = Vec::new();
    let limit = u64::try_from(MAX_UNPACKED).ok()? + 1;
    let mut reader = MultiGzDecoder::new(bytes).take(limit);
    reader.read_to_end(&mut unpacked).ok()?;
    (unpacked.len() <= MAX_UNPACKED).then_some(unpacked)
}

/// The bytes that a `data:` URL holds. `None`: it is none.
///
/// Source: RFC 2397.
pub fn data_url(url: &str) -> Option<Vec<u8>> {
    let scheme = url.get(..5)?;
    let rest = url
        .get(5..)
        .filter(|_| scheme.eq_ignore_ascii_case("data:"))?;
    let (kind, data) = rest.split_once(',')?;
    let bytes: Vec<u8> = percent_decode(data.as_bytes()).collect();
    if kind.to_ascii_lowercase().ends_with(";base64") {
        base64(&bytes)
    } else {
        Some(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(url: &str, expected: Option<&str>) {
        let found = data_url(url).map(|it| String::from_utf8_lossy(&it).into_owned());
        assert_eq!(found.as_deref(), expected, "{url}");
    }

    #[test]
    fn data_urls_are_decoded() {
        check(
            "data:,nameserver%2010.0.0.53%0A",
            Some("nameserver 10.0.0.53\n"),
        );
        check("data:text/plain;charset=utf-8;base64,YWI=", Some("ab"));
        check("data:;base64,YWI", Some("ab"));
        check("data:;base64,YW%49%3D", Some("ab"));
        check("DATA:,a,b", Some("a,b"));
        check("data:;base64,Y*I=", None);
        check("data:nothing", None);
        check("https://example.net/file", None);
        check("dat", None);
    }

    #[test]
    fn base64_has_line_ends_and_both_alphabets() {
        assert_eq!(base64(b" YW\n Jj \n").as_deref(), Some(&b"abc"[..]));
        assert_eq!(base64(b"-_+/"), base64(b"+/-_"));
        assert_eq!(base64(b"").as_deref(), Some(&b""[..]));
        assert_eq!(base64(b"a"), None);
    }

    #[test]
    fn gzip_is_bounded() {
        use std::io::Write as _;

        let packed = |bytes: &[u8]| {
            let level = flate2::Compression::default();
            let mut writer = flate2::write::GzEncoder::new(Vec::new(), level);
            writer.write_all(bytes).unwrap();
            writer.finish().unwrap()
        };
        assert_eq!(gzip(&packed(b"ab")).as_deref(), Some(&b"ab"[..]));
        assert_eq!(
            gzip(&packed(&vec![0; MAX_UNPACKED])).map(|it| it.len()),
            Some(MAX_UNPACKED)
        );
        assert_eq!(gzip(&packed(&vec![0; MAX_UNPACKED + 1])), None);
        assert_eq!(gzip(b"ab"), None);
    }
}
