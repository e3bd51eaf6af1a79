//! One server block: which names its plugins answer, and which they send on.

use super::doubts::Doubts;
use super::forward::{self, Stanza};
use super::{MAX_PARTS, Places};
use crate::config::corefile::is_within;
use crate::config::corefile::{Corefile, Directive, ServerBlock, Word, split_key, zones};
use crate::config::yaml;
use crate::text::{WordList, escaped};
use crate::topology::{Beyond, Doubt, Forward, Plugin, Policy};

/// Zones in the directives of a block beyond this number are not looked at.
const MAX_ZONES: usize = 10_000;

/// A server block as its queries see it.
#[derive(Debug, Default)]
pub(super) struct Block {
    /// What is answered by plugins that come before `forward`.
    answers: Vec<Answers>,
    /// What sends queries on, in the order in which it is asked.
    stanzas: Vec<Stanza>,
    /// Whether it has `loop`.
    pub(super) has_loop: bool,
}

/// A plugin that answers the names of some zones.
#[derive(Debug)]
struct Answers {
    zones: Vec<String>,
    /// The zones whose names it passes on if it does not have them.
    passes: Vec<String>,
}

impl Block {
    /// `replaced` is what NodeLocal DNSCache has for upstream servers.
    pub(super) fn read_block(
        block: &ServerBlock,
        replaced: &[Word],
        places: &Places<'_>,
        doubts: &mut Doubts,
    ) -> Self {
        let mut read = Self::default();
        let own: Vec<String> = block
            .keys
            .iter()
            .filter_map(|key| split_key(&key.text).ok())
            .flat_map(|key| key.zones)
            .take(MAX_PARTS)
            .collect();
        let directives = || block.directives.iter();
        for name in ["forward", "grpc", "proxy", "fanout"] {
            let stanzas = directives().filter(|it| it.name.text == name);
            for directive in stanzas.take(MAX_PARTS) {
                let stanza = forward::read_forward(directive, replaced, places, doubts);
                read.stanzas.extend(stanza);
            }
        }
        for directive in directives().take(MAX_PARTS) {
            read.has_loop |= directive.name.text == "loop";
            read.answers.extend(answers(directive, &own));
            let does = match directive.name.text.as_str() {
                "auto" => Plugin::Auto,
                "view" => Plugin::View,
                known if PLUGINS.has(known) => continue,
                _ => Plugin::Unknown,
            };
            doubts.add(Doubt::Plugin {
                name: escaped(directive.name.text.as_bytes()),
                place: places.place(directive.name.at),
                does,
            });
        }
        read.limit(doubts);
        read
    }

    /// Forgets what is beyond [`MAX_ZONES`]: every zone of note is compared
    /// with every other.
    fn limit(&mut self, doubts: &mut Doubts) {
        let mut left = MAX_ZONES;
        let answers = self.answers.iter_mut();
        let lists = answers.flat_map(|it| [&mut it.zones, &mut it.passes]);
        for list in lists.chain(self.stanzas.iter_mut().map(|it| &mut it.except)) {
            if list.len() > left {
                doubts.add(Doubt::Beyond(Beyond::BlockZones));
            }
            list.truncate(left);
            left -= list.len();
        }
    }

    /// The zones that some plugin of it names.
    pub(super) fn zones_of_note(&self) -> impl Iterator<Item = &str> {
        let answered = self.answers.iter();
        let answered = answered.flat_map(|it| it.zones.iter().chain(&it.passes));
        let sent = self.stanzas.iter();
        let sent = sent.flat_map(|it| it.except.iter().chain([&it.from]));
        answered.chain(sent).map(String::as_str)
    }

    /// Which stanza gets the names of a zone. `None`: the block answers or
    /// refuses them.
    pub(super) fn forward_for(&self, zone: &str) -> Option<usize> {
        let is_in = |zones: &[String]| zones.iter().any(|it| is_within(zone, it));
        if self
            .answers
            .iter()
            .any(|it| is_in(&it.zones) && !is_in(&it.passes))
        {
            return None;
        }
        // Source: CoreDNS, plugin/forward/forward.go `match`, `isAllowedDomain`.
        self.stanzas
            .iter()
            .position(|it| is_within(zone, &it.from) && (zone == it.from || !is_in(&it.except)))
    }

    /// What it does with the names of a zone that a stanza gets.
    pub(super) fn forward(&self, zone: &str, stanza: Option<usize>) -> Forward {
        let mut forward = Forward {
            zone: zone.to_owned(),
            to: Vec::new(),
            policy: Policy::Unknown,
        };
        let stanzas = stanza.and_then(|from| self.stanzas.get(from..));
        for stanza in stanzas.unwrap_or_default() {
            if !is_within(zone, &stanza.from) {
                continue;
            }
            if forward.to.is_empty() {
                forward.policy = stanza.policy;
            } else if forward.to.len() == 1 {
                forward.policy = Policy::Sequential;
            }
            forward.to.extend(stanza.to.iter().cloned());
            if !stanza.goes_on {
                break;
            }
        }
        forward
    }
}

/// Which names a plugin answers though a `forward` is there. All of them come
/// before it in CoreDNS's fixed order.
///
/// Source: `CoreDNS`, plugin.cfg and the `ServeDNS` of each plugin.
fn answers(directive: &Directive, own: &[String]) -> Option<Answers> {
    let words = |words: &[Word]| words.iter().map(|it| it.text.clone()).collect::<Vec<_>>();
    let all = words(&directive.arguments);
    let given: Vec<String> = match directive.name.text.as_str() {
        "kubernetes" | "k8s_external" | "multicluster" | "nomad" | "etcd" | "secondary" => all,
        "hosts" | "file" => all.into_iter().skip(1).collect(),
        "route53" | "clouddns" => all.iter().map(|it| before_colon(it)).collect(),
        "azure" => all
            .iter()
            .filter_map(|it| Some(it.split_once(':')?.1.to_owned()))
            .collect(),
        // It answers one type only, unless that is ANY.
        "template" if template_answers_all(directive) => all.into_iter().skip(2).collect(),
        _ => return None,
    };
    let named = given.iter().flat_map(|it| zones(it));
    let mut answered: Vec<String> = named.take(MAX_PARTS).collect();
    if answered.is_empty() {
        answered = own.to_vec();
    }
    let mut passes = Vec::new();
    for line in directive.options("fallthrough") {
        let named = line.iter().flat_map(|word| zones(&word.text));
        passes.extend(named.take(MAX_PARTS));
        if line.is_empty() {
            passes.push(".".to_owned());
        }
    }
    Some(Answers {
        zones: answered,
        passes,
    })
}

fn before_colon(text: &str) -> String {
    text.split(':').next().unwrap_or_default().to_owned()
}

/// Whether a template answers the names of its zones whatever their type: it
/// passes on what its expressions do not match only with `fallthrough`.
fn template_answers_all(directive: &Directive) -> bool {
    let kind = directive.arguments.get(1);
    kind.is_some_and(|kind| kind.text.eq_ignore_ascii_case("any"))
}

/// CoreDNS's own plugins, also those of the past, those of NodeLocal
/// DNSCache, AKS and `OpenShift`, and others that send nothing on: what they
/// do not answer goes to the next plugin.
///
/// Source: `CoreDNS`, plugin.cfg at v1.0.0 to v1.14; openshift/coredns
/// plugin.cfg; submariner-io/lighthouse; ori-edge/k8s_gateway.
pub const PLUGINS: WordList = WordList(
    "acl any auto autopath azure bind bufsize cache cancel chaos clouddns debug dns64 dnssec \
     dnstap erratic errors etcd fanout federation file forward geoip grpc grpc_server header \
     health hosts https https3 import k8s_external kubernetes loadbalance local log loop metadata \
     minimal multicluster multisocket nomad nsid on pprof prometheus proxy proxyproto quic ready \
     reload reverse rewrite root route53 secondary sign startup shutdown template timeouts tls \
     trace transfer tsig view whoami nodecache ocp_dnsnameresolver lighthouse k8s_gateway records",
);

/// The `upstreamNameservers` of the ConfigMap kube-dns, if it is among the
/// files: what NodeLocal DNSCache puts for a word of its template.
pub(super) fn upstream_nameservers(corefile: &Corefile) -> Vec<Word> {
    let is_it = |name: &str| name.rsplit('/').next() == Some("upstreamNameservers");
    let found = corefile.sources.iter().position(|it| is_it(&it.name));
    let Some((number, source)) = found.and_then(|it| Some((it, corefile.sources.get(it)?))) else {
        return Vec::new();
    };
    let documents = yaml::documents(source);
    let root = documents.first().and_then(|it| it.root.as_ref().ok());
    let items = root.and_then(yaml::Node::as_sequence).unwrap_or_default();
    let words = items.iter().filter_map(|item| {
        Some(Word {
            text: item.as_scalar()?.text.clone(),
            at: crate::config::corefile::At {
                source: number,
                span: item.span,
            },
        })
    });
    words.collect()
}
