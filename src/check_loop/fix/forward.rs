//! Where a server is told to whom it forwards: real servers in place of those
//! that lead back.

use std::net::{IpAddr, SocketAddr};

use super::{Case, Server, fixes, parsed, quote, walk};
use crate::check_loop::facts::Step;
use crate::check_loop::report::{Edit, Fix, Proof};
use crate::node::workload::maker;
use crate::node::{Node, Pod};
use crate::order::Order as _;
use crate::text::{Place, Source, escaped};
use crate::topology::resolved::UPLINK_FILE;
use crate::topology::{Program, Target};

/// An address that no node has (RFC 5737): it does what any other server does.
pub(super) const OUTSIDE: &str = "192.0.2.1";

/// The servers themselves in a Corefile's `forward`.
pub(super) fn explicit(case: &Case<'_, '_>) -> Option<Fix> {
    // NodeLocal DNSCache before CoreDNS, which may rely on it.
    let mut servers: Vec<_> = case.servers().collect();
    servers.order_by_key(|(_, it)| it.dns.program != Program::NodeCache);
    servers.into_iter().find_map(|(step, server)| {
        let is_coredns = matches!(server.dns.program, Program::CoreDns | Program::NodeCache);
        let forward = walk::forward(server, case.zone)?;
        // The cluster's own zones have to stay in the cluster.
        if !is_coredns || forward.zone != "." {
            return None;
        }
        let place = step.target.as_ref()?;
        let known: Vec<String> = case.upstreams().iter().map(IpAddr::to_string).collect();
        let known = known.join(" ");
        let then = after(server.pod, server.dns.program, &place.file);
        let left = others(case, place).and_then(|it| tried(case, place, &it, &it));
        let file = || tried(case, place, "/etc/resolv.conf", "/etc/resolv.conf");
        let (edit, which) = match (left.or_else(file), known.as_str()) {
            (Some(edit), _) => (edit, None),
            (None, "") => (tried(case, place, OUTSIDE, "ADDRESS")?, Some(Step::Address)),
            (None, known) => (tried(case, place, known, known)?, None),
        };
        Some(Fix::new(edit, which.into_iter().chain(then).collect()))
    })
}

/// The servers of a `forward` that do not lead back, where some of them do.
fn others(case: &Case<'_, '_>, place: &Place) -> Option<String> {
    let line = Line::at(case.node(), place)?;
    let (words, _) = line.words()?;
    let all = words.split_whitespace().skip(2);
    let does_not = |it: &&str| line.forwarding(it).is_some_and(|it| fixes(&it.changed));
    let left: Vec<&str> = all.take(MAX_SERVERS).filter(does_not).collect();
    (!left.is_empty()).then(|| left.join(" "))
}

/// So many servers a `forward` can have.
/// Source: coredns plugin/forward/setup.go `max` (1.11).
const MAX_SERVERS: usize = 15;

/// The change of a `forward` to these servers, if it fixes the node; `shown`
/// is what is written for them.
fn tried(case: &Case<'_, '_>, place: &Place, to: &str, shown: &str) -> Option<Edit> {
    let line = Line::at(case.node(), place)?;
    let changed = line.forwarding(to)?;
    let shown = line.forwarding(shown)?;
    fixes(&changed.changed).then_some(shown.edit)
}

/// NodeLocal DNSCache asks the cluster's DNS by an address of its own.
pub(super) fn to_service(case: &Case<'_, '_>) -> Option<Fix> {
    if case.zone == "." {
        return None;
    }
    let is_node_cache = |it: &Server<'_>| it.dns.program == Program::NodeCache;
    let mut servers = case.servers();
    let (step, server) = servers.next().filter(|(_, it)| is_node_cache(it))?;
    if servers.any(|(_, it)| !is_node_cache(it)) {
        return None;
    }
    let place = step.target.as_ref()?;
    let edit = Line::at(case.node(), place)?.forwarding(CLUSTER_DNS)?.edit;
    let then = after(server.pod, server.dns.program, &place.file);
    let then = std::iter::once(Step::OtherZones).chain(then);
    Some(Fix::new(edit, then.collect()))
}

/// Source: kubernetes/dns, cmd/node-cache/app/configmap.go `updateCorefile`.
const CLUSTER_DNS: &str = "__PILLAR__CLUSTER__DNS__";

/// What brings a new Corefile to the servers, which they read as this file.
fn after(pod: Option<&Pod>, program: Program, file: &str) -> Vec<Step> {
    let Some(pod) = pod.filter(|it| !it.is_static()) else {
        return vec![Step::Reload];
    };
    let known = pod.name.as_deref().and_then(maker);
    let usual = match program {
        Program::NodeCache => "node-local-dns",
        _ => "coredns",
    };
    let namespace = pod.namespace.as_deref().unwrap_or("kube-system");
    let map = Step::ConfigMap {
        namespace: namespace.to_owned(),
        name: known.map_or(usual, |it| it.1).to_owned(),
        pod: pod.name.clone().filter(|_| known.is_none()),
    };
    // What made another pod is not known, and nothing else is to be restarted for it.
    let read = known.map_or(Step::Reload, |(kind, name)| Step::Rollout {
        namespace: namespace.to_owned(),
        name: format!("{kind}/{name}"),
    });
    if is_of_node(pod, file) {
        vec![read]
    } else {
        vec![map, read]
    }
}

/// Whether the pod has the file from the node itself, as with a hostPath, and
/// not as a copy of a `ConfigMap`.
fn is_of_node(pod: &Pod, file: &str) -> bool {
    let is_copy = file.contains("/volumes/") || file.starts_with("/proc/");
    !is_copy && pod.corefiles.iter().any(|it| it.name == file)
}

/// A line of a Corefile, with the node whose Corefile has another one.
struct Line<'n> {
    node: &'n Node,
    place: &'n Place,
    /// The line as it stands there.
    text: Vec<u8>,
}

struct Changed {
    edit: Edit,
    changed: Node,
}

impl<'n> Line<'n> {
    fn at(node: &'n Node, place: &'n Place) -> Option<Self> {
        let of_pods = node.pods.iter().flat_map(|pod| &pod.corefiles);
        let mut sources = node.corefiles.iter().chain(of_pods);
        let source = sources.find(|it| it.name == place.file)?;
        let mut lines = source.bytes.split(|&byte| byte == b'\n');
        let text = lines.nth(place.line.checked_sub(1)?)?.to_vec();
        Some(Self { node, place, text })
    }

    /// The line's words, and what stands behind them: a brace, a comment.
    fn words(&self) -> Option<(&str, &str)> {
        let text = std::str::from_utf8(&self.text).ok()?;
        let comment = text.find(" #").or_else(|| text.find("\t#"));
        let code = text.get(..comment.unwrap_or(text.len()))?.trim_end();
        let words = code.strip_suffix('{').unwrap_or(code).trim_end();
        text.split_at_checked(words.len())
    }

    /// The line with these servers behind `forward ZONE`.
    fn forwarding(&self, to: &str) -> Option<Changed> {
        let (text, rest) = self.words()?;
        let mut words = text.split_whitespace();
        let keyword = words
            .next()
            .filter(|it| ["forward", "proxy"].contains(it))?;
        let zone = words.next()?;
        let new = format!("{keyword} {zone} {to}");
        let old = text.trim();
        if old == new {
            return None;
        }
        let blank: String = text.chars().take_while(|it| it.is_whitespace()).collect();
        let line = format!("{blank}{new}{rest}");
        let column = blank.chars().count() + 1;
        Some(Changed {
            edit: Edit {
                place: Place {
                    column,
                    ..self.place.clone()
                },
                old: Some(escaped(old.as_bytes())),
                new: escaped(new.as_bytes()),
            },
            changed: self.with(line.as_bytes()),
        })
    }

    /// The node with another line. Pods that have the same Corefile get it too.
    fn with(&self, line: &[u8]) -> Node {
        let mut changed = self.node.clone();
        let of_pods = changed.pods.iter_mut().flat_map(|pod| &mut pod.corefiles);
        for source in changed.corefiles.iter_mut().chain(of_pods) {
            replace(source, self.place.line, &self.text, line);
        }
        changed
    }
}

fn replace(source: &mut Source, number: usize, old: &[u8], new: &[u8]) {
    let mut lines: Vec<&[u8]> = source.bytes.split(|&byte| byte == b'\n').collect();
    let Some(line) = lines.get_mut(number.saturating_sub(1)) else {
        return;
    };
    if *line == old {
        *line = new;
        source.bytes = lines.join(&b'\n');
    }
}

/// The file of systemd-resolved; its drop-ins are below a directory of that name.
const RESOLVED_CONF: &str = "/etc/systemd/resolved.conf";

/// A real server in the configuration of another program.
pub(super) fn of_program(case: &Case<'_, '_>) -> Option<Fix> {
    let upstreams = case.upstreams();
    let upstream = upstreams.first();
    case.servers().find_map(|(step, server)| {
        if matches!(server.dns.program, Program::CoreDns | Program::NodeCache) {
            return None;
        }
        let is_resolved = server.dns.program == Program::SystemdResolved;
        // What it has from a link, or from another program's file, it would get again.
        let is_written = |it: &&Place| !is_resolved || it.file.starts_with(RESOLVED_CONF);
        let place = step.target.as_ref().filter(is_written)?;
        let mut changed = case.node().clone();
        let servers = changed
            .servers
            .iter_mut()
            .filter(|it| it.program == server.dns.program && it.instance == server.dns.instance);
        let targets = servers
            .flat_map(|it| &mut it.forwards)
            .flat_map(|it| &mut it.to);
        let ip = upstream.copied().or(OUTSIDE.parse().ok())?;
        let to = SocketAddr::new(ip, 53);
        let mut old = None;
        for target in targets.filter(|it| it.place == *place) {
            if let Target::Address(own) = target.value {
                old = Some(own);
                target.value = Target::Address(to);
            }
        }
        let old = old?.ip();
        if is_resolved {
            write_again(&mut changed, old, ip);
        }
        let old = old.to_string();
        let new = upstream.map_or_else(|| "ADDRESS".to_owned(), IpAddr::to_string);
        let stands = quote::quote(case.node(), place, &old);
        let restart = Step::Restart(server.dns.program.name());
        let which = upstream.is_none().then_some(Step::Address);
        fixes(&changed).then(|| {
            let edit = Edit {
                new: with_another(&stands, place.column, &old, &new),
                place: stands.place,
                old: Some(stands.text),
            };
            Fix::new(edit, which.into_iter().chain([restart]).collect())
        })
    })
}

/// The statement with `new` for the `old` at this column; where it has the new one
/// already, without the old one.
fn with_another(stands: &Proof, column: usize, old: &str, new: &str) -> String {
    let text = &stands.text;
    let column = column.saturating_sub(stands.place.column);
    let at = text.char_indices().nth(column).map_or(0, |it| it.0);
    let (before, after) = text.split_at(at);
    let Some((between, mut rest)) = after.split_once(old) else {
        return text.clone();
    };
    // The port or name of the old one.
    if rest.starts_with(['#', '@', '%', ':']) {
        rest = rest.trim_start_matches(|it: char| !it.is_whitespace());
    }
    let mut words = text.split(|it: char| it.is_whitespace() || it == '=');
    if words.any(|it| it == new) {
        let all = [before, between, rest.trim_start()].concat();
        return all.trim_end().to_owned();
    }
    [before, between, new, rest].concat()
}

/// What systemd-resolved writes for others when it has another server.
fn write_again(node: &mut Node, old: IpAddr, new: IpAddr) {
    let files = node.files.iter_mut().chain(&mut node.node_file);
    for file in files.chain(&mut node.kubelet_file) {
        let is_its = file.path == UPLINK_FILE || file.links.iter().any(|it| it == UPLINK_FILE);
        if let Some(conf) = file.conf().filter(|_| is_its) {
            let text = String::from_utf8_lossy(&conf.source.bytes);
            let [old, new] = [old, new].map(|it| format!("nameserver {it}\n"));
            file.content = Ok(parsed(&file.path, text.replace(&old, &new)));
        }
    }
}
