//! `kdns path --rules` and `--root DIR`: from texts, wherever they came from, and
//! from the files of a node.

use std::net::IpAddr;
use std::path::Path;

use super::answer::Answer;
use super::args::PathArgs;
use super::destination::{self, Destination, To};
use super::files;
use crate::address::any_like;
use crate::cli::streams::Streams;
use crate::host::network::NetworkSeen;
use crate::host::network::saved::{self, ClientSaved, Saved};
use crate::host::{io_reason, rules as texts};
use crate::path::findings::Around;
use crate::path::{Host, Packet, Protocol, RulesKnown, Site, Start};
use crate::rules::conntrack::Entry;
use crate::rules::{Rules, Text};
use crate::text::escaped;

const NO_RULES: &str = "files do not have the rules of iptables and nftables; give what the \
    node's tools print with --rules";

/// Services that a cluster's DNS is called by.
const DNS: [&str; 4] = [
    "kube-dns",
    "coredns",
    "rke2-coredns-rke2-coredns",
    "dns-default",
];

/// None of these is named, and no destination is given.
#[derive(Debug, thiserror::Error)]
#[error("the rules name no Service of the cluster's DNS; give a DESTINATION")]
pub(in crate::cli) struct NoDns;

/// Reads the texts and the node below `--root`, and sends the packets through what
/// they say.
pub(super) fn answer(args: &PathArgs, streams: &mut Streams<'_>) -> anyhow::Result<Answer> {
    if args.probe || args.save.is_some() {
        anyhow::bail!("--probe and --save need a node that runs here, and not files of one");
    }
    let (files, destination) = split(args);
    let mut all = Vec::new();
    for file in files {
        all.push(open(file, streams)?);
    }
    let mut below = args.root.as_deref().map(files::below).transpose()?;
    let mut has_rules = !all.is_empty();
    if let Some(below) = &mut below {
        if !has_rules {
            all.extend(below.saved()?);
            has_rules = !all.is_empty();
        }
        let texts = below.seen.texts.drain(..);
        all.extend(texts.map(|it| Box::new(it) as Box<dyn Text + Send>));
    }
    let rules = Rules::parse(all)?;
    let mut texts = Texts::from_saved(&rules)?;
    let servers = match destination.as_deref() {
        None if !has_rules => below.as_ref().map(files::Below::servers).transpose()?,
        _ => None,
    };
    if let Some(below) = below {
        texts.add(below.seen, has_rules);
    }
    args.set_cluster_dns(&mut texts.site.node);
    let (entries, table_name) = entries(args, &rules, streams)?;
    texts.site.node.rules = rules;
    if !entries.is_empty() {
        let table = &mut texts.site.node.conntrack;
        table.get_or_insert_default().entries = entries;
    }
    if let Some(servers) = servers.filter(|_| texts.client.servers.is_empty()) {
        // They are the node's own, of which no pod knows.
        texts.client.is_node = true;
        texts.client.servers = servers;
    }
    let to = match (destination.as_deref(), texts.client.servers.as_slice()) {
        (None, servers @ [_, ..]) => destination::at_each(servers, None, None),
        (text, _) => destinations(&texts.site.node, text, has_rules)?,
    };
    texts.ask_as(args, to.first().map(|it| it.0))?;
    let mut trees = Vec::new();
    for (ip, port, protocol) in to {
        trees.push(texts.site.send(&texts.packet(args, ip, port, protocol)?));
    }
    let around = Around {
        table: table_name.as_deref(),
        ..Around::default()
    };
    let findings = texts.site.findings(&trees, around);
    Ok(Answer {
        host: texts.site.node,
        trees,
        findings,
        skipped: texts.skipped,
        probe: None,
    })
}

/// The connections among the texts and of `--conntrack`, and the text's name.
fn entries(
    args: &PathArgs,
    rules: &Rules,
    streams: &mut Streams<'_>,
) -> anyhow::Result<(Vec<Entry>, Option<String>)> {
    let mut entries = rules.conntrack.clone();
    let name = rules.names().next().map(str::to_owned);
    let name = name.filter(|_| !entries.is_empty());
    let Some(file) = &args.conntrack else {
        return Ok((entries, name));
    };
    let name = escaped(file.as_os_str().as_encoded_bytes());
    let table = Rules::parse(vec![open(file, streams)?])?;
    if table.conntrack.is_empty() {
        anyhow::bail!(
            "{name} has no entry of connection tracking; give /proc/net/nf_conntrack or what conntrack -L prints"
        );
    }
    entries.extend(table.conntrack);
    Ok((entries, Some(name)))
}

/// What the texts say of a node beside its rules, and of who asks.
#[derive(Default)]
struct Texts {
    site: Site,
    client: ClientSaved,
    is_saved: bool,
    skipped: Vec<String>,
}

impl Texts {
    /// What `kdns path --save` has written among the texts.
    fn from_saved(rules: &Rules) -> anyhow::Result<Self> {
        let mut texts = Self::default();
        for view in &rules.saved {
            let bytes = rules.bytes(*view);
            let place = rules.place(*view);
            let saved = saved::parse(bytes.trim_ascii_end());
            match saved.map_err(|error| anyhow::anyhow!("{place}: {error}"))? {
                Saved::Node(seen, client) => {
                    texts.skipped.extend(seen.skipped);
                    (texts.site.node, texts.client) = (seen.host, client);
                    texts.is_saved = true;
                }
                Saved::Target(seen) => texts.site.own = Some(seen.into_host()?),
                Saved::Pod(seen) => texts.site.node.inside.push(seen.into_host()?),
            }
        }
        Ok(texts)
    }

    /// Adds what the files of a node say. What was read of it while it ran says more.
    fn add(&mut self, below: NetworkSeen, has_rules: bool) {
        self.skipped.extend(below.skipped);
        if self.is_saved {
            let node = &mut self.site.node;
            node.pods.extend(below.host.pods);
            node.cluster_dns = node.cluster_dns.take().or(below.host.cluster_dns);
            return;
        }
        let known = if has_rules {
            // The rules, which files lack, are those that were given.
            RulesKnown::Chosen
        } else {
            self.skipped.push(NO_RULES.to_owned());
            below.host.known
        };
        self.site.node = Host {
            known,
            ..below.host
        };
    }

    /// The address of a pod of the node below `--root`, of the family of `to`.
    fn address_of(&self, target: &str, to: IpAddr) -> anyhow::Result<IpAddr> {
        let name = target.strip_prefix("pod/").unwrap_or(target);
        let mut pods = self.site.node.pods.iter();
        let found = pods.find(|(ip, pod)| ip.is_ipv4() == to.is_ipv4() && *pod == name);
        found.map(|it| *it.0).ok_or_else(|| {
            let name = escaped(name.as_bytes());
            anyhow::anyhow!(
                "a target that is not of this machine is a pod NAMESPACE/NAME whose address the node below --root tells, and none is {name}; give --source IP"
            )
        })
    }

    /// Who sends to `ip`, if the caller says so.
    fn named(&self, args: &PathArgs, ip: IpAddr) -> anyhow::Result<Option<IpAddr>> {
        let target = args.target.as_deref();
        let target = target.map(|it| self.address_of(it, ip)).transpose()?;
        Ok(args.source.or(target))
    }

    /// Forgets who asked when the texts were saved, if the caller means another one.
    fn ask_as(&mut self, args: &PathArgs, to: Option<IpAddr>) -> anyhow::Result<()> {
        let named = to.map(|it| self.named(args, it)).transpose()?.flatten();
        let is_same = named.is_some_and(|ip| self.client.sources.values().any(|it| *it == ip));
        let is_said = named.is_some() || args.from_host || args.in_interface.is_some();
        if is_said && !is_same {
            self.site.own = None;
            self.client.is_node = false;
            self.client.is_elsewhere = false;
            self.client.in_link = None;
            self.client.sources.clear();
        }
        Ok(())
    }

    fn packet(
        &self,
        args: &PathArgs,
        ip: IpAddr,
        port: u16,
        protocol: Protocol,
    ) -> anyhow::Result<Packet> {
        let start = if args.from_host || self.client.is_node {
            Start::Host
        } else if self.client.is_elsewhere {
            Start::Elsewhere
        } else {
            let name = args.in_interface.as_deref();
            let name = name.or(self.client.in_link.as_deref());
            Start::Link {
                name: name.map(Into::into),
            }
        };
        let saved = self.client.sources.get(&ip).copied();
        let source = self.named(args, ip)?.or(saved);
        let source = source.unwrap_or_else(|| any_like(ip));
        if source.is_ipv4() != ip.is_ipv4() {
            anyhow::bail!(
                "{source} and {ip} are of different families: no packet goes from one to the other"
            );
        }
        Ok(Packet {
            protocol,
            source,
            source_port: None,
            destination: ip,
            port,
            start,
            length: None,
        })
    }
}

/// `--rules A B ADDRESS`: the last word is the destination, if no other is.
fn split(args: &PathArgs) -> (&[std::path::PathBuf], Option<String>) {
    if args.destination.is_some() {
        return (&args.rules, args.destination.clone());
    }
    if let Some((last, files)) = args.rules.split_last()
        && !files.is_empty()
        && !last.exists()
        && let Some(word) = last.to_str()
        && Destination::parse(word).is_ok()
    {
        return (files, Some(word.to_owned()));
    }
    (&args.rules, None)
}

fn open(path: &Path, streams: &mut Streams<'_>) -> anyhow::Result<Box<dyn Text + Send>> {
    let name = escaped(path.as_os_str().as_encoded_bytes());
    let opened = if path.as_os_str() == "-" {
        if std::mem::replace(&mut streams.is_input_read, true) {
            anyhow::bail!("standard input can be read only once");
        }
        texts::piped("<stdin>".to_owned(), &mut streams.input)
    } else {
        texts::open(path)
    };
    opened.map_err(|error| anyhow::anyhow!("cannot read {name}: {}", io_reason(&error)))
}

fn destinations(
    node: &Host,
    destination: Option<&str>,
    has_rules: bool,
) -> anyhow::Result<Vec<To>> {
    let Some(text) = destination else {
        let known = DNS
            .iter()
            .find_map(|it| destination::named(node, it, None, None).ok());
        return known.ok_or_else(|| NoDns.into());
    };
    match Destination::parse(text)? {
        Destination::Address(ip, port, protocol) => Ok(destination::at_each(&[ip], port, protocol)),
        Destination::Name(name, ..) if !has_rules => {
            anyhow::bail!("files alone do not know the address of {name}; give it")
        }
        Destination::Name(name, port, protocol) => destination::named(node, &name, port, protocol),
    }
}
