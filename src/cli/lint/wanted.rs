//! Which rules, and what is known beside the files: options and `kdns.toml`.

use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use anyhow::Context as _;

use super::area;
use super::args::WantedArgs;
use crate::finding::{Finding, Severity};
use crate::host;
use crate::host::git::Pattern;
use crate::lint::options::Options;
use crate::lint::select::Selection;
use crate::lint::settings::{self, Settings};
use crate::lint::{Findings, rules};
use crate::render::lint::settings::Shown;
use crate::text::counted;

/// What is wanted, from options, `kdns.toml` and defaults.
pub(super) struct Wanted {
    pub(super) selection: Selection,
    pub(super) fail_on: Severity,
    pub(super) options: Options,
    pub(super) node_file: Option<PathBuf>,
    /// Patterns, with the rules that are ignored in files that fit.
    per_file: Vec<(Pattern, Selection)>,
    settings: Settings,
    config: Option<PathBuf>,
}

impl Wanted {
    /// Reads `kdns.toml`; the options are stronger.
    pub(super) fn from_args(args: &WantedArgs) -> anyhow::Result<Self> {
        let config = match &args.config {
            Some(path) => Some(path.clone()),
            None if args.isolated => None,
            None => found_upward()?,
        };
        let settings = match &config {
            Some(path) => settings::parse(&host::read_named(path)?.whole()?)?,
            None => Settings::default(),
        };
        let folder = config.as_deref().and_then(Path::parent);
        let folder = absolute(folder.unwrap_or(Path::new("")));
        let per_file = settings.per_file_ignores.iter();
        Ok(Self {
            selection: settings.selection(&args.select, &args.ignore),
            fail_on: args
                .fail_on
                .or(settings.fail_on)
                .unwrap_or(Severity::Warning),
            options: settings::over(args.known.options(), &settings.options),
            node_file: args.known.node_file.clone(),
            per_file: per_file
                .map(|(pattern, words)| per_file_ignore(&folder, pattern, words))
                .collect::<anyhow::Result<_>>()?,
            settings,
            config,
        })
    }

    /// Without what `per-file-ignores` leaves out.
    pub(super) fn without_ignored(&self, mut outcome: Findings) -> Findings {
        if self.per_file.is_empty() {
            return outcome;
        }
        let ignored: Vec<(&Pattern, Vec<&str>)> = self
            .per_file
            .iter()
            .map(|(pattern, it)| (pattern, it.rules().iter().map(|rule| rule.code).collect()))
            .collect();
        let is_ignored = |finding: &Finding| {
            ignored.iter().any(|(pattern, codes)| {
                let path = Path::new(&finding.primary.file);
                codes.contains(&finding.code) && pattern.fits(&absolute(path))
            })
        };
        outcome.findings.retain(|finding| !is_ignored(finding));
        outcome
    }

    /// What a `kdns.toml` leaves out that nobody named on the command line:
    /// `3 rules off by kdns.toml`.
    pub(super) fn off(&self) -> Option<String> {
        let config = self.config.as_deref()?;
        let by_config = self.settings.selection(&[], &[]).rules().len();
        let rules = rules::all().count().saturating_sub(by_config);
        let files = self.per_file.len();
        let parts = [
            (rules, "rule", "rules"),
            (files, "per-file pattern", "per-file patterns"),
        ];
        let parts = parts.into_iter().filter(|it| it.0 > 0);
        let parts: Vec<String> = parts.map(|it| counted(it.0, it.1, it.2)).collect();
        (!parts.is_empty())
            .then(|| format!("{} off by {}", parts.join(" and "), host::shown(config)))
    }

    /// What is shown for `--show-settings`.
    pub(super) fn shown(&self) -> Shown<'_> {
        Shown {
            config: self.config.as_deref().map(host::shown),
            fail_on: self.fail_on,
            options: &self.options,
            rules: self.selection.rules(),
            left_out: rules::all()
                .filter(|it| {
                    !self
                        .selection
                        .rules()
                        .iter()
                        .any(|rule| rule.code == it.code)
                })
                .collect(),
            per_file_ignores: &self.settings.per_file_ignores,
        }
    }
}

/// The nearest `kdns.toml` from the working directory upwards to the root of
/// its git checkout. Outside of a checkout only the working directory is
/// looked into: above it may be `/tmp`, where anybody can put one.
fn found_upward() -> anyhow::Result<Option<PathBuf>> {
    let start = std::env::current_dir().map_err(|error| match error.kind() {
        ErrorKind::NotFound => {
            anyhow::anyhow!("the working directory was deleted: change to one that is there")
        }
        _ => anyhow::anyhow!(
            "cannot look for kdns.toml from the working directory upwards: {}",
            host::io_reason(&error)
        ),
    })?;
    let top = area::checkout(&start).unwrap_or(&start);
    let nearest = start
        .ancestors()
        .take_while(|it| it.starts_with(top))
        .map(|it| it.join("kdns.toml"))
        .find(|it| it.is_file());
    if let Some(path) = &nearest
        && let Some(leads_to) = area::way_out(path, top)
    {
        anyhow::bail!(
            "cannot read {}: it is a link that leads out of here, to {}; --config names a file",
            host::shown(path),
            host::shown(leads_to)
        );
    }
    // Beside us it is shown as people would write it.
    Ok(nearest.map(|path| match path.strip_prefix(&start) {
        Ok(relative) => relative.to_owned(),
        Err(_) => path,
    }))
}

fn per_file_ignore(
    folder: &Path,
    pattern: &str,
    words: &[String],
) -> anyhow::Result<(Pattern, Selection)> {
    let pattern = Pattern::new(folder, pattern)
        .with_context(|| format!("per-file-ignores has a pattern that is none: {pattern:?}"))?;
    let selection = Selection {
        select: words.to_vec(),
        ignore: Vec::new(),
    };
    Ok((pattern, selection))
}

/// A path from the root on, without `..` in it.
pub(super) fn absolute(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    // There is no absolute path of nothing.
    let path = if path.as_os_str().is_empty() {
        std::env::current_dir().unwrap_or_default()
    } else {
        path
    };
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Source;

    #[test]
    fn only_what_is_off_is_said_to_be() {
        let off = |text: &str| {
            let settings = settings::parse(&Source::new("kdns.toml", text)).unwrap();
            let patterns = settings.per_file_ignores.iter();
            let per_file = patterns
                .map(|(pattern, words)| per_file_ignore(Path::new("/"), pattern, words).unwrap());
            let wanted = Wanted {
                selection: settings.selection(&[], &[]),
                fail_on: Severity::Warning,
                options: Options::default(),
                node_file: None,
                per_file: per_file.collect(),
                config: Some("kdns.toml".into()),
                settings,
            };
            wanted.off()
        };
        let rule = rules::all().next().map(|it| it.code).unwrap();
        let ignore = format!("ignore = [\"{rule}\"]\n");
        let per_file = format!("[per-file-ignores]\n\"a\" = [\"{rule}\"]\n\"b\" = [\"{rule}\"]\n");
        assert_eq!(off(""), None);
        assert_eq!(off(&ignore).as_deref(), Some("1 rule off by kdns.toml"));
        assert_eq!(
            off(&per_file).as_deref(),
            Some("2 per-file patterns off by kdns.toml")
        );
        assert_eq!(
            off(&format!("{ignore}{per_file}")).as_deref(),
            Some("1 rule and 2 per-file patterns off by kdns.toml")
        );
    }
}
