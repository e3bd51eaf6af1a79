//! `kdns pod-file`: the resolv.conf that a pod would get.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{ArgAction, ValueEnum};

use super::address::parse_cluster_dns;
use super::makers::{Ground, Said};
use super::node::{NodeArgs, read_all};
use super::output::Outputs;
use super::question::parse_domain;
use super::threshold::{Level, Threshold};
use super::version::{parse_runtime, parse_version};
use crate::cli::streams::{Status, Streams};
use crate::config::manifest::{self, DnsPolicy, PodSpec, Workload};
use crate::kubelet::Version;
use crate::pod::{self, PodError, PodFile, PodId, Remark, Runtime, Undecided};
use crate::render::pod_file;
use crate::text::escaped;

#[derive(clap::Args, Debug)]
#[command(mut_arg("corefile", |it| it.hide(true)))]
pub(super) struct PodFileArgs {
    #[command(flatten)]
    threshold: Threshold,
    #[command(flatten)]
    outputs: Outputs<Format>,
    #[command(flatten)]
    pod: PodArgs,
    #[command(flatten)]
    makers: MakersArgs,
    #[command(flatten)]
    node: NodeArgs,
}

/// The pod.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Which pod")]
struct PodArgs {
    /// The pod's dnsPolicy [default: that of the manifest, or ClusterFirst]
    #[arg(long, value_parser = policies(), ignore_case = true)]
    policy: Option<DnsPolicy>,
    /// The pod is on the node's network, whatever the manifest says
    #[arg(long)]
    host_network: bool,
    /// The pod's namespace [default: that of the manifest, or default]
    #[arg(long, value_name = "NAME")]
    namespace: Option<String>,
    /// Take the pod of this manifest, YAML or JSON; - is standard input
    #[arg(long, value_name = "MANIFEST")]
    pod: Option<PathBuf>,
}

/// The kubelet and the runtime.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Which kubelet and runtime")]
struct MakersArgs {
    /// The kubelet's version, as in 1.29.3 [default: the node's, or the newest]
    #[arg(long, value_name = "VERSION", value_parser = parse_version)]
    kubelet_version: Option<Version>,
    /// An argument of the kubelet, stronger than files; may be repeated
    #[arg(long, value_name = "ARG", allow_hyphen_values = true, action = ArgAction::Append)]
    kubelet_arg: Vec<String>,
    /// containerd, cri-o or docker, with a version if that matters, as in containerd@1.7.13
    /// [default: the node's, or containerd]
    #[arg(long, value_name = "RUNTIME", value_parser = parse_runtime)]
    runtime: Option<Runtime>,
    /// The cluster's DNS address, whatever the kubelet's settings are
    #[arg(long, value_name = "IP", value_delimiter = ',', value_parser = parse_cluster_dns)]
    cluster_dns: Vec<IpAddr>,
    /// The cluster's domain, whatever the kubelet's settings are
    #[arg(long, value_name = "DOMAIN", value_parser = parse_domain)]
    cluster_domain: Option<String>,
    /// Take this for the node's own /etc/resolv.conf, which some runtimes copy; - is standard input
    #[arg(long, value_name = "FILE")]
    host_file: Option<PathBuf>,
}

/// How to write the file.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
enum Format {
    /// The file's bytes and nothing else
    #[default]
    Text,
    /// One document: the file, what did not fit, the events
    Json,
}

/// Reads the pod and the node, decides, writes.
pub(super) fn run(args: &PodFileArgs, streams: &mut Streams<'_>) -> anyhow::Result<Status> {
    match answer(args, streams) {
        Ok(answer) => write(&answer, args, streams),
        Err(failure) => report(&failure, args, streams),
    }
}

struct Answer {
    about: Vec<Remark>,
    ground: Ground,
    file: Result<PodFile, PodError>,
}

/// Why there is not even a question.
struct Failure {
    sentence: String,
    /// Whether the API server would refuse the pod.
    is_answer: bool,
}

fn answer(args: &PodFileArgs, streams: &mut Streams<'_>) -> Result<Answer, Failure> {
    let (workload, mut about) = args.pod.workload(streams)?;
    let ground = args.ground(streams).map_err(|error| Failure {
        sentence: format!("{error:#}"),
        is_answer: false,
    })?;
    about.extend(ground.about.iter().cloned());
    let id = PodId {
        namespace: workload.namespace.as_deref().unwrap_or("default"),
        name: Some(workload.name.as_str()).filter(|it| !it.is_empty()),
        uid: None,
    };
    if workload.pod.uses_cluster_dns() {
        about.extend(ground.assumed.iter().cloned());
    }
    let makers = ground.makers();
    let file = pod::pod_file(&workload.pod, id, &makers).and_then(whole);
    if let Some(other) = pod::first_other(&workload.pod, id, &makers) {
        let known = ground.kubelet.version;
        about.push(Remark::AssumedVersion { known, other });
    }
    Ok(Answer {
        about,
        ground,
        file,
    })
}

/// Only a file that has every byte is an answer here.
fn whole(file: PodFile) -> Result<PodFile, PodError> {
    match file.incomplete {
        Some(why) => Err(PodError::Unknown {
            what: Undecided::Bytes,
            why,
        }),
        None => Ok(file),
    }
}

impl PodFileArgs {
    /// The status without a file: an answer is that there would be none.
    fn failed(&self, is_answer: bool) -> Status {
        if is_answer {
            self.threshold.status(Some(Level::Error))
        } else {
            self.threshold.undecided()
        }
    }

    fn ground(&self, streams: &mut Streams<'_>) -> anyhow::Result<Ground> {
        let stand_ins = self.node.stand_ins(streams)?;
        let host_file = match &self.makers.host_file {
            Some(path) => Some(read_all(path, streams)?),
            None => None,
        };
        let said = Said {
            arguments: &self.makers.kubelet_arg,
            version: self.makers.kubelet_version,
            runtime: self.makers.runtime,
            cluster_dns: &self.makers.cluster_dns,
            cluster_domain: self.makers.cluster_domain.as_deref(),
            host_file,
        };
        if self.node.is_files_only(&stand_ins) {
            return Ok(Ground::of_files(stand_ins, said));
        }
        Ok(Ground::of_node(&self.node.root()?, stand_ins, said))
    }
}

impl PodArgs {
    /// The pod, and what was left out.
    fn workload(&self, streams: &mut Streams<'_>) -> Result<(Workload, Vec<Remark>), Failure> {
        let (mut workload, about) = match &self.pod {
            None => (without_manifest(), Vec::new()),
            Some(path) => {
                let failure = |sentence: String, is_answer| Failure {
                    sentence,
                    is_answer,
                };
                let source =
                    read_all(path, streams).map_err(|error| failure(error.to_string(), false))?;
                // A workload that is wrong is one that the API server refuses.
                let is_refused = manifest::parse_manifest(&source)
                    .workloads
                    .first()
                    .is_some_and(Result::is_err);
                let chosen = manifest::first_pod(&source).map_err(|error| {
                    if is_refused {
                        failure(format!("the API server refuses the pod: {error}"), true)
                    } else {
                        failure(error.to_string(), false)
                    }
                })?;
                let others = (!chosen.others.is_empty()).then(|| Remark::FirstOf {
                    first: chosen.workload.to_string(),
                    others: chosen.others.clone(),
                });
                (chosen.workload, others.into_iter().collect())
            }
        };
        if self.namespace.is_some() {
            workload.namespace.clone_from(&self.namespace);
        }
        if let Some(policy) = self.policy {
            workload.pod.dns_policy = policy;
        }
        workload.pod.host_network |= self.host_network;
        Ok((workload, about))
    }
}

/// A pod without a manifest.
fn without_manifest() -> Workload {
    Workload {
        kind: "Pod".to_owned(),
        name: String::new(),
        namespace: None,
        place: String::new(),
        pod: PodSpec::default(),
        containers: Vec::new(),
    }
}

fn policies() -> impl TypedValueParser<Value = DnsPolicy> {
    let of = |word: String| {
        let mut all = DnsPolicy::ALL.into_iter();
        let found = all.find(|it| it.0.eq_ignore_ascii_case(&word));
        found.map(|it| it.1).unwrap_or_default()
    };
    PossibleValuesParser::new(DnsPolicy::ALL.map(|it| it.0)).map(of)
}

fn write(answer: &Answer, args: &PodFileArgs, streams: &mut Streams<'_>) -> anyhow::Result<Status> {
    let mut notes = Vec::new();
    let outputs = match answer.file {
        Ok(_) => args.outputs.clone(),
        Err(_) => args.outputs.of_failures(&[Format::Text]),
    };
    outputs.write(false, streams, |format, _, out| {
        match (format, &answer.file) {
            (Format::Json, file) => {
                let Ground {
                    kubelet, runtime, ..
                } = &answer.ground;
                pod_file::json::write(&answer.about, kubelet, runtime, file, out)
            }
            (Format::Text, Ok(file)) => {
                pod_file::write_notes(&answer.about, file, &mut notes)?;
                out.write_all(&file.bytes)
            }
            (Format::Text, Err(_)) => Ok(()),
        }
    })?;
    // A closed stderr leaves nobody to tell.
    let _ = streams.err.write_all(&notes);
    match &answer.file {
        Ok(file) => {
            let is_whole = file.dropped.is_empty() && file.events.is_empty();
            Ok(args.threshold.status((!is_whole).then_some(Level::Info)))
        }
        Err(error) => {
            streams.tell(error);
            Ok(args.failed(error.is_answer()))
        }
    }
}

/// Says in every wanted format what is wrong, and to people always.
fn report(
    failure: &Failure,
    args: &PodFileArgs,
    streams: &mut Streams<'_>,
) -> anyhow::Result<Status> {
    let message = escaped(failure.sentence.as_bytes());
    let outputs = args.outputs.of_failures(&[Format::Text]);
    outputs.write(false, streams, |format, _, out| match format {
        Format::Text => Ok(()),
        Format::Json => pod_file::json::write_error(&message, failure.is_answer, out),
    })?;
    streams.tell(&failure.sentence);
    Ok(args.failed(failure.is_answer))
}
