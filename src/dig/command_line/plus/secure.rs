//! Options in `+tls`, `+https` and `+http-plain`.

use super::{Plus, Trouble};
use crate::dig::command_line::{Line, Parser};
use crate::dig::lookup::{DEFAULT_PATH, Lookup};

/// What an option must be at least to be switched on.
const HTTPS: usize = "https".len();
const PLAIN: usize = "http-plain".len();

/// Whether this is one of these options.
pub(super) fn apply(
    parser: &mut Parser,
    line: &mut Line<'_>,
    plus: &Plus<'_>,
) -> Result<bool, Trouble> {
    match plus.word {
        "tls" | "tls-ca" | "tls-certfile" | "tls-hostname" | "tls-keyfile" => {
            tls(parser, line, plus)?;
        }
        "https" | "https-get" | "https-post" | "http-plain" | "http-plain-get"
        | "http-plain-post" => http(parser, line, plus)?,
        _ => return Ok(false),
    }
    Ok(true)
}

/// Source: BIND bin/dig/dig.c: `plus_tls_options` (9.18)
fn tls(parser: &mut Parser, line: &mut Line<'_>, plus: &Plus<'_>) -> Result<(), Trouble> {
    let state = plus.state;
    let lookup = parser.lookup(line);
    imply_tcp(lookup, state);
    let wanted = &mut lookup.secure;
    if plus.word == "tls" {
        wanted.tls = state;
        return Ok(());
    }
    // Whoever says anything about certificates wants them looked at.
    if state || plus.word == "tls-ca" {
        wanted.verified = state;
    }
    let value = plus.value.map(<[u8]>::to_vec).filter(|_| state);
    let what = match plus.word {
        "tls-ca" => {
            wanted.authorities = value.or(wanted.authorities.take());
            return Ok(());
        }
        "tls-hostname" => {
            wanted.host = value.map(|it| String::from_utf8_lossy(&it).into_owned());
            "hostname"
        }
        "tls-certfile" => {
            wanted.identity.0 = value;
            "certificate file"
        }
        _ => {
            wanted.identity.1 = value;
            "private key file"
        }
    };
    if state && plus.value.is_none() {
        parser.err(format!(";; TLS {what} is not specified"));
        return Err(Trouble::Invalid);
    }
    Ok(())
}

/// dig asks for the whole word, but only to switch it on; it looks at single
/// letters, so that `+https-GET` is no GET.
///
/// Source: BIND bin/dig/dig.c: `plus_option` (9.18)
fn http(parser: &mut Parser, line: &mut Line<'_>, plus: &Plus<'_>) -> Result<(), Trouble> {
    let lookup = parser.lookup(line);
    lookup.secure.path = None;
    if !plus.state {
        return Ok(());
    }
    let is_plain = plus.text.get(4) == Some(&b'-');
    let whole = if is_plain { PLAIN } else { HTTPS };
    if plus.text.len() < whole {
        return Err(Trouble::Invalid);
    }
    lookup.secure.plain |= is_plain;
    lookup.secure.get |= plus.text.get(whole + 1) == Some(&b'g');
    imply_tcp(lookup, true);
    let path = plus.value.unwrap_or(DEFAULT_PATH.as_bytes());
    let shown = String::from_utf8_lossy(path).into_owned();
    if is_absolute(path) {
        lookup.secure.path = Some(shown);
        return Ok(());
    }
    parser.err(format!(
        ";; The given HTTP path \"{shown}\" is not a valid absolute path"
    ));
    Err(Trouble::Invalid)
}

fn imply_tcp(lookup: &mut Lookup, state: bool) {
    if !lookup.tcp_set {
        lookup.tcp = state;
    }
}

/// `path-absolute` of a URI (RFC 3986, section 3.3). (dig also takes a `%`
/// that begins nothing, at the end of a segment.)
fn is_absolute(path: &[u8]) -> bool {
    let Some(rest) = path.strip_prefix(b"/") else {
        return false;
    };
    let mut parts = rest.split(|&byte| byte == b'%');
    let is_plain =
        |&byte: &u8| byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/".contains(&byte);
    let is_encoded = |part: &[u8]| {
        let digits = part.get(..2);
        digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    };
    !rest.starts_with(b"/")
        && parts.next().unwrap_or_default().iter().all(is_plain)
        && parts.all(|part| is_encoded(part) && part.iter().all(is_plain))
}

#[cfg(test)]
mod tests {
    use super::is_absolute;

    #[test]
    fn paths() {
        for path in [
            "/",
            "/a",
            "/a/",
            "/a//b",
            "/%2f",
            "/a%41~b",
            "/(a):@!$&'*+,;=",
        ] {
            assert!(is_absolute(path.as_bytes()), "{path}");
        }
        for path in [
            "", "a", "//", "//a", "/a?b", "/a#b", "/%", "/%2", "/%2x", "/a b", "/\u{e9}",
        ] {
            assert!(!is_absolute(path.as_bytes()), "{path}");
        }
    }
}
