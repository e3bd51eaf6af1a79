//! The syntax of `resolv.conf`: kdns beside the crate `resolv-conf`.

use std::hint::black_box;

use kdns::config::resolv_conf::{Line, ResolvConf};
use kdns::text::Source;

use crate::explain::POD;
use crate::figures::{Bound, Figures, median};
use crate::measure::own_seconds;

const MIB: usize = 1 << 20;
const ROUNDS: usize = 11;
/// Bytes parsed in a round.
const BYTES: u32 = 16 << 20;

pub(crate) fn run(figures: &mut Figures) {
    let lines = ordinary_lines(MIB);
    for (what, text) in [("a pod's file", POD), ("1 MiB of lines", &lines)] {
        beside_peer(figures, what, text, lines_of, 2.0);
        // resolv-conf knows only the words of lines that it understands.
        let what = format!("{what} and all its words");
        beside_peer(figures, &what, text, words_of, 1.2);
    }
    let shapes = [
        ("lines", [ordinary_lines(MIB / 16), ordinary_lines(MIB)]),
        ("one line", [one_line(MIB / 16), one_line(MIB)]),
    ];
    for (what, [short, long]) in &shapes {
        // Both rounds parse as many bytes, so that equal times are linear.
        let ratios = (0..ROUNDS).map(|_| words_of(long) / words_of(short));
        let what = format!("parsing {what}, time a byte of 1 MiB / of 64 KiB");
        figures.check(
            &what,
            median(ratios.collect()),
            Bound::AtMost(1.5),
            "no peer",
        );
    }
}

fn beside_peer(figures: &mut Figures, what: &str, text: &str, own: Seconds, least: f64) {
    let ratios: Vec<f64> = (0..ROUNDS).map(|_| peer(text) / own(text)).collect();
    let speed = |parse: Seconds| f64::from(BYTES) / parse(text) / 1e6;
    let beside = format!(
        "{:.0} MB/s and resolv-conf's {:.0} MB/s, median of {ROUNDS} rounds",
        speed(own),
        speed(peer)
    );
    let what = format!("parsing {what}, bytes a second / resolv-conf");
    figures.check(&what, median(ratios), Bound::AtLeast(least), &beside);
}

/// Processor time for parsing [`BYTES`] bytes, `text` again and again.
type Seconds = fn(text: &str) -> f64;

fn lines_of(text: &str) -> f64 {
    own(text, |conf| conf.lines().count())
}

fn words_of(text: &str) -> f64 {
    own(text, |conf| conf.lines().flat_map(Line::words).count())
}

/// The text is not copied each time: a result keeps it, and gives it back.
fn own(text: &str, count: impl Fn(&ResolvConf) -> usize) -> f64 {
    let mut source = Source::new("", text);
    let before = own_seconds();
    for _ in 0..times(text) {
        let conf = ResolvConf::parse(black_box(source));
        black_box(count(&conf));
        source = conf.source;
    }
    own_seconds() - before
}

fn peer(text: &str) -> f64 {
    let before = own_seconds();
    for _ in 0..times(text) {
        black_box(resolv_conf::Config::parse(black_box(text)).unwrap());
    }
    own_seconds() - before
}

/// How often `text` is parsed in a round.
fn times(text: &str) -> u32 {
    BYTES / u32::try_from(text.len()).unwrap()
}

/// Whole pieces, up to `length` bytes.
fn repeated(piece: &str, length: usize) -> String {
    piece.repeat(length / piece.len())
}

fn ordinary_lines(length: usize) -> String {
    let piece = "# a comment\nnameserver 10.96.0.10\nsearch a.example b.example\n\n";
    repeated(piece, length)
}

fn one_line(length: usize) -> String {
    format!("search {}", repeated("a.example ", length))
}
