//! The words of what becomes of packets.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};

use super::what::what;
use crate::order::once;
use crate::path::{Assumption, Gap, Kind, Outcome, Proxy, Reply, Start, Tree, Verdict};
use crate::render::sentence::{Sentence, sentence};
use crate::rules::{Family, Note};
use crate::text::{Place, counted, ordered};

/// `10.96.0.10:53/udp`.
pub(in crate::render) fn asked(tree: &Tree) -> String {
    let packet = &tree.packet;
    let address = socket(packet.destination, packet.port);
    format!("{address}/{}", packet.protocol.word())
}

/// Who asks.
pub(in crate::render) fn asker(tree: &Tree) -> String {
    let packet = &tree.packet;
    match &packet.start {
        Start::Host if packet.source.is_unspecified() => "the node".to_owned(),
        Start::Host => format!("the node ({})", packet.source),
        Start::Link { .. } | Start::Elsewhere if packet.is_of_some_pod() => "a pod".to_owned(),
        Start::Link { .. } | Start::Elsewhere => packet.source.to_string(),
    }
}

/// The answer in one sentence, without a full stop.
pub(in crate::render) fn verdict(tree: &Tree) -> String {
    verdict_to(&asked(tree), tree)
}

/// The same, where it holds for UDP and for TCP.
pub(super) fn verdict_of_both(tree: &Tree) -> String {
    let address = socket(tree.packet.destination, tree.packet.port);
    verdict_to(&format!("{address} by UDP and TCP"), tree)
}

fn verdict_to(to: &str, tree: &Tree) -> String {
    let name = tree
        .service
        .as_ref()
        .map_or_else(String::new, |it| format!(" ({it})"));
    let good: Vec<&Outcome> = tree.outcomes.iter().filter(|it| it.arrives()).collect();
    match tree.verdict {
        Verdict::Reaches => match good.as_slice() {
            [one] if one.is_own => {
                format!("{to}{name} is answered in the asker's own network namespace")
            }
            [one] if one.kind == Kind::Local => {
                format!("{to}{name} is answered on this node")
            }
            [one, ..] if !one.is_translated => {
                format!("{to} is reached as it is: no rule translates it, and none drops it")
            }
            all => {
                // One can stand there more than once, each time under a condition.
                let all: BTreeSet<_> = ordered(all.iter().map(|it| (it.address, it.port)));
                let all = counted(all.len(), "endpoint", "endpoints");
                if tree.gaps.contains(&Gap::Liveness) {
                    return format!(
                        "{to}{name} goes to {all}, and nothing seen keeps answers back"
                    );
                }
                format!("{to}{name} reaches {all}, and answers come back")
            }
        },
        Verdict::Partly => {
            let part = good
                .iter()
                .fold(crate::rules::Share::NONE, |sum, it| sum.and(it.share));
            let why = why(tree);
            format!("Only {part} of the packets to {to}{name} are answered, others not: {why}")
        }
        Verdict::Nothing => format!("No packet to {to}{name} is answered: {}", why(tree)),
        Verdict::NoRule => without_rule(tree, to),
        Verdict::NoEndpoints => {
            format!("{to}{name} has no endpoints: every packet is refused")
        }
        Verdict::Hairpin => {
            let is_masqueraded = good.len() == tree.outcomes.len();
            let how = if is_masqueraded {
                "with another sender, so that the answer comes back if the link's hairpin mode is on"
            } else {
                "with its own address as the sender, which it drops"
            };
            format!("{to}{name} sends packets back to the asker, {how}")
        }
        Verdict::OtherProxy => {
            let proxy = tree.proxy.map_or("another proxy", proxy);
            format!("{to} is carried by {proxy}, which these rules do not show")
        }
        Verdict::Unknown => format!("Where {to}{name} goes depends on what was not seen"),
    }
}

/// No rule translates them.
fn without_rule(tree: &Tree, to: &str) -> String {
    if tree.gaps.contains(&Gap::Table("filter".into())) {
        return format!(
            "No rule of the table nat is about {to}: if it is a Service, kube-proxy has not written it here, or it has no endpoints, which the table filter would say"
        );
    }
    match &tree.service {
        Some(name) => format!(
            "No rule translates packets to {to} ({name}): they leave with an address that nobody has"
        ),
        None => format!(
            "No rule is about {to}: if it is a Service, kube-proxy has not written it here, and packets leave with an address that nobody has"
        ),
    }
}

/// Why no packet is answered: what happens to the first one.
fn why(tree: &Tree) -> String {
    tree.lost()
        .map_or_else(|| "nothing is known of it".to_owned(), ending)
}

/// Whose rule it is, if it is none of the node's.
const OF_ASKER: &str = " of the asker's own network namespace";

/// What happens at an end that is none.
pub(super) fn ending(outcome: &Outcome) -> String {
    let made = outcome.last().filter(|it| it.chain.is_empty());
    let by = outcome.last().map_or_else(String::new, |it| {
        if it.chain.is_empty() {
            return format!(": {}", what(&it.what));
        }
        let of = if outcome.is_own { OF_ASKER } else { "" };
        format!(" by {} {}{of}", it.stage, it.chain)
    });
    match (outcome.kind, &outcome.reply) {
        (Kind::Drop, _) => format!("dropped{by}"),
        (Kind::Reject, _) => {
            let error = outcome.error.as_deref().unwrap_or("an error");
            format!("rejected with {error}{by}")
        }
        (Kind::NoRoute, _) => {
            let what = made.map(|it| what(&it.what));
            what.unwrap_or_else(|| "there is no route to it".to_owned())
        }
        (Kind::Unknown, _) => "not known".to_owned(),
        (_, Some(Reply::Untranslated)) => {
            "the answer comes back from another address than was asked, and the asker drops it"
                .to_owned()
        }
        (_, Some(Reply::Dropped(steps))) => match steps.last() {
            Some(step) if step.chain.is_empty() => {
                format!("the answer is dropped: {}", what(&step.what))
            }
            last => format!(
                "the answer is dropped in {}",
                last.map_or("", |it| &it.chain)
            ),
        },
        (_, Some(Reply::Partly(share, steps))) => {
            let chain = steps.last().map_or("", |it| &it.chain);
            match chain {
                "" => format!("the asker takes only {share} of the answers"),
                chain => format!("only {share} of the answers pass {chain}"),
            }
        }
        (_, Some(Reply::Unknown(_))) => "whether the answer comes back is not known".to_owned(),
        _ => String::new(),
    }
}

pub(super) fn proxy(proxy: Proxy) -> &'static str {
    match proxy {
        Proxy::Cilium => "Cilium",
        Proxy::CalicoBpf => "Calico's eBPF data plane",
        Proxy::Ovn => "OVN-Kubernetes",
        Proxy::Antrea => "Antrea",
    }
}

/// Where it ends: `10.244.1.5:53 (pod kube-system/coredns-…)`.
pub(super) fn end(outcome: &Outcome) -> String {
    let address = socket(outcome.address, outcome.port);
    let pod = outcome.pod.as_ref().map(|it| format!("pod {it}"));
    let place = if outcome.is_own {
        "the asker itself"
    } else {
        "this node"
    };
    let here = (outcome.kind == Kind::Local).then(|| place.to_owned());
    let sender = outcome.masqueraded.then(|| "masqueraded".to_owned());
    let about: Vec<String> = [pod, here, sender].into_iter().flatten().collect();
    let about = if about.is_empty() {
        String::new()
    } else {
        format!(" ({})", about.join(", "))
    };
    let ending = ending(outcome);
    if ending.is_empty() {
        return format!("{address}{about}");
    }
    format!("{address}{about}: {ending}")
}

pub(super) fn socket(ip: IpAddr, port: u16) -> String {
    SocketAddr::new(ip, port).to_string()
}

/// The first thing that was not seen and that the end of a packet, or of the answer to
/// it, depends on.
pub(in crate::render) fn depends_on(tree: &Tree) -> Option<String> {
    let mut all = tree.outcomes.iter().flat_map(|it| {
        let of_reply = match &it.reply {
            Some(Reply::Unknown(all)) => all.as_slice(),
            _ => &[],
        };
        it.depends_on.iter().chain(of_reply)
    });
    // As it would be true.
    let first = all.next()?;
    let first = Assumption {
        holds: true,
        ..first.clone()
    };
    Some(super::conditions::assumption(&first).text)
}

/// What was not seen of the node, as a sentence.
pub(in crate::render) fn gap(gap: &Gap) -> Sentence {
    match gap {
        Gap::Asker => sentence!(
            "asker-unseen",
            "who asks: taken for a pod whose own address no rule names; --source IP says which, --from-host that the node does"
        ),
        Gap::Addresses => sentence!(
            "addresses-unseen",
            "the addresses of the node: what is translated is taken for a pod's address"
        ),
        Gap::Routes => sentence!(
            "routes-unseen",
            "routes: every address is taken to have one"
        ),
        Gap::Liveness => sentence!(
            "liveness-unseen",
            "whether anybody listens: every endpoint is taken to be alive"
        ),
        Gap::Table(name) => sentence!("table-unseen", "the table {name}: it is taken to be empty"),
        Gap::Rules(family) => {
            let (family, tool) = match family {
                Family::V4 => ("IPv4", "iptables-save"),
                Family::V6 => ("IPv6", "ip6tables-save"),
            };
            sentence!(
                "rules-unseen",
                "rules of {family}: give what {tool} or nft list ruleset prints"
            )
        }
        Gap::Ipvs => sentence!(
            "ipvs-unseen",
            "IPVS services: these are rules of kube-proxy's IPVS mode; give what ipvsadm -S -n prints, or /proc/net/ip_vs"
        ),
        Gap::Entry => sentence!(
            "entry-unseen",
            "what leads to kube-proxy's chains: PREROUTING, OUTPUT and POSTROUTING are taken to be as kube-proxy writes them"
        ),
    }
}

/// What was noticed while the texts were read.
pub(super) fn note(note: &Note) -> Sentence {
    let at = |it: &Place| format!("{}:{}", it.file, it.line);
    match note {
        Note::Cut { place, table } => sentence!(
            "cut",
            "{}: the table {table} ends here without its end: what would follow is not known",
            at(place)
        ),
        Note::Twice { place, table } => sentence!(
            "twice",
            "{}: the table {table} is there twice; this one counts",
            at(place)
        ),
        Note::LegacyElsewhere(place) => sentence!(
            "legacy-elsewhere",
            "{}: there are legacy tables, too; iptables-legacy-save shows them",
            at(place)
        ),
        Note::Other { place, what } => {
            sentence!("other-format", "{}: {what}", at(place))
        }
        Note::Unclear { place, taken } => {
            let done = taken.map_or_else(
                || "they are left out".to_owned(),
                |it| format!("they are taken to be of {it}"),
            );
            sentence!(
                "table-unclear",
                "{}: no line says which table these rules are of, and {done}: put the command that printed them in front, such as iptables -t nat -S",
                at(place)
            )
        }
        Note::Blind(place) => sentence!(
            "interfaces-unseen",
            "{}: the interfaces of rules: iptables -L shows them with -v alone",
            at(place)
        ),
        Note::OtherFamily(table) => {
            sentence!(
                "other-family",
                "the table {table}: packets may be dropped there"
            )
        }
    }
}

/// `FILE:LINE`, or what else it is, which has no line.
pub(super) fn line_of(place: &Place) -> String {
    match place.line {
        0 => place.file.clone(),
        line => format!("{}:{line}", place.file),
    }
}

/// All that was not seen, each once.
pub(in crate::render) fn unseen<'g>(
    notes: impl Iterator<Item = &'g Note>,
    gaps: impl Iterator<Item = &'g Gap>,
    skipped: &[String],
) -> Vec<Sentence> {
    let skipped = skipped.iter();
    let skipped = skipped.map(|it| Sentence::new("unread", it.clone()));
    once(notes.map(note).chain(gaps.map(gap)).chain(skipped))
}
