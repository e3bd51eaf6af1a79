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
pub mod glibc;
pub mod go;
pub mod hickory;
pub mod musl;
pub mod reading;
pub mod resolved;

use std::rc::Rc;

pub use alias::{Alias, alias, aliases};

use crate::engine::machine::Machine;
use crate::resolver::reading::Reading;
use crate::scenario::Scenario;
use crate::simulation::courses::{self, Courses};
use crate::simulation::{Run, run};
use crate::world::World;

/// A stub resolver of one version, asked in one way.
#[derive(Clone, Copy, Debug)]
pub struct Resolver {
    /// Name on the command line and in output.
    pub id: &'static str,
    /// Version that was observed.
    pub version: &'static str,
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
    Bind(bind::Tool),
    Busybox,
    Resolved(resolved::Door),
    Hickory,
}

/// Every resolver, in the order of output.
pub const ALL: &[Resolver] = &[
    Resolver {
        id: "glibc",
        version: "2.36",
        used_by: "getaddrinfo in Debian, Ubuntu, Fedora and RHEL images",
        model: Model::Glibc(&glibc::V2_36, glibc::Call::GetAddrInfo),
    },
    Resolver {
        id: "glibc-res_search",
        version: "2.36",
        used_by: "programs that call res_search",
        model: Model::Glibc(&glibc::V2_36, glibc::Call::ResSearch),
    },
    Resolver {
        id: "glibc-res_query",
        version: "2.36",
        used_by: "programs that call res_query",
        model: Model::Glibc(&glibc::V2_36, glibc::Call::ResQuery),
    },
    Resolver {
        id: "musl-1.2.3",
        version: "1.2.3",
        used_by: "Alpine 3.16 and 3.17 images",
        model: Model::Musl(&musl::V1_2_3),
    },
    Resolver {
        id: "musl-1.2.5",
        version: "1.2.5",
        used_by: "Alpine 3.20 and later images",
        model: Model::Musl(&musl::V1_2_5),
    },
    Resolver {
        id: "go-1.19",
        version: "1.19.8",
        used_by: "older Go programs with the pure Go resolver",
        model: Model::Go(&go::V1_19),
    },
    Resolver {
        id: "go-1.27",
        version: "1.27.3",
        used_by: "kubectl, CoreDNS and other Go programs",
        model: Model::Go(&go::V1_27),
    },
    Resolver {
        id: "c-ares-1.18",
        version: "1.18.1",
        used_by: "Envoy, gRPC and Node's resolve* of 2022",
        model: Model::CAres(c_ares::Version::V1_18, c_ares::Call::GetAddrInfo),
    },
    Resolver {
        id: "c-ares-1.18-search",
        version: "1.18.1",
        used_by: "ares_search of 2022",
        model: Model::CAres(c_ares::Version::V1_18, c_ares::Call::Search),
    },
    Resolver {
        id: "c-ares-1.34",
        version: "1.34.9",
        used_by: "Envoy, gRPC, aiodns",
        model: Model::CAres(c_ares::Version::V1_34, c_ares::Call::GetAddrInfo),
    },
    Resolver {
        id: "c-ares-1.34-search",
        version: "1.34.9",
        used_by: "ares_search",
        model: Model::CAres(c_ares::Version::V1_34, c_ares::Call::Search),
    },
    Resolver {
        id: "dig",
        version: "9.18.49",
        used_by: "dig NAME: no search list",
        model: Model::Bind(bind::Tool::Dig),
    },
    Resolver {
        id: "dig-search",
        version: "9.18.49",
        used_by: "dig +search NAME",
        model: Model::Bind(bind::Tool::DigSearch),
    },
    Resolver {
        id: "host",
        version: "9.18.49",
        used_by: "host NAME",
        model: Model::Bind(bind::Tool::Host),
    },
    Resolver {
        id: "nslookup",
        version: "9.18.49",
        used_by: "nslookup NAME of bind-utils",
        model: Model::Bind(bind::Tool::Nslookup),
    },
    Resolver {
        id: "busybox-nslookup",
        version: "1.35.0",
        used_by: "nslookup NAME in busybox and Alpine images",
        model: Model::Busybox,
    },
    Resolver {
        id: "systemd-resolved",
        version: "252.39",
        used_by: "nss-resolve on nodes, resolvectl",
        model: Model::Resolved(resolved::Door::Varlink),
    },
    Resolver {
        id: "systemd-resolved-stub",
        version: "252.39",
        used_by: "glibc through 127.0.0.53",
        model: Model::Resolved(resolved::Door::Stub),
    },
    Resolver {
        id: "hickory-0.26",
        version: "0.26.3",
        used_by: "Rust programs with hickory-resolver",
        model: Model::Hickory,
    },
];

/// Names that mean the newest version of a family.
const SHORT: &[(&str, &str)] = &[
    ("musl", "musl-1.2.5"),
    ("go", "go-1.27"),
    ("c-ares", "c-ares-1.34"),
    ("c-ares-search", "c-ares-1.34-search"),
    ("hickory", "hickory-0.26"),
    ("resolved", "systemd-resolved"),
    ("busybox", "busybox-nslookup"),
];

/// The resolver of this id or short name.
pub fn find(id: &str) -> Option<&'static Resolver> {
    let id = SHORT
        .iter()
        .find(|(short, _)| *short == id)
        .map_or(id, |(_, full)| full);
    ALL.iter().find(|resolver| resolver.id == id)
}

/// The resolver of this word; a short name is that of one of `versions`, if one
/// is of its family, else the newest.
pub fn find_among(word: &str, versions: &[&str]) -> Option<&'static Resolver> {
    let is_short = SHORT.iter().any(|(short, _)| *short == word);
    let (family, form) = match word.strip_suffix("-search") {
        Some(family) => (family, "-search"),
        None => (word, ""),
    };
    let is_its = |id: &&&str| {
        let rest = id.strip_prefix(family).and_then(|it| it.strip_prefix('-'));
        let number = rest.and_then(|it| it.strip_suffix(form));
        number.is_some_and(|it| it.bytes().all(|byte| byte == b'.' || byte.is_ascii_digit()))
    };
    let own = versions.iter().filter(|_| is_short).find(is_its);
    find(own.copied().unwrap_or(word))
}

/// Every word that [`find`] knows, ids first.
pub fn names() -> impl Iterator<Item = &'static str> {
    let short = SHORT.iter().map(|(short, _)| *short);
    ALL.iter().map(|resolver| resolver.id).chain(short)
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
                Box::new(move || Machine::new(|io| glibc::lookup(io, scenario, version, call)))
            }
            Model::Musl(version) => {
                Box::new(move || Machine::new(|io| musl::lookup(io, scenario, version)))
            }
            Model::Go(version) => {
                Box::new(move || Machine::new(|io| go::lookup(io, scenario, version)))
            }
            Model::CAres(version, call) => {
                let setup = Rc::new(c_ares::Setup::read(scenario, version));
                Box::new(move || Machine::new(|io| c_ares::lookup(io, Rc::clone(&setup), call)))
            }
            Model::Bind(tool) => {
                Box::new(move || Machine::new(|io| bind::lookup(io, scenario, tool)))
            }
            Model::Busybox => Box::new(|| Machine::new(|io| busybox::lookup(io, scenario))),
            Model::Resolved(door) => {
                let setup = Rc::new(resolved::Setup::read(scenario, door));
                Box::new(move || Machine::new(|io| resolved::lookup(io, Rc::clone(&setup))))
            }
            Model::Hickory => Box::new(|| Machine::new(|io| hickory::lookup(io, scenario))),
        }
    }

    /// What this resolver takes from the scenario's files and environment.
    pub fn reading<'a>(&self, scenario: &'a Scenario) -> Reading<'a> {
        match self.model {
            Model::Glibc(version, _) => glibc::reading(scenario, version),
            Model::Musl(_) => musl::reading(scenario),
            Model::Go(version) => go::reading(scenario, version),
            Model::CAres(version, _) => c_ares::Setup::read(scenario, version).reading(),
            Model::Bind(tool) => bind::reading(scenario, tool),
            Model::Busybox => busybox::reading(scenario),
            Model::Resolved(door) => resolved::Setup::read(scenario, door).reading(),
            Model::Hickory => hickory::reading(scenario),
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
    let world = World::new(&scenario.answers);
    run(
        machine,
        &mut world.with_interfaces(scenario.interfaces.len()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_familys_name_is_the_version_that_is_there() {
        let check = |word, versions: &[&str], expected| {
            let found = find_among(word, versions).map(|it| it.id);
            assert_eq!(found, Some(expected), "{word} {versions:?}");
        };
        check("musl", &[], "musl-1.2.5");
        check("musl", &["musl-1.2.3"], "musl-1.2.3");
        check("musl", &["glibc", "go-1.19"], "musl-1.2.5");
        check("go", &["glibc", "go-1.19"], "go-1.19");
        check("musl-1.2.5", &["musl-1.2.3"], "musl-1.2.5");
        check(
            "c-ares",
            &["c-ares-1.18-search", "c-ares-1.18"],
            "c-ares-1.18",
        );
        check(
            "c-ares-search",
            &["c-ares-1.18", "c-ares-1.18-search"],
            "c-ares-1.18-search",
        );
    }
}
