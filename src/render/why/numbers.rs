//! Numbers and times for people.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// `1,234,567`.
pub(in crate::render) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `62 %`, `0.4 %`.
pub(in crate::render) fn percent(part: u64, all: u64) -> String {
    let Some(mills) = (u128::from(part) * 1000).checked_div(u128::from(all)) else {
        return "0 %".to_owned();
    };
    match mills {
        0 if part > 0 => "under 0.1 %".to_owned(),
        1..100 => format!("{}.{} %", mills / 10, mills % 10),
        _ => format!("{} %", (mills + 5) / 10),
    }
}

/// `0.31 ms`, `2.1 s`.
pub(in crate::render) fn duration(nanoseconds: u64) -> String {
    let micro = nanoseconds / 1000;
    match micro {
        0..1000 => format!("0.{:02} ms", micro / 10),
        1000..100_000 => format!("{}.{} ms", micro / 1000, micro / 100 % 10),
        100_000..1_000_000 => format!("{} ms", micro / 1000),
        _ => format!("{}.{} s", micro / 1_000_000, micro / 100_000 % 10),
    }
}

/// `2026-11-21 02:07 UTC`.
pub(in crate::render) fn minute(since_1970: i64) -> String {
    format_at(since_1970.saturating_mul(60), "%F %H:%M UTC")
}

/// `2026-11-21T02:07Z`.
pub(in crate::render) fn minute_key(since_1970: i64) -> String {
    format_at(since_1970.saturating_mul(60), "%FT%H:%MZ")
}

/// `02:07`, or with the day.
pub(in crate::render) fn clock(since_1970: i64, with_day: bool) -> String {
    let format = if with_day { "%m-%d %H:%M" } else { "%H:%M" };
    format_at(since_1970.saturating_mul(60), format)
}

fn format_at(second: i64, format: &str) -> String {
    let moment = Timestamp::from_second(second).unwrap_or_default();
    moment.to_zoned(TimeZone::UTC).strftime(format).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_for_people() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(percent(0, 0), "0 %");
        assert_eq!(percent(1, 2), "50 %");
        assert_eq!(percent(31, 1000), "3.1 %");
        assert_eq!(percent(1, 1_000_000), "under 0.1 %");
        assert_eq!(duration(312_799), "0.31 ms");
        assert_eq!(duration(2_050_000), "2.0 ms");
        assert_eq!(duration(6_004_163_054), "6.0 s");
        assert_eq!(minute(29_920_447), "2026-11-21 02:07 UTC");
    }
}
