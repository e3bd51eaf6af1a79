//! What other files must know of a file: small values that stay when its
//! bytes are gone.

use std::collections::BTreeSet;
use std::net::IpAddr;

use crate::address::is_within;
use crate::kubelet::address;
use crate::kubelet::flags::Name;
use crate::lint::document::{At, Body, FileId};
use crate::lint::egress::{LetOut, Pods};

/// What a file says that rules about other files can need.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Facts {
    /// Its texts in the syntax of resolv.conf.
    pub resolvers: Vec<Resolver>,
    /// Its texts that set something of a kubelet.
    pub kubelets: Vec<KubeletFacts>,
    /// Its Corefiles.
    pub corefiles: Vec<CorefileFacts>,
    /// The paths of what Corefiles can import:
    /// [`crate::lint::document::Body::path`].
    pub importable: Vec<String>,
    /// The Services for the cluster's DNS that it makes.
    pub services: Vec<Service>,
    /// The pods that it makes that are DNS servers.
    pub dns_pods: Vec<DnsPod>,
    /// The modes of kube-proxy that it sets: `ipvs`.
    pub proxy_modes: Vec<Text>,
    /// The networks of pods and Services that it says.
    pub networks: Vec<(Network, At)>,
    /// What its network policies let out to the cluster's DNS.
    pub let_out: Vec<LetOut>,
    /// The headless Services that it makes, by namespace and name, whose pods have names
    /// when they are ready only.
    pub headless: Vec<(Option<String>, String)>,
    /// The pods that it makes, each kind once.
    pub pods: BTreeSet<Pods>,
}

impl Facts {
    /// Kept for as long as the run takes; `None`: the file says nothing that others
    /// need.
    pub fn kept(self) -> Option<Box<Self>> {
        (self != Self::default()).then(|| Box::new(self))
    }
}

/// A text and where it stands.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Text {
    /// As written, quotes undone. Not safe to print.
    pub text: String,
    /// Where.
    pub at: At,
}

impl Text {
    /// The text as an address, as the kubelet reads it.
    pub fn address(&self) -> Option<IpAddr> {
        address::parse_address(&self.text)
    }

    /// The text as the address of a name server, its scope left out.
    pub fn server(&self) -> Option<IpAddr> {
        let (address, _scope) = self.text.split_once('%').unwrap_or((&self.text, ""));
        address.parse().ok()
    }
}

/// A resolv.conf as the kubelet reads it: see [`crate::pod::kubelet_file`].
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Resolver {
    /// Its path: [`crate::lint::document::Body::path`].
    pub path: String,
    /// The file it stands in.
    pub file: FileId,
    /// The words behind `nameserver`, in order.
    pub servers: Vec<Text>,
    /// The words of the last `search` line.
    pub searches: Vec<Text>,
    /// Whether a script writes it: on which machine is not known.
    pub is_of_script: bool,
}

/// What a text sets of a kubelet.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct KubeletFacts {
    /// Its path: [`crate::lint::document::Body::path`].
    pub path: String,
    /// Where it begins.
    pub at: At,
    /// What kind of text it is.
    pub form: KubeletForm,
    /// What it sets, in order, repeats kept.
    pub settings: Vec<Setting>,
    /// Its bytes, if it can be put together with others: a unit, variables,
    /// options of k3s and rke2.
    pub body: Option<Box<Body>>,
}

/// A text that sets something of a kubelet.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub enum KubeletForm {
    /// A `KubeletConfiguration` for `--config`.
    #[default]
    Configuration,
    /// One below a `--config-dir`: a file that ends in `.conf`.
    DropIn,
    /// k3s's or rke2's `config.yaml`.
    Rancher,
    /// `kubeletExtraArgs` of kubeadm.
    Kubeadm,
    /// Settings of a whole cluster or machine that a tool makes kubelets from:
    /// kops, Talos, nodeadm, eksctl, k0s, RKE, `KubeletConfig` of `OpenShift`.
    Cluster,
    /// A unit, or a drop-in for one.
    Unit,
    /// Variables for a unit: `kubeadm-flags.env`, `/etc/default/kubelet`; also a
    /// snap's file of arguments.
    Environment,
}

/// A setting in a text.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Setting {
    /// What is set, as a file or as a flag.
    pub key: Name,
    /// The key as it is written: `resolvConf`, `resolverConfig`, `--resolv-conf`.
    pub written: Text,
    /// The values: one, or those of a list in order; empty for an empty list,
    /// a null, or what is no text.
    pub values: Vec<Text>,
    /// All of the value; where there is none, what stands in its place.
    pub at: At,
    /// Whether it is a flag, which beats every file.
    pub is_flag: bool,
    /// Whether it has a null for a value.
    pub is_null: bool,
    /// Where the bytes of the one value stand as they are, quotes left out;
    /// `None`: nowhere, so that nobody can tell what to write there.
    pub literal: Option<At>,
}

impl Setting {
    /// The value, if it is one text.
    pub fn value(&self) -> Option<&Text> {
        match self.values.as_slice() {
            [value] => Some(value),
            _ => None,
        }
    }
}

/// A Corefile, as far as others depend on it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CorefileFacts {
    /// Where it begins.
    pub at: At,
    /// The zones that `kubernetes` answers, lower case with their final dots,
    /// without those for reverse names.
    pub cluster_zones: Vec<Text>,
    /// What is forwarded.
    pub forwards: Vec<Forward>,
    /// The addresses behind `bind`.
    pub binds: Vec<Text>,
    /// What answers probes: the ports of `health` and `ready`. `None`: an import or
    /// variable can say more.
    pub endpoints: Option<Vec<Endpoint>>,
    /// For how many seconds it keeps that a name of the cluster does not exist, and what
    /// says so. `None`: that is not known, or it keeps none.
    pub negative: Option<(u32, At)>,
}

/// What CoreDNS answers a probe at.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Endpoint {
    /// Which plugin.
    pub plugin: Probed,
    /// Its port.
    pub port: u16,
}

/// A plugin that answers probes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Probed {
    /// `health`, at `/health`.
    Health,
    /// `ready`, at `/ready`.
    Ready,
}

/// A `forward` of a Corefile.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Forward {
    /// Whether its server block is for the root zone.
    pub of_root: bool,
    /// The zone, lower case with its final dot.
    pub from: String,
    /// Addresses and files, as written.
    pub to: Vec<Text>,
}

/// A network of the cluster.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Network {
    /// An address of it.
    pub address: IpAddr,
    /// The length of its prefix.
    pub length: u8,
    /// Whether it is that of Services, not of pods.
    pub is_of_services: bool,
}

impl Network {
    /// A network as it is written: `10.244.0.0/16`.
    pub fn parse(text: &str, is_of_services: bool) -> Option<Self> {
        let (address, length) = text.trim().split_once('/')?;
        Some(Self {
            address: address.parse().ok()?,
            length: length.parse().ok()?,
            is_of_services,
        })
    }

    /// Whether an address lies in it.
    pub fn holds(&self, address: IpAddr) -> bool {
        is_within(address.to_canonical(), self.address, self.length.into())
    }
}

/// A Service for the cluster's DNS.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Service {
    /// Its name.
    pub name: String,
    /// Its addresses, in order.
    pub addresses: Vec<Text>,
    /// The pods that it chooses.
    pub pods: Pods,
}

/// A pod, or what makes pods, that is a DNS server.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DnsPod {
    /// `Deployment coredns`.
    pub label: String,
    /// Where it begins.
    pub at: At,
    /// Its `dnsPolicy`, if it has one.
    pub policy: Option<Text>,
    /// Whether it has the node's network.
    pub host_network: bool,
    /// The image of its CoreDNS, if it has one.
    pub image: Option<Text>,
    /// Whether it has the label of the cluster's DNS. Another CoreDNS tells its version
    /// only.
    pub is_clusters: bool,
}
