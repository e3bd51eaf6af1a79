//! The screens of the gallery in a real terminal, tmux, of 80 and 120 columns: what
//! stands there, with its colours, is what was kept.

#![expect(clippy::panic, reason = "a test may stop at the first surprise")]

#[path = "../needs/mod.rs"]
mod needs;
#[path = "../gallery/runs.rs"]
mod runs;
mod screen;

use std::process::{Command, ExitCode, Output};
use std::time::{Duration, Instant};
use std::{fs, io};

use libtest_mimic::{Arguments, Failed};
use tempfile::TempDir;

use self::runs::Run;
use self::screen::cells;

/// The most that one run may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// So many looks at a screen.
const ATTEMPTS: usize = 5;

const SETTINGS: &str = "set -g exit-empty off\n\
                        set -g remain-on-exit on\n\
                        set -g remain-on-exit-format ''\n\
                        set -g history-limit 5000\n\
                        set -g status off\n\
                        set -g default-terminal tmux-256color\n";

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let trials = ["80", "120"].map(|columns| {
        let name = format!("screens_of_{columns}_columns");
        needs::trial(&name, no_tmux(), move || screens(columns))
    });
    needs::run(&arguments, trials.into())
}

fn no_tmux() -> Option<String> {
    let version = Command::new("tmux").arg("-V").output();
    let is_there = version.is_ok_and(|it| it.status.success());
    (!is_there).then(|| "there is no tmux".to_owned())
}

/// Runs all in one server of tmux.
fn screens(columns: &'static str) -> Result<(), Failed> {
    let server = Server::new()?;
    let mut wrong = Vec::new();
    for run in runs::all() {
        let kept = format!("testdata/gallery/{}.{columns}.ansi", run.0);
        let kept = fs::read_to_string(kept)?;
        // The first line is the command.
        let kept = kept.split_once('\n').map_or("", |it| it.1);
        let mut shown = server.shown(run, columns)?;
        // A terminal that is not drawn yet is looked at again.
        for _ in 1..ATTEMPTS {
            if cells(&shown) == cells(kept) {
                break;
            }
            shown = server.shown(run, columns)?;
        }
        if cells(&shown) != cells(kept) {
            wrong.push(format!("{}:\n{shown}", run.0));
        }
    }
    if wrong.is_empty() {
        return Ok(());
    }
    Err(wrong.join("\n").into())
}

/// A server of tmux, which ends with it.
struct Server {
    directory: TempDir,
}

impl Server {
    fn new() -> io::Result<Self> {
        let directory = tempfile::tempdir()?;
        fs::write(directory.path().join("tmux.conf"), SETTINGS)?;
        Ok(Self { directory })
    }

    /// What its terminal shows when the command has ended.
    fn shown(&self, (name, _, words): Run, columns: &str) -> Result<String, Failed> {
        let mut start = vec!["new-session", "-d", "-s", name, "-x", columns, "-y", "50"];
        start.extend([
            "env",
            "-i",
            "TERM=tmux-256color",
            env!("CARGO_BIN_EXE_kdns"),
        ]);
        start.extend(words.split(' '));
        self.said(&start)?;
        let begun = Instant::now();
        let is_dead = ["display-message", "-p", "-t", name, "#{pane_dead}"];
        while self.said(&is_dead)? != "1\n" {
            if begun.elapsed() > PATIENCE {
                return Err(format!("{name} does not end").into());
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        // All lines, those that were broken joined again.
        let capture = ["capture-pane", "-p", "-e", "-J", "-S", "-", "-t", name];
        let screen = self.said(&capture)?;
        self.said(&["kill-session", "-t", name])?;
        Ok(screen)
    }

    fn said(&self, words: &[&str]) -> Result<String, Failed> {
        let output = self.tmux(words)?;
        if !output.status.success() {
            let error = String::from_utf8_lossy(&output.stderr);
            return Err(format!("tmux {words:?}: {error}").into());
        }
        Ok(String::from_utf8(output.stdout)?)
    }

    fn tmux(&self, words: &[&str]) -> io::Result<Output> {
        let path = self.directory.path();
        let mut command = Command::new("tmux");
        command.arg("-u").arg("-S").arg(path.join("socket"));
        command.arg("-f").arg(path.join("tmux.conf"));
        command.args(words).output()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ended = self.tmux(&["kill-server"]);
    }
}
