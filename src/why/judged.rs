//! Which causes the facts of a node decide.
//!
//! What `check_loop` and the rules of `lint` say of the node counts here, too;
//! nothing is decided twice. Where neither has looked, the cause stays unknown.

use std::net::IpAddr;
use std::sync::Arc;

use super::asked::Asked;
use super::cause::Cause;
use crate::check_loop::facts::{FileRemark, Remark};
use crate::check_loop::{self, Chain, End, Report, Verdict};
use crate::config::resolv_conf::ResolvConf;
use crate::finding::Finding;
use crate::kubelet::Origin;
use crate::lint::{self, Given};
use crate::loopback::name_servers;
use crate::node::{HostFile, Node};
use crate::text::{Place, Source};
use crate::topology::Network;

/// More name servers of a file are left out: kubernetes
/// `pkg/apis/core/validation: MaxDNSNameservers`.
const MAX_NAMESERVERS: usize = 3;

/// How the codes of rules about files in the syntax of resolv.conf begin.
const OF_RESOLVER_FILES: &str = "KR";

/// The rules about what a `CoreDNS` took once.
const OF_OLD_VERSIONS: [&str; 2] = ["proxy-directive", "upstream-option"];

/// Whether something is the case.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub enum State {
    /// The node says so.
    True,
    /// Nothing that was read decides it.
    #[default]
    Unknown,
    /// The node says that it is not.
    False,
}

/// What a node says about a cause.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Judged {
    /// Whether it is the case.
    pub state: State,
    /// Where that is written, the best places first.
    pub places: Vec<Place>,
}

/// What is known of a node.
#[derive(Debug)]
pub struct Facts<'n> {
    node: &'n Node,
    loops: Report,
    findings: Vec<Finding>,
}

impl State {
    /// Its word in every format.
    pub fn word(self) -> &'static str {
        match self {
            Self::True => "true",
            Self::Unknown => "unknown",
            Self::False => "false",
        }
    }
}

impl<'n> Facts<'n> {
    /// What `check_loop` and the rules of `lint` say of a node.
    pub fn from_node(node: &'n Node) -> Self {
        let files = texts(node);
        let given = Given {
            node: Some(node.clone()),
            ..Given::default()
        };
        Self {
            node,
            loops: check_loop::judge(node),
            findings: lint::run(&files, &given).findings,
        }
    }

    /// Whether a cause is the case where this server was asked.
    pub fn judge(&self, cause: &Cause, asked: Option<&Asked>) -> Judged {
        let found = self
            .findings
            .iter()
            .filter(|it| cause.rules.contains(&it.name) && self.counts(it));
        let places: Vec<Place> = found.map(|it| it.primary.place()).collect();
        if !places.is_empty() {
            return judged(State::True, places);
        }
        self.decided(cause.code, asked).unwrap_or_default()
    }

    /// Whether a finding is about what the kubelet hands out: in another resolv.conf
    /// the same line harms nobody in a pod.
    fn counts(&self, finding: &Finding) -> bool {
        let is_its = |conf: &ResolvConf| conf.source.name == finding.primary.file;
        !is_of_resolver_file(finding) || self.kubelet_file().is_some_and(is_its)
    }

    /// What the node itself decides; `None`: nothing of it does.
    fn decided(&self, code: &str, asked: Option<&Asked>) -> Option<Judged> {
        match code {
            "dns-loop" => self.loops(),
            "stub-in-pods" => self.stub_in_pods(),
            "kubelet-file-missing" => self.kubelet_file_missing(),
            "kubelet-file-empty" => {
                let conf = self.kubelet_file()?;
                let first = servers(conf).into_iter().next();
                let place = first
                    .as_ref()
                    .map_or_else(|| Place::nowhere(&conf.source.name), |it| it.1.clone());
                Some(judged(is(first.is_none()), vec![place]))
            }
            "too-many-nameservers" => {
                let servers = servers(self.kubelet_file()?);
                let beyond = servers.get(MAX_NAMESERVERS).or(servers.last())?;
                Some(judged(
                    is(servers.len() > MAX_NAMESERVERS),
                    vec![beyond.1.clone()],
                ))
            }
            "tailscale-dns" => self.tailscale(),
            "no-cluster-dns" => {
                let setting = &self.node.kubelet.as_ref()?.cluster_dns;
                let is_known = !matches!(setting.origin, Origin::Unread(_));
                let place = setting.origin.place().cloned();
                is_known.then(|| judged(is(setting.value.is_empty()), place.into_iter().collect()))
            }
            "conntrack-full" => {
                let room = self.node.kernel.conntrack?;
                let place = Place::nowhere("/proc/sys/net/netfilter/nf_conntrack_count");
                // The rule speaks up before it is quite full.
                Some(judged(is(room.count >= room.max), vec![place]))
            }
            "conntrack-race" => {
                let statistics = self.node.kernel.statistics.as_ref()?;
                let place = Place::nowhere(&statistics.file);
                (statistics.counters.insert_failed == 0).then(|| judged(State::False, vec![place]))
            }
            "bridge-nf-off" => {
                let place = Place::nowhere("/proc/sys/net/bridge/bridge-nf-call-iptables");
                let is_on = self.node.kernel.bridge_calls_iptables == Some(true);
                is_on.then(|| judged(State::False, vec![place]))
            }
            "stale-pod-file" => self.stale_pod_file(),
            "unlike-upstreams" => self.unlike(),
            "stub-down" | "nodelocal-down" => self.nobody_listens(asked?),
            _ => None,
        }
    }

    fn loops(&self) -> Option<Judged> {
        let is_loop = |it: &&Chain| matches!(it.end, End::Cycle(_));
        let looping = self.loops.chains.iter().find(is_loop);
        match (self.loops.verdict, looping) {
            (Verdict::Loop | Verdict::WillLoop | Verdict::Mixed, Some(chain)) => {
                Some(judged(State::True, proof(chain)))
            }
            (Verdict::NoLoop, _) => {
                let places = self.loops.chains.first().map(proof);
                Some(judged(State::False, places.unwrap_or_default()))
            }
            _ => None,
        }
    }

    /// A loopback address in the kubelet's file alone harms no pod that asks the
    /// cluster's DNS: it takes a pod that has it, or a DNS server that sends there.
    fn stub_in_pods(&self) -> Option<Judged> {
        let is_refused = |it: &&Chain| it.end == End::Refused;
        if let Some(chain) = self.loops.chains.iter().find(is_refused) {
            return Some(judged(State::True, proof(chain)));
        }
        let pods = self.node.pods.iter();
        let own = pods.filter(|it| it.host_network == Some(false));
        let in_pods = own.filter_map(|it| it.own_file()).flat_map(servers);
        let is_loopback = |it: &(IpAddr, Place)| it.0.is_loopback();
        if let Some((_, place)) = in_pods.into_iter().find(is_loopback) {
            return Some(judged(State::True, vec![place]));
        }
        let servers = servers(self.kubelet_file()?);
        let first = servers.first()?.1.clone();
        (!servers.iter().any(is_loopback)).then(|| judged(State::False, vec![first]))
    }

    fn kubelet_file_missing(&self) -> Option<Judged> {
        let file = self.node.kubelet_file.as_ref()?;
        let setting = self.node.kubelet.as_ref()?.resolv_conf.origin.place();
        match &file.content {
            Err(unread) if unread.is_missing => {
                let named = setting
                    .cloned()
                    .unwrap_or_else(|| Place::nowhere(&file.path));
                Some(judged(State::True, vec![named]))
            }
            Err(_) => None,
            Ok(_) => Some(judged(State::False, vec![Place::nowhere(&file.path)])),
        }
    }

    fn stale_pod_file(&self) -> Option<Judged> {
        let pods = self.loops.remarks.iter().filter_map(|it| match it {
            Remark::File(FileRemark::Drift { pod, .. }) => {
                Some(Place::nowhere(&format!("pod {pod}")))
            }
            _ => None,
        });
        let pods: Vec<Place> = pods.take(3).collect();
        (!pods.is_empty()).then(|| judged(State::True, pods))
    }

    fn unlike(&self) -> Option<Judged> {
        let place = self.loops.remarks.iter().find_map(|it| match it {
            Remark::Unlike { place, .. } => Some(place.clone()),
            _ => None,
        })?;
        Some(judged(State::True, place.into_iter().collect()))
    }

    fn tailscale(&self) -> Option<Judged> {
        let own = content(self.node.node_file.as_ref());
        let files = [self.kubelet_file(), own];
        let magic = IpAddr::from([100, 100, 100, 100]);
        let mut seen = None;
        for conf in files.into_iter().flatten() {
            for (ip, place) in servers(conf) {
                if ip == magic {
                    return Some(judged(State::True, vec![place]));
                }
                seen.get_or_insert(place);
            }
        }
        Some(judged(State::False, vec![seen?]))
    }

    /// Whether nobody on the node listens on the address that was asked.
    fn nobody_listens(&self, asked: &Asked) -> Option<Judged> {
        if !self.node.sockets_known {
            return None;
        }
        let ip = asked.address.ip();
        let is_own = ip.is_loopback() || self.node.addresses.contains(&ip);
        let listener = self.node.listeners.iter().find(|it| {
            it.network == Network::Node && it.is_udp && it.address.is_none_or(|it| it == ip)
        });
        let place = match listener {
            Some(it) => Place::nowhere(&it.file),
            None if is_own => Place::nowhere("/proc/net/udp"),
            None => return None,
        };
        Some(judged(is(listener.is_none()), vec![place]))
    }

    /// The file that the kubelet hands out, if it is known and could be read.
    fn kubelet_file(&self) -> Option<&ResolvConf> {
        let kubelet = self.node.kubelet.as_ref()?;
        let is_known = !matches!(kubelet.resolv_conf.origin, Origin::Unread(_));
        content(self.node.kubelet_file.as_ref().filter(|_| is_known))
    }
}

/// Where files that stand in a text speak for a cause. They are not all that there is, so
/// they decide nothing; nor is it known whose a resolv.conf is, nor, unless the text tells
/// the version, whether an older `CoreDNS` takes what a newer one does not.
pub fn by_files(cause: &Cause, findings: &[Finding], tells_version: bool) -> Judged {
    let rules = [cause.rules.as_slice(), &cause.quoted];
    let is_its = |it: &&Finding| rules.iter().any(|rules| rules.contains(&it.name));
    let is_told = |it: &Finding| tells_version || !OF_OLD_VERSIONS.contains(&it.name);
    let found = findings
        .iter()
        .filter(|it| !is_of_resolver_file(it) && is_told(it));
    judged(
        State::Unknown,
        found.filter(is_its).map(|it| it.primary.place()).collect(),
    )
}

fn is_of_resolver_file(finding: &Finding) -> bool {
    finding.code.starts_with(OF_RESOLVER_FILES)
}

/// The texts of a node that rules look at.
fn texts(node: &Node) -> Vec<Arc<Source>> {
    let files = [&node.kubelet_file, &node.node_file].into_iter().flatten();
    let files = files
        .filter_map(|it| content(Some(it)))
        .map(|it| &it.source);
    let pods = node.pods.iter().flat_map(|it| &it.corefiles);
    let all = node
        .sources
        .iter()
        .chain(&node.corefiles)
        .chain(pods)
        .chain(files);
    let mut texts: Vec<Arc<Source>> = Vec::new();
    for source in all {
        if !texts.iter().any(|it| it.name == source.name) {
            texts.push(Arc::new(source.clone()));
        }
    }
    texts
}

fn content(file: Option<&HostFile>) -> Option<&ResolvConf> {
    file?.content.as_ref().ok()
}

fn servers(conf: &ResolvConf) -> Vec<(IpAddr, Place)> {
    let servers = name_servers(conf);
    servers
        .map(|(ip, span)| (ip, conf.place_of(span.start)))
        .collect()
}

/// Where the hops of a query path are written.
fn proof(chain: &Chain) -> Vec<Place> {
    let proof = chain.hops.iter().flat_map(|it| &it.proof);
    proof.map(|it| it.place.clone()).collect()
}

fn is(it: bool) -> State {
    if it { State::True } else { State::False }
}

fn judged(state: State, places: Vec<Place>) -> Judged {
    Judged { state, places }
}
