//! Rows of `kubectl get pods`, `get services` and `get endpoints` about the cluster's
//! DNS, with or without the line of headings.

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

/// A pod that was restarted so often does not only follow its node.
const OFTEN: u32 = 10;

/// What the rows show.
#[derive(Debug, Default)]
pub(super) struct Rows {
    pods: Vec<Pod>,
    service: Option<IpAddr>,
    has_no_endpoints: bool,
    /// What pods ask, as files and lookups in the text show.
    nameservers: Vec<IpAddr>,
}

#[derive(Debug)]
struct Pod {
    name: String,
    is_ready: bool,
    status: String,
    restarts: u32,
}

impl Rows {
    /// Whether a line is such a row.
    pub(super) fn takes(&mut self, line: &str) -> bool {
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
        let is_it = PODS
            .iter()
            .any(|it| name.trim_start_matches("pod/").starts_with(it));
        let (Ok(ready), Ok(all)) = (ready.parse::<u32>(), all.parse::<u32>()) else {
            return false;
        };
        if is_it {
            self.pods.push(Pod {
                name: name.to_owned(),
                is_ready: ready == all,
                status: status.to_owned(),
                restarts: restarts.parse().unwrap_or_default(),
            });
        }
        is_it
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
        if let Some(text) = self.of_pods() {
            told += &format!("kubectl lists {text}\n");
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

    /// The worst of the pods.
    fn of_pods(&self) -> Option<String> {
        let bad = |it: &Pod| match it.status.as_str() {
            "OOMKilled" => 5,
            "CrashLoopBackOff" | "Error" => 4,
            "Running" if !it.is_ready => 2,
            "Running" | "Completed" => u32::from(it.restarts >= OFTEN),
            _ => 3,
        };
        let worst = self.pods.iter().max_by_key(|it| bad(it))?;
        let name = &worst.name;
        Some(match bad(worst) {
            5 => format!("the DNS pod {name} as OOMKilled"),
            4 => format!("the DNS pod {name} as crashing"),
            3 => format!("the DNS pod {name} as waiting: {}", worst.status),
            2 => format!("the DNS pod {name} as running and unready"),
            1 => format!("the DNS pod {name} as restarted {} times", worst.restarts),
            _ => return None,
        })
    }
}
