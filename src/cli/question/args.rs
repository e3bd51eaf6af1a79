//! The arguments that say whose question it is.

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use clap::ArgGroup;
use clap_complete::engine::ArgValueCandidates;

use crate::cli::address::parse_cluster_dns;
use crate::cli::completions;

/// Where the question comes from: a file, a machine, or a pod that one has in mind.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Whose resolv.conf")]
#[command(group = ArgGroup::new("in_mind").args(["namespace", "pod"]).multiple(true))]
pub(in crate::cli) struct QuestionArgs {
    /// This process, container or pod, with its own files and resolver
    ///
    /// A pod by its name or the beginning of it (web, shop/web), by its workload (deploy/web,
    /// svc/web), with a container (web:sidecar); a container's or sandbox's id, a pid, or a network
    /// namespace's file.
    #[arg(long, value_name = "TARGET", add = ArgValueCandidates::new(completions::pods_here), conflicts_with_all = ["file", "namespace", "pod"])]
    pub(super) target: Option<String>,
    /// This resolv.conf; - is standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["root", "namespace", "pod"])]
    pub(super) file: Option<PathBuf>,
    /// Read the machine below this directory [default: /]
    ///
    /// With --target: the node that it is on. With --namespace or --pod: the node whose kubelet writes the pod's file; without it, a kubelet as kubeadm sets it up.
    #[arg(long, value_name = "DIR")]
    pub(super) root: Option<PathBuf>,
    /// A ClusterFirst pod of this namespace
    #[arg(long, value_name = "NAME")]
    pub(super) namespace: Option<String>,
    /// The pod of this manifest; - is standard input
    #[arg(long, value_name = "MANIFEST")]
    pub(super) pod: Option<PathBuf>,
    /// The cluster's DNS address [default: 10.96.0.10]
    #[arg(long, value_name = "IP", value_delimiter = ',', requires = "in_mind", value_parser = parse_cluster_dns)]
    pub(super) cluster_dns: Vec<IpAddr>,
    /// The cluster's domain [default: cluster.local]
    #[arg(long, value_name = "DOMAIN", requires = "in_mind", value_parser = parse_domain)]
    pub(super) cluster_domain: Option<String>,
    /// Environment variable of the program: LOCALDOMAIN, RES_OPTIONS, HOSTALIASES
    #[arg(long, value_name = "KEY=VALUE", value_parser = parse_variable)]
    pub(super) env: Vec<(String, String)>,
    /// Host name of the machine
    #[arg(long, value_name = "NAME")]
    pub(super) hostname: Option<String>,
}

impl QuestionArgs {
    /// The target that is named.
    pub(in crate::cli) fn target(&self) -> Option<&str> {
        self.target.as_deref()
    }

    /// Whether anything says whose question it is.
    pub(in crate::cli) fn is_given(&self) -> bool {
        let files = [&self.file, &self.root, &self.pod];
        let words = [&self.target, &self.namespace];
        files.iter().any(|it| it.is_some()) || words.iter().any(|it| it.is_some())
    }

    /// Whether a process, container or pod of a node is to be looked at.
    pub(in crate::cli) fn has_target(&self) -> bool {
        self.target.is_some()
    }

    /// The directory of the machine, or of the target's node; `None`: this one.
    pub(in crate::cli) fn root(&self) -> Option<&Path> {
        self.root.as_deref()
    }
}

fn parse_variable(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("write KEY=VALUE")?;
    Ok((key.to_owned(), value.to_owned()))
}

pub(in crate::cli) fn parse_domain(text: &str) -> Result<String, String> {
    let is_odd = |c: char| c.is_whitespace() || c.is_control();
    if text.contains(is_odd) {
        return Err("a domain has no blanks".to_owned());
    }
    Ok(text.to_owned())
}
