//! Record types as people and scenarios spell them.

use std::fmt;

use hickory_proto::rr::RecordType;

/// Reads a record type in any case: `AAAA`, `TYPE65` (RFC 3597, section 5).
pub fn parse(text: &str) -> Option<RecordType> {
    let upper = text.to_ascii_uppercase();
    let number = upper
        .strip_prefix("TYPE")
        .and_then(|number| number.parse::<u16>().ok());
    number.map(RecordType::from).or_else(|| upper.parse().ok())
}

/// A record type, shown as [`parse`] reads it.
#[derive(Clone, Copy, Debug)]
pub struct Shown(pub RecordType);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name: &str = self.0.into();
        if name.parse().is_ok_and(|read: RecordType| read == self.0) {
            f.write_str(name)
        } else {
            write!(f, "TYPE{}", u16::from(self.0))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_is_read_as_it_is_shown() {
        for number in 0..=u16::MAX {
            let record_type = RecordType::from(number);
            let shown = Shown(record_type).to_string();
            assert_eq!(parse(&shown), Some(record_type), "{shown}");
        }
        assert_eq!(parse("aaaa"), Some(RecordType::AAAA));
        assert_eq!(parse("type65"), Some(RecordType::HTTPS));
        for bad in ["", "TYPE", "TYPE65536", "XX"] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}
