//! How stub resolvers read `resolv.conf` and what they ask, and where the DNS
//! of a Kubernetes node leads, as a library.
//!
//! The modules are listed from the inside out: a module may use those above
//! it, never one below. The core takes text and values and gives values: no
//! files, no sockets, no clock, no environment.

// Core.

#[deny(clippy::disallowed_methods)]
pub mod text;

#[deny(clippy::disallowed_methods)]
pub mod finding;

#[deny(clippy::disallowed_methods)]
pub mod name;

#[deny(clippy::disallowed_methods)]
pub mod address;

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
pub mod world;

#[deny(clippy::disallowed_methods)]
pub mod simulation;

#[deny(clippy::disallowed_methods)]
pub mod scenario;

#[deny(clippy::disallowed_methods)]
pub mod resolver;

#[deny(clippy::disallowed_methods)]
pub mod dig;

#[deny(clippy::disallowed_methods)]
pub mod explain;

#[deny(clippy::disallowed_methods)]
pub mod topology;

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
pub mod lint;

// Adapters.

pub mod host;

pub mod netns;

pub mod probe;

pub mod wire;

// Faces.

pub mod render;

pub mod cli;
