//! Files of 1 MiB that a container can supply: what one resolver and all of
//! them cost, beside `wc`, which only counts the words.

use std::fs;
use std::path::Path;

use crate::explain::KDNS;
use crate::figures::{Bound, Figures, median};
use crate::measure::cost;

const MIB: usize = 1 << 20;
const ROUNDS: u32 = 5;

/// A file below `/etc` and what it is full of.
struct Shape {
    what: &'static str,
    file: &'static str,
    before: &'static str,
    piece: fn(usize) -> String,
}

const SHAPES: [Shape; 6] = [
    Shape {
        what: "loopback servers",
        file: "resolv.conf",
        before: "",
        piece: |it| {
            format!(
                "nameserver 127.{}.{}.{}\n",
                it >> 16,
                it >> 8 & 255,
                it & 255
            )
        },
    },
    Shape {
        what: "search domains",
        file: "resolv.conf",
        before: "nameserver 10.0.0.1\nsearch",
        piece: |it| format!(" d{it}.a"),
    },
    Shape {
        what: "continued lines",
        file: "resolv.conf",
        before: "nameserver 10.0.0.1\nsearch",
        piece: |_| "\0\n".to_owned(),
    },
    Shape {
        what: "addresses of one name",
        file: "hosts",
        before: "",
        piece: |it| format!("10.{}.{}.{} target\n", it >> 16, it >> 8 & 255, it & 255),
    },
    Shape {
        what: "aliases",
        file: "hosts",
        before: "10.0.0.1 target",
        piece: |it| format!(" a{it}"),
    },
    Shape {
        what: "modules",
        file: "nsswitch.conf",
        before: "hosts:",
        piece: |it| format!(" m{it} files"),
    },
];

pub(crate) fn run(figures: &mut Figures) {
    for shape in &SHAPES {
        let directory = tempfile::tempdir().unwrap();
        let etc = directory.path().join("etc");
        fs::create_dir(&etc).unwrap();
        fs::write(etc.join("resolv.conf"), "nameserver 10.0.0.1\n").unwrap();
        let mut text = shape.before.to_owned();
        let mut number = 0;
        while text.len() + 32 < MIB {
            text.push_str(&(shape.piece)(number));
            number += 1;
        }
        text.push('\n');
        let file = etc.join(shape.file);
        fs::write(&file, text).unwrap();
        one(shape.what, directory.path(), &file, figures);
    }
}

fn one(what: &str, root: &Path, file: &Path, figures: &mut Figures) {
    let root = root.to_str().unwrap();
    let explain = |more: &[&str]| {
        let command = [KDNS, "explain", "target", "--root", root];
        let costs = (0..ROUNDS).filter_map(|_| cost(1, &[&command[..], more].concat()));
        let costs: Vec<_> = costs.collect();
        let peak = costs.iter().map(|it| it.peak_kib).max().unwrap();
        (median(costs.iter().map(|it| it.seconds).collect()), peak)
    };
    let peer = cost(ROUNDS, &["wc", "-w", file.to_str().unwrap()]);
    let peer = peer.map_or("no wc".to_owned(), |it| {
        format!("wc -w takes {:.1} ms", it.seconds * 1e3)
    });
    let (seconds, peak) = explain(&["--resolver", "glibc"]);
    let name = format!("explain by glibc, 1 MiB of {what}");
    figures.check(&format!("{name}, s"), seconds, Bound::AtMost(0.3), &peer);
    let peak = f64::from(peak) / 1024.0;
    figures.check(
        &format!("{name}, MiB"),
        peak,
        Bound::AtMost(64.0),
        "resident at most",
    );
    let (seconds, _) = explain(&["--resolver", "all", "--format", "json"]);
    let name = format!("explain by all as JSON, 1 MiB of {what}, s");
    figures.check(&name, seconds, Bound::AtMost(5.0), &peer);
}
