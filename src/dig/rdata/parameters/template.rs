//! `dohpath`: a template of a URI (RFC 6570) with the variable `dns` (RFC 9461).

/// Where the reader of a template is.
#[derive(Clone, Copy, PartialEq)]
enum State {
    Path,
    /// In the name of a variable that began here, with or without an operator
    /// before it.
    Variable(usize, bool),
    /// Behind `%`, with so many digits to come, then this.
    Percent(u8, Return),
    /// Behind `:`, where the number begins.
    Prefix(usize),
    /// Behind `*`.
    Explode,
}

/// What follows a percent sign's digits.
#[derive(Clone, Copy, PartialEq)]
enum Return {
    Path,
    Variable(usize, bool),
}

/// Whether BIND takes it.
///
/// Source: BIND lib/dns/rdata.c: `validate_dohpath` (9.18)
pub(super) fn is_dns_path(text: &[u8]) -> bool {
    if text.first() != Some(&b'/') || std::str::from_utf8(text).is_err() {
        return false;
    }
    let mut state = State::Path;
    let mut has_dns = false;
    for (at, &byte) in text.iter().enumerate() {
        let next = at + 1;
        let after = match (state, byte) {
            (State::Path, b'{') | (State::Explode, b',') => Some(State::Variable(next, false)),
            (State::Path, b'%') => Some(State::Percent(2, Return::Path)),
            (State::Path, _) | (State::Explode, b'}') => Some(State::Path),
            (State::Explode, _) => None,
            (State::Variable(start, operator), byte) => {
                has_dns |= matches!(byte, b'*' | b':' | b'}' | b',')
                    && text.get(start..at) == Some(b"dns");
                variable(start, operator, at, byte)
            }
            (State::Percent(left, then), byte) => {
                byte.is_ascii_hexdigit().then(|| match (left, then) {
                    (2.., then) => State::Percent(left - 1, then),
                    (_, Return::Path) => State::Path,
                    (_, Return::Variable(start, operator)) => State::Variable(start, operator),
                })
            }
            (State::Prefix(start), b'0'..=b'9') => Some(State::Prefix(start)),
            (State::Prefix(start), byte) => {
                let digits = text.get(start..at).unwrap_or_default();
                let is_number = (1..=4).contains(&digits.len()) && !digits.starts_with(b"0");
                match byte {
                    // BIND goes on with the name that the last variable had.
                    b',' if is_number => Some(State::Variable(next, false)),
                    b'}' if is_number => Some(State::Path),
                    _ => None,
                }
            }
        };
        match after {
            Some(after) => state = after,
            None => return false,
        }
    }
    state == State::Path && has_dns
}

/// A byte of a variable's name, which began at `start`.
fn variable(start: usize, operator: bool, at: usize, byte: u8) -> Option<State> {
    match byte {
        b'+' | b'#' | b'.' | b'/' | b';' | b'?' | b'&' => {
            (at == start && !operator).then_some(State::Variable(at + 1, true))
        }
        b'*' | b':' | b'}' | b',' if at == start => None,
        b'*' => Some(State::Explode),
        b':' => Some(State::Prefix(at + 1)),
        b'}' => Some(State::Path),
        b',' => Some(State::Variable(at + 1, false)),
        b'%' => Some(State::Percent(2, Return::Variable(start, operator))),
        byte if byte == b'_' || byte.is_ascii_alphanumeric() => {
            Some(State::Variable(start, operator))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates() {
        for (text, expected) in [
            ("/dns-query{?dns}", true),
            ("/{dns}", true),
            ("/q{?a,dns}", true),
            ("/q{?dns:12}", true),
            ("/q{?dns*}", true),
            ("/%41{dns}", true),
            ("/{%41,dns}", true),
            ("", false),
            ("q{?dns}", false),
            ("/q", false),
            ("/q{?dns", false),
            ("/q{}", false),
            ("/q{?}{dns}", false),
            ("/q{=dns}", false),
            ("/q{dns:0}", false),
            ("/q{dns:12345}", false),
            ("/%4{dns}", false),
            ("/{d ns}", false),
        ] {
            assert_eq!(is_dns_path(text.as_bytes()), expected, "{text}");
        }
    }
}
