//! The time of day where the machine is.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jiff::Timestamp;
use jiff::fmt::strtime;
use jiff::tz::TimeZone;

/// The time since 1970 began, in nanoseconds; `None`: it is not after that.
pub fn now() -> Option<i64> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    i64::try_from(since.as_nanos()).ok()
}

/// `Tue Nov 14 22:13:20 UTC 2023`, the time so long after 1970 began, in the zone
/// of `TZ` or `/etc/localtime`; in UTC where neither can be read.
///
/// Source: BIND bin/dig/dig.c: `received` (9.18)
pub fn local(since: Duration) -> String {
    written(since, TimeZone::try_system().unwrap_or(TimeZone::UTC))
}

fn written(since: Duration, zone: TimeZone) -> String {
    let seconds = i64::try_from(since.as_secs()).unwrap_or_default();
    let moment = Timestamp::from_second(seconds).unwrap_or_default();
    let moment = moment.to_zoned(zone);
    strtime::format("%a %b %d %H:%M:%S %Z %Y", &moment).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(seconds: u64, zone: &str, expected: &str) {
        let zone = TimeZone::posix(zone).unwrap();
        assert_eq!(written(Duration::from_secs(seconds), zone), expected);
    }

    #[test]
    fn zones_and_summer() {
        check(1_700_000_000, "UTC0", "Tue Nov 14 22:13:20 UTC 2023");
        check(0, "UTC0", "Thu Jan 01 00:00:00 UTC 1970");
        let berlin = "CET-1CEST,M3.5.0,M10.5.0/3";
        check(1_700_000_000, berlin, "Tue Nov 14 23:13:20 CET 2023");
        check(1_690_000_000, berlin, "Sat Jul 22 06:26:40 CEST 2023");
        check(
            1_700_000_000,
            "<+0530>-5:30",
            "Wed Nov 15 03:43:20 +0530 2023",
        );
    }

    #[test]
    fn no_zone_is_utc() {
        let utc = written(Duration::ZERO, TimeZone::UTC);
        assert_eq!(utc, "Thu Jan 01 00:00:00 UTC 1970");
    }
}
