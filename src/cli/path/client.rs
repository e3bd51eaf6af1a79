//! Who asks: the node itself, or a process, container, pod or network namespace
//! of it.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::time::Duration;

use crate::address::any_like;
use crate::cli::target::label;
use crate::config::resolv_conf::ResolvConf;
use crate::engine::machine::Outcome;
use crate::host::netlink::{NetlinkError, link};
use crate::host::network::{self, NetworkSeen};
use crate::host::root::Root;
use crate::host::{io_reason, situation};
use crate::loopback::name_servers;
use crate::netns::{self, Aim, EnterError, Namespace};
use crate::node::kernel::ConntrackCounters;
use crate::order::once;
use crate::resolver;
use crate::scenario::{Scenario, default_hosts};
use crate::wire::expect_socket;
use crate::wire::live::{self as wire, Limits};

/// Who sends, and where from.
#[derive(Debug)]
pub(super) struct Client {
    /// In words: `pod default/app, process 7`.
    pub(super) label: String,
    /// Its resolv.conf.
    conf: Option<ResolvConf>,
    /// Its network namespace; `None`: that of whoever runs kdns, which is not
    /// to be entered.
    namespace: Option<Namespace>,
    /// Whether it is on the node's own network.
    pub(super) is_node: bool,
}

/// What was read of a node and of the client on it.
#[derive(Debug)]
pub(super) struct Both {
    /// The node.
    pub(super) node: NetworkSeen,
    /// The client's own network namespace, where it is another one.
    pub(super) own: Option<NetworkSeen>,
    /// The network namespaces of DNS pods.
    pub(super) pods: Vec<NetworkSeen>,
    /// The number that the client's network namespace has for the node's, if links
    /// lead there.
    pub(super) node_number: Result<Option<i32>, NetlinkError>,
}

/// A lookup of a Service's name ends then: its answer is not what is asked for.
const LOOKUP: Duration = Duration::from_secs(5);

impl Client {
    /// The target that the word names, or the node itself.
    ///
    /// # Errors
    ///
    /// It is not there, or may not be looked into.
    pub(super) fn find(root: &Root, word: Option<&str>) -> anyhow::Result<Self> {
        let Some(word) = word else {
            return Self::node(root);
        };
        let aim = netns::aim(root, word)?;
        let label = label(&aim);
        let Aim {
            namespace, seen, ..
        } = aim;
        let namespace = namespace?;
        let node = node_namespace(root).ok();
        let is_node = node.is_some_and(|it| it.number() == namespace.number());
        let conf = seen
            .situation
            .resolv_conf
            .map(|it| ResolvConf::parse(it.source));
        Ok(Self {
            label,
            conf,
            namespace: Some(namespace),
            is_node,
        })
    }

    fn node(root: &Root) -> anyhow::Result<Self> {
        let conf = situation::read_situation(root)?.resolv_conf;
        // Who may not look into process 1 is mostly in its network namespace.
        let namespace = node_namespace(root).ok();
        Ok(Self {
            label: "the node".to_owned(),
            conf: conf.map(|it| ResolvConf::parse(it.source)),
            namespace,
            is_node: true,
        })
    }

    /// The name servers of its file, in its order, each once.
    pub(super) fn servers(&self) -> Vec<IpAddr> {
        once(self.conf.iter().flat_map(name_servers).map(|it| it.0))
    }

    /// The same, of which there must be one.
    ///
    /// # Errors
    ///
    /// There is none.
    pub(super) fn name_servers(&self) -> anyhow::Result<Vec<IpAddr>> {
        let servers = self.servers();
        if servers.is_empty() {
            anyhow::bail!(
                "{} has no name server in its resolv.conf; give a DESTINATION",
                self.label
            );
        }
        Ok(servers)
    }

    /// The addresses of a name, as its search list and its servers have them.
    ///
    /// # Errors
    ///
    /// Its network namespace cannot be entered, or nobody knows the name.
    pub(super) fn look_up(&self, name: &str) -> anyhow::Result<Vec<IpAddr>> {
        let mut scenario = Scenario::new("path", name);
        scenario.resolv_conf.clone_from(&self.conf);
        scenario.hosts = Some(default_hosts(&scenario.hostname));
        let found = match &self.namespace {
            Some(namespace) => namespace.within(|| look_up(&scenario))?,
            None => look_up(&scenario),
        };
        match found {
            Outcome::Found(addresses) if !addresses.is_empty() => {
                Ok(addresses.iter().map(|it| it.ip).collect())
            }
            outcome => {
                let reason = match outcome {
                    Outcome::Hung => "no answer within 5 s",
                    other => other.code().unwrap_or("it has no address"),
                };
                anyhow::bail!("{} cannot look up {name}: {reason}", self.label)
            }
        }
    }

    /// Reads the node and the client's network namespace. Of connections and
    /// sockets those of these ports count.
    ///
    /// # Errors
    ///
    /// A network namespace cannot be entered.
    pub(super) fn both_networks(&self, root: &Root, ports: &[u16]) -> Result<Both, EnterError> {
        let read = || network::read_live(ports);
        let own = match &self.namespace {
            Some(namespace) => namespace.within_to_read(read)?,
            None => read(),
        };
        if self.is_node {
            return Ok(Both {
                node: own,
                own: None,
                pods: Vec::new(),
                node_number: Ok(None),
            });
        }
        let namespace = node_namespace(root)?;
        let number = self.within(|| link::namespace_number(namespace.descriptor()));
        Ok(Both {
            node: namespace.within_to_read(read)?,
            own: Some(own),
            pods: Vec::new(),
            // Links that lead there gave it one when they were read.
            node_number: number?,
        })
    }

    /// The counters of connections of the node.
    pub(super) fn counters(&self, root: &Root) -> Option<ConntrackCounters> {
        let read = || Root::live().ok().and_then(|it| network::read_counters(&it));
        match node_namespace(root) {
            Ok(node) => node.within_to_read(read).ok()?,
            Err(_) if self.is_node => read(),
            Err(_) => None,
        }
    }

    /// The address that the client sends from to each destination, or why it
    /// cannot. Nothing is sent.
    ///
    /// # Errors
    ///
    /// Its network namespace cannot be entered, or no socket be opened there.
    pub(super) fn sources(&self, destinations: &[SocketAddr]) -> anyhow::Result<Sources> {
        self.within(|| sources(destinations))?
    }

    /// Runs `work` where the client is.
    ///
    /// # Errors
    ///
    /// Its network namespace cannot be entered.
    pub(super) fn within<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T, EnterError> {
        match &self.namespace {
            Some(namespace) => namespace.within(work),
            None => Ok(work()),
        }
    }
}

/// The network namespace of a process, without its connections.
///
/// # Errors
///
/// It cannot be entered, or its rules cannot be read.
pub(super) fn read_process(root: &Root, pid: u32) -> anyhow::Result<NetworkSeen> {
    let namespace = Namespace::of_process(&netns::hold(root, pid)?.0)?;
    Ok(namespace.within_to_read(|| network::read_live(&[]))?)
}

/// The network namespace of process 1.
fn node_namespace(root: &Root) -> Result<Namespace, EnterError> {
    Namespace::of_process(&netns::hold(root, 1)?.0)
}

/// Asks for the name as glibc does.
fn look_up(scenario: &Scenario) -> Outcome {
    let Some(resolver) = resolver::find("glibc") else {
        return Outcome::Hung;
    };
    let limits = Limits {
        time: LOOKUP,
        interrupt: None,
    };
    wire::run_resolver(resolver.machine(scenario), limits, &mut |_| {}).outcome
}

/// For each destination the address that packets are sent from, or why none can
/// be.
pub(super) type Sources = BTreeMap<IpAddr, Result<IpAddr, String>>;

fn sources(destinations: &[SocketAddr]) -> anyhow::Result<Sources> {
    expect_socket()?;
    let source = |to: &SocketAddr| {
        let socket = UdpSocket::bind((any_like(to.ip()), 0))?;
        socket.connect(to)?;
        Ok(socket.local_addr()?.ip())
    };
    let one = |to: &SocketAddr| {
        (
            to.ip(),
            source(to).map_err(|it: std::io::Error| io_reason(&it)),
        )
    };
    Ok(destinations.iter().map(one).collect())
}
