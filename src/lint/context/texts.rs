//! The texts of one kubelet as files of its node: units, variables and
//! options. What does not lie where a node has it is taken for what it is
//! called.

use std::collections::BTreeMap;

use crate::config::traced::Traced;
use crate::config::unit_file::Unset;
use crate::kubelet::distribution::{MICROK8S_ARGUMENTS, UNIT_DIRECTORIES, UNITS};
use crate::kubelet::rancher::{K3S, RKE2};
use crate::kubelet::start::Files;
use crate::lint::context::paths::tree_of;
use crate::lint::document::Body;
use crate::lint::extract;
use crate::lint::facts::{KubeletFacts, KubeletForm, Setting};
use crate::text::{EMPTY, Source};

/// The files by their paths on the node; those with settings of a kubelet's own
/// configuration without their text.
#[derive(Debug)]
pub(super) struct Texts<'w> {
    bodies: Vec<&'w Body>,
    by_path: BTreeMap<String, Option<usize>>,
}

impl<'w> Texts<'w> {
    pub(super) fn from_parts(parts: impl Iterator<Item = &'w KubeletFacts>) -> Self {
        let (bodies, by_path) = (Vec::new(), BTreeMap::new());
        let mut texts = Self { bodies, by_path };
        let paths = parts.map(|facts| (path_of(facts), facts));
        let is_own = |(path, facts): &(String, &KubeletFacts)| facts.path.ends_with(path.as_str());
        // What lies where a node has it is not taken for something else.
        let (own, others): (Vec<_>, Vec<_>) = paths.partition(is_own);
        for (path, facts) in own.into_iter().chain(others) {
            let number = facts.body.as_deref().map(|body| {
                texts.bodies.push(body);
                texts.bodies.len() - 1
            });
            texts.by_path.entry(path).or_insert(number);
        }
        texts
    }

    /// The settings that arguments make which were put together from the texts.
    pub(super) fn settings(&self, arguments: &[Traced]) -> Vec<Setting> {
        extract::settings(arguments, &|number| self.bodies.get(number).copied())
    }

    fn number(&self, path: &str) -> Option<usize> {
        let found = self.by_path.get(path).copied().flatten();
        found.or_else(|| self.is_without_unit(path).then_some(self.bodies.len()))
    }

    /// Whether there are drop-ins for a unit, and no unit.
    fn is_without_unit(&self, path: &str) -> bool {
        let drop_ins = format!("{path}.d/");
        let mut below = self.by_path.range(drop_ins.clone()..);
        let has_drop_in = below.next().is_some_and(|it| it.0.starts_with(&drop_ins));
        let name = path.rsplit('/').next().unwrap_or(path);
        let mut folders = UNIT_DIRECTORIES.iter();
        let is_unit = has_drop_in && is_unit(path);
        is_unit && !folders.any(|it| self.by_path.contains_key(&format!("{it}/{name}")))
    }
}

impl Files for Texts<'_> {
    fn unit(&mut self, path: &str) -> Option<usize> {
        self.number(path)
    }

    fn setting(&mut self, path: &str) -> Option<usize> {
        self.number(path)
    }

    fn file(&self, number: usize) -> &Source {
        // The unit of drop-ins that were given alone.
        self.bodies.get(number).map_or(&EMPTY, |it| &it.source)
    }

    fn names(&self, directory: &str) -> Vec<String> {
        let directory = format!("{directory}/");
        let below = self.by_path.range(directory.clone()..);
        let below = below.map_while(|it| it.0.strip_prefix(&directory));
        let names = below.filter(|it| !it.contains('/'));
        names.map(str::to_owned).collect()
    }

    fn is_there(&self, path: &str) -> bool {
        self.by_path.contains_key(path)
    }

    /// Files that set it need not be given.
    fn unset(&self) -> Unset {
        Unset::Kept
    }
}

/// The path of a text on its node.
pub(super) fn path_of(facts: &KubeletFacts) -> String {
    let path = facts.path.as_str();
    let rest = tree_of(path).and_then(|it| path.strip_prefix(it));
    let own = format!("/{}", rest.unwrap_or(path).trim_start_matches('/'));
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let rancher = [&K3S, &RKE2];
    match facts.form {
        KubeletForm::Unit if !is_unit(&own) => {
            let folder = folder.rsplit('/').next().unwrap_or_default();
            if name.strip_suffix(".service").is_some() {
                return format!("/etc/systemd/system/{}", unit_called(name));
            }
            let unit = folder.strip_suffix(".d").unwrap_or("kubelet.service");
            format!("/etc/systemd/system/{}.d/{name}", unit_called(unit))
        }
        KubeletForm::Rancher if !rancher.iter().any(|it| own.starts_with(it.configuration)) => {
            let is_rke2 = path.contains("rke2");
            let program = if is_rke2 { &RKE2 } else { &K3S };
            program.configuration.to_owned()
        }
        KubeletForm::Environment if name == "kubelet" && folder.ends_with("args") => {
            let is_other = own.starts_with("/var/snap/") && !own.starts_with("/var/snap/microk8s/");
            if is_other {
                own
            } else {
                MICROK8S_ARGUMENTS.to_owned()
            }
        }
        _ => own,
    }
}

fn is_unit(path: &str) -> bool {
    let is_known = |part: &str| UNITS.iter().any(|it| it.0 == part);
    let mut folders = UNIT_DIRECTORIES.iter();
    let mut parts = path.split('/');
    folders.any(|it| path.strip_prefix(it).is_some_and(|it| it.starts_with('/')))
        && parts.any(|it| is_known(it.strip_suffix(".d").unwrap_or(it)))
}

/// The unit that one of another name is likely to stand for.
fn unit_called(name: &str) -> &str {
    match name {
        it if UNITS.iter().any(|unit| unit.0 == it) => it,
        it if it.contains("rke2") => "rke2-server.service",
        it if it.contains("k3s") => "k3s.service",
        it if it.contains("kube") || it == "service" => "kubelet.service",
        it => it,
    }
}
