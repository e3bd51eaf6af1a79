//! What the configuration of a daemon says of the names that it looks up: which
//! files it is in, and which servers it names.

mod envoy;
mod haproxy;
mod nginx;
mod start;

pub use start::{Start, start};

use crate::config::statements::Statements;
use crate::scenario::own::{Daemon, Own};
use crate::text::Place;

/// More resolvers of one configuration are counted, and not kept.
const MAX_SECTIONS: usize = 100;
/// More servers of one resolver are not kept.
const MAX_SERVERS: usize = 100;

/// What a daemon's configuration says of names.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Names {
    /// Whose it is.
    pub daemon: Daemon,
    /// The files that were read, as the daemon sees them, safe to print; the
    /// first is the main one.
    pub files: Vec<String>,
    /// Its resolvers, in the order of the files.
    pub sections: Vec<Section>,
    /// How many more there are.
    pub more: usize,
    /// Scripts and modules in it that can ask for names by themselves; of Envoy what
    /// brings names from elsewhere: a control plane, requests.
    pub scripts: Option<Place>,
    /// What could not be read of it, as sentences without a full stop.
    pub unread: Vec<String>,
}

/// One resolver of a configuration.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Section {
    /// Where it is written.
    pub place: Place,
    /// Where it holds (`http`, `server`, `location /a`), or its name; safe to print.
    pub label: String,
    /// What it says, in the daemon's own words, safe to print: `valid=30s`.
    pub settings: Vec<String>,
    /// Where it is used first, for one that has to be named to be used.
    pub used: Option<Place>,
    /// Whether the C library is asked in its place (Envoy's getaddrinfo resolver).
    pub is_libc: bool,
    /// The names that it is for, safe to print; none: that is a matter of what is asked for.
    pub names: Vec<String>,
    /// What follows for a lookup.
    pub own: Own,
}

/// What `conf`, whose first file is the main one, says.
pub fn names(daemon: Daemon, conf: &Statements, unread: Vec<String>) -> Names {
    let mut names = Names {
        daemon,
        files: conf.files.iter().map(|it| it.name.clone()).collect(),
        sections: Vec::new(),
        more: 0,
        scripts: None,
        unread,
    };
    match daemon {
        Daemon::Nginx => nginx::collect_names(&conf.indexed(), &mut names),
        Daemon::Haproxy => haproxy::collect_names(&conf.indexed(), &mut names),
        Daemon::Envoy => envoy::collect_names(&conf.files, &mut names),
    }
    names
}

impl Names {
    /// The resolver by which a lookup of `name` is predicted: of nginx the one of
    /// `http` if there is one, else the first; of `HAProxy` the first that is used; of
    /// Envoy that of the first cluster with this name, else the first.
    pub fn counting(&self, name: &str) -> Option<&Section> {
        match self.daemon {
            Daemon::Nginx => {
                let outer = self.sections.iter().find(|it| it.label == "http");
                outer.or_else(|| self.sections.first())
            }
            Daemon::Haproxy => self.sections.iter().find(|it| it.used.is_some()),
            Daemon::Envoy => {
                let has = |it: &&Section| it.names.iter().any(|own| own == name);
                let own = self.sections.iter().find(has);
                own.or_else(|| self.sections.first())
            }
        }
    }

    /// Whether all of it was read, and so what it does not have is not there.
    pub fn is_whole(&self) -> bool {
        self.unread.is_empty() && !self.files.is_empty()
    }

    fn put(&mut self, section: Section) {
        if self.sections.len() < MAX_SECTIONS {
            self.sections.push(section);
        } else {
            self.more += 1;
        }
    }
}

#[cfg(test)]
mod tests;
