//! What moves on a terminal.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read as _;
use std::process::{Command, Stdio};
use std::thread;

use libtest_mimic::{Failed, Trial};
use nix::pty::{Winsize, openpty};

use crate::run::{KDNS, beside};
use crate::shown::SILENT;
use crate::trial;

pub(crate) fn trials() -> Vec<Trial> {
    vec![trial("terminal::a_clock_moves_while_it_waits", clock)]
}

/// The clock stands on the last line, is written over itself, and is gone at the end.
fn clock() -> Result<(), Failed> {
    let (shown, _) = beside(SILENT, |pid| {
        on_a_terminal(&[
            "nsenter",
            &pid.to_string(),
            "explain",
            "db.x",
            "--live",
            "--resolver",
            "glibc",
        ])
    })?;
    let (shown, status) = shown?;
    let last_lines = shown.split("\r\u{1b}[K").filter_map(|it| it.lines().last());
    let clocks: BTreeSet<&str> = last_lines
        .filter(|it| it.contains(" s, waiting for 10.96.0.10"))
        .collect();
    let is_moving = clocks.len() > 3;
    // What a person still sees: of each line what was written last.
    let left: Vec<&str> = shown
        .lines()
        .filter_map(|it| it.rsplit("\r\u{1b}[K").next())
        .collect();
    let is_gone = !left.iter().any(|it| it.contains("waiting for"));
    let is_told = left.iter().any(|it| it.contains("no answer in 2"));
    if is_moving && is_gone && is_told && status == Some(1) {
        return Ok(());
    }
    Err(format!("{status:?}\n{shown:?}").into())
}

/// What kdns writes to a terminal of 80 columns, and how it ends.
fn on_a_terminal(words: &[&str]) -> Result<(String, Option<i32>), Failed> {
    let size = Winsize {
        ws_row: 24,
        ws_col: 80,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    let terminal = openpty(&size, None)?;
    let mut child = Command::new(KDNS)
        .args(words)
        .env("TERM", "xterm")
        .stdin(Stdio::null())
        .stdout(terminal.slave)
        .spawn()?;
    let mut screen = File::from(terminal.master);
    let reader = thread::spawn(move || {
        let mut shown = Vec::new();
        // It ends with an error when nobody has the other side open any more.
        let _ = screen.read_to_end(&mut shown);
        String::from_utf8_lossy(&shown).into_owned()
    });
    let status = child.wait()?.code();
    let shown = reader.join().map_err(|_| "the reader panicked")?;
    Ok((shown, status))
}
