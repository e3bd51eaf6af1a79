//! Whose packets are watched.

use std::fmt::Write as _;
use std::path::Path;

use super::args::InputArgs;
use crate::cli::question::{self, Question};
use crate::cli::streams::Streams;
use crate::config::resolv_conf::ResolvConf;
use crate::doctor::Route;
use crate::explain::Context;
use crate::host::{is_fifo, shown};
use crate::packet::Carried;
use crate::scenario::{Scenario, default_hosts};
use crate::text::{Source, escaped};

/// Whose packets they are, as far as it is known.
#[derive(Debug)]
pub(super) struct Subject {
    /// The target in words, or the capture's name; safe to print.
    pub(super) label: String,
    /// Its files, environment and host name; `None`: a capture that does not
    /// carry them, and no option gave them.
    pub(super) scenario: Option<Scenario>,
    /// What is known about the files.
    pub(super) context: Context,
    /// The target's own resolver, if it can be told.
    pub(super) resolver: Option<String>,
    /// Whether packets may come as they happen: live, or through a pipe.
    pub(super) is_live: bool,
    /// Where the Services lead that its file names; empty for a capture.
    pub(super) services: Vec<Result<Route, String>>,
}

/// What things are called in a capture.
const TARGET: &str = "target";
const RESOLVER: &str = "resolver";
const HOSTNAME: &str = "host name";
const ENVIRONMENT: &str = "environment";
const RESOLV_CONF: &str = "resolv.conf";
const HOSTS: &str = "hosts";
const NSSWITCH: &str = "nsswitch.conf";

impl Subject {
    /// What the options say, or else the capture itself.
    pub(super) fn of_capture(
        path: &Path,
        carried: &Carried,
        args: &InputArgs,
        streams: &mut Streams<'_>,
    ) -> anyhow::Result<Self> {
        let label = match carried.text(TARGET) {
            Some(target) => format!("{}: {}", shown(path), escaped(target.as_bytes())),
            None => shown(path),
        };
        let is_live = path.as_os_str() == "-" || is_fifo(path);
        if args.question.is_given() {
            let question = question::who(None, &args.question, streams)?;
            return Ok(Self {
                label,
                is_live,
                ..Self::of_question(question)
            });
        }
        Ok(Self {
            label,
            scenario: scenario(path, carried),
            context: Context::default(),
            resolver: carried.text(RESOLVER).map(str::to_owned),
            is_live,
            services: Vec::new(),
        })
    }

    /// A target whose files were read.
    pub(super) fn of_question(question: Question) -> Self {
        let about = question.context.about.first();
        Self {
            label: about.cloned().unwrap_or_default(),
            scenario: Some(question.scenario),
            context: question.context,
            resolver: question.resolver.map(str::to_owned),
            is_live: false,
            services: Vec::new(),
        }
    }

    /// What a capture carries of it, beside what it carries already.
    pub(super) fn carried(&self, mut carried: Carried) -> Carried {
        carried.put(TARGET, self.label.as_str());
        if let Some(resolver) = &self.resolver {
            carried.put(RESOLVER, resolver.as_str());
        }
        let Some(scenario) = &self.scenario else {
            return carried;
        };
        let files = [
            (RESOLV_CONF, &scenario.resolv_conf),
            (HOSTS, &scenario.hosts),
            (NSSWITCH, &scenario.nsswitch),
        ];
        for (name, file) in files {
            if let Some(file) = file {
                carried.put(name, file.source.bytes.as_slice());
            }
        }
        carried.put(HOSTNAME, scenario.hostname.as_str());
        let mut environment = String::new();
        for (name, value) in &scenario.env {
            let _ = write!(environment, "{name}={value}\0");
        }
        carried.put(ENVIRONMENT, environment);
        carried
    }
}

/// The files that a capture carries; `None`: it carries none.
fn scenario(path: &Path, carried: &Carried) -> Option<Scenario> {
    let hostname = carried.text(HOSTNAME)?;
    let file = |name: &str| {
        let bytes = carried.get(name)?.to_vec();
        let name = format!("{}: {name}", shown(path));
        Some(ResolvConf::parse(Source::new(name, bytes)))
    };
    let mut scenario = Scenario::new("", "");
    hostname.clone_into(&mut scenario.hostname);
    scenario.resolv_conf = file(RESOLV_CONF);
    scenario.hosts = file(HOSTS).or_else(|| Some(default_hosts(hostname)));
    scenario.nsswitch = file(NSSWITCH);
    let environment = carried.get(ENVIRONMENT).unwrap_or_default();
    scenario.env = crate::program::environment(environment);
    Some(scenario)
}
