//! Rules that drop what should pass: the policy of FORWARD, and network
//! policies.

use std::net::IpAddr;

use super::{Evidence, Fact, Finding};
use crate::finding::Severity;
use crate::path::{Direction, Host, Kind, Outcome, Reply, Stage, Start, Step, Tree};
use crate::rules::rule::{Action, Part, Rule};
use crate::rules::table::Hook;

/// A network policy, or another rule of that kind, that drops packets.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum PolicyFinding {
    /// The policy of FORWARD is DROP, and no rule before lets the packet pass.
    Forward {
        /// The table with the policy.
        table: Stage,
        /// Who asks.
        client: IpAddr,
        /// Where it would go.
        endpoint: IpAddr,
    },
    /// The rules of a network policy drop it.
    NetworkPolicy {
        /// Who wrote the rules.
        maker: PolicyMaker,
        /// The policies that the rules name, `NAMESPACE/NAME` where they have
        /// both; empty: they name none.
        policies: Vec<String>,
        /// The chain that drops.
        chain: Box<str>,
        /// Who asks.
        client: IpAddr,
        /// Where it would go.
        endpoint: IpAddr,
        /// The pod there.
        pod: Option<String>,
        /// Whether it is the answer that is dropped.
        is_reply: bool,
    },
}

/// Who makes rules of network policies.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum PolicyMaker {
    /// kube-router, also within k3s.
    KubeRouter,
    /// Calico, also within Canal.
    Calico,
    /// Antrea's iptables.
    Antrea,
    /// Weave Net.
    Weave,
}

/// How the names of their chains begin.
const MAKERS: [(&str, PolicyMaker); 6] = [
    ("KUBE-POD-FW-", PolicyMaker::KubeRouter),
    ("KUBE-NWPLCY-", PolicyMaker::KubeRouter),
    ("KUBE-ROUTER-", PolicyMaker::KubeRouter),
    ("cali-", PolicyMaker::Calico),
    ("ANTREA-", PolicyMaker::Antrea),
    ("WEAVE-NPC", PolicyMaker::Weave),
];

pub(super) fn find(host: &Host, trees: &[Tree]) -> Vec<Finding> {
    let mut found: Vec<Finding> = Vec::new();
    for tree in trees {
        // Where that depends on what was not seen, it need not be so.
        let sure = tree.outcomes.iter().filter(|it| it.depends_on.is_empty());
        for outcome in sure {
            let Some((step, is_reply)) = dropping(outcome) else {
                continue;
            };
            let one = match maker(&step.chain) {
                Some(maker) => Some(network_policy(host, tree, outcome, step, (maker, is_reply))),
                None if is_reply => None,
                None => forward(host, tree, outcome, step),
            };
            // One for UDP and TCP, and for all endpoints behind one chain.
            let is_new = |it: &Finding| found.iter().all(|other| !is_alike(it, other));
            found.extend(one.filter(is_new));
        }
    }
    found
}

fn is_alike(one: &Finding, other: &Finding) -> bool {
    use PolicyFinding::{Forward, NetworkPolicy};
    match (&one.fact, &other.fact) {
        (Fact::Policy(Forward { table: one, .. }), Fact::Policy(Forward { table: other, .. })) => {
            one == other
        }
        (
            Fact::Policy(NetworkPolicy { chain: one, .. }),
            Fact::Policy(NetworkPolicy { chain: other, .. }),
        ) => one == other,
        _ => false,
    }
}

/// The step at which the packet or its answer ends, and whether it is the answer.
fn dropping(outcome: &Outcome) -> Option<(&Step, bool)> {
    if matches!(outcome.kind, Kind::Drop | Kind::Reject) {
        let mut steps = outcome.steps.iter().rev();
        return Some((steps.find(|it| it.direction == Direction::Request)?, false));
    }
    match &outcome.reply {
        Some(Reply::Dropped(steps)) => Some((steps.last()?, true)),
        _ => None,
    }
}

fn maker(chain: &str) -> Option<PolicyMaker> {
    let maker = MAKERS.iter().find(|(start, _)| chain.starts_with(start));
    maker.map(|it| it.1)
}

fn forward(host: &Host, tree: &Tree, outcome: &Outcome, step: &Step) -> Option<Finding> {
    let mut bases = host.rules.tables.iter().flat_map(|it| &it.bases);
    let is_policy = bases.any(|it| {
        it.accepts == Some(false)
            && it.chain == step.chain
            && it.hook == Hook::Forward
            && host.rules.place(it.view) == step.place
    });
    if !is_policy || tree.packet.start == Start::Host {
        return None;
    }
    let fact = PolicyFinding::Forward {
        table: step.stage.clone(),
        client: tree.packet.source,
        endpoint: outcome.address,
    };
    let evidence = vec![evidence(step)];
    Some(Finding::new(Severity::Error, Fact::Policy(fact), evidence))
}

fn network_policy(
    host: &Host,
    tree: &Tree,
    outcome: &Outcome,
    step: &Step,
    (maker, is_reply): (PolicyMaker, bool),
) -> Finding {
    let policies = policies(host, &step.chain);
    let fact = PolicyFinding::NetworkPolicy {
        maker,
        policies,
        chain: step.chain.clone(),
        client: tree.packet.source,
        endpoint: outcome.address,
        pod: outcome.pod.clone(),
        is_reply,
    };
    let evidence = vec![evidence(step)];
    Finding::new(Severity::Error, Fact::Policy(fact), evidence)
}

/// The policies that a chain asks before it drops. Their names stand in
/// comments: of the chain itself, or of the chains that it jumps to.
fn policies(host: &Host, chain: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for index in 0..host.rules.tables.len() {
        let own = host.rules.rules(index, chain).unwrap_or_default();
        let asked = own.iter().flat_map(jumps);
        let asked = asked.flat_map(|it| host.rules.rules(index, it).unwrap_or_default());
        // What a policy's own chain says has its namespace.
        for rule in asked.chain(own.iter().cloned()) {
            let name = rule.comment.as_deref().and_then(policy);
            let is_known = |name: &String| {
                let ending = format!("/{name}");
                found.iter().any(|it| it == name || it.ends_with(&ending))
            };
            let name = name.filter(|it| !is_known(it));
            found.extend(name);
        }
    }
    found
}

/// The chains that a rule jumps to.
fn jumps(rule: &Rule) -> impl Iterator<Item = &str> {
    rule.parts.iter().filter_map(|it| match it {
        Part::Do(Action::Jump(chain) | Action::Goto(chain)) => Some(chain.as_ref()),
        _ => None,
    })
}

/// The policy that a comment names.
///
/// kube-router writes `run through nw policy NAME`, and in the policy's chain
/// `… selected by policy name NAME namespace NAMESPACE`; Calico, in the policy's
/// chain, `Policy NAMESPACE/NAME ingress` or `KubernetesNetworkPolicy …`.
///
/// Source: kube-router `pkg/controllers/netpol/policy.go`, `pod.go`;
/// Calico `felix/rules/policy.go`.
fn policy(words: &str) -> Option<String> {
    let after = |mark: &str| {
        let (_, rest) = words.split_once(mark)?;
        let name = rest.trim_start().split([' ', '"', ',']).next()?;
        (!name.is_empty()).then(|| name.to_owned())
    };
    if let Some(name) = after("nw policy ") {
        return Some(name);
    }
    let name = after("policy name:").or_else(|| after("policy name "));
    if let Some(name) = name {
        let namespace = after(" namespace ");
        return Some(namespace.map_or(name.clone(), |it| format!("{it}/{name}")));
    }
    after("Policy ").filter(|it| it.contains('/'))
}

fn evidence(step: &Step) -> Evidence {
    Evidence::new(step.place.clone(), step.rule().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_name_policies() {
        let check = |words: &str, expected: Option<&str>| {
            assert_eq!(policy(words).as_deref(), expected, "{words}");
        };
        check("run through nw policy deny-dns", Some("deny-dns"));
        let start = "rule to ACCEPT traffic from source pods to dest pods selected by policy name";
        check(&format!("{start} a namespace prod"), Some("prod/a"));
        check(&format!("{start}: a namespace prod"), Some("prod/a"));
        check("Policy kube-system/deny ingress", Some("kube-system/deny"));
        check(
            "KubernetesNetworkPolicy net-lab/deny ingress",
            Some("net-lab/deny"),
        );
        check("Policy drop if no profiles matched", None);
        check(
            "default rule to REJECT traffic destined for POD name:coredns namespace: kube-system",
            None,
        );
    }
}
