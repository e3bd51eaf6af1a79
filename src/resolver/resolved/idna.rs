//! Names with letters beyond ASCII, as libidn2 2.3 converts them for resolved.

use std::borrow::Cow;

use ::idna::AsciiDenyList;
use ::idna::punycode;
use ::idna::uts46::{DnsLength, Hyphens, Uts46};

use crate::name::{MAX_LABEL_BYTES, MAX_WIRE_BYTES};

const ACE_PREFIX: &str = "xn--";

/// Why libidn2 does not convert a name.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum IdnaError {
    /// `IDN2_2HYPHEN`: the third and fourth letter of a label are hyphens.
    TwoHyphens,
    /// `IDN2_TOO_BIG_LABEL`, `IDN2_TOO_BIG_DOMAIN`.
    TooBig,
    /// Anything else: a hyphen at an end, a letter that is not allowed.
    Invalid,
}

/// The name that is asked for instead of `name`; `None`: `name` as it is.
///
/// Source: systemd `src/shared/dns-domain.c: dns_name_apply_idna`.
pub(super) fn dns_name_apply_idna(name: &str) -> Result<Option<String>, IdnaError> {
    let converted = match idn2_lookup_u8(name) {
        Err(IdnaError::TwoHyphens) => return Ok(None),
        converted => converted?,
    };
    // What does not come back as it went in is left alone.
    if !name.starts_with(ACE_PREFIX) && to_unicode(&converted) != name {
        return Ok(None);
    }
    Ok((converted != name).then_some(converted))
}

/// Source: libidn2 `lib/lookup.c: idn2_lookup_u8`.
fn idn2_lookup_u8(name: &str) -> Result<String, IdnaError> {
    let mapped = tr46(name)?;
    let mut converted = String::with_capacity(mapped.len());
    for label in mapped.split('.') {
        if !converted.is_empty() {
            converted.push('.');
        }
        let start = converted.len();
        if label.is_ascii() {
            converted.push_str(label);
        } else {
            converted.push_str(ACE_PREFIX);
            converted.push_str(&punycode::encode_str(label).ok_or(IdnaError::Invalid)?);
        }
        if converted.len() - start > MAX_LABEL_BYTES {
            return Err(IdnaError::TooBig);
        }
    }
    if converted.trim_end_matches('.').len() > MAX_WIRE_BYTES - 2 {
        return Err(IdnaError::TooBig);
    }
    Ok(converted)
}

/// The name in lower case and normal form, its labels tested.
///
/// Source: libidn2 `lib/lookup.c: _tr46`.
fn tr46(name: &str) -> Result<String, IdnaError> {
    let mapped = if name.is_ascii() {
        name.to_ascii_lowercase()
    } else {
        map(name)?
    };
    // The last label that fails decides.
    let mut result = Ok(());
    for label in mapped.split('.') {
        let tested = match label.strip_prefix(ACE_PREFIX) {
            Some(encoded) => ace_label_test(encoded),
            None => label_test(label),
        };
        if tested.is_err() {
            result = tested;
        }
    }
    result.map(|()| mapped)
}

fn map(name: &str) -> Result<String, IdnaError> {
    let (mapped, result) =
        Uts46::new().to_unicode(name.as_bytes(), AsciiDenyList::EMPTY, Hyphens::Allow);
    // The other direction finds what this one lets pass.
    let ascii = Uts46::new().to_ascii(
        name.as_bytes(),
        AsciiDenyList::EMPTY,
        Hyphens::Allow,
        DnsLength::Ignore,
    );
    if result.is_ok() && ascii.is_ok() {
        Ok(mapped.into_owned())
    } else {
        Err(IdnaError::Invalid)
    }
}

/// Whether this is what a label with letters beyond ASCII becomes.
///
/// Source: libidn2 `lib/lookup.c: _tr46`, `label`.
fn ace_label_test(encoded: &str) -> Result<(), IdnaError> {
    let decoded = punycode::decode_to_string(encoded).ok_or(IdnaError::Invalid)?;
    label_test(&decoded)?;
    let same = !decoded.is_ascii()
        && map(&decoded)? == decoded
        && punycode::encode_str(&decoded).as_deref() == Some(encoded);
    if same {
        Ok(())
    } else {
        Err(IdnaError::Invalid)
    }
}

/// Source: libidn2 `lib/idna.c: _idn2_label_test`.
fn label_test(label: &str) -> Result<(), IdnaError> {
    let mut letters = label.chars().skip(2);
    if letters.next() == Some('-') && letters.next() == Some('-') {
        return Err(IdnaError::TwoHyphens);
    }
    if label.starts_with('-') || label.ends_with('-') {
        return Err(IdnaError::Invalid);
    }
    Ok(())
}

/// Source: libidn2 `lib/decode.c: idn2_to_unicode_8z8z`.
fn to_unicode(name: &str) -> String {
    let labels: Vec<Cow<'_, str>> = name
        .split('.')
        .map(|label| {
            let decoded = label
                .strip_prefix(ACE_PREFIX)
                .and_then(punycode::decode_to_string);
            decoded.map_or(Cow::Borrowed(label), Cow::Owned)
        })
        .collect();
    labels.join(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_in_normal_form_are_converted() {
        let check = |name: &str, expected: Result<Option<&str>, IdnaError>| {
            let found = dns_name_apply_idna(name);
            assert_eq!(
                found.as_ref().map(Option::as_deref),
                expected.as_ref().copied(),
                "{name}"
            );
        };
        check("bücher.example", Ok(Some("xn--bcher-kva.example")));
        check("Bücher.example", Ok(None));
        check("Www.Example.COM", Ok(None));
        check("xn--bcher-kva.example", Ok(None));
        check("xn--Bcher-kva.example", Ok(Some("xn--bcher-kva.example")));
        check("ab--c", Ok(None));
        check("web-", Err(IdnaError::Invalid));
        check("-web.a", Err(IdnaError::Invalid));
        check("xn--\u{80}", Err(IdnaError::Invalid));
        check("xn--zz--.a", Err(IdnaError::Invalid));
        check("my host_", Ok(None));
    }
}
