//! Proxies that carry Services out of sight of iptables, known by their chains
//! and devices.

use crate::path::Host;
use crate::path::tree::Proxy;
use crate::rules::table::Table;

/// Chains that a proxy makes beside what it does out of sight.
const CHAINS: [(&str, Proxy); 10] = [
    ("CILIUM_INPUT", Proxy::Cilium),
    ("CILIUM_FORWARD", Proxy::Cilium),
    ("CILIUM_OUTPUT_raw", Proxy::Cilium),
    ("CILIUM_POST_nat", Proxy::Cilium),
    ("CILIUM_PRE_mangle", Proxy::Cilium),
    ("OVN-KUBE-NODEPORT", Proxy::Ovn),
    ("OVN-KUBE-SNAT-MGMTPORT", Proxy::Ovn),
    ("OVN-KUBE-EXTERNALIP", Proxy::Ovn),
    ("ANTREA-FORWARD", Proxy::Antrea),
    ("ANTREA-POSTROUTING", Proxy::Antrea),
];

/// How the names of devices begin.
const DEVICES: [(&str, Proxy); 7] = [
    ("cilium_host", Proxy::Cilium),
    ("cilium_net", Proxy::Cilium),
    ("cilium_vxlan", Proxy::Cilium),
    ("bpfin.cali", Proxy::CalicoBpf),
    ("bpfout.cali", Proxy::CalicoBpf),
    ("ovn-k8s-mp0", Proxy::Ovn),
    ("antrea-gw0", Proxy::Antrea),
];

/// What rules of Calico's eBPF data plane say of themselves.
const BPF_RULES: [&str; 3] = ["bpfin.cali", "bpfout.cali", "BPF programs"];

/// Another proxy than kube-proxy whose traces are here.
pub fn other_proxy(host: &Host) -> Option<Proxy> {
    for link in host.links.iter().flatten() {
        let known = DEVICES.iter().find(|it| link.name.starts_with(it.0));
        if let Some((_, proxy)) = known {
            return Some(*proxy);
        }
    }
    for table in &host.rules.tables {
        if &*table.name == "ovn-kubernetes" {
            return Some(Proxy::Ovn);
        }
        let known = CHAINS.iter().find(|it| table.chain(it.0).is_some());
        if let Some((_, proxy)) = known {
            return Some(*proxy);
        }
    }
    let is_calico =
        |it: &Table| it.chain("cali-FORWARD").is_some() || it.chain("cali-INPUT").is_some();
    let is_bpf = host.rules.tables.iter().any(is_calico) && host.rules.mentions(&BPF_RULES);
    is_bpf.then_some(Proxy::CalicoBpf)
}
