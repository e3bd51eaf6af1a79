//! `kdns path --rules`: from texts, wherever they came from.

use std::net::IpAddr;
use std::path::Path;

use super::answer::Answer;
use super::args::PathArgs;
use super::destination::{self, Destination};
use super::files;
use crate::cli::streams::Streams;
use crate::host::network::saved::{self, ClientSaved, Saved};
use crate::host::{io_reason, rules as texts};
use crate::path::findings::Around;
use crate::path::{Host, Packet, Protocol, RulesKnown, Site, Start};
use crate::rules::conntrack::Entry;
use crate::rules::{Rules, Text};
use crate::text::escaped;

/// Services that a cluster's DNS is called by.
const DNS: [&str; 4] = [
    "kube-dns",
    "coredns",
    "rke2-coredns-rke2-coredns",
    "dns-default",
];

/// Reads the texts, and sends the packets through what they say.
pub(super) fn answer(args: &PathArgs, streams: &mut Streams<'_>) -> anyhow::Result<Answer> {
    let (files, destination) = split(args);
    let mut all = Vec::new();
    for file in files {
        all.push(open(file, streams)?);
    }
    let below = args.root.as_deref().map(files::below).transpose()?;
    let below = below.map(|mut it| {
        all.extend(
            it.texts
                .drain(..)
                .map(|text| Box::new(text) as Box<dyn Text + Send>),
        );
        it.host
    });
    let rules = Rules::read(all)?;
    let mut texts = Texts::of(&rules)?;
    if let Some(host) = below {
        // The rules, which files lack, are those that were given.
        let known = RulesKnown::Chosen;
        texts.site.node = Host { known, ..host };
    }
    let (entries, table_name) = entries(args, &rules, streams)?;
    texts.site.node.rules = rules;
    if !entries.is_empty() {
        let table = &mut texts.site.node.conntrack;
        table.get_or_insert_default().entries = entries;
    }
    let to = match (destination.as_deref(), texts.client.servers.as_slice()) {
        (None, [_, ..]) => texts.servers(),
        (text, _) => destinations(&texts.site.node.rules, text)?,
    };
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
    let table = Rules::read(vec![open(file, streams)?])?;
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
    fn of(rules: &Rules) -> anyhow::Result<Self> {
        let mut texts = Self::default();
        for view in &rules.saved {
            let bytes = rules.bytes(*view);
            let place = rules.place(*view);
            let saved = saved::read(bytes.trim_ascii_end());
            match saved.map_err(|error| anyhow::anyhow!("{place}: {error}"))? {
                Saved::Node(seen, client) => {
                    texts.skipped.extend(seen.skipped);
                    (texts.site.node, texts.client) = (seen.host, client);
                    texts.is_saved = true;
                }
                Saved::Target(seen) => texts.site.own = Some(seen.into_host()?),
            }
        }
        Ok(texts)
    }

    fn servers(&self) -> Vec<(IpAddr, u16, Protocol)> {
        let all = |ip: &IpAddr| {
            let ip = *ip;
            destination::packets(None, None).map(move |(port, protocol)| (ip, port, protocol))
        };
        self.client.servers.iter().flat_map(all).collect()
    }

    /// The address of a pod of the node below `--root`, of the family of `to`.
    fn address_of(&self, target: &str, to: IpAddr) -> anyhow::Result<IpAddr> {
        let name = target.strip_prefix("pod/").unwrap_or(target);
        let mut pods = self.site.node.pods.iter();
        let found = pods.find(|(ip, pod)| ip.is_ipv4() == to.is_ipv4() && *pod == name);
        found.map(|it| *it.0).ok_or_else(|| {
            let name = escaped(name.as_bytes());
            anyhow::anyhow!(
                "with --rules a target is a pod NAMESPACE/NAME whose address the node below --root tells, and none is {name}; give --source IP"
            )
        })
    }

    fn packet(
        &self,
        args: &PathArgs,
        ip: IpAddr,
        port: u16,
        protocol: Protocol,
    ) -> anyhow::Result<Packet> {
        let is_said = args.source.is_some()
            || args.target.is_some()
            || args.from_host
            || args.in_interface.is_some();
        let is_host = args.from_host || (!is_said && self.is_saved && self.client.is_node);
        let saved_link = self.client.in_link.as_deref().filter(|_| !is_said);
        let start = if is_host {
            Start::Host
        } else {
            let name = args.in_interface.as_deref().or(saved_link);
            Start::Link {
                name: name.map(Into::into),
            }
        };
        let saved = self.client.sources.get(&ip).copied();
        let target = args.target.as_deref();
        let target = target.map(|it| self.address_of(it, ip)).transpose()?;
        let said = args.source.or(target).or(saved);
        let source = said.unwrap_or_else(|| files::unspecified(ip));
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
    rules: &Rules,
    destination: Option<&str>,
) -> anyhow::Result<Vec<(IpAddr, u16, Protocol)>> {
    let Some(text) = destination else {
        let services = rules.services_named();
        let known = DNS
            .iter()
            .find_map(|it| destination::named(&services, it, None, None).ok());
        return known.ok_or_else(|| {
            anyhow::anyhow!("the rules name no Service of the cluster's DNS; give a DESTINATION")
        });
    };
    match Destination::parse(text)? {
        Destination::Address(ip, port, protocol) => Ok(destination::packets(port, protocol)
            .map(|(port, protocol)| (ip, port, protocol))
            .collect()),
        Destination::Name(name, port, protocol) => {
            destination::named(&rules.services_named(), &name, port, protocol)
        }
    }
}
