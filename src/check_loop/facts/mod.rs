//! What `check-loop` says beside its verdict, as facts. `render` has the words.
//! Every name and path is safe to print.

mod fix;

use std::net::{IpAddr, SocketAddr};

use super::report::{Chain, SendsTo, Sighting, State, When};
use crate::kubelet::{self, Origin, Setting};
use crate::node::Process;
use crate::node::runtime::state::Ended;
use crate::pod::PodError;
use crate::text::Place;
use crate::topology::{Doubt, ServerName};

pub use fix::{Caveat, Manifest, Step, Useless};

/// What decides the verdict.
#[derive(Clone, Debug, PartialEq)]
pub enum Cause {
    /// The cluster's DNS asks no other server.
    AsksNobody,
    /// A query path loops, or is refused.
    Path {
        /// The path.
        chain: Chain,
        /// What becomes of the queries of its server.
        state: State,
        /// In how many of how many DNS pods, if not in all.
        pods: Option<(usize, usize)>,
    },
    /// A probe's query came back.
    Probe {
        /// The server that the query was sent to.
        who: ServerName,
        /// On which address.
        server: SocketAddr,
        /// To how many others, too.
        others: usize,
    },
}

/// What is wrong with the cluster's DNS though it does not loop.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Concern {
    /// What it is, the worst first; never empty.
    pub troubles: Vec<Trouble>,
    /// What to do about it, in order.
    pub then: Vec<Step>,
}

/// Something that is wrong.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Trouble {
    /// A log shows it.
    Log(Sighting),
    /// The files show it.
    Files(Remark),
    /// A container of the cluster's DNS has ended, and does not run again.
    Down {
        /// Its pod.
        pod: String,
        /// Its name.
        container: String,
        /// How it ended.
        ended: Ended,
        /// The last line of its log.
        last: Option<String>,
    },
    /// No container of this pod was ever made.
    Waits(String),
    /// The processes of such a container are frozen.
    Paused {
        /// Its pod.
        pod: String,
        /// Its name.
        container: String,
        /// Its id, if known.
        id: Option<String>,
    },
}

/// How a question that is really asked goes round.
#[derive(Clone, Debug, PartialEq)]
pub enum Round {
    /// On this path.
    Path(Chain),
    /// The log of CoreDNS says so, and no file shows how.
    Log(Place),
}

/// Why a query path cannot be followed.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Unknown {
    /// It is too long.
    TooLong,
    /// There are more than so many.
    TooManyPaths(usize),
    /// There are more zones than so many.
    TooManyZones(usize),
    /// A `forward` has more servers than so many.
    TooManyServers(usize),
    /// What a server does cannot be known from its configuration.
    Server(Doubt),
    /// It goes to a target that is not followed, as written.
    Target(String),
    /// The resolv.conf of this pod was not read on the node.
    PodFile(String),
    /// No kubelet was found that would write the pod's file.
    NoKubelet,
    /// The dnsPolicy of this pod is not known.
    DnsPolicy(String),
    /// The kubelet's `resolvConf` is not known; the reason.
    ResolvConf(String),
    /// The kubelet would write no file for the pod, or it is not known which.
    Pod(PodError),
    /// A file could not be read; the reason.
    Unread(String),
    /// The file at this path was not read.
    NotRead(String),
    /// The Corefile was changed, and the server may run with what stood there before.
    UnreadCorefile {
        /// The server.
        who: ServerName,
        /// The Corefile.
        file: String,
    },
    /// The server reads this file in its own file system, which is not read.
    OwnFileSystem {
        /// The server.
        who: ServerName,
        /// The file.
        path: String,
    },
    /// The file has no name server.
    NoServer {
        /// The server that reads it.
        who: ServerName,
        /// The file.
        path: String,
    },
    /// The end of the file was not read.
    Cut {
        /// The server that reads it.
        who: ServerName,
        /// The file.
        path: String,
    },
    /// A usual address of the cluster's DNS service, where it is not known which one
    /// that has.
    UsualService {
        /// The address.
        ip: IpAddr,
        /// Whether the kubelet's `clusterDNS` is known.
        is_set: bool,
    },
    /// Usually a server of the node, whose sockets were not read.
    UsualServer {
        /// The address.
        ip: IpAddr,
        /// Who usually has it.
        who: &'static str,
    },
    /// Somebody listens there whose configuration was not read.
    Listener {
        /// The process, if it was found.
        owner: Option<Process>,
        /// The file that says so: `/proc/net/udp`.
        file: String,
        /// Where.
        to: SocketAddr,
    },
    /// It is not known where this server listens.
    Listens(ServerName),
    /// This server's pod has no container yet: who answers in its place is not known.
    Waits(ServerName),
    /// It is not known whether the node's rules send packets to this address on to others,
    /// past the server that has bound it.
    Rules(IpAddr),
    /// The sockets of the node were not read.
    Sockets(SocketAddr),
    /// The DNS pods behind the service are not on this node.
    DnsPods {
        /// The service's address; `None`: that which NodeLocal DNSCache puts in.
        service: Option<SocketAddr>,
        /// Whether it is known what they forward to, but not which files they
        /// have.
        has_corefile: bool,
    },
}

/// What would be needed for an answer.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Missing {
    /// Processes could not be seen, so a kubelet can run here; the reason.
    Processes(String),
    /// This is no node.
    Node,
    /// Not all of the node could be read, for want of privilege; the reason.
    Privilege(String),
    /// A kubelet.
    Kubelet,
    /// The kubelet's file, which is not there.
    KubeletFile(String),
    /// What the kubelet's file says; why it is not known.
    KubeletFileContent(String),
    /// The kubelet's file, which was not read.
    KubeletFileUnread(String),
    /// A Corefile.
    Corefile,
    /// The end of a query path.
    Path(Unknown),
    /// How the queries come back that a log says came back.
    Loop(Place),
}

impl Missing {
    /// Why it is, if that is something that could not be read or seen.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Processes(reason)
            | Self::Privilege(reason)
            | Self::KubeletFileContent(reason)
            | Self::Path(Unknown::Unread(reason) | Unknown::ResolvConf(reason)) => Some(reason),
            _ => None,
        }
    }
}

/// Something worth knowing.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Remark {
    /// A log shows it, and has not for a while.
    Earlier(Sighting),
    /// Some reverse lookups loop: CoreDNS passes them on.
    ReverseLookups,
    /// `CoreDNS`'s own test finds this loop only at some of its starts.
    Chance {
        /// How many of the queries loop.
        some: u32,
        /// Of how many.
        all: u32,
    },
    /// The way back leads through the service, so that no FATAL proves nothing.
    Pinned,
    /// This CoreDNS has no loop plugin.
    NoLoopPlugin(ServerName),
    /// This dnsmasq has noticed its loop, and refuses.
    Noticed(ServerName),
    /// What the Corefile says was supposed; why.
    Supposed(Supposed),
    /// What a server does cannot be known from its configuration.
    Server(Doubt),
    /// No DNS server of the cluster was found on the node.
    NoServer,
    /// No kubelet runs; this file would start it.
    NoKubelet(String),
    /// Why the state of the running pods is not known.
    Now(Unknown),
    /// A log shows a loop that no file explains.
    Unexplained(String),
    /// Servers of one list do not give the same answers.
    Unlike {
        /// Who asks them.
        who: ServerName,
        /// A public resolver.
        public: IpAddr,
        /// Where it is listed, if a file lists it.
        place: Option<Place>,
        /// A server with a private address.
        private: IpAddr,
        /// How many of the servers are public ones.
        some: usize,
        /// Of how many.
        all: usize,
    },
    /// Somebody's own DNS server in a pod does not work.
    Other {
        /// The pod.
        pod: String,
        /// Since or from when.
        when: When,
        /// What becomes of its queries.
        state: State,
        /// To whom it sends.
        to: Option<SendsTo>,
    },
    /// Something about the files of the kubelet and of pods.
    File(FileRemark),
    /// Which pods run could not be seen.
    PodsUnseen,
    /// Directories of pods that are gone.
    LeftOver {
        /// The first of these pods.
        pods: Vec<String>,
        /// How many more pods there are than `pods` names.
        more: usize,
    },
    /// The next start is in this state from the kubelet's restart on, and with another
    /// `resolvConf`, if that differs.
    Restart(State, Option<Setting<String>>),
    /// The files say that it loops, and the probe did not see it.
    NotSeen,
    /// No container of this DNS pod was ever made.
    Waits(String),
    /// Something about the kubelet.
    Kubelet(kubelet::Remark),
}

/// Something about the files of the kubelet and of pods.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum FileRemark {
    /// The kubelet's file is a link.
    Link {
        /// Its path.
        path: String,
        /// Where it leads.
        to: String,
    },
    /// `resolvConf` is empty.
    EmptyResolvConf(Origin),
    /// A pod has other servers than the kubelet would now write.
    Drift {
        /// The pod.
        pod: String,
        /// The servers in the file that the pod has.
        now: Vec<IpAddr>,
        /// The servers that the kubelet would write for it now.
        next: Vec<IpAddr>,
        /// Whether only its name says that its dnsPolicy is Default.
        is_supposed: bool,
    },
    /// This DNS pod has dnsPolicy `ClusterFirst`, and asks itself.
    ClusterFirst(String),
    /// A pod asks itself, where nobody listens.
    Refused {
        /// The pod.
        pod: String,
        /// The servers of its file.
        servers: Vec<IpAddr>,
    },
    /// The same of so many more pods.
    RefusedToo(usize),
}

/// What was supposed of the cluster's DNS.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Supposed {
    /// That CoreDNS forwards to /etc/resolv.conf, as usual: there is no Corefile.
    Usual,
    /// Nothing; the Corefile of a pod is not known.
    Corefile(Doubt),
}
