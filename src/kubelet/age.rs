//! Whether a file is newer than a process that runs: the kubelet, or CoreDNS. The
//! machine's clock can have been set meanwhile: the kernel counts the start of a process
//! from the clock of now, a file keeps the time of then.

/// When a process was started, in seconds since 1970.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Started {
    /// By the clock of now.
    pub counted: i64,
    /// By the clock of then, where systemd started it itself and wrote something at that
    /// time.
    pub noted: Option<i64>,
    /// What the clock says now; `None`: the files are of another time.
    pub now: Option<i64>,
}

/// When a file was last written that a process reads.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Written {
    /// In seconds since 1970.
    pub at: i64,
    /// When the process was started.
    pub reader: Started,
}

impl Written {
    /// How the file stands to the start of the process.
    pub fn age(self) -> Age {
        self.reader.age_of(self.at)
    }

    /// Whether that was so many seconds ago, or more; in files of another time it was.
    pub fn is_past(self, seconds: f64) -> bool {
        let ago = self.reader.now.map(|now| now.saturating_sub(self.at));
        let is_it = |ago| u32::try_from(ago).map_or(ago > 0, |it| seconds <= f64::from(it));
        ago.is_none_or(is_it)
    }
}

/// How a file stands to the start of the process.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Age {
    /// It was written before.
    Older,
    /// It was written since.
    Newer,
    /// It can be both: it lies between the two starts, or is yet to come.
    Unsure,
}

/// What a unit does before its main program takes so many seconds at most, where it
/// sets no other limit.
///
/// Source: systemd `DefaultTimeoutStartSec`.
const MAX_APART: u64 = 90;

impl Started {
    /// The age of a file that was changed at this time, if the clock was set once at most.
    pub fn age_of(self, changed: i64) -> Age {
        // All clocks are cut to seconds.
        let is_after = |time: i64| changed > time.saturating_add(1);
        let is_set = |it: &i64| it.abs_diff(self.counted) > MAX_APART;
        let noted = self.noted.filter(is_set).unwrap_or(self.counted);
        let runs_for = self.now.map_or(0, |it| it.saturating_sub(self.counted));
        // By the clock of then nothing was written later.
        let end = noted.saturating_add(runs_for);
        if !is_after(noted.min(self.counted)) || (is_after(end) && !is_after(self.counted)) {
            Age::Older
        } else if is_after(noted.max(self.counted)) && !self.now.is_some_and(is_after) {
            Age::Newer
        } else {
            Age::Unsure
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The start by the clock of now is 1,000, the time is 2,000.
    fn check(noted: i64, changed: i64, expected: Age) {
        let started = Started {
            counted: 1000,
            noted: Some(noted),
            now: Some(2000),
        };
        assert_eq!(started.age_of(changed), expected, "{noted} {changed}");
    }

    #[test]
    fn a_clock_that_was_not_set() {
        for noted in [999, 1000, 920] {
            check(noted, 950, Age::Older);
            check(noted, 1001, Age::Older);
            check(noted, 1002, Age::Newer);
            check(noted, 2001, Age::Newer);
        }
    }

    #[test]
    fn a_clock_that_went_forward() {
        check(500, 501, Age::Older);
        check(500, 600, Age::Unsure);
        check(500, 1001, Age::Unsure);
        check(500, 1002, Age::Newer);
    }

    /// A machine without a clock of its own boots years ago.
    #[test]
    fn a_clock_that_went_far_forward() {
        check(-5000, -5500, Age::Older);
        check(-5000, -4500, Age::Unsure);
        check(-5000, -3999, Age::Unsure);
        check(-5000, -3998, Age::Older);
        check(-5000, 900, Age::Older);
        check(-5000, 1002, Age::Newer);
    }

    #[test]
    fn a_clock_that_went_back() {
        check(1500, 1001, Age::Older);
        check(1500, 1002, Age::Unsure);
        check(1500, 1502, Age::Newer);
        // What was written before is yet to come.
        check(1000, 2002, Age::Unsure);
        let copy = Started {
            counted: 1000,
            noted: None,
            now: None,
        };
        assert_eq!(copy.age_of(5000), Age::Newer);
    }
}
