//! `--format F --output FILE`, which may be repeated in one run.

use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use clap::error::ErrorKind;
use clap::{ArgMatches, Args, FromArgMatches};

use crate::cli::streams::Streams;
use crate::host::write::{self, Others, WriteError};
use crate::render::Style;
use crate::text::escaped;

/// The output formats of most commands.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, clap::ValueEnum)]
pub(super) enum TextOrJson {
    /// For people
    #[default]
    Text,
    /// One document
    Json,
}

/// The formats of a run and where each one goes.
#[derive(Clone, Debug)]
pub(super) struct Outputs<F> {
    /// Never empty, but for failures.
    pub(super) wanted: Vec<Output<F>>,
    /// Whether root may also replace files of other users.
    pub(super) others: Others,
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
    // The alias is what ruff calls it.
    #[arg(long, alias = "output-format", value_enum, value_name = "FORMAT")]
    format: Vec<F>,
    /// Write to this file, whole or not at all, in the format before it or of its ending; - is standard output
    #[arg(long, value_name = "FILE")]
    output: Vec<PathBuf>,
    /// As root, also write over files that belong to other users
    #[arg(long)]
    force: bool,
}

impl<F: clap::ValueEnum + Copy + Default + Send + Sync + 'static> Outputs<F> {
    /// Pairs each file with the last format before it, or with that of its
    /// ending where none is left. A format without a file goes to standard output.
    fn pair(words: Words<F>, format_at: &[usize], output_at: &[usize]) -> Self {
        let formats = words.format.into_iter().zip(format_at);
        let mut wanted: Vec<(usize, Output<F>)> = formats
            .map(|(format, &at)| (at, Output { format, file: None }))
            .collect();
        for (file, &at) in words.output.into_iter().zip(output_at) {
            let before = wanted.iter_mut().rfind(|it| it.0 < at);
            let format = before.as_ref().map_or_else(F::default, |it| it.1.format);
            let format = of_ending(&file).unwrap_or(format);
            let file = Some(file);
            match before {
                Some((_, output)) if output.file.is_none() => output.file = file,
                _ => wanted.push((at, Output { format, file })),
            }
        }
        if wanted.is_empty() {
            let format = F::default();
            wanted.push((0, Output { format, file: None }));
        }
        let wanted = wanted.into_iter().map(|(_, output)| Output {
            file: output.file.filter(|file| file.as_os_str() != "-"),
            ..output
        });
        Self {
            wanted: wanted.collect(),
            others: if words.force {
                Others::Allowed
            } else {
                Others::Refused
            },
        }
    }

    /// Writes every format to its place: `write` writes one, in the style of its place.
    pub(super) fn write(
        &self,
        verbose: bool,
        streams: &mut Streams<'_>,
        mut write: impl FnMut(F, Style, &mut dyn Write) -> io::Result<()>,
    ) -> anyhow::Result<()> {
        for wanted in &self.wanted {
            let mut style = streams.style(verbose);
            style.colors = wanted.takes_colors(style.colors);
            let file = wanted.file.as_deref();
            self::write(file, self.others, streams.out, |out| {
                write(wanted.format, style, out)
            })?;
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

/// The format that a file's ending is mostly used for.
fn of_ending<F: clap::ValueEnum>(file: &Path) -> Option<F> {
    let ending = file.extension()?.to_str()?.to_ascii_lowercase();
    let format = match ending.as_str() {
        "txt" => "text",
        "xml" => "junit",
        "prom" => "prometheus",
        other => other,
    };
    F::from_str(format, true).ok()
}

impl<F: Copy + PartialEq> Outputs<F> {
    /// Whether this format is wanted.
    pub(super) fn wants(&self, format: F) -> bool {
        self.wanted.iter().any(|it| it.format == format)
    }

    /// Whether this format goes to standard output.
    pub(super) fn shows(&self, format: F) -> bool {
        let mut wanted = self.wanted.iter();
        wanted.any(|it| it.file.is_none() && it.format == format)
    }

    /// Where to write what went wrong: not in the formats of `people`, who are
    /// told on standard error and keep the files that they have.
    pub(super) fn of_failures(&self, people: &[F]) -> Self {
        let mut wanted = self.wanted.clone();
        wanted.retain(|it| !people.contains(&it.format));
        Self {
            wanted,
            others: self.others,
        }
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
    Written(write::Output),
}

impl<'s> Sink<'s> {
    /// Standard output.
    pub(super) fn stream(out: &'s mut dyn Write) -> Self {
        Self {
            to: To::Stream(out),
            name: "standard output".to_owned(),
        }
    }

    /// What is at `path`, or will be there.
    pub(super) fn file(path: &Path, others: Others) -> anyhow::Result<Self> {
        let name = escaped(path.as_os_str().as_bytes());
        let output = write::open(path, others).map_err(|error| failure(&name, &error))?;
        Ok(Self {
            to: To::Written(output),
            name,
        })
    }

    /// Lets `write` write. An error of standard output stays the bare I/O
    /// error, so that a closed pipe can be told apart.
    pub(super) fn write(
        &mut self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> anyhow::Result<()> {
        match &mut self.to {
            To::Stream(out) => Ok(write(out)?),
            To::Written(out) => write(out).map_err(|error| failure(&self.name, &error.into())),
        }
    }

    /// Ends the output: the file is there now, whole.
    pub(super) fn finish(self) -> anyhow::Result<()> {
        match self.to {
            To::Stream(_) => Ok(()),
            To::Written(out) => out.finish().map_err(|error| failure(&self.name, &error)),
        }
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

/// What to say when `name` cannot be written; a closed pipe stays one.
pub(super) fn failure(name: &str, error: &WriteError) -> anyhow::Error {
    if error.is_closed_pipe() {
        return anyhow::Error::new(io::Error::from(io::ErrorKind::BrokenPipe));
    }
    anyhow::anyhow!("cannot write {name}: {error}")
}

/// Writes to `file`, or to `out` if there is none.
pub(super) fn write(
    file: Option<&Path>,
    others: Others,
    out: &mut dyn Write,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> anyhow::Result<()> {
    let mut sink = match file {
        Some(path) => Sink::file(path, others)?,
        None => Sink::stream(out),
    };
    sink.write(write)?;
    sink.finish()
}
