//! c-ares from 1.28 on, as 1.34.3 wrote it in the end.

mod buffer;
mod channel;
mod connection;
mod dns_name;
mod getaddrinfo;
mod hosts_file;
mod lots;
mod process;
mod search;
mod send;
mod server;
mod sysconfig;
mod update_servers;
mod version;

pub(super) use self::channel::Channel;
pub(super) use self::getaddrinfo::ares_getaddrinfo;
pub(super) use self::search::{ares_query, ares_search};
pub(super) use self::sysconfig::config;
pub use self::version::Version;
