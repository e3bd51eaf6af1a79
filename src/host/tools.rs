//! Runs read-only tools of the node whose output is the one whole form of the
//! kernel's packet rules.
//!
//! A tool is started by its path in a directory of the system, with fixed
//! arguments and an environment of its own, gets no input, and has a limit of
//! time and of output. It runs where the thread is that starts it: in its
//! network namespace, with its capabilities.

use std::fmt;
use std::fs;
use std::io::{self, Read};
use std::os::fd::AsFd as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::{errno_of, reason};
use crate::text::escaped;

/// Where tools of the system are, in the order in which they are looked for.
pub const DIRECTORIES: [&str; 4] = ["/usr/sbin", "/sbin", "/usr/bin", "/bin"];

/// A million rules take `iptables-save` two seconds.
const TIME: Duration = Duration::from_secs(30);

/// Ten times the rules of 20,000 Services with ten endpoints would be more.
const MAX_OUTPUT: usize = 1 << 30;

/// So much of what a tool complains about is kept.
const MAX_COMPLAINT: usize = 4096;

/// A tool with its arguments.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Tool {
    /// The name of its program.
    pub program: &'static str,
    /// What it is started with.
    pub arguments: &'static [&'static str],
}

/// As a shell would have it: `iptables-save -c`.
impl fmt::Display for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.program)?;
        self.arguments.iter().try_for_each(|it| write!(f, " {it}"))
    }
}

/// Why there is no output of a tool, as a sentence without a full stop.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ToolError {
    /// It is not installed.
    #[error("{program} is in none of {}; install it (apt install {package})", DIRECTORIES.join(", "))]
    Missing {
        /// The program.
        program: &'static str,
        /// The package that has it in Debian.
        package: &'static str,
    },
    /// Somebody else than root could have put it there.
    #[error("{0} was not run: its owner is not root, or others may write to it")]
    NotOfRoot(String),
    /// The system did not start it, or did not let its output be read.
    #[error("cannot run {program}: {}", reason(*errno))]
    System {
        /// The program.
        program: &'static str,
        /// What the system said.
        errno: Errno,
    },
    /// It ended with an error.
    #[error("{tool} failed ({status}): {complaint}")]
    Failed {
        /// With its arguments.
        tool: String,
        /// How it ended.
        status: ExitStatus,
        /// The first line that it wrote about it, safe to print.
        complaint: String,
    },
    /// It took too long.
    #[error("{0} had no end after {time} s", time = TIME.as_secs())]
    TooLong(String),
    /// It wrote too much.
    #[error("{0} wrote more than {size} MiB", size = MAX_OUTPUT >> 20)]
    TooMuch(String),
}

/// The path of a program in a directory of the system, as root installed it.
///
/// # Errors
///
/// It is not there, or could be somebody else's.
pub fn find(program: &'static str) -> Result<PathBuf, ToolError> {
    let mut paths = DIRECTORIES.iter().map(|it| Path::new(it).join(program));
    let found = paths.find_map(|path| Some((fs::metadata(&path).ok()?, path)));
    let Some((status, path)) = found.filter(|it| it.0.is_file()) else {
        return Err(ToolError::Missing {
            program,
            package: package(program),
        });
    };
    let others = status.permissions().mode() & 0o022;
    if status.uid() != 0 || others != 0 {
        return Err(ToolError::NotOfRoot(path.display().to_string()));
    }
    Ok(path)
}

/// Debian's package of a program.
fn package(program: &str) -> &'static str {
    match program {
        "nft" => "nftables",
        "ipset" => "ipset",
        _ => "iptables",
    }
}

/// What a tool writes.
///
/// # Errors
///
/// It is not there, does not end well, or writes or waits too long.
pub fn output(tool: Tool) -> Result<Vec<u8>, ToolError> {
    let path = find(tool.program)?;
    let program = tool.program;
    let failed = |error: &io::Error| ToolError::System {
        program,
        errno: errno_of(error),
    };
    let mut child = Command::new(path)
        .args(tool.arguments)
        .env_clear()
        .env("PATH", DIRECTORIES.join(":"))
        .env("LC_ALL", "C")
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| failed(&error))?;
    let read = read_both(&mut child, tool);
    if read.is_err() {
        // It may have ended meanwhile.
        let _ = child.kill();
    }
    let status = child.wait().map_err(|error| failed(&error))?;
    let (written, complaint) = read?;
    if !status.success() {
        let first = complaint
            .split(|&byte| byte == b'\n')
            .next()
            .unwrap_or_default();
        let complaint = match first {
            [] => "it does not say why".to_owned(),
            line => escaped(line),
        };
        return Err(ToolError::Failed {
            tool: tool.to_string(),
            status,
            complaint,
        });
    }
    Ok(written)
}

/// What it writes to both of its outputs until it closes them.
fn read_both(child: &mut Child, tool: Tool) -> Result<(Vec<u8>, Vec<u8>), ToolError> {
    let deadline = Instant::now() + TIME;
    let program = tool.program;
    let system = |errno| ToolError::System { program, errno };
    let (Some(mut out), Some(mut err)) = (child.stdout.take(), child.stderr.take()) else {
        return Err(system(Errno::EBADF));
    };
    for descriptor in [out.as_fd(), err.as_fd()] {
        fcntl(descriptor, FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).map_err(system)?;
    }
    let (mut written, mut complaint) = (Vec::new(), Vec::new());
    let (mut out_open, mut err_open) = (true, true);
    while out_open || err_open {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ToolError::TooLong(tool.to_string()));
        }
        let mut open = Vec::new();
        open.extend(out_open.then(|| PollFd::new(out.as_fd(), PollFlags::POLLIN)));
        open.extend(err_open.then(|| PollFd::new(err.as_fd(), PollFlags::POLLIN)));
        match poll(
            &mut open,
            PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX),
        ) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(errno) => return Err(system(errno)),
        }
        out_open = out_open && take(&mut out, &mut written).map_err(system)?;
        err_open = err_open && take(&mut err, &mut complaint).map_err(system)?;
        complaint.truncate(MAX_COMPLAINT);
        if written.len() > MAX_OUTPUT {
            return Err(ToolError::TooMuch(tool.to_string()));
        }
    }
    Ok((written, complaint))
}

/// Takes what there is; whether there can be more.
fn take(stream: &mut impl Read, bytes: &mut Vec<u8>) -> Result<bool, Errno> {
    const AT_ONCE: u64 = 1 << 20;
    match stream.by_ref().take(AT_ONCE).read_to_end(bytes) {
        Ok(0) => Ok(false),
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(true),
        Err(error) => Err(errno_of(&error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(program: &'static str, arguments: &'static [&'static str]) -> Tool {
        Tool { program, arguments }
    }

    #[test]
    fn a_tool_has_no_environment_but_its_own() {
        let env = String::from_utf8(output(tool("env", &[])).unwrap()).unwrap();
        let mut lines: Vec<&str> = env.lines().collect();
        lines.sort_unstable();
        assert_eq!(lines, ["LC_ALL=C", "PATH=/usr/sbin:/sbin:/usr/bin:/bin"]);
    }

    #[test]
    fn its_output_is_read_to_the_end() {
        let read = output(tool("seq", &["1", "100000"])).unwrap();
        assert_eq!(read.len(), 588_895);
        assert!(read.ends_with(b"\n100000\n"));
    }

    #[test]
    fn what_fails_says_why() {
        let sentence = |tool| output(tool).unwrap_err().to_string();
        let missing = sentence(tool("kdns-has-no-such-tool", &[]));
        assert!(
            missing.starts_with("kdns-has-no-such-tool is in none of /usr/sbin, "),
            "{missing}"
        );
        let failed = sentence(tool("ls", &["/proc/no/such"]));
        let expected = "ls /proc/no/such failed (exit status: 2): ";
        assert!(
            failed.starts_with(expected) && failed.contains("ls: cannot access"),
            "{failed}"
        );
        assert_eq!(
            sentence(tool("false", &[])),
            "false failed (exit status: 1): it does not say why"
        );
    }
}
