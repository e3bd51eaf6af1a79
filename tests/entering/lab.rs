//! Processes to look at, and the runs of kdns that look.

use std::process::{Child, Command, ExitCode, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

pub(crate) const KDNS: &str = env!("CARGO_BIN_EXE_kdns");
const HIDDEN: &str = "--alone";

/// Runs the scene of this name in a mount, pid and network namespace of its own,
/// in which all is gone at the end; with these variables.
pub(crate) fn alone(scene: &str, variables: &[(&str, &str)]) {
    let output = Command::new("unshare")
        .args([
            "--mount",
            "--net",
            "--pid",
            "--uts",
            "--fork",
            "--kill-child",
            "--mount-proc",
        ])
        .arg(std::env::current_exe().unwrap())
        .args([HIDDEN, scene])
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
}

/// Runs a scene, if this process was started for that.
pub(crate) fn run_hidden() -> Option<ExitCode> {
    let mut arguments = std::env::args().skip_while(|it| it != HIDDEN).skip(1);
    let scene = arguments.next()?;
    crate::places::scene(&scene);
    Some(ExitCode::SUCCESS)
}

/// A process that ends with its value.
pub(crate) struct Running(pub(crate) Child);

impl Running {
    pub(crate) fn start(command: &mut Command) -> Self {
        let silent = command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .stdin(Stdio::null());
        Self(silent.spawn().unwrap())
    }

    /// A shell script that ends in `exec sleep`; returns when it sleeps.
    pub(crate) fn script(prefix: &[&str], script: &str) -> Self {
        let (program, arguments) = prefix.split_first().unwrap();
        let mut command = Command::new(program);
        command
            .args(arguments)
            .args(["sh", "-ec", &format!("{script}\nexec sleep 1000")]);
        let running = Self::start(&mut command);
        running.wait_for("sleep");
        wait_until_asleep(running.0.id());
        running
    }

    pub(crate) fn pid(&self) -> String {
        self.0.id().to_string()
    }

    /// Waits until the process has this name.
    pub(crate) fn wait_for(&self, name: &str) {
        let until = Instant::now() + Duration::from_secs(10);
        let comm = format!("/proc/{}/comm", self.pid());
        while std::fs::read_to_string(&comm).is_ok_and(|it| it.trim() != name) {
            assert!(Instant::now() < until, "{comm} never is {name}");
            thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Waits until a process has begun, and sleeps: before, it looks for its libraries, and
/// a file system that then stops to answer holds it, and whoever waits for its end.
pub(crate) fn wait_until_asleep(pid: u32) {
    let until = Instant::now() + Duration::from_secs(10);
    let stat = format!("/proc/{pid}/stat");
    while std::fs::read_to_string(&stat).is_ok_and(|it| !it.contains(") S ")) {
        assert!(Instant::now() < until, "{pid} never sleeps");
        thread::sleep(Duration::from_millis(5));
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What a run of kdns gave: status, output, errors.
pub(crate) fn kdns(arguments: &[&str]) -> (i32, String, String) {
    result(&Command::new(KDNS).args(arguments).output().unwrap())
}

pub(crate) fn result(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        output.status.code().unwrap_or(-1),
        text(&output.stdout),
        text(&output.stderr),
    )
}

/// kdns explains `db` for the target, and says this.
#[track_caller]
pub(crate) fn explains(target: &str, expected: &[&str]) {
    let (status, out, err) = kdns(&["explain", "db", "--target", target]);
    assert_eq!(status, 0, "{err}");
    // Lines are broken anywhere.
    let words: Vec<&str> = out.split_whitespace().collect();
    let text = words.join(" ");
    for part in expected {
        assert!(text.contains(part), "{part}\nis not in\n{out}");
    }
}

/// kdns cannot explain anything for the target, and says why.
#[track_caller]
pub(crate) fn refuses(target: &str, expected: &str) {
    let (status, out, err) = kdns(&["explain", "db", "--target", target]);
    assert_eq!((status, out.as_str()), (2, ""), "{err}");
    assert!(err.contains(expected), "{expected}\nis not in\n{err}");
}
