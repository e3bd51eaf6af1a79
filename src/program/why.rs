//! Why a process uses a resolver, and what else it may ask, as facts. `render` has the words.

use super::elf::Libc;
use crate::scenario::own::Daemon;
use crate::text::Place;

/// Why a process uses a resolver.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Why {
    /// It is this tool of BIND, which reads resolv.conf itself.
    Bind {
        /// Its name.
        name: String,
        /// Whether it is of 9.11 or older.
        is_old: bool,
    },
    /// It is nslookup of this version of BusyBox.
    Busybox(String),
    /// Envoy asks its own c-ares: the cluster there has it so; `None`: unless its
    /// configuration, which was not seen, says otherwise.
    Envoy(Option<Place>),
    /// This version of hickory-resolver is in it.
    Hickory(String),
    /// It is a program of Go.
    Go {
        /// The version that it was built with; empty: not known.
        version: String,
        /// What decides.
        by: ByGo,
    },
    /// It has a C library.
    Libc {
        /// Its name; empty: not known.
        name: String,
        /// The library.
        libc: Libc,
        /// Whether it is linked in, and not mapped.
        is_linked: bool,
        /// What it has beside.
        beside: Beside,
    },
    /// It is a static program that reads resolv.conf.
    Static,
    /// Its C library is this one, of which there is no model.
    OtherLibc(&'static str),
    /// It could not be read, for this reason.
    Unread(String),
    /// No resolver that is known is in it.
    NoResolver,
    /// It is not known.
    NoProgram,
}

/// What decides between Go's resolver and libc.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ByGo {
    /// The tag `netgo`.
    Netgo,
    /// It was built without cgo.
    NoCgo,
    /// No libc is linked in.
    NoLibc,
    /// `netdns=go` in `GODEBUG`, or `netdns=cgo`.
    Godebug(&'static str),
    /// The tag `netcgo`.
    Netcgo,
    /// cgo leaves the name to libc, for this reason.
    LeftToLibc(String),
    /// Nothing tells it to ask libc.
    Nothing,
}

/// What a program has that asks by itself, beside the C library.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Beside {
    /// Nothing that is known.
    Nothing,
    /// It is a JVM.
    Jvm,
    /// A JVM with gRPC, which asks as it does.
    JvmGrpc,
    /// A JVM with Netty, of this version.
    JvmNetty(Option<String>),
    /// gRPC's core.
    Grpc {
        /// Whether it was told to ask the C library.
        is_native: bool,
    },
    /// A language of which a part asks by itself, by the beginning of its program's name.
    Runtime(&'static str),
    /// A daemon with a resolver of its own, which a setting brings into use, by its name.
    Daemon(&'static str),
    /// A daemon whose configuration has a resolver there.
    Resolver {
        /// The daemon.
        daemon: Daemon,
        /// Where.
        place: Place,
        /// The model of the C library, which is asked for the other names.
        libc: &'static str,
    },
    /// A daemon whose cluster there asks the C library.
    Cluster {
        /// The daemon.
        daemon: Daemon,
        /// Where.
        place: Place,
    },
    /// A daemon whose configuration has no resolver.
    NoResolver(Daemon),
    /// A program that asks by itself, by its name.
    Own(&'static str),
    /// These libraries, which ask by themselves.
    Libraries(Vec<&'static str>),
}
