//! Rows of `kubectl get pods`, `get services`, `get endpoints` and `get endpointslices` about
//! the cluster's DNS, with or without the line of headings, and `kubectl describe` of its pods.

use std::net::{IpAddr, SocketAddr};

use super::lookups::Lookups;
use super::pod::{Pod, is_dns};
use super::slices::Slices;
use crate::address::is_link_local;
use crate::node::dns_pod::DNS_NAMESPACES;
use crate::node::workload::is_random;
use crate::why::asked::{self, Kind};

/// What Services of the cluster's DNS are called.
pub(super) const SERVICES: [&str; 4] = [
    "kube-dns",
    "coredns",
    "rke2-coredns-rke2-coredns",
    "dns-default",
];

/// The `DaemonSets` by whose pods a node's pods reach others.
const NETWORK: [&str; 12] = [
    "antrea-agent",
    "aws-node",
    "calico-node",
    "canal",
    "cilium",
    "kube-flannel",
    "kube-flannel-ds",
    "kube-flannel-ds-amd64",
    "kube-proxy",
    "kube-router",
    "rke2-canal",
    "weave-net",
];

/// What `Status:` says of a pod.
const PHASES: [&str; 6] = [
    "Failed",
    "Pending",
    "Running",
    "Succeeded",
    "Terminating",
    "Unknown",
];

/// The ports at which DNS pods listen for their Service.
const PORTS: [u16; 3] = [53, 5353, 9153];

/// More pods that are not ready are not compared.
const MOST: usize = 64;

/// What `Reason:` says of a container that does not run, or did not.
const REASONS: [&str; 9] = [
    "OOMKilled",
    "CrashLoopBackOff",
    "Error",
    "ContainerCreating",
    "ImagePullBackOff",
    "ErrImagePull",
    "CreateContainerError",
    "RunContainerError",
    "ContainerCannotRun",
];

/// What the rows show.
#[derive(Debug, Default)]
pub(super) struct Rows {
    pods: Vec<Pod>,
    /// Of the network, those that are not ready.
    network: Vec<Pod>,
    /// Of a `StatefulSet`, those that run and are not ready.
    unready: Vec<String>,
    /// Of which pod the description begins.
    named: Option<String>,
    /// Whether the lines describe the last DNS pod, or the DNS Service.
    is_described: bool,
    is_service: bool,
    /// Whether the lines are of `Endpoints` in YAML, their name is to come, and some are not
    /// ready.
    is_endpoints: bool,
    is_unnamed: bool,
    has_unready: bool,
    service: Option<IpAddr>,
    has_no_endpoints: bool,
    has_endpoints: bool,
    slices: Slices,
    /// What is asked, as files and lookups in the text show.
    nameservers: Vec<IpAddr>,
    /// The servers that a pod's file, known by its search list, or the kubelet says that pods
    /// ask; the first of these lists counts.
    pods_ask: Option<Vec<IpAddr>>,
    /// The servers of the file of which the line before was, and whether it is a pod's.
    file: Vec<IpAddr>,
    is_of_pod: bool,
}

/// A row about a Service, and, if its first word is the namespace of the cluster's DNS, what
/// is behind that: clusters in a cluster have Services of that name, too.
pub(super) fn rows<'w>(words: &'w [&'w str]) -> impl Iterator<Item = &'w [&'w str]> {
    let first = words.first();
    let is_spaced = first.is_some_and(|it| DNS_NAMESPACES.contains(it));
    (0..=usize::from(is_spaced)).filter_map(|at| words.get(at..))
}

impl Rows {
    /// Whether a line is such a row.
    pub(super) fn takes(&mut self, line: &str) -> bool {
        // A part of a text is quoted.
        let line = line.trim_start_matches("> ");
        let words: Vec<&str> = line.split_whitespace().collect();
        let address = |word: &str| asked::parsed(word).map(|it| it.0.ip());
        match *words {
            ["search", ..] => {
                self.is_of_pod |= line.contains(".svc");
                return line.contains(".svc");
            }
            ["nameserver", server, ..] => {
                self.nameservers.extend(address(server));
                self.file.extend(address(server));
                return false;
            }
            _ => self.end_file(),
        }
        if let ["Server:", server, ..] = *words {
            self.nameservers.extend(address(server));
            return false;
        }
        let flag = line.split_once("--cluster-dns=").map(|it| it.1);
        if let Some(list) = flag.and_then(|it| it.split([' ', '"', '\'', '`']).next()) {
            let servers = list.split(',').filter_map(address).collect();
            self.pods_ask.get_or_insert(servers);
        }
        if ["READY", "STATUS", "RESTARTS"]
            .iter()
            .all(|it| words.contains(it))
        {
            return true;
        }
        self.describe(line);
        if self.slices.takes(line) {
            return true;
        }
        // A namespace may stand before the name.
        let mut pods = (0..2).filter_map(|at| words.get(at..));
        pods.any(|row| self.pod(row)) || rows(&words).any(|row| self.service(row))
    }

    /// What follows is no line of the file before it.
    pub(super) fn end_file(&mut self) {
        let servers = std::mem::take(&mut self.file);
        if std::mem::take(&mut self.is_of_pod) && !servers.is_empty() {
            self.pods_ask.get_or_insert(servers);
        }
    }

    /// `coredns-66bff467f8-abcde 0/1 CrashLoopBackOff 7 18m`.
    fn pod(&mut self, row: &[&str]) -> bool {
        let [name, ready, status, restarts, ..] = *row else {
            return false;
        };
        let Some((ready, all)) = ready.split_once('/') else {
            return false;
        };
        let (Ok(ready), Ok(all)) = (ready.parse::<u32>(), all.parse::<u32>()) else {
            return false;
        };
        // Deployments have numbers there.
        if !status.starts_with(|it: char| it.is_ascii_uppercase()) {
            return false;
        }
        let pod = Pod {
            name: name.to_owned(),
            is_ready: Some(ready == all),
            status: status.to_owned(),
            restarts: restarts.parse().unwrap_or_default(),
        };
        let (set, own) = name.rsplit_once('-').unwrap_or_default();
        let is_network = NETWORK.contains(&set.trim_start_matches("pod/"));
        if is_dns(name) {
            self.pods.push(pod);
        } else if is_network && is_random(own, 5..=5) {
            if pod.has_ended() || pod.badness() < 2 {
                return false;
            }
            self.network.push(pod);
        } else {
            let is_member = own.parse::<u32>().is_ok() && self.unready.len() < MOST;
            let is_unready = is_member && status == "Running" && ready < all;
            self.unready.extend(is_unready.then_some(pod.name));
            return false;
        }
        true
    }

    /// `Name: coredns-66bff467f8-abcde`, and what is said of it below.
    fn describe(&mut self, line: &str) {
        let Some((key, value)) = line.trim().split_once(':') else {
            return;
        };
        let value = value.trim();
        let first = value.split(' ').next().unwrap_or_default();
        if key == "Name" {
            self.named = Some(value.to_owned()).filter(|it| is_dns(it));
            (self.is_described, self.is_service) = (false, SERVICES.contains(&value));
            self.is_endpoints = false;
        } else if key == "kind" && value != "Pod" {
            // Addresses name their pods.
            self.is_endpoints = value == "Endpoints";
            (self.is_service, self.is_unnamed) = (false, self.is_endpoints);
        } else if key == "name" && std::mem::take(&mut self.is_unnamed) {
            self.is_service = SERVICES.contains(&value);
        } else if key.eq_ignore_ascii_case("namespace") {
            self.is_service &= DNS_NAMESPACES.contains(&value);
        } else if self.is_service && self.is_endpoints {
            self.has_unready |= key == "- notReadyAddresses" || key == "notReadyAddresses";
            self.has_endpoints |= key == "- addresses" || key == "addresses";
        } else if key == "Endpoints" && self.is_service {
            self.has_no_endpoints |= matches!(value, "" | "<none>");
            let is_cut = value.ends_with("more...");
            self.has_endpoints |= is_cut || value.ends_with(|it: char| it.is_ascii_digit());
        } else if key == "Status"
            && PHASES.contains(&first)
            && let Some(name) = self.named.take()
        {
            // Other objects have no phase of pods.
            self.is_described = true;
            self.pods.push(Pod {
                name,
                is_ready: None,
                status: first.to_owned(),
                restarts: 0,
            });
        }
        let Some(pod) = self.pods.last_mut().filter(|_| self.is_described) else {
            return;
        };
        match key {
            // What it was killed for says more than that it is started again.
            "Reason" if REASONS.contains(&value) && pod.status != "OOMKilled" => {
                value.clone_into(&mut pod.status);
            }
            "Ready" if ["True", "False"].contains(&value) => {
                pod.is_ready = Some(pod.is_ready != Some(false) && value == "True");
            }
            "Restart Count" => pod.restarts = value.parse().unwrap_or_default(),
            _ => {}
        }
    }

    /// `kube-dns ClusterIP 10.96.0.10 <none> 53/UDP,53/TCP 97d`, `kube-dns <none> 97d`,
    /// `kube-dns 10.244.0.2:53,10.244.0.3:53,10.244.0.2:53 + 3 more... 5d`.
    fn service(&mut self, row: &[&str]) -> bool {
        let name = row
            .first()
            .map_or("", |it| it.trim_start_matches("service/"));
        if !SERVICES.contains(&name) {
            return false;
        }
        if let [_, addresses, .., age] = *row
            && age.starts_with(|it: char| it.is_ascii_digit())
            && age.ends_with(['s', 'm', 'h', 'd', 'y'])
        {
            let is_none = addresses == "<none>";
            let mut all = addresses.split(',').map(str::parse::<SocketAddr>);
            if is_none || all.all(|it| it.is_ok_and(|it| PORTS.contains(&it.port()))) {
                self.has_no_endpoints |= is_none;
                self.has_endpoints |= !is_none;
                return true;
            }
        }
        let has_port = row.iter().any(|it| it.contains("53/UDP"));
        let mut addresses = row
            .iter()
            .take(3)
            .filter_map(|it| it.trim_matches('*').parse().ok());
        let address = addresses.next().filter(|_| has_port);
        self.service = self.service.or(address);
        address.is_some()
    }

    /// What they show that is not as it should be.
    pub(super) fn sentence(&self) -> Option<String> {
        let mut told = String::new();
        for (pods, kind) in [
            (self.dns(), "DNS"),
            (self.network.iter().collect(), "network"),
        ] {
            let worst = pods.into_iter().max_by_key(|it| it.badness());
            if let Some((name, state)) = worst.and_then(|it| Some((&it.name, it.state()?))) {
                told += &format!("kubectl lists the {kind} pod {name} as {state}\n");
            }
        }
        if self.endpoints() == Some(false) {
            told += "kubectl lists the DNS Service without endpoints\n";
        }
        if let Some((other, service)) = self.other_server() {
            told += &format!("pods ask {other}, and the DNS Service is {service}\n");
        }
        (!told.is_empty()).then_some(told)
    }

    /// The server that pods ask in the place of the DNS Service, and that.
    fn other_server(&self) -> Option<(&IpAddr, IpAddr)> {
        let service = self.service?;
        // A Service can have an address of each family, of which a row shows one.
        let is_other = |it: &IpAddr| *it != service && it.is_ipv4() == service.is_ipv4();
        let is_cache = |it: &IpAddr| it.is_loopback() || is_link_local(*it);
        let is_service = |it: &IpAddr| asked::asked((*it, 53).into(), None).kind == Kind::Service;
        let of_pods = self.pods_ask.iter().filter(|it| it.iter().all(is_other));
        let of_pods = of_pods.filter_map(|it| it.first().filter(|it| !is_cache(it)));
        let services = self.nameservers.iter();
        let services = services.filter(|it| is_other(it) && is_service(it));
        Some((of_pods.chain(services).next()?, service))
    }

    /// Whether the DNS Service has endpoints, as far as that is told.
    fn endpoints(&self) -> Option<bool> {
        let is_none = self.has_no_endpoints
            || self.has_unready && !self.has_endpoints
            || self.slices.are_ready() == Some(false);
        let is_any = self.has_endpoints || self.slices.are_ready() == Some(true);
        (is_none || is_any).then_some(!is_none)
    }

    /// The DNS pods, without those that ended while another is ready.
    fn dns(&self) -> Vec<&Pod> {
        let is_any = self.pods.iter().any(|it| it.is_ready == Some(true));
        let pods = self.pods.iter();
        pods.filter(|it| !(is_any && it.has_ended())).collect()
    }

    /// A pod that is not ready and whose name is looked up.
    pub(super) fn looked_up(&self, lookups: &Lookups) -> Option<String> {
        let name = self.unready.iter().find(|it| lookups.are_for(it))?;
        Some(format!(
            "kubectl lists the pod {name}, whose name is looked up, as unready\n"
        ))
    }

    /// What they show that is as it should be, for what it speaks against.
    pub(super) fn health(&self) -> String {
        let is_well = |it: &Pod| it.is_ready == Some(true) && it.badness() == 0;
        let mut told = String::new();
        if !self.pods.is_empty() && self.dns().into_iter().all(is_well) {
            told += "every DNS pod is listed as running and ready\n";
        }
        if self.endpoints() == Some(true) {
            told += "the DNS Service is listed with endpoints\n";
        }
        told
    }
}
