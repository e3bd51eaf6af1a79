//! The stub resolvers: what each one sends, as a machine.
//!
//! Each family is a folder: `read` is its reading of the configuration, the
//! other files follow the source that they name, function by function. What
//! families share is only the words of the files, the types of queries and
//! outcomes, and the driver ([`crate::engine`]). Versions are data.

mod alias;
pub mod bind;
pub mod busybox;
pub mod c_ares;
pub mod dnspython;
pub mod erlang;
mod find;
pub mod glibc;
pub mod go;
pub mod haproxy;
pub mod hickory;
pub mod musl;
pub mod netty;
pub mod nginx;
pub mod reading;
pub mod resolved;
pub mod ruby;
mod table;

use std::rc::Rc;

pub use alias::{Alias, alias, aliases};
pub use find::{Likeness, find, find_among, likeness, names, of_version, stands_for, usual};
pub use table::ALL;

use crate::engine::io::Io;
use crate::engine::machine::{Machine, Outcome};
use crate::resolver::reading::Reading;
use crate::scenario::Scenario;
use crate::simulation::courses::{self, Courses};
use crate::simulation::{Run, run};

/// A stub resolver of one version, asked in one way.
#[derive(Clone, Copy, Debug)]
pub struct Resolver {
    /// Name on the command line and in output.
    pub id: &'static str,
    /// Whether it is among those that are explained where all are wanted; the
    /// others are versions and calls of which one has to be named.
    pub is_usual: bool,
    /// What it is a version of, as in a version's id: `glibc`, `go`, `c-ares-search`.
    pub family: &'static str,
    /// The version that the model is of.
    pub version: &'static str,
    /// The first version that does the same, as far as is known; up to the
    /// next one of the family.
    pub since: &'static str,
    /// The versions that were run and did as the model says; none: it is from
    /// the source, and not observed.
    pub observed: &'static [&'static str],
    /// Who uses it, for people.
    pub used_by: &'static str,
    model: Model,
}

#[derive(Clone, Copy, Debug)]
enum Model {
    Glibc(&'static glibc::Version, glibc::Call),
    Musl(&'static musl::Version),
    Go(&'static go::Version),
    CAres(c_ares::Version, c_ares::Call),
    Bind(&'static bind::Program),
    Busybox(busybox::Version),
    Resolved(&'static resolved::Version, resolved::Door),
    Hickory(&'static hickory::Version),
    Dnspython(dnspython::Version, dnspython::Call),
    Nginx,
    Haproxy,
    Netty(&'static netty::Version),
    Ruby(ruby::Call),
    Erlang(erlang::Call),
}

impl Resolver {
    /// This resolver at the start of the scenario's lookup.
    pub fn machine<'a>(&self, scenario: &'a Scenario) -> Machine<'a> {
        self.machines(scenario)()
    }

    /// Makes machines at the start of the scenario's lookup: one for each run of it.
    fn machines<'a>(&self, scenario: &'a Scenario) -> Box<dyn Fn() -> Machine<'a> + 'a> {
        match self.model {
            Model::Glibc(version, call) => {
                each(move |io| glibc::lookup(io, scenario, version, call))
            }
            Model::Musl(version) => each(move |io| musl::lookup(io, scenario, version)),
            Model::Go(version) => each(move |io| go::lookup(io, scenario, version)),
            Model::CAres(version, call) => {
                let setup = Rc::new(c_ares::Setup::from_scenario(scenario, version, call));
                each(move |io| c_ares::lookup(io, Rc::clone(&setup)))
            }
            Model::Bind(tool) => each(move |io| bind::lookup(io, scenario, tool)),
            Model::Busybox(version) => each(move |io| busybox::lookup(io, scenario, version)),
            Model::Resolved(version, door) => {
                let setup = Rc::new(resolved::Setup::from_scenario(scenario, version, door));
                each(move |io| resolved::lookup(io, Rc::clone(&setup)))
            }
            Model::Hickory(version) => each(move |io| hickory::lookup(io, scenario, version)),
            Model::Dnspython(version, call) => {
                each(move |io| dnspython::lookup(io, scenario, version, call))
            }
            Model::Nginx => each(|io| nginx::lookup(io, scenario)),
            Model::Haproxy => each(|io| haproxy::lookup(io, scenario)),
            Model::Netty(version) => each(move |io| netty::lookup(io, scenario, version)),
            Model::Ruby(call) => each(move |io| ruby::lookup(io, scenario, call)),
            Model::Erlang(call) => each(move |io| erlang::lookup(io, scenario, call)),
        }
    }

    /// What this resolver takes from the scenario's files and environment.
    pub fn reading<'a>(&self, scenario: &'a Scenario) -> Reading<'a> {
        match self.model {
            Model::Glibc(version, _) => glibc::reading(scenario, version),
            Model::Musl(_) => musl::reading(scenario),
            Model::Go(version) => go::reading(scenario, version),
            Model::CAres(version, call) => {
                c_ares::Setup::from_scenario(scenario, version, call).reading()
            }
            Model::Bind(tool) => bind::reading(scenario, tool),
            Model::Busybox(version) => busybox::reading(scenario, version),
            Model::Resolved(version, door) => {
                resolved::Setup::from_scenario(scenario, version, door).reading()
            }
            Model::Hickory(version) => hickory::reading(scenario, version),
            Model::Dnspython(..) => dnspython::reading(scenario),
            Model::Nginx => nginx::reading(scenario),
            Model::Haproxy => haproxy::reading(scenario),
            Model::Netty(version) => netty::reading(scenario, version),
            Model::Ruby(_) => ruby::reading(scenario),
            Model::Erlang(_) => erlang::reading(scenario),
        }
    }

    /// When it is asked, where the program that has it asks another one as well:
    /// a sentence without a full stop.
    pub fn condition(&self) -> Option<&'static str> {
        match self.model {
            Model::CAres(_, c_ares::Call::Envoy) => Some(c_ares::ENVOY),
            Model::Nginx => Some(nginx::CONDITION),
            Model::Haproxy => Some(haproxy::CONDITION),
            Model::Netty(_) => Some(netty::CONDITION),
            Model::Ruby(_) => Some(ruby::CONDITION),
            Model::Erlang(_) => Some(erlang::CONDITION),
            _ => None,
        }
    }

    /// The scenario's lookup from start to end, answered by its rules: one of
    /// its courses, where lots are drawn.
    pub fn predict(&self, scenario: &Scenario) -> Run {
        play(scenario, self.machine(scenario))
    }

    /// The same where the first lots fall like this.
    pub fn predict_with_lots(&self, scenario: &Scenario, lots: Vec<usize>) -> Run {
        play(scenario, self.machine(scenario).with_lots(lots))
    }

    /// The same as [`Resolver::predict`], and what may differ from it.
    pub fn predict_courses(&self, scenario: &Scenario) -> (Run, Courses) {
        let machines = self.machines(scenario);
        let usual = play(scenario, machines());
        let courses = explore(scenario, &usual, &machines);
        (usual, courses)
    }

    /// What may differ from `usual`, which [`Resolver::predict`] made.
    pub fn courses(&self, scenario: &Scenario, usual: &Run) -> Courses {
        explore(scenario, usual, &self.machines(scenario))
    }
}

/// Makes machines of a lookup: one for each run of it.
fn each<'a, F: Future<Output = Outcome> + 'a>(
    lookup: impl Fn(Rc<Io>) -> F + 'a,
) -> Box<dyn Fn() -> Machine<'a> + 'a> {
    Box::new(move || Machine::new(&lookup))
}

/// Plays machines with other lots than the usual run had.
fn explore<'a>(scenario: &'a Scenario, usual: &Run, machines: &dyn Fn() -> Machine<'a>) -> Courses {
    let files = [&scenario.resolv_conf, &scenario.hosts];
    let bytes = files.into_iter().flatten().map(|it| it.source.bytes.len());
    courses::explore(usual, bytes.sum(), |lots| {
        play(scenario, machines().with_lots(lots))
    })
}

/// Plays the machine against the scenario's rules.
fn play(scenario: &Scenario, machine: Machine<'_>) -> Run {
    run(machine, &mut scenario.world(&scenario.answers))
}

#[cfg(test)]
mod mutation;
