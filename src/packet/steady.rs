//! Packets of a capture whose time is wrong.

use std::ops::ControlFlow;

use super::Frame;

/// A time so far from the last one may be damaged, in nanoseconds: no lookup waits
/// so long.
const FAR: i64 = 60_000_000_000;

/// Frames of a capture in order. The time of one that is far from those before it and
/// from the one behind it is not known, and is at least that of the frame before it.
#[derive(Debug, Default)]
pub struct Steady {
    last: Option<i64>,
    /// The frame that is far from those before it, and its bytes.
    held: Option<(Frame<'static>, Vec<u8>)>,
    /// Frames whose time is not known.
    pub mistimed: u64,
}

impl Steady {
    /// Takes the next frame, and gives what is certain by now, until `take` breaks.
    pub fn push(
        &mut self,
        frame: &Frame<'_>,
        take: &mut impl FnMut(&Frame<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let mut last = self.last.unwrap_or(frame.time);
        if let Some((held, bytes)) = self.held.take() {
            let is_back = is_far(held.time, frame.time) && !is_far(last, frame.time);
            self.mistimed += u64::from(is_back);
            last = if is_back { last } else { held.time };
            take(&Frame {
                time: last,
                is_time_known: !is_back,
                bytes: &bytes,
                ..held
            })?;
        }
        if is_far(last, frame.time) {
            let held = Frame {
                bytes: &[],
                ..*frame
            };
            self.held = Some((held, frame.bytes.to_vec()));
            self.last = Some(last);
            return ControlFlow::Continue(());
        }
        self.last = Some(frame.time);
        take(frame)
    }

    /// Gives what is left: behind the last frame nothing says that its time is wrong.
    pub fn end(&mut self, take: &mut impl FnMut(&Frame<'_>) -> ControlFlow<()>) -> ControlFlow<()> {
        match self.held.take() {
            Some((held, bytes)) => take(&Frame {
                bytes: &bytes,
                ..held
            }),
            None => ControlFlow::Continue(()),
        }
    }
}

const fn is_far(one: i64, other: i64) -> bool {
    one.abs_diff(other) > FAR.unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::LinkType;

    const SECOND: i64 = 1_000_000_000;

    /// The times that frames get which were captured at these seconds, and how many
    /// of them were wrong.
    fn times(seconds: &[i64]) -> (Vec<i64>, u64) {
        let (mut steady, mut times, mut unknown) = (Steady::default(), Vec::new(), 0);
        let mut take = |it: &Frame<'_>| {
            times.push((it.number, it.bytes.to_vec(), it.time));
            unknown += u64::from(!it.is_time_known);
            ControlFlow::Continue(())
        };
        for (number, time) in (1..).zip(seconds) {
            let frame = Frame {
                number,
                time: time * SECOND,
                is_time_known: true,
                interface: 0,
                outgoing: None,
                link: LinkType::Raw,
                bytes: &[u8::try_from(number).unwrap()],
                original_length: 1,
            };
            assert!(steady.push(&frame, &mut take).is_continue());
        }
        assert!(steady.end(&mut take).is_continue());
        for ((number, bytes, _), expected) in times.iter().zip(1..) {
            assert_eq!((*number, bytes[0]), (u64::from(expected), expected));
        }
        let all = times.iter().map(|it| it.2 / SECOND).collect();
        assert_eq!(unknown, steady.mistimed);
        (all, unknown)
    }

    #[test]
    fn one_time_that_cannot_be() {
        for wrong in [9_000_000_000, 200, 0, -5000] {
            assert_eq!(times(&[99, 100, wrong, 101]), (vec![99, 100, 100, 101], 1));
        }
        let two = times(&[100, 9000, 101, 0, 102]);
        assert_eq!(two, (vec![100, 100, 101, 101, 102], 2));
    }

    #[test]
    fn clocks_that_were_set_and_silence() {
        for seconds in [
            &[100, 101, 5000, 5001][..],
            &[100, 200, 300, 400],
            &[5000, 5001, 100, 101],
            &[100, 130, 90],
            &[100, 101, 5000],
            &[7],
            &[],
        ] {
            assert_eq!(times(seconds), (seconds.to_vec(), 0));
        }
    }
}
