//! `--format F --output FILE`, which may be repeated in one run.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::{ArgMatches, Args, FromArgMatches};

/// The formats of a run and where each one goes.
#[derive(Clone, Debug)]
pub(super) struct Outputs<F> {
    /// Never empty.
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
struct Words<F: clap::ValueEnum + Clone + Send + Sync + 'static> {
    /// How to write the result; text without it
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Vec<F>,
    /// Write to this file, whole or not at all, in the format before it
    #[arg(long, value_name = "FILE")]
    output: Vec<PathBuf>,
}

impl<F: clap::ValueEnum + Clone + Default + Send + Sync + 'static> Outputs<F> {
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
                    let format = output.format.clone();
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
        Self {
            wanted: wanted.into_iter().map(|(_, output)| output).collect(),
        }
    }
}

impl<F: clap::ValueEnum + Clone + Default + Send + Sync + 'static> FromArgMatches for Outputs<F> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let words = Words::from_arg_matches(matches)?;
        let at = |id: &str| -> Vec<usize> {
            matches
                .indices_of(id)
                .map(Iterator::collect)
                .unwrap_or_default()
        };
        Ok(Self::pair(words, &at("format"), &at("output")))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl<F: clap::ValueEnum + Clone + Default + Send + Sync + 'static> Args for Outputs<F> {
    fn augment_args(command: clap::Command) -> clap::Command {
        Words::<F>::augment_args(command)
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Words::<F>::augment_args_for_update(command)
    }
}

/// Writes to `file` through a neighbour that takes its place at the end, or
/// to `out` if there is no file.
pub(super) fn write(
    file: Option<&Path>,
    out: &mut dyn Write,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> anyhow::Result<()> {
    let Some(file) = file else {
        return Ok(write(out)?);
    };
    let attempt = || format!("cannot write {}", file.display());
    let directory = match file.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o666);
    let neighbour = tempfile::Builder::new()
        .permissions(permissions)
        .tempfile_in(directory)
        .with_context(attempt)?;
    let mut buffer = BufWriter::new(neighbour);
    write(&mut buffer).with_context(attempt)?;
    let neighbour = buffer
        .into_inner()
        .map_err(|error| error.into_error())
        .with_context(attempt)?;
    neighbour
        .persist(file)
        .map_err(|error| error.error)
        .with_context(attempt)?;
    Ok(())
}
