//! Durations, as plugins have them as arguments.

/// The seconds of a duration as Go's `time.ParseDuration` reads it.
///
/// Source: Go, `src/time/format.go: ParseDuration`.
pub fn seconds(word: &str) -> Option<f64> {
    const UNITS: [(&str, f64); 8] = [
        ("ns", 1e-9),
        ("us", 1e-6),
        ("\u{b5}s", 1e-6),
        ("\u{3bc}s", 1e-6),
        ("ms", 1e-3),
        ("s", 1.0),
        ("m", 60.0),
        ("h", 3600.0),
    ];
    let sign = if word.starts_with('-') { -1.0 } else { 1.0 };
    let mut rest = word.strip_prefix(['+', '-']).unwrap_or(word);
    if rest == "0" {
        return Some(0.0);
    }
    let mut sum = 0.0;
    loop {
        let end = rest.find(|it: char| !it.is_ascii_digit() && it != '.')?;
        let (number, behind) = rest.split_at_checked(end)?;
        let number: f64 = number.parse().ok()?;
        let end = behind
            .find(|it: char| it.is_ascii_digit() || it == '.')
            .unwrap_or(behind.len());
        let (unit, behind) = behind.split_at_checked(end)?;
        sum += number * UNITS.iter().find(|it| it.0 == unit)?.1;
        if behind.is_empty() {
            return Some(sign * sum);
        }
        rest = behind;
    }
}
