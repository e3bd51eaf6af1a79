//! `--format F --output FILE`, which may be repeated in one run.

use std::fs::{File, Permissions};
use std::io::{self, BufWriter, IntoInnerError, Write};
use std::os::fd::AsRawFd as _;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use clap::error::ErrorKind;
use clap::{ArgMatches, Args, FromArgMatches};
use nix::fcntl::{AT_FDCWD, AtFlags, FcntlArg, OFlag, fcntl};
use nix::sys::signal::{SigSet, SigmaskHow, Signal};
use nix::unistd::linkat;
use tempfile::NamedTempFile;

use super::Streams;
use crate::host::io_reason;
use crate::text::escaped;

/// The formats of a run and where each one goes.
#[derive(Clone, Debug)]
pub(super) struct Outputs<F> {
    /// Never empty, but for failures.
    pub(super) wanted: Vec<Output<F>>,
}

/// One format and its place.
#[derive(Clone, Debug)]
pub(super) struct Output<F> {
    /// How to write.
    pub(super) format: F,
    /// Where to write; `None`: standard output.
    pub(super) file: Option<PathBuf>,
}

#[derive(Args, Debug)]
struct Words<F: clap::ValueEnum + Copy + Send + Sync + 'static> {
    /// How to write the result; text without it
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Vec<F>,
    /// Write to this file, whole or not at all, in the format before it; - is standard output
    #[arg(long, value_name = "FILE")]
    output: Vec<PathBuf>,
}

impl<F: clap::ValueEnum + Copy + Default + Send + Sync + 'static> Outputs<F> {
    /// Pairs each file with the last format before it. A format without a
    /// file goes to standard output.
    fn pair(words: Words<F>, format_at: &[usize], output_at: &[usize]) -> Self {
        let mut wanted: Vec<(usize, Output<F>)> = words
            .format
            .into_iter()
            .zip(format_at)
            .map(|(format, &at)| (at, Output { format, file: None }))
            .collect();
        for (file, &at) in words.output.into_iter().zip(output_at) {
            let before = wanted
                .iter_mut()
                .rev()
                .find(|(format_at, _)| *format_at < at);
            match before {
                Some((_, output)) if output.file.is_none() => output.file = Some(file),
                Some((_, output)) => {
                    let format = output.format;
                    wanted.push((
                        at,
                        Output {
                            format,
                            file: Some(file),
                        },
                    ));
                }
                None => wanted.push((
                    at,
                    Output {
                        format: F::default(),
                        file: Some(file),
                    },
                )),
            }
        }
        if wanted.is_empty() {
            wanted.push((
                0,
                Output {
                    format: F::default(),
                    file: None,
                },
            ));
        }
        let wanted = wanted.into_iter().map(|(_, output)| Output {
            file: output.file.filter(|file| file.as_os_str() != "-"),
            ..output
        });
        Self {
            wanted: wanted.collect(),
        }
    }

    /// Writes every format to its place: `write` writes one, in colours or not.
    pub(super) fn write(
        &self,
        streams: &mut Streams<'_>,
        mut write: impl FnMut(F, bool, &mut dyn Write) -> io::Result<()>,
    ) -> anyhow::Result<()> {
        for wanted in &self.wanted {
            let colors = wanted.takes_colors(streams.colors);
            let file = wanted.file.as_deref();
            self::write(file, streams.out, |out| write(wanted.format, colors, out))?;
        }
        Ok(())
    }

    /// A file that more than one format would be written to, whatever the
    /// paths look like: the last one would win.
    fn named_twice(&self) -> Option<&Path> {
        let mut known = Vec::new();
        self.wanted.iter().find_map(|output| {
            let path = output.file.as_deref()?;
            let place = place(path);
            if known.contains(&place) {
                return Some(path);
            }
            known.push(place);
            None
        })
    }

    /// Whether more than one format would be mixed on standard output.
    fn is_mixed(&self) -> bool {
        self.wanted.iter().filter(|it| it.file.is_none()).count() > 1
    }
}

impl<F: Copy + PartialEq> Outputs<F> {
    /// Where to write what went wrong: not in the formats of `people`, who are
    /// told on standard error and keep the files that they have.
    pub(super) fn of_failures(&self, people: &[F]) -> Self {
        let mut wanted = self.wanted.clone();
        wanted.retain(|it| !people.contains(&it.format));
        Self { wanted }
    }
}

impl<F> Output<F> {
    /// Whether it is to be in colours if standard output is: a file has none.
    pub(super) fn takes_colors(&self, colors: bool) -> bool {
        colors && self.file.is_none()
    }
}

impl<F: clap::ValueEnum + Copy + Default + Send + Sync + 'static> FromArgMatches for Outputs<F> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let words = Words::from_arg_matches(matches)?;
        let at = |id: &str| -> Vec<usize> {
            matches
                .indices_of(id)
                .map(Iterator::collect)
                .unwrap_or_default()
        };
        let outputs = Self::pair(words, &at("format"), &at("output"));
        if outputs.is_mixed() {
            let message =
                "only one format can go to standard output; give the others --output FILE\n";
            return Err(clap::Error::raw(ErrorKind::ArgumentConflict, message));
        }
        if let Some(twice) = outputs.named_twice() {
            let name = escaped(twice.as_os_str().as_bytes());
            let message = format!(
                "{name} is given to --output more than once; each format needs a file of its own\n"
            );
            return Err(clap::Error::raw(ErrorKind::ArgumentConflict, message));
        }
        Ok(outputs)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl<F: clap::ValueEnum + Copy + Default + Send + Sync + 'static> Args for Outputs<F> {
    fn augment_args(command: clap::Command) -> clap::Command {
        Words::<F>::augment_args(command)
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Words::<F>::augment_args_for_update(command)
    }
}

/// An output that is being written: standard output, or a file.
pub(super) struct Sink<'s> {
    to: To<'s>,
    /// For messages.
    name: String,
}

enum To<'s> {
    Stream(&'s mut dyn Write),
    /// A device, FIFO or socket: nothing that could be replaced.
    Special(BufWriter<File>),
    /// A file without a name, which is gone if the program ends early, and takes
    /// the place of the one at this path at the end.
    Nameless(PathBuf, BufWriter<File>),
    /// The same with a name, where the system knows no other.
    Neighbour(PathBuf, BufWriter<NamedTempFile>),
}

impl<'s> Sink<'s> {
    /// Standard output.
    pub(super) fn stream(out: &'s mut dyn Write) -> Self {
        Self {
            to: To::Stream(out),
            name: "standard output".to_owned(),
        }
    }

    /// The file at `path`. If it is a link, the file that it leads to.
    pub(super) fn file(path: &Path) -> anyhow::Result<Self> {
        let name = escaped(path.as_os_str().as_bytes());
        let to = open(path).map_err(|error| failure(&name, &error))?;
        Ok(Self { to, name })
    }

    /// Lets `write` write. An error of standard output stays the bare I/O
    /// error, so that a closed pipe can be told apart.
    pub(super) fn write(
        &mut self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> anyhow::Result<()> {
        let result = match &mut self.to {
            To::Stream(out) => return Ok(write(out)?),
            To::Special(out) | To::Nameless(_, out) => write(out),
            To::Neighbour(_, out) => write(out),
        };
        result.map_err(|error| failure(&self.name, &error))
    }

    /// Ends the output: the file is there now, whole.
    pub(super) fn finish(self) -> anyhow::Result<()> {
        let result = match self.to {
            To::Stream(_) => Ok(()),
            To::Special(mut out) => out.flush(),
            To::Nameless(path, out) => out
                .into_inner()
                .map_err(IntoInnerError::into_error)
                .and_then(|file| undisturbed(|| named(&file, &path))),
            To::Neighbour(path, out) => out
                .into_inner()
                .map_err(IntoInnerError::into_error)
                .and_then(|neighbour| Ok(neighbour.persist(path).map(drop)?)),
        };
        result.map_err(|error| failure(&self.name, &error))
    }
}

/// Where a file is or would be, as far as that can be told.
fn place(path: &Path) -> PathBuf {
    if let Ok(real) = path.canonicalize() {
        return real;
    }
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    match (
        absolute.parent().map(Path::canonicalize),
        absolute.file_name(),
    ) {
        (Some(Ok(directory)), Some(name)) => directory.join(name),
        _ => absolute,
    }
}

fn open<'s>(path: &Path) -> io::Result<To<'s>> {
    let real = match path.canonicalize() {
        Ok(real) => real,
        // Also a link that leads nowhere: what it says is no longer known here.
        Err(error) if path.is_symlink() => return Err(error),
        Err(error) if error.kind() == io::ErrorKind::NotFound => path.to_owned(),
        Err(error) => return Err(error),
    };
    let present = real.metadata().ok();
    let mut permissions = Permissions::from_mode(0o666);
    if let Some(present) = &present {
        if present.is_dir() {
            return Err(io::Error::from(io::ErrorKind::IsADirectory));
        }
        if !present.is_file() {
            return Ok(To::Special(BufWriter::new(open_special(&real)?)));
        }
        permissions = present.permissions();
    }
    let directory = match real.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    if let Some(file) = nameless(directory) {
        if present.is_some() {
            file.set_permissions(permissions)?;
        }
        return Ok(To::Nameless(real, BufWriter::new(file)));
    }
    let neighbour = tempfile::Builder::new()
        .permissions(permissions.clone())
        .tempfile_in(directory)?;
    if present.is_some() {
        // The mode above was cut by the umask.
        neighbour.as_file().set_permissions(permissions)?;
    }
    Ok(To::Neighbour(real, BufWriter::new(neighbour)))
}

/// A file without a name that can get one. `None`: not in this file system, or
/// there is no `/proc` to name it by.
fn nameless(directory: &Path) -> Option<File> {
    let flags = OFlag::O_TMPFILE | OFlag::O_CLOEXEC;
    let mut options = File::options();
    options.write(true).mode(0o666).custom_flags(flags.bits());
    let file = options.open(directory).ok()?;
    descriptor(&file).exists().then_some(file)
}

/// The name that every open file has.
fn descriptor(file: &File) -> PathBuf {
    format!("/proc/self/fd/{}", file.as_raw_fd()).into()
}

/// Gives the file a name beside `path`, and then that one.
fn named(file: &File, path: &Path) -> io::Result<()> {
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let link = |name: &Path| {
        let follow = AtFlags::AT_SYMLINK_FOLLOW;
        linkat(AT_FDCWD, &descriptor(file), AT_FDCWD, name, follow).map_err(io::Error::from)
    };
    let neighbour = tempfile::Builder::new().make_in(directory, link)?;
    Ok(neighbour.into_temp_path().persist(path)?)
}

/// Calls `call` with signals that end programs put off until it is done.
fn undisturbed<T>(call: impl FnOnce() -> T) -> T {
    let mut signals = SigSet::empty();
    let ends = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP];
    signals.extend(ends);
    let before = signals.thread_swap_mask(SigmaskHow::SIG_BLOCK);
    let result = call();
    if let Ok(before) = before {
        let _ = before.thread_set_mask();
    }
    result
}

/// Opens without waiting: a FIFO that nobody reads is an error.
fn open_special(path: &Path) -> io::Result<File> {
    let nonblocking = OFlag::O_NONBLOCK | OFlag::O_NOCTTY;
    let file = File::options()
        .write(true)
        .custom_flags(nonblocking.bits())
        .open(path)?;
    let flags = OFlag::from_bits_truncate(fcntl(&file, FcntlArg::F_GETFL)?);
    fcntl(&file, FcntlArg::F_SETFL(flags - OFlag::O_NONBLOCK))?;
    Ok(file)
}

/// What to say when `name` cannot be written; a closed pipe stays one.
pub(super) fn failure(name: &str, error: &io::Error) -> anyhow::Error {
    if error.kind() == io::ErrorKind::BrokenPipe {
        return anyhow::Error::new(io::Error::from(io::ErrorKind::BrokenPipe));
    }
    anyhow::anyhow!("cannot write {name}: {}", io_reason(error))
}

/// Writes to `file`, or to `out` if there is none.
pub(super) fn write(
    file: Option<&Path>,
    out: &mut dyn Write,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> anyhow::Result<()> {
    let mut sink = match file {
        Some(path) => Sink::file(path)?,
        None => Sink::stream(out),
    };
    sink.write(write)?;
    sink.finish()
}
