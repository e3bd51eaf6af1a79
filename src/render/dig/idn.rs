//! Names of IDNA in their own letters, and those that have none.

use idna::punycode;
use idna_adapter::{
    Adapter, FIRST_BC_MASK, LAST_LTR_MASK, LAST_RTL_MASK, LEFT_OR_DUAL_JOINING_MASK,
    MIDDLE_LTR_MASK, MIDDLE_RTL_MASK, RIGHT_OR_DUAL_JOINING_MASK, RTL_MASK,
};

use crate::text::escaped;

const PUNYCODE: &str = "string contains invalid punycode data";
const LONG: &str = "domain label longer than 63 characters";
const DISALLOWED: &str = "string contains a disallowed character";
const HIDDEN: &str = "domain label has character forbidden in non-transitional mode (TR46)";
const HYPHENS: &str = "string contains forbidden two hyphens pattern";
const HYPHEN: &str = "string start/ends with forbidden hyphen";
const COMBINING: &str = "string contains a forbidden leading combining character";
const JOINER: &str = "string contains a forbidden context-j character";
const DIRECTION: &str = "string has forbidden bi-directional properties";

const MAX_LABEL: usize = 63;
const PREFIX: &str = "xn--";

const NON_JOINER: char = '\u{200c}';
const JOINS: char = '\u{200d}';

/// A name that libidn2 refuses: the sentence with which dig ends.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct Refused(String);

static LETTERS: Adapter = Adapter::new();

/// The text of a name with its labels of IDNA in their own letters.
///
/// Characters that Unicode had not assigned when the machine's libidn2 was
/// made are known here, and refused by that dig.
///
/// Source: BIND bin/dig/dighost.c: `idn_ace_to_locale` (9.18)
pub(super) fn in_own_letters(text: &str) -> Result<String, Refused> {
    let bad = |why| Refused(format!("Bad ACE string '{text}' ({why}), use +noidnout"));
    let illegal = |why| {
        Refused(format!(
            "'{text}' is not a legal IDNA2008 name ({why}), use +noidnout"
        ))
    };
    let own = decoded(text).map_err(bad)?;
    legal(&own).map_err(illegal)?;
    Ok(escaped(own.as_bytes()))
}

/// As `idn2_to_unicode_8z8z` of libidn2 does it (2.3).
fn decoded(text: &str) -> Result<String, &'static str> {
    let own = |label: &str| {
        if label.len() > MAX_LABEL {
            return Err(LONG);
        }
        let Some(code) = code(label) else {
            return Ok(label.to_owned());
        };
        let is_basic = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        if code.is_empty() || code.ends_with('-') || !code.bytes().all(is_basic) {
            return Err(PUNYCODE);
        }
        punycode::decode_to_string(code).ok_or(PUNYCODE)
    };
    let labels: Result<Vec<_>, _> = text.split('.').map(own).collect();
    Ok(labels?.join("."))
}

/// What stands behind the prefix of a label of IDNA.
fn code(label: &str) -> Option<&str> {
    let (start, code) = label.split_at_checked(PREFIX.len())?;
    start.eq_ignore_ascii_case(PREFIX).then_some(code)
}

/// Whether a name in its own letters is one of IDNA.
/// As `idn2_to_ascii_8z` of libidn2 finds it, with `IDN2_NONTRANSITIONAL` (2.3).
fn legal(own: &str) -> Result<(), &'static str> {
    let mapped: String = LETTERS.map_normalize(own.chars()).collect();
    if mapped.contains(char::REPLACEMENT_CHARACTER) {
        return Err(DISALLOWED);
    }
    // Of several labels the last that is refused says why.
    let mut refused = mapped.rsplit('.').filter_map(|label| shape(label).err());
    if let Some(why) = refused.next() {
        return Err(why);
    }
    for label in mapped.split('.') {
        let hidden = match label.strip_prefix(PREFIX) {
            Some(code) => Some(punycode::decode(code).ok_or(PUNYCODE)?),
            None => None,
        };
        let is_ascii = hidden.is_none() && label.is_ascii();
        let letters = hidden.unwrap_or_else(|| label.chars().collect());
        if !is_ascii {
            joiners(&letters)?;
            direction(&letters)?;
        }
        if wire_length(label) > MAX_LABEL {
            return Err(LONG);
        }
    }
    Ok(())
}

fn wire_length(label: &str) -> usize {
    if label.is_ascii() {
        return label.len();
    }
    // What cannot be encoded is too long.
    punycode::encode_str(label).map_or(usize::MAX, |it| PREFIX.len() + it.len())
}

/// Where a label has hyphens and marks, and what a second prefix hides.
fn shape(label: &str) -> Result<(), &'static str> {
    if let Some(code) = label.strip_prefix(PREFIX) {
        let letters: String = punycode::decode_to_string(code).ok_or(PUNYCODE)?;
        let same = LETTERS.map_normalize(letters.chars()).eq(letters.chars());
        return if same { Ok(()) } else { Err(HIDDEN) };
    }
    let third = label.chars().skip(2).take(2);
    if third.eq("--".chars()) {
        return Err(HYPHENS);
    }
    if label.starts_with('-') || label.ends_with('-') {
        return Err(HYPHEN);
    }
    if label.chars().next().is_some_and(|it| LETTERS.is_mark(it)) {
        return Err(COMBINING);
    }
    Ok(())
}

/// The rules of zero width joiners and non-joiners (RFC 5892, appendix A).
fn joiners(letters: &[char]) -> Result<(), &'static str> {
    for (at, &letter) in letters.iter().enumerate() {
        if !matches!(letter, NON_JOINER | JOINS) {
            continue;
        }
        let (before, after) = letters.split_at(at);
        if before.last().is_some_and(|&it| LETTERS.is_virama(it)) {
            continue;
        }
        let types = |it: &char| LETTERS.joining_type(*it);
        let mut before = before.iter().rev().map(types);
        let mut after = after.iter().skip(1).map(types);
        let joins = before
            .find(|it| !it.is_transparent())
            .is_some_and(|it| it.to_mask().intersects(LEFT_OR_DUAL_JOINING_MASK))
            && after
                .find(|it| !it.is_transparent())
                .is_some_and(|it| it.to_mask().intersects(RIGHT_OR_DUAL_JOINING_MASK));
        if letter == JOINS || !joins {
            return Err(JOINER);
        }
    }
    Ok(())
}

/// The rule of what is written from right to left (RFC 5893, section 2);
/// libidn2 lets both kinds of digits stand in one label.
fn direction(letters: &[char]) -> Result<(), &'static str> {
    let class = |it: &char| LETTERS.bidi_class(*it);
    let is_rtl = |it: &char| class(it).to_mask().intersects(RTL_MASK);
    if !letters.iter().any(is_rtl) {
        return Ok(());
    }
    let Some(first) = letters.first().map(class) else {
        return Ok(());
    };
    let (middle, last) = if first.is_ltr() {
        (MIDDLE_LTR_MASK, LAST_LTR_MASK)
    } else {
        (MIDDLE_RTL_MASK, LAST_RTL_MASK)
    };
    let mut end = letters.iter().rev().map(class);
    let is_right = first.to_mask().intersects(FIRST_BC_MASK)
        && letters
            .iter()
            .all(|it| class(it).to_mask().intersects(middle))
        && end
            .find(|it| !it.is_nonspacing_mark())
            .is_some_and(|it| it.to_mask().intersects(last));
    if is_right { Ok(()) } else { Err(DIRECTION) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_their_own_letters() {
        for (text, expected) in [
            ("xn--bcher-kva.example.", "b\u{fc}cher.example."),
            ("XN--BCHER-2pa.Example.", "B\u{dc}CHER.Example."),
            ("xn--fa-hia.de.", "fa\u{df}.de."),
            ("xn--bc-6kc.a--b_c.", "\u{430}bc.a--b_c."),
            ("xn--n3h.", "\u{2603}."),
            // A joiner cannot be seen, so it is escaped.
            ("xn--11b2ezcw70k.", "\u{915}\u{94d}\\u{200d}\u{937}."),
            ("xn--1-zhc.1.", "\u{5d0}1.1."),
            ("www.example.", "www.example."),
            (".", "."),
        ] {
            let own = in_own_letters(text);
            assert_eq!(own.as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_has_none_is_refused() {
        for (text, why) in [
            ("xn--.", PUNYCODE),
            ("xn--99999.", PUNYCODE),
            ("xn--a-.", PUNYCODE),
            ("xn--a.", DISALLOWED),
            ("a-.xn--tda.", HYPHEN),
            ("ab--cd.", HYPHENS),
            ("a-.ab--c.", HYPHENS),
            ("ab--c.a-.", HYPHEN),
            ("xn--a-ubb.", COMBINING),
            ("xn--ab-m1t.", JOINER),
            ("xn--a-zhc.", DIRECTION),
            ("xn--n--a-9j0y.", HIDDEN),
            (&"\\255".repeat(20), LONG),
        ] {
            let refused = in_own_letters(text).unwrap_err().to_string();
            assert!(refused.contains(why), "{text}: {refused}");
        }
    }
}
