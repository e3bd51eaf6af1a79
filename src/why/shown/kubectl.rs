//! Rows of `kubectl get pods`, `get services` and `get endpoints` about the cluster's
//! DNS, with or without the line of headings, and `kubectl describe` of its pods.

use std::net::IpAddr;

use crate::why::asked::{self, Kind};

/// What Services of the cluster's DNS are called.
const SERVICES: [&str; 4] = [
    "kube-dns",
    "coredns",
    "rke2-coredns-rke2-coredns",
    "dns-default",
];

/// What the names of its pods begin with.
const PODS: [&str; 5] = [
    "coredns-",
    "kube-dns-",
    "rke2-coredns-rke2-coredns-",
    "dns-default-",
    "core-dns-",
];

/// What the names of pods begin with by which a node's pods reach others.
const NETWORK: [&str; 10] = [
    "antrea-agent-",
    "aws-node-",
    "calico-node-",
    "canal-",
    "cilium-",
    "kube-flannel-",
    "kube-proxy-",
    "kube-router-",
    "rke2-canal-",
    "weave-net-",
];

/// A pod that was restarted so often does not only follow its node.
const OFTEN: u32 = 10;

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
    /// Others that are not ready.
    unready: Vec<String>,
    /// Whether the lines describe the last of them.
    is_described: bool,
    service: Option<IpAddr>,
    has_no_endpoints: bool,
    has_endpoints: bool,
    /// What pods ask, as files and lookups in the text show.
    nameservers: Vec<IpAddr>,
}

#[derive(Debug)]
struct Pod {
    name: String,
    /// `None`: it is not said.
    is_ready: Option<bool>,
    status: String,
    restarts: u32,
}

impl Rows {
    /// Whether a line is such a row.
    pub(super) fn takes(&mut self, line: &str) -> bool {
        // A part of a text is quoted.
        let line = line.trim_start_matches("> ");
        let words: Vec<&str> = line.split_whitespace().collect();
        if let ["nameserver" | "Server:", address, ..] = *words {
            let address = asked::parsed(address).map(|it| it.0.ip());
            self.nameservers.extend(address);
            return false;
        }
        if ["READY", "STATUS", "RESTARTS"]
            .iter()
            .all(|it| words.contains(it))
        {
            return true;
        }
        self.describe(line);
        // A namespace may stand before the name.
        let mut rows = (0..2).filter_map(|at| words.get(at..));
        rows.any(|row| self.pod(row) || self.service(row))
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
        let pod = Pod {
            name: name.to_owned(),
            is_ready: Some(ready == all),
            status: status.to_owned(),
            restarts: restarts.parse().unwrap_or_default(),
        };
        let is_network = begins(name, &NETWORK) && !name.starts_with("cilium-operator-");
        if begins(name, &PODS) {
            self.pods.push(pod);
        } else if is_network && pod.badness() > 1 {
            self.network.push(pod);
        } else {
            self.unready.extend((ready < all).then_some(pod.name));
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
        if key == "Name" {
            self.is_described = begins(value, &PODS);
            if self.is_described {
                self.pods.push(Pod {
                    name: value.to_owned(),
                    is_ready: None,
                    status: "Running".to_owned(),
                    restarts: 0,
                });
            }
        }
        let Some(pod) = self.pods.last_mut().filter(|_| self.is_described) else {
            return;
        };
        match key {
            "Status" => value.clone_into(&mut pod.status),
            // What it was killed for says more than that it is started again.
            "Reason" if REASONS.contains(&value) && pod.status != "OOMKilled" => {
                value.clone_into(&mut pod.status);
            }
            "Ready" => pod.is_ready = Some(pod.is_ready != Some(false) && value == "True"),
            "Restart Count" => pod.restarts = value.parse().unwrap_or_default(),
            _ => {}
        }
    }

    /// `kube-dns ClusterIP 10.96.0.10 <none> 53/UDP,53/TCP 97d`, `kube-dns <none> 97d`.
    fn service(&mut self, row: &[&str]) -> bool {
        let name = row
            .first()
            .map_or("", |it| it.trim_start_matches("service/"));
        if !SERVICES.contains(&name) {
            return false;
        }
        if let [_, "<none>", _] = *row {
            self.has_no_endpoints = true;
            return true;
        }
        if let [_, addresses, _] = *row
            && addresses.contains(":53")
        {
            self.has_endpoints = true;
            return true;
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
        for (pods, kind) in [(&self.pods, "DNS"), (&self.network, "network")] {
            let worst = pods.iter().max_by_key(|it| it.badness());
            if let Some((name, state)) = worst.and_then(|it| Some((&it.name, it.state()?))) {
                told += &format!("kubectl lists the {kind} pod {name} as {state}\n");
            }
        }
        if self.has_no_endpoints {
            told += "kubectl lists the DNS Service without endpoints: there are no endpoints\n";
        }
        let is_another = |it: &&IpAddr| {
            let kind = asked::asked((**it, 53).into(), None).kind;
            kind == Kind::Service && self.service.is_some_and(|service| service != **it)
        };
        if let (Some(other), Some(service)) =
            (self.nameservers.iter().find(is_another), self.service)
        {
            told += &format!("pods ask {other}, and the DNS Service is {service}\n");
        }
        (!told.is_empty()).then_some(told)
    }

    /// A pod that is not ready and has a name which stands in the text that is left.
    pub(super) fn looked_up(&self, text: &str) -> Option<String> {
        let is_name = |it: &&String| {
            let mut places = text.match_indices(it.as_str());
            places.any(|(at, name)| {
                let behind = text.get(at + name.len()..).unwrap_or_default();
                let is_more = |it: &str| it.starts_with(|c: char| c.is_ascii_lowercase());
                behind.strip_prefix('.').is_some_and(is_more)
            })
        };
        let name = self.unready.iter().find(is_name)?;
        Some(format!(
            "kubectl lists the pod {name}, whose name is looked up, as unready\n"
        ))
    }

    /// What they show that is as it should be, for what it speaks against.
    pub(super) fn health(&self) -> String {
        let is_well = |it: &Pod| it.is_ready == Some(true) && it.badness() == 0;
        let mut told = String::new();
        if !self.pods.is_empty() && self.pods.iter().all(is_well) {
            told += "every DNS pod is listed as running and ready\n";
        }
        if self.has_endpoints && !self.has_no_endpoints {
            told += "the DNS Service is listed with endpoints\n";
        }
        told
    }
}

impl Pod {
    /// How bad it is; 0: it is not.
    fn badness(&self) -> u32 {
        match self.status.as_str() {
            "OOMKilled" => 5,
            "CrashLoopBackOff" => 4,
            // After a node's restart the last state is this, too.
            "Error" if self.is_ready != Some(true) => 4,
            "Running" if self.is_ready == Some(false) => 2,
            "Running" | "Completed" | "Error" => u32::from(self.restarts >= OFTEN),
            _ => 3,
        }
    }

    /// What is bad about it.
    fn state(&self) -> Option<String> {
        Some(match self.badness() {
            5 => "OOMKilled".to_owned(),
            4 => "crashing".to_owned(),
            3 => format!("waiting: {}", self.status),
            2 => "running and unready".to_owned(),
            1 => format!("restarted {} times", self.restarts),
            _ => return None,
        })
    }
}

fn begins(name: &str, all: &[&str]) -> bool {
    let name = name.trim_start_matches("pod/");
    all.iter().any(|it| name.starts_with(it))
}
