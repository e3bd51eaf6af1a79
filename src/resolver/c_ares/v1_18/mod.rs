//! c-ares 1.18.1.

mod getaddrinfo;
mod init;
mod lines;
mod process;
mod query;
mod readaddrinfo;
mod search;
mod send;

pub(super) use self::getaddrinfo::ares_getaddrinfo;
pub(super) use self::init::{config, config_lookup, lookups_of_files};
pub(super) use self::process::Channel;
pub(super) use self::search::{ares_query, ares_search, ares_single_domain};
