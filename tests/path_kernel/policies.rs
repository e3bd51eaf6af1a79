//! Network policies, as those who make them write them.

use crate::conditions::{Place, condition};
use crate::iptables::Table;
use crate::lots::Lots;

/// As kube-router does.
pub(crate) fn kube_router(lots: &mut Lots, table: &mut Table) {
    table.chain("KUBE-POD-FW-A");
    table.chain("KUBE-NWPLCY-A");
    table.rule("FORWARD", "-s 10.244.0.7/32 -m comment --comment \"rule to jump traffic from POD name:app namespace: ns to chain KUBE-POD-FW-A\" -j KUBE-POD-FW-A");
    table.rule(
        "KUBE-POD-FW-A",
        "-m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT",
    );
    table.rule(
        "KUBE-POD-FW-A",
        "-m comment --comment \"run through nw policy dns\" -j KUBE-NWPLCY-A",
    );
    table.rule(
        "KUBE-NWPLCY-A",
        &format!(
            "{} -j MARK --set-xmark 0x10000/0x10000",
            condition(lots, Place::Any)
        ),
    );
    table.rule("KUBE-NWPLCY-A", "-m mark --mark 0x10000/0x10000 -j RETURN");
    table.rule(
        "KUBE-POD-FW-A",
        "-m mark ! --mark 0x10000/0x10000 -j REJECT --reject-with icmp-port-unreachable",
    );
    table.rule("KUBE-POD-FW-A", "-j MARK --set-xmark 0x0/0x10000");
}

/// As Calico does.
pub(crate) fn calico(lots: &mut Lots, table: &mut Table) {
    for chain in [
        "cali-FORWARD",
        "cali-from-wl-dispatch",
        "cali-fw-cali7",
        "cali-po-dns",
    ] {
        table.chain(chain);
    }
    table.rule("FORWARD", "-j cali-FORWARD");
    table.rule("cali-FORWARD", "-j MARK --set-xmark 0x0/0xe0000");
    table.rule("cali-FORWARD", "-i cali+ -j cali-from-wl-dispatch");
    table.rule("cali-from-wl-dispatch", "-i cali7 -g cali-fw-cali7");
    table.rule(
        "cali-from-wl-dispatch",
        "-m comment --comment \"Unknown interface\" -j DROP",
    );
    table.rule(
        "cali-fw-cali7",
        "-m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT",
    );
    table.rule("cali-fw-cali7", "-m conntrack --ctstate INVALID -j DROP");
    table.rule("cali-fw-cali7", "-m mark --mark 0x0/0x20000 -j cali-po-dns");
    table.rule(
        "cali-po-dns",
        &format!(
            "{} -j MARK --set-xmark 0x10000/0x10000",
            condition(lots, Place::Any)
        ),
    );
    table.rule("cali-po-dns", "-m mark --mark 0x10000/0x10000 -j RETURN");
    table.rule("cali-fw-cali7", "-m mark --mark 0x10000/0x10000 -j RETURN");
    table.rule("cali-fw-cali7", "-j DROP");
    table.rule("cali-FORWARD", "-m mark --mark 0x10000/0x10000 -j ACCEPT");
}
