//! The real-resolver lab: runs the real stub resolvers of this machine under a scenario and records what they send.
//!
//! A run is one scenario and one resolver. The test binary starts itself again with a hidden argument; that child moves
//! into network, mount and UTS namespaces of its own ([`sandbox`]), puts the scenario's files below a private `/etc`,
//! makes every address local, answers on port 53 by the scenario's rules ([`server`], [`rules`]), runs the program
//! ([`programs`]) and prints the [`Observation`]. Nothing outside the child changes.
//!
//! A target that uses the lab calls [`run_hidden`] first in its `main`, and starts from [`observe_all`],
//! [`random::scenarios`], [`compare::judge`] and [`real::missing`].

pub(crate) mod compare;
mod courses;
mod datagrams;
mod hickory;
mod icmp;
mod message;
pub(crate) mod observation;
mod observe;
mod outcomes;
pub(crate) mod programs;
pub(crate) mod random;
pub(crate) mod real;
pub(crate) mod resolved;
pub(crate) mod rules;
pub(crate) mod sandbox;
mod server;
mod words;

pub(crate) use observation::{Observation, Scenario};
pub(crate) use observe::{observe_all, observe_until, run_hidden};
pub(crate) use programs::ResolverId;
