//! What a pod would ask that need not be there: one of a namespace, or that of
//! a manifest.

use std::path::Path;

use anyhow::{anyhow, bail};

use super::args::QuestionArgs;
use crate::cli::files::cut;
use crate::cli::makers::{Ground, Said};
use crate::cli::node::read_named;
use crate::cli::streams::Streams;
use crate::config::manifest::{self, PodSpec};
use crate::config::resolv_conf::ResolvConf;
use crate::explain::Context;
use crate::host::FileRead;
use crate::host::node::StandIns;
use crate::host::root::{Resolution, Root};
use crate::kubelet::Found;
use crate::pod::{self, PodError, PodFile, PodId};
use crate::render::command::Command;
use crate::render::{self, pod_file};
use crate::scenario::{Scenario, default_hosts};
use crate::text::Source;

/// Writes the pod's file, and puts it into the scenario.
pub(super) fn use_pod_file(
    args: &QuestionArgs,
    scenario: &mut Scenario,
    streams: &mut Streams<'_>,
) -> anyhow::Result<Context> {
    let mut context = Context::default();
    let ground = pod_ground(args, &mut context)?;
    let (spec, namespace) = match &args.pod {
        None => (
            PodSpec::default(),
            args.namespace.clone().unwrap_or_default(),
        ),
        Some(path) => {
            let read = read_manifest(path, streams)?;
            context.about.extend(cut(&read));
            let mut chosen = manifest::first_pod(&read.source)?;
            if args.namespace.is_some() {
                chosen.workload.namespace.clone_from(&args.namespace);
            }
            context.about.push(chosen.sentence());
            let workload = chosen.workload;
            let namespace = workload.namespace;
            let namespace = namespace.unwrap_or_else(|| "default".to_owned());
            let domain = &ground.kubelet.cluster_domain.value;
            let hostname = pod::host_name(&workload.pod, &workload.name, &namespace, domain)?;
            scenario.hostname = hostname.unwrap_or_else(|| scenario.hostname.clone());
            scenario.hosts = Some(default_hosts(&scenario.hostname));
            (workload.pod, namespace)
        }
    };
    if namespace.is_empty() {
        bail!("the namespace is empty; write a name such as default");
    }
    if spec.uses_cluster_dns() {
        context
            .about
            .extend(ground.assumed.iter().map(pod_file::words));
    }
    let id = PodId {
        namespace: &namespace,
        name: None,
        uid: None,
    };
    let written = match pod::pod_file(&spec, id, &ground.makers()) {
        Err(error @ PodError::Unknown { .. }) if args.root.is_none() => {
            of_live_kubelet(&spec, id, &mut context).unwrap_or(Err(error))?
        }
        result => result?,
    };
    let missing = written.incomplete.iter().map(|why| {
        if args.root.is_some() {
            format!("not all of the pod's file is known: {why}")
        } else {
            // The kubelet that is assumed has no file: there is one question, and one answer.
            NO_NODE_DOMAINS.to_owned()
        }
    });
    context.about.extend(missing);
    context
        .about
        .extend(written.dropped.iter().map(pod_file::left_out));
    scenario.resolv_conf = Some(ResolvConf::parse(Source::new(
        "<pod resolv.conf>",
        written.bytes,
    )));
    Ok(context)
}

fn read_manifest(path: &Path, streams: &mut Streams<'_>) -> anyhow::Result<FileRead> {
    read_named(path, streams).map_err(|error| match path.extension() {
        None if !path.exists() => {
            let hint = Command::new("--target").arg(path.display());
            anyhow!("{error}; --pod takes a manifest, a pod that runs is {hint}")
        }
        _ => error.into(),
    })
}

/// What is said of a pod with the cluster's DNS on no node in particular.
///
/// Source: kubernetes `pkg/kubelet/network/dns/dns.go: generateSearchesForDNSClusterFirst`.
const NO_NODE_DOMAINS: &str = "assumed: the node's file has no search domains, which the kubelet \
     would put after the cluster's (--root / takes those of this node)";

/// The kubelet of the node that was named, else one as kubeadm sets it up.
fn pod_ground(args: &QuestionArgs, context: &mut Context) -> anyhow::Result<Ground> {
    let said = Said {
        cluster_dns: &args.cluster_dns,
        cluster_domain: args.cluster_domain.as_deref(),
        ..Said::default()
    };
    if let Some(directory) = &args.root {
        let root = Root::below(directory, Resolution::Kernel)?;
        let ground = Ground::of_node(&root, StandIns::default(), said);
        context
            .about
            .extend(ground.about.iter().map(pod_file::words));
        return Ok(ground);
    }
    let unknown = "give the file that the kubelet's resolvConf names with --file";
    let mut ground = Ground::assumed(said, unknown);
    if args.cluster_dns.is_empty() {
        ground.assumed.push(pod::Remark::AssumedDns);
    }
    Ok(ground)
}

/// The file of a pod that gets the one of this machine's kubelet; `None`: there
/// is no kubelet.
fn of_live_kubelet(
    spec: &PodSpec,
    id: PodId<'_>,
    context: &mut Context,
) -> Option<Result<PodFile, PodError>> {
    let root = Root::live().ok()?;
    let ground = Ground::of_node(&root, StandIns::default(), Said::default());
    if ground.kubelet.found == Found::Named {
        return None;
    }
    let file = match pod::pod_file(spec, id, &ground.makers()) {
        Ok(file) => file,
        Err(error) => return Some(Err(error)),
    };
    context
        .about
        .extend(ground.about.iter().map(pod_file::words));
    context.about.push(format!(
        "the kubelet of this machine has resolvConf {} ({})",
        ground.kubelet.resolv_conf.value,
        render::kubelet::origin(&ground.kubelet.resolv_conf.origin)
    ));
    Some(Ok(file))
}
