//! How a node is set up, as its own report and those of many nodes have it.

use schemars::JsonSchema;
use serde::Serialize;

use crate::check_loop::Setup;

/// How the node is set up.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(super) struct SetupForm<'s> {
    /// The kubelet's `resolvConf`.
    resolv_conf: Option<&'s str>,
    /// Where it was set: a file, an argument, `the built-in default`.
    resolv_conf_from: Option<&'s str>,
    /// The file to which its links lead, if it was read.
    leads_to: Option<&'s str>,
    /// The name servers in that file, in order.
    name_servers: &'s [String],
    /// The DNS servers on the node itself, by name.
    on_node: &'s [String],
    /// To whom the cluster's DNS forwards: zone and servers or file.
    forwards: &'s [String],
}

pub(super) fn form(setup: &Setup) -> SetupForm<'_> {
    SetupForm {
        resolv_conf: setup.resolv_conf.as_deref(),
        resolv_conf_from: setup.resolv_conf_from.as_deref(),
        leads_to: setup.leads_to.as_deref(),
        name_servers: &setup.name_servers,
        on_node: &setup.on_node,
        forwards: &setup.forwards,
    }
}
