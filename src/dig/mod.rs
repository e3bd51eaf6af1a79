//! BIND's dig, from the words of its command line to what follows from a reply.
//!
//! `command_line` reads words into lookups, `request` makes a message of a
//! lookup, `message` reads what came back, `dighost` asks, whether servers are
//! real or those of a scenario. Nothing here knows a socket or a clock. The
//! specification is the source of BIND 9.18: bin/dig/dig.c and bin/dig/dighost.c.

pub mod command_line;
pub mod dighost;
mod failure;
pub mod lookup;
pub mod message;
pub mod mnemonic;
pub(crate) mod name;
pub mod printed;
pub mod rdata;
pub mod reader;
pub mod request;
pub mod settings;
pub mod translation;
