//! How stub resolvers read `resolv.conf` and what they ask, and where the DNS
//! of a Kubernetes node leads, as a library.
//!
//! The modules of the core take text and values and give values: no files, no
//! sockets, no clock, no environment. What reads a machine is [`host`], what
//! talks to servers [`wire`]. Everything that the program `kdns` prints is
//! made from values of the core, so a caller can have it without the text.
//!
//! # A file, with places
//!
//! [`config::resolv_conf`] is the syntax alone: what a word means depends on
//! who reads it. [`resolver`] knows that for each resolver.
//!
//! ```
//! use kdns::config::resolv_conf::ResolvConf;
//! use kdns::resolver;
//! use kdns::scenario::Scenario;
//! use kdns::text::Source;
//!
//! let conf = ResolvConf::parse(Source {
//!     name: "resolv.conf".into(),
//!     bytes: b"nameserver 10.96.0.10\noptions ndots:20\n".to_vec(),
//! });
//! let words: Vec<String> = conf
//!     .lines()
//!     .flat_map(|line| line.words())
//!     .map(|word| conf.place(word.span.start))
//!     .collect();
//! assert_eq!(words.last().map(String::as_str), Some("resolv.conf:2:9"));
//!
//! let mut scenario = Scenario::new("mine", "db");
//! scenario.resolv_conf = Some(conf);
//! let glibc = resolver::find("glibc").expect("every id of `resolver::ALL` is known");
//! let reading = glibc.reading(&scenario);
//! assert_eq!(reading.servers.len(), 1);
//! assert_eq!(reading.ndots.map(|it| it.value), Some(15)); // its upper limit
//! ```
//!
//! # What a resolver sends
//!
//! A [`scenario::Scenario`] is the question, with the files and what the
//! servers answer. [`resolver::Resolver::predict`] plays the resolver against
//! them, in virtual time; [`explain::explain`] puts several side by side.
//!
//! ```
//! use kdns::config::resolv_conf::ResolvConf;
//! use kdns::engine::machine::Outcome;
//! use kdns::resolver;
//! use kdns::scenario::Scenario;
//! use kdns::text::Source;
//! use kdns::world::{Effect, Rule};
//!
//! let mut scenario = Scenario::new("mine", "db.prod");
//! scenario.resolv_conf = Some(ResolvConf::parse(Source {
//!     name: "resolv.conf".into(),
//!     bytes: b"search default.svc.cluster.local svc.cluster.local\n\
//!         nameserver 10.96.0.10\noptions ndots:5\n"
//!         .to_vec(),
//! }));
//! scenario.answers.push(Rule {
//!     name: Some("db.prod.svc.cluster.local".into()),
//!     effect: Effect::Answer {
//!         a: vec!["10.100.0.1".parse()?],
//!         aaaa: Vec::new(),
//!         cname: None,
//!     },
//!     ..Rule::default()
//! });
//! let musl = resolver::find("musl").expect("a short name means the newest version");
//! let run = musl.predict(&scenario);
//! let names: Vec<String> = run
//!     .sent
//!     .iter()
//!     .filter_map(|sent| Some(sent.query.name()?.to_string()))
//!     .collect();
//! assert_eq!(names[0], "db.prod.default.svc.cluster.local");
//! assert_eq!(names.len(), 4); // A and AAAA for each of two names
//! assert!(matches!(run.outcome, Outcome::Found(found) if found.len() == 1));
//! # Ok::<(), std::net::AddrParseError>(())
//! ```
//!
//! # Whether a node's DNS loops
//!
//! [`host::node::read_node`] makes the value of a node, the live one or one below
//! a directory; [`check_loop::judge`] decides.
//!
//! ```
//! use std::path::Path;
//!
//! use kdns::check_loop::{self, Verdict};
//! use kdns::host::node::{self, Parts, StandIns};
//! use kdns::host::root::{Resolution, Root};
//!
//! let root = Root::below(Path::new("testdata/nodes/cluster-loop"), Resolution::default())?;
//! let node = node::read_node(&root, &StandIns::default(), Parts::ALL)?;
//! let report = check_loop::judge(&node);
//! assert_eq!(report.verdict, Verdict::Loop);
//! println!("{:?}", report.fix);
//! # Ok::<(), kdns::host::ReadError>(())
//! ```
//!
//! # Order
//!
//! The modules are listed in the source from the inside out: a module may use
//! those above it, never one below. `ARCHITECTURE.md` has the picture.

// Core.

#[deny(clippy::disallowed_methods)]
pub mod text;

#[deny(clippy::disallowed_methods)]
pub mod order;

#[deny(clippy::disallowed_methods)]
pub mod histogram;

#[deny(clippy::disallowed_methods)]
pub mod finding;

#[deny(clippy::disallowed_methods)]
pub mod name;

#[deny(clippy::disallowed_methods)]
pub mod address;

#[deny(clippy::disallowed_methods)]
pub mod hidden;

#[deny(clippy::disallowed_methods)]
pub mod packet;

#[deny(clippy::disallowed_methods)]
pub mod config;

#[deny(clippy::disallowed_methods)]
pub mod loopback;

#[deny(clippy::disallowed_methods)]
pub mod kubelet;

#[deny(clippy::disallowed_methods)]
pub mod pod;

#[deny(clippy::disallowed_methods)]
pub mod engine;

#[deny(clippy::disallowed_methods)]
pub mod dig;

#[deny(clippy::disallowed_methods)]
pub mod world;

#[deny(clippy::disallowed_methods)]
pub mod simulation;

#[deny(clippy::disallowed_methods)]
pub mod scenario;

#[deny(clippy::disallowed_methods)]
pub mod resolver;

#[deny(clippy::disallowed_methods)]
pub mod explain;

#[deny(clippy::disallowed_methods)]
pub mod topology;

#[deny(clippy::disallowed_methods)]
pub mod rules;

#[deny(clippy::disallowed_methods)]
pub mod node;

#[deny(clippy::disallowed_methods)]
pub mod program;

#[deny(clippy::disallowed_methods)]
pub mod target;

#[deny(clippy::disallowed_methods)]
pub mod check_loop;

#[deny(clippy::disallowed_methods)]
pub mod report;

#[deny(clippy::disallowed_methods)]
pub mod upstream;

#[deny(clippy::disallowed_methods)]
pub mod watch;

#[deny(clippy::disallowed_methods)]
pub mod lint;

#[deny(clippy::disallowed_methods)]
pub mod why;

#[deny(clippy::disallowed_methods)]
pub mod path;

#[deny(clippy::disallowed_methods)]
pub mod doctor;

#[deny(clippy::disallowed_methods)]
pub mod diff;

// Adapters.

pub mod host;

pub mod netns;

pub mod probe;

pub mod wire;

// What people and programs see.

pub mod render;

pub mod cli;

/// The code of the book's guide is compiled and run with that of these pages.
#[cfg(doctest)]
#[doc = include_str!("../docs/library.md")]
mod book {}
