//! What is found about the name servers of a node, as facts. `render` has the
//! words. Every name and path is safe to print.

use std::net::SocketAddr;

use crate::check_loop::Proof;
use crate::check_loop::facts::Remark as LoopRemark;
use crate::kubelet::{Origin, Running};
use crate::loopback::Confirmation;
use crate::loopback::owners::{Elsewhere, Reach};
use crate::node::Process;
use crate::text::Place;
use crate::topology::resolved::{Lost as LinksLost, Mode};
use crate::topology::{Doubt, ServerName};

/// What was found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// The files, the kubelet's first; for one address alone none or the file
    /// that lists it.
    pub files: Vec<FileReport>,
    /// Why it is not known whether a kubelet runs here, if it is not.
    pub kubelet_unseen: Option<String>,
    /// Why another file could not be read that can name servers, where none is known
    /// to lie outside the node.
    pub hidden: Option<String>,
    /// What else is worth knowing.
    pub remarks: Vec<Remark>,
    /// What could not be read.
    pub skipped: Vec<String>,
}

/// A file and its servers.
#[derive(Clone, Debug, PartialEq)]
pub struct FileReport {
    /// Whose file it is.
    pub role: Role,
    /// Its path, safe to print; empty: an address was asked for that no file
    /// lists, or which file it is is not known.
    pub path: String,
    /// What the path becomes with each link on the way.
    pub links: Vec<String>,
    /// What `/etc/resolv.conf` is to systemd-resolved, where that runs.
    pub mode: Option<Mode>,
    /// Why there are no servers.
    pub problem: Option<Problem>,
    /// Its name servers, in order.
    pub servers: Vec<Step>,
    /// What it says less than its writer knows.
    pub lost: Vec<Lost>,
}

/// Whose file it is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Role {
    /// The file that the kubelet's `resolvConf` names.
    Kubelet,
    /// The one that the running kubelet wrote for a pod, which tells what it has.
    OfPod,
    /// The one that it names from the kubelet's restart on.
    Restarted,
    /// `/etc/resolv.conf`.
    Node,
    /// Both.
    Both,
    /// The address was given by the user.
    Asked,
    /// None: the cluster's DNS sends queries on to servers that no file leads to.
    Cluster,
}

/// Why a file has no servers.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Problem {
    /// It leads to this file, which is not there.
    Leads {
        /// The file.
        to: String,
        /// Whether the kubelet reads it, so that no pod starts.
        stops_pods: bool,
    },
    /// There is no such file.
    Missing {
        /// Whether the kubelet reads it, so that no pod starts.
        stops_pods: bool,
    },
    /// There is one that could not be read; the reason.
    Unread(String),
    /// It lists no name server.
    Empty,
}

/// What a list of servers does not say.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Lost {
    /// What systemd-resolved knows of its links.
    Links(LinksLost),
    /// Only so many of its servers are shown.
    Shown {
        /// How many there are.
        count: usize,
        /// How many are shown.
        most: usize,
    },
    /// Resolvers and pods get only so many of its servers.
    Taken {
        /// How many there are.
        count: usize,
        /// How many they get.
        most: usize,
    },
}

/// Something worth knowing.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Remark {
    /// The kubelet runs on with what it had before its files were changed.
    NotRestarted(Running),
    /// This is what the running kubelet wrote for a pod.
    OfPod {
        /// The file.
        path: String,
        /// The pod.
        pod: String,
    },
    /// Something that `check-loop` says, too.
    Loop(LoopRemark),
}

/// A server on the query path.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Its address; `None`: it has none, as the servers of the root zone.
    pub address: Option<SocketAddr>,
    /// Only the names of this zone go there; `None`: all, or all others.
    pub zone: Option<String>,
    /// Where its address is written.
    pub place: Option<Place>,
    /// A short name of its kind for machines: `systemd-resolved`.
    pub id: &'static str,
    /// Who it is.
    pub who: Who,
    /// What confirms that; empty: only the address says so.
    pub confirmed_by: Vec<Confirmed>,
    /// What else is known: who reaches it, what it leaves out.
    pub notes: Vec<Note>,
    /// What a list of its servers would lose.
    pub lost: Vec<Lost>,
    /// How it goes on.
    pub end: End,
    /// To whom it forwards.
    pub next: Vec<Self>,
}

/// Who a server is.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Who {
    /// A DNS server that was found.
    Server(ServerName),
    /// A process.
    Process(Process),
    /// The usual owner of the address: [`crate::loopback::owners::Owner::who`].
    Usual(&'static str),
    /// The cluster's DNS service.
    ClusterDns,
    /// Another Service, by its name in the node's rules; `None`: an address amid those
    /// of Services.
    Service(Option<String>),
    /// What installers often give the cluster's DNS service; where that is is not known.
    UsualService,
    /// A pod, by its label.
    Pod(String),
    /// The node itself, on this interface, if that is known.
    Node(Option<String>),
    /// A server outside the node.
    Outside,
    /// The servers of the root zone and those below.
    Roots,
    /// The cluster's DNS pods, by way of a service that no file names.
    ClusterDnsPods,
    /// Something that is not followed, as written.
    Other(String),
    /// The servers of a file that is not there or was not read.
    File(String),
}

/// What confirms who a server is.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Confirmed {
    /// A comment, a link or a file.
    File(Confirmation),
    /// Its socket.
    Socket {
        /// Whose it is, if that was found.
        owner: Option<Process>,
        /// The file that says so.
        file: String,
    },
    /// The setting that makes it listen there.
    Setting(Place),
    /// The kubelet's `clusterDNS`.
    ClusterDns(Origin),
    /// What else names the Service of the cluster's DNS.
    Said(Proof),
    /// openresolv's `name_servers`.
    Openresolv(Place),
}

/// What else is known of a server.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Note {
    /// Who it is is a guess.
    Guess,
    /// Who reaches the address.
    Reach(Reach),
    /// Inside a pod this address is the pod itself.
    PodItself,
    /// DNS pods that take their servers from this file send to themselves.
    DnsPods,
    /// openresolv writes its servers to this file.
    Openresolv {
        /// The file.
        path: String,
        /// Where that is set.
        place: Place,
    },
    /// What cannot be known from its configuration.
    Doubt(Doubt),
}

/// How a query path goes on behind a server.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum End {
    /// It forwards to the next ones.
    Forwards,
    /// It is a Service, and these of its pods are on the node.
    Endpoints,
    /// It has the names that come this way itself, or none of them.
    Answers,
    /// It lies outside the node.
    Outside,
    /// It was followed further above.
    Above,
    /// It is on this query path already.
    Cycle,
    /// Nobody listens there.
    Refused(Refused),
    /// It cannot be followed.
    Unknown(Unknown),
}

/// Why nobody answers at an address.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Refused {
    /// The stub of systemd-resolved is switched off, there.
    StubOff(Option<Place>),
    /// That stub listens on TCP only.
    StubTcp(Option<Place>),
    /// Nobody listens there.
    Nobody,
    /// Only TCP is listened to.
    OnlyTcp,
}

/// Why a query path cannot be followed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Unknown {
    /// It is too long.
    TooLong,
    /// What the server does cannot be known from its configuration.
    Doubt(Doubt),
    /// It forwards to nobody.
    Nobody,
    /// It leads to the cluster's DNS pods, none of which is on the node.
    DnsPods,
    /// Rules of the node say where its packets go.
    Rules,
    /// What is written is not followed.
    Target,
    /// The file is not there or was not read.
    File,
    /// Its usual owner has them elsewhere.
    Usual(Elsewhere),
    /// Nothing is known of it.
    Forwards,
}

/// How it is with a node's servers.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Health {
    /// No server leads nowhere.
    Clean,
    /// A server leads nowhere, or a file does.
    Dead,
    /// No server is known to lead nowhere, and one of the files could not be
    /// read.
    Unknown,
    /// Nothing could be read.
    Nothing,
}

impl Report {
    /// The addresses outside the node where queries end, each once.
    pub fn outside(&self) -> Vec<SocketAddr> {
        outside(self.files.iter().flat_map(|it| &it.servers))
    }

    /// The first file that could not be read; the reason.
    pub fn unread(&self) -> Option<&str> {
        let unread = self.files.iter().find_map(|it| match &it.problem {
            Some(Problem::Unread(reason)) => Some(reason.as_str()),
            _ => None,
        });
        unread.or(self.hidden.as_deref())
    }
}

/// The addresses outside the node where these query paths end, each once.
pub(super) fn outside<'s>(steps: impl IntoIterator<Item = &'s Step>) -> Vec<SocketAddr> {
    let mut found = Vec::new();
    steps.into_iter().for_each(|it| it.ends(&mut found));
    found
}

impl FileReport {
    /// One of which nothing is said yet.
    pub(super) fn new(role: Role) -> Self {
        Self {
            role,
            path: String::new(),
            links: Vec::new(),
            mode: None,
            problem: None,
            servers: Vec::new(),
            lost: Vec::new(),
        }
    }

    /// Whether there is a file that could not be read: what it says is not
    /// known.
    pub fn is_unknown(&self) -> bool {
        matches!(self.problem, Some(Problem::Unread(_)))
    }

    /// Whether it, or a list of some server's own, leaves something out.
    pub fn loses(&self) -> bool {
        !self.lost.is_empty() || self.servers.iter().any(Step::loses)
    }
}

impl Step {
    /// What was taken for a server outside is or may be a Service; what is behind it only
    /// rules tell.
    pub(super) fn be_service(&mut self, who: Who) {
        (self.id, self.who) = ("service", who);
        self.end = End::Unknown(Unknown::Rules);
    }

    fn ends(&self, found: &mut Vec<SocketAddr>) {
        if let (End::Outside, Some(address)) = (&self.end, self.address)
            && !found.contains(&address)
        {
            found.push(address);
        }
        self.next.iter().for_each(|it| it.ends(found));
    }

    fn loses(&self) -> bool {
        !self.lost.is_empty() || self.next.iter().any(Self::loses)
    }

    /// Whether a query path from here leads outside the node.
    pub(super) fn leads_out(&self) -> bool {
        self.end == End::Outside || self.next.iter().any(Self::leads_out)
    }

    /// Whether a query path from here leads nowhere.
    pub fn is_dead(&self) -> bool {
        let here = matches!(self.end, End::Cycle | End::Refused(_));
        here || self.next.iter().any(Self::is_dead)
    }
}
