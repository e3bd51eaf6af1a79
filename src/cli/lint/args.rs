//! Which rules, and what is known beside the files: options and `kdns.toml`.

use std::net::IpAddr;
use std::path::{Component, Path, PathBuf};

use anyhow::Context as _;
use clap_complete::engine::ArgValueCandidates;

use super::super::completions;
use super::engine::Outcome;
use crate::finding::{Finding, Severity};
use crate::host;
use crate::host::git::Pattern;
use crate::kubelet::Version;
use crate::lint::options::{Assume, Options, Role};
use crate::lint::rules;
use crate::lint::select::Selection;
use crate::lint::settings::{self, Settings};
use crate::render::lint::settings::Shown;

/// Options that `kdns.toml` has keys for, and which file that is.
#[derive(clap::Args, Debug)]
pub(super) struct WantedArgs {
    /// Only these rules: codes, beginnings of codes, names
    #[arg(long, value_name = "RULE", value_delimiter = ',', value_parser = settings::rule_word, add = ArgValueCandidates::new(completions::rule_words))]
    select: Vec<String>,
    /// Not these rules: codes, beginnings of codes, names
    #[arg(long, value_name = "RULE", value_delimiter = ',', value_parser = settings::rule_word, add = ArgValueCandidates::new(completions::rule_words))]
    ignore: Vec<String>,
    /// From which severity on findings make the status 1: error, warning or info [default: warning]
    #[arg(long, value_name = "SEVERITY", value_parser = settings::severity)]
    fail_on: Option<Severity>,
    /// Take the settings from this file and not from the nearest kdns.toml upwards
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    known: KnownArgs,
    #[command(flatten)]
    pub(super) node: LintNodeArgs,
}

/// What files alone do not tell.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "What files alone do not tell")]
struct KnownArgs {
    /// The kubelets' version
    #[arg(long, value_name = "VERSION", value_parser = settings::version)]
    kubelet_version: Option<Version>,
    /// CoreDNS's version
    #[arg(long, value_name = "VERSION", value_parser = settings::version)]
    coredns_version: Option<Version>,
    /// The addresses of the cluster's DNS
    #[arg(long, value_name = "ADDRESS", value_delimiter = ',', value_parser = settings::address)]
    cluster_dns: Vec<IpAddr>,
    /// The cluster's domain
    #[arg(long, value_name = "DOMAIN")]
    cluster_domain: Option<String>,
    /// The networks of the pods
    #[arg(long, value_name = "NETWORK", value_delimiter = ',', value_parser = settings::network)]
    pod_cidr: Vec<(IpAddr, u8)>,
    /// What the nodes are like: systemd-resolved or none
    #[arg(long, value_name = "WHAT", value_parser = settings::assume)]
    assume: Option<Assume>,
    /// What every resolv.conf is: node, kubelet or pod
    #[arg(long, value_name = "ROLE", value_parser = settings::role)]
    role: Option<Role>,
    /// Take this for the file that the kubelet's resolvConf names
    #[arg(long, value_name = "FILE")]
    pub(super) node_file: Option<PathBuf>,
}

/// Which node.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Which node")]
pub(super) struct LintNodeArgs {
    /// Also lint the node below this directory
    #[arg(long, value_name = "DIR", conflicts_with = "node")]
    pub(super) root: Option<PathBuf>,
    /// Also lint this node
    #[arg(long)]
    pub(super) node: bool,
}

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

impl WantedArgs {
    pub(super) fn read(&self) -> anyhow::Result<Wanted> {
        let config = match &self.config {
            Some(path) => Some(path.clone()),
            None => found_upward()?,
        };
        let settings = match &config {
            Some(path) => settings::read(&host::read_path(path)?.source)?,
            None => Settings::default(),
        };
        let folder = config.as_deref().and_then(Path::parent);
        let folder = absolute(folder.unwrap_or(Path::new("")));
        let per_file = settings.per_file_ignores.iter();
        Ok(Wanted {
            selection: settings.selection(&self.select, &self.ignore),
            fail_on: self
                .fail_on
                .or(settings.fail_on)
                .unwrap_or(Severity::Warning),
            options: settings::over(self.known.options(), &settings.options),
            node_file: self.known.node_file.clone(),
            per_file: per_file
                .map(|(pattern, words)| per_file_ignore(&folder, pattern, words))
                .collect::<anyhow::Result<_>>()?,
            settings,
            config,
        })
    }
}

impl KnownArgs {
    fn options(&self) -> Options {
        Options {
            kubelet_version: self.kubelet_version,
            coredns_version: self.coredns_version,
            cluster_dns: self.cluster_dns.clone(),
            cluster_domain: self.cluster_domain.as_deref().map(settings::domain),
            pod_cidr: self.pod_cidr.clone(),
            assume: self.assume,
            role: self.role,
        }
    }
}

/// The nearest `kdns.toml` from the working directory upwards.
fn found_upward() -> anyhow::Result<Option<PathBuf>> {
    let start = std::env::current_dir().context("cannot tell the working directory")?;
    let nearest = start
        .ancestors()
        .map(|it| it.join("kdns.toml"))
        .find(|it| it.is_file());
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

impl Wanted {
    /// Without what `per-file-ignores` leaves out.
    pub(super) fn without_ignored(&self, mut outcome: Outcome) -> Outcome {
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

    /// What is shown for `--show-settings`.
    pub(super) fn shown(&self) -> Shown<'_> {
        Shown {
            config: self.config.as_deref().map(super::shown),
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

/// A path from the root on, without `..` in it.
fn absolute(path: &Path) -> PathBuf {
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
