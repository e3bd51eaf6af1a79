//! What dig, host and nslookup go by.

use std::rc::Rc;
use std::time::Duration;

use hickory_proto::rr::RecordType;

use crate::dig::lookup::Server;

/// What holds for the whole run.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The servers of `resolv.conf`, for lookups that name none.
    pub servers: Rc<[Server]>,
    /// The search list, in order.
    pub search: Vec<Vec<u8>>,
    /// Names with so many dots are asked as they are first.
    pub ndots: u32,
    /// Whether the search list is used.
    pub use_search: bool,
    /// Whether the replies of all its names are shown.
    pub show_search: bool,
    /// How long to wait, in seconds; `None`: 5 over UDP, 10 over TCP.
    pub timeout: Option<u32>,
    /// Whether a TCP connection is kept for the next lookup.
    pub keep_open: bool,
    /// Whether warnings are kept back: they would stand amid YAML.
    pub keeps_warnings: bool,
    /// The client's cookie.
    pub cookie: [u8; 8],
    /// Whether a reply of a server that does not recurse leads to the next one.
    pub check_ra: bool,
    /// Types that are asked for behind a good answer to a query for A.
    pub follow_ups: &'static [RecordType],
    /// How often a query for one of them is sent.
    pub tries: u32,
    /// Whether servers are asked in rounds, as until 9.16: the next one after a
    /// second, the first one again after the last, over the same sockets.
    pub rounds: bool,
    /// What real messages are made with; `None`: a prediction needs none.
    pub wire: Option<Wire>,
}

/// What real messages are made with.
#[derive(Clone, Copy, Debug)]
pub struct Wire {
    /// Gives the id of each query.
    pub ids: fn() -> u16,
    /// When the run began, since 1970.
    pub began: Duration,
}
