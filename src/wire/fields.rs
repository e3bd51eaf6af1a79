//! What stands in a certificate of any version, which `webpki` reads of the
//! third only; BIND's server makes itself one of the first.

use rustls::pki_types::{CertificateDer, SubjectPublicKeyInfoDer};

/// Who signed a certificate, for whom, and for which key (RFC 5280, section 4.1).
pub(super) struct Fields<'c> {
    pub(super) issuer: &'c [u8],
    pub(super) subject: &'c [u8],
    pub(super) key: SubjectPublicKeyInfoDer<'c>,
}

/// The version, where it is not the first.
const VERSION: u8 = 0xa0;
/// `commonName` (RFC 5280, section 4.1.2.4).
const COMMON_NAME: &[u8] = &[0x55, 4, 3];

impl<'c> Fields<'c> {
    /// `None`: this is no certificate.
    pub(super) fn of_certificate(certificate: &'c CertificateDer<'_>) -> Option<Self> {
        let mut outer = certificate.as_ref();
        let mut whole = take(&mut outer)?.content;
        let mut rest = take(&mut whole)?.content;
        let first = take(&mut rest)?;
        if first.tag == VERSION {
            take(&mut rest)?;
        }
        let _algorithm = take(&mut rest)?;
        let issuer = take(&mut rest)?.content;
        let _validity = take(&mut rest)?;
        let subject = take(&mut rest)?.content;
        let key = take(&mut rest)?.whole.into();
        Some(Self {
            issuer,
            subject,
            key,
        })
    }

    /// Whether the subject is called so.
    pub(super) fn is_called(&self, name: &[u8]) -> bool {
        let mut rest = self.subject;
        while let Some(mut set) = take(&mut rest).map(|it| it.content) {
            while let Some(mut pair) = take(&mut set).map(|it| it.content) {
                let [kind, value] =
                    [take(&mut pair), take(&mut pair)].map(|it| it.map(|it| it.content));
                if kind == Some(COMMON_NAME)
                    && value.is_some_and(|it| it.eq_ignore_ascii_case(name))
                {
                    return true;
                }
            }
        }
        false
    }
}

/// A value of DER.
struct Value<'v> {
    tag: u8,
    content: &'v [u8],
    whole: &'v [u8],
}

/// Takes the first value off.
fn take<'v>(bytes: &mut &'v [u8]) -> Option<Value<'v>> {
    let all = *bytes;
    let (&[tag, first], rest) = all.split_first_chunk::<2>()?;
    let count = usize::from(first.saturating_sub(0x80));
    let (digits, rest) = rest.split_at_checked(count.min(5))?;
    let length = match first {
        0..=0x7f => usize::from(first),
        // Nothing here is longer than 16 MiB.
        0x81..=0x83 => digits
            .iter()
            .fold(0, |length, &digit| length << 8 | usize::from(digit)),
        _ => return None,
    };
    let (content, after) = rest.split_at_checked(length)?;
    *bytes = after;
    let whole = all.get(..all.len() - after.len())?;
    Some(Value {
        tag,
        content,
        whole,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_taken_one_by_one() {
        let long = [&[4, 0x81, 0x80][..], &[7; 0x80]].concat();
        let bytes = [&[2, 1, 5][..], &long, &[5, 0]].concat();
        let mut rest = bytes.as_slice();
        let mut next = || take(&mut rest).map(|it| (it.tag, it.content.len(), it.whole.len()));
        assert_eq!(next(), Some((2, 1, 3)));
        assert_eq!(next(), Some((4, 0x80, 0x83)));
        assert_eq!(next(), Some((5, 0, 2)));
        assert_eq!(next(), None);
    }

    #[test]
    fn subjects_have_names() {
        let subject = b"\x31\x0b\x30\x09\x06\x03\x55\x04\x0a\x0c\x02a.\x31\x0c\x30\x0a\x06\x03\x55\x04\x03\x0c\x03b.c";
        let fields = Fields {
            issuer: &[],
            subject,
            key: Vec::new().into(),
        };
        assert!(fields.is_called(b"B.C"));
        assert!(!fields.is_called(b"a.") && !fields.is_called(b""));
    }

    #[test]
    fn what_is_cut_is_nothing() {
        for bytes in [
            &[][..],
            &[2],
            &[2, 1],
            &[2, 0x81],
            &[2, 0x80],
            &[2, 0x84, 0, 0, 0, 0],
        ] {
            assert!(take(&mut &*bytes).is_none(), "{bytes:?}");
        }
        // Certificate, what was signed of it, and no more than a serial number.
        let short = CertificateDer::from(vec![0x30, 5, 0x30, 3, 2, 1, 1]);
        assert!(Fields::of_certificate(&short).is_none());
    }
}
